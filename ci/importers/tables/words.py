"""The words that tables use, as a vocabulary: facts with types and domains, outcomes with their actions.

A fact that another file of the repository declares is taken as it is; one of another kind is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any, Final

from bylaw.authored.vocabulary import RESERVED, Fact, Vocabulary
from bylaw.logic.formula.ir import Variable, exact
from ci.importers.asked import asked_by
from ci.importers.tables.feel import clip
from ci.importers.tables.model import (
    ANYTHING,
    Column,
    Comparison,
    Except,
    Kind,
    Refusal,
    Source,
    Table,
    TablesRefused,
    Test,
    operands,
)
from ci.importers.tables.names import Distinct, snake, value_slug
from ci.loading.spelling import spaced

TYPES: Final[Mapping[Kind, str]] = {"number": "decimal", "date": "date", "boolean": "boolean", "text": "enum"}
OTHER: Final = ("other", "any_other", "any_other_value")  # what an open column may hold besides what its cells name
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FactWord:
    """A fact in the making. `values` of a text; `is_declared` where another file of the repository declares it."""

    name: str
    kind: Kind
    label: str
    at: str
    values: tuple[str, ...] = ()
    minimum: Decimal | date | None = None
    maximum: Decimal | date | None = None
    unit: str = ""
    is_whole: bool = False
    is_declared: bool = False

    @property
    def type(self) -> str:
        """The type of the fact."""
        return "integer" if self.is_whole and self.kind == "number" else TYPES[self.kind]

    def variable(self) -> Variable:
        """The fact as the logic has it."""
        return Variable(self.name, self.type, self.values, _number(self.minimum), _number(self.maximum))  # type: ignore[arg-type]

    def record(self) -> Record:
        """The fact as a vocabulary declares it, with how people say it and how it is asked for."""
        said: Record = {"type": self.type}
        if self.unit:
            said["unit"] = self.unit
        for key, bound in (("minimum", self.minimum), ("maximum", self.maximum)):
            if bound is not None:
                said[key] = bound.isoformat() if isinstance(bound, date) else plain(bound)
        if self.kind == "text":
            said["values"] = {value: [] for value in self.values}
        return {**said, "label": spaced(self.label), **asked_by(self.type, spaced(self.label))}


def plain(number: Decimal) -> int | Decimal:
    """A number as it is written: whole ones without a point."""
    return int(number) if number == number.to_integral_value() else number.normalize() + 0


def _number(bound: Decimal | date | None) -> Any:
    return bound.toordinal() if isinstance(bound, date) else None if bound is None else exact(bound)


@dataclass(frozen=True, slots=True)
class OutcomeWord:
    """An outcome and its actions: what a row says → the action."""

    name: str
    label: str
    actions: Mapping[str, str]
    is_declared: bool = False


@dataclass
class Words:
    """All words of one source: input → fact, and table and output → outcome."""

    facts: dict[str, FactWord] = field(default_factory=dict)  # by the name of the input
    outcomes: dict[tuple[str, int], OutcomeWord] = field(default_factory=dict)  # by table and place of the output
    notices: list[str] = field(default_factory=list)

    def variables(self) -> dict[str, Variable]:
        """Every fact as the logic has it."""
        return {word.name: word.variable() for word in self.facts.values()}


def words_of(source: Source, known: Vocabulary) -> Words:
    """The words of *source* beside those that other files of the repository declare. Raises TablesRefused."""
    words, refused = Words(), list[Refusal]()
    names = Distinct()
    for table in source.tables:
        for column, tests in _columns(table):
            if not column.is_decided:
                _enter(words, names, column, tests, refused)
    for name, word in list(words.facts.items()):
        words.facts[name] = _settled(word, known.facts.get(word.name), words.notices, refused)
    outcomes = Distinct()
    for table in source.tables:
        for i, output in enumerate(table.outputs):
            said = (
                " ".join(part for part in (table.name, output.name) if part) if len(table.outputs) > 1 else table.name
            )
            name = output.outcome or outcomes.name(_unreserved(snake(said)), f"{table.name}\n{i}")
            label = output.label if output.outcome and output.label else said
            words.outcomes[table.name, i] = _outcome(table, i, name, label, known, refused)
    if refused:
        raise TablesRefused(*refused)
    return words


def _columns(table: Table) -> Iterator[tuple[Column, list[Test]]]:
    for i, column in enumerate(table.inputs):
        yield column, [row.tests[i] for row in table.rows]
    for column in table.compared:
        yield column, []


def _enter(words: Words, names: Distinct, column: Column, tests: Sequence[Test], refused: list[Refusal]) -> None:
    """One more place that an input stands at: what it holds in all of them is what the fact holds."""
    domain = column.domain
    found = tuple(dict.fromkeys(v for test in tests for v in operands(test) if isinstance(v, str)))
    values = tuple(dict.fromkeys((*domain.values, *found)))
    if column.kind == "text" and not domain.values and any(map(_means_others, tests)):
        values = (
            (*values, next(word for word in OTHER if word not in values)) if not set(OTHER) & set(values) else values
        )
    before = words.facts.get(column.name)
    if before is None:
        name = column.fact or names.name(_unreserved(snake(column.name)), column.name)
        words.facts[column.name] = FactWord(
            name, column.kind, column.label or column.name, column.at, values,
            domain.minimum, domain.maximum, column.unit, column.is_whole,
        )  # fmt: skip
        if column.kind == "text" and not domain.values and values:
            words.notices.append(
                f"`{clip(column.name)}` may hold {', '.join(f'`{clip(v, 30)}`' for v in values[:6])}"
                f"{' …' if len(values) > 6 else ''}: what its cells name; add to the values of `{name}` what is missing"
            )
        return
    if before.kind != column.kind:
        why = f"`{clip(column.name)}` holds {TYPES[column.kind]} here and {TYPES[before.kind]} at {before.at}"
        refused.append(Refusal(column.at, why, "name one of the two otherwise"))
        return
    words.facts[column.name] = replace(
        before,
        values=tuple(dict.fromkeys((*before.values, *values))),
        minimum=_widest(before.minimum, domain.minimum, least=True),
        maximum=_widest(before.maximum, domain.maximum, least=False),
    )


def _means_others(test: Test) -> bool:
    """Does the test hold for values that no cell names?"""
    return test == ANYTHING or isinstance(test, Except) or (isinstance(test, Comparison) and test.op == "!=")


def _widest(one: Any, other: Any, least: bool) -> Any:
    if one is None or other is None:
        return None
    return min(one, other) if least else max(one, other)


def _settled(word: FactWord, known: Fact | None, notices: list[str], refused: list[Refusal]) -> FactWord:
    """The fact as another file of the repository has it, or as the source says."""
    if known is None:
        if word.kind == "text" and not word.values:
            return replace(word, values=(OTHER[0],))
        if "general" in word.values:
            why = "`general` is a word of the format and cannot be a value"
            refused.append(Refusal(word.at, why, "call the value something else"))
        return word
    missing = [value for value in word.values if known.type == "enum" and value not in known.values]
    is_number = word.kind == "number" and known.type in ("integer", "decimal")
    if not is_number and known.type != word.type:
        why = f"the fact `{word.name}` is {known.type} in this repository, and {word.type} here"
        refused.append(Refusal(word.at, why, "give the input a fact of its own with --map"))
    elif missing and missing != [OTHER[0]]:
        why = f"`{clip(missing[0])}` is not among the values of the fact `{word.name}` of this repository"
        refused.append(Refusal(word.at, why, "declare the value, or give the input a fact of its own with --map"))
    notices.append(f"`{clip(word.label)}` is the fact `{word.name}` that this repository declares")
    return replace(
        word,
        values=tuple(known.values),
        minimum=_bound(known.minimum, known.type),
        maximum=_bound(known.maximum, known.type),
        is_whole=known.type == "integer",
        is_declared=True,
    )


def _bound(bound: Decimal | str | None, type_: str) -> Decimal | date | None:
    if bound is None:
        return None
    return date.fromisoformat(str(bound)) if type_ == "date" else Decimal(bound)


def _unreserved(name: str) -> str:
    return f"{name}_" if name in RESERVED else name


def _outcome(table: Table, i: int, name: str, label: str, known: Vocabulary, refused: list[Refusal]) -> OutcomeWord:
    output = table.outputs[i]
    said = list(dict.fromkeys((*output.values, *(row.says[i] for row in table.rows), *filter(None, (output.default,)))))
    distinct = Distinct()
    actions = {value: distinct.name(f"{name}_{value_slug(value)}"[:100], value) for value in said}
    for action in actions.values():
        declared = known.actions.get(action)
        if declared is not None and declared.outcome != name:
            why = f"the action `{action}` answers another outcome in this repository"
            refused.append(Refusal(table.at, why, "name the outcome otherwise with --map"))
    long = next((value for value in said if len(value) > 200), None)
    if long is not None:
        refused.append(
            Refusal(table.at, f"the output `{clip(long)}` has {len(long)} characters", "at most 200 are kept")
        )
    return OutcomeWord(name, label[:200] or name, actions, name in known.outcomes)


def vocabulary(words: Words, terms: Mapping[str, Any], known: Vocabulary) -> Record:
    """The vocabulary file, without what other files declare."""
    outcomes = list(words.outcomes.values())
    record: Record = {
        "schema_version": "1.0",
        "facts": {word.name: word.record() for word in words.facts.values() if not word.is_declared},
        "actions": {
            action: {"outcome": outcome.name, "label": spaced(value)}
            for outcome in outcomes
            for value, action in outcome.actions.items()
            if action not in known.actions
        },
        "outcomes": {
            outcome.name: {"label": spaced(outcome.label), "phrases": [spaced(outcome.label)], "complete": True}
            for outcome in outcomes
            if not outcome.is_declared
        },
        "terms": dict(terms),
    }
    return {key: value for key, value in record.items() if value}
