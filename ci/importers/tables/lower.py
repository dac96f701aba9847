"""Tables → policies: a row is a condition with an id, and an action for each output that requires it.

UNIQUE and ANY become required actions; FIRST and PRIORITY fallbacks in the order in which rows win. A long table is
cut; of an ordered one each part overrides the later parts that it meets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from ci.importers.tables.analysis import Analysis
from ci.importers.tables.feel import clip, spelled
from ci.importers.tables.model import (
    Anything,
    Comparison,
    Except,
    Interval,
    Named,
    OneOf,
    Operand,
    Refusal,
    Row,
    Source,
    Table,
    TablesRefused,
    Test,
)
from ci.importers.tables.names import digest, value_slug
from ci.importers.tables.words import Words, plain

ROWS: Final = 500  # of one policy
ORDERED_ROWS: Final = 100  # of one policy whose rows exclude each other
MOST_FOLLOWED: Final = 5_000  # tests that a chained decision may add to a table
NUMBERS: Final = 1_000  # of policy ids, for each table of a source

Record = dict[str, Any]


def condition(test: Test, fact: str, facts: Mapping[str, str]) -> list[Record]:
    """A test of *fact* as conditions that hold together; none for `-`. *facts* names the fact of each input."""
    match test:
        case Anything():
            return []
        case Comparison(op, Named(name)):
            return [{"type": "fact", "parameter": fact, "operator": op, "value_of": facts[name]}]
        case Comparison(op, operand):
            return [{"type": "fact", "parameter": fact, "operator": op, "value": _value(operand)}]
        case Interval(low, high, True, True) if not isinstance(low, Named) and not isinstance(high, Named):
            return [{"type": "fact", "parameter": fact, "between": [_value(low), _value(high)]}]
        case Interval():
            return [one for end in test.ends for one in condition(end, fact, facts)]
        case OneOf(tests):
            return _one_of(tests, fact, facts)
        case Except(inner):
            inside = condition(inner, fact, facts)
            if not inside:  # not(-) holds nowhere
                raise TablesRefused(Refusal(fact, "it denies everything", "delete the row"))
            return [{"not": inside[0] if len(inside) == 1 else {"all_of": inside}}]


def _one_of(tests: Sequence[Test], fact: str, facts: Mapping[str, str]) -> list[Record]:
    if any(isinstance(one, Anything) for one in tests):
        return []
    values = [one.operand for one in tests if isinstance(one, Comparison) and one.op == "=="]
    plain_values = [value for value in values if not isinstance(value, Named | bool)]
    if len(plain_values) == len(tests):
        return [{"type": "fact", "parameter": fact, "operator": "in", "value": [_value(v) for v in plain_values]}]
    branches = [condition(one, fact, facts) for one in tests]
    return [{"any_of": [one[0] if len(one) == 1 else {"all_of": one} for one in branches]}]


def _value(operand: Operand) -> Any:
    match operand:
        case bool() | str():
            return operand
        case Decimal():
            return plain(operand)
        case date():
            return operand.isoformat()
        case Named():
            raise AssertionError("a named input is no value")


@dataclass(frozen=True, slots=True)
class Part:
    """One policy of a table: its id and the rows in it, in the order in which they win."""

    policy_id: str
    rows: tuple[Row, ...]
    record: Record


@dataclass
class Lowering:
    """Turns the tables of one source into policies of one domain."""

    source: Source
    words: Words
    domain: str
    owner: str
    terms: dict[str, list[Record]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.facts = {name: word.name for name, word in self.words.facts.items()}
        self.tables = {table.name: table for table in self.source.tables}
        self._count = 0  # tests that following one decision has added

    def parts(self, number: int, table: Table, analysis: Analysis) -> list[Part]:
        """The policies of the *number*-th table of the source."""
        size = ORDERED_ROWS if table.is_ordered else ROWS
        cut = [table.ranked[i : i + size] for i in range(0, len(table.ranked), size)]
        has_rest = any(output.default is not None for output in table.outputs) and not analysis.is_complete
        ids = [f"POL-{self.domain.upper()}-{number * NUMBERS + k:03d}" for k in range(1, len(cut) + 2)]
        rest = ids[len(cut)] if has_rest and len(cut) > 1 else None
        overriding = analysis.meeting_parts(cut) if table.is_ordered else {}
        parts = []
        for k, rows in enumerate(cut):
            others = [ids[j] for j in overriding.get(k, ())]
            if rest is not None and self._differs(table, rows):
                others.append(rest)
            record = self._policy(table, ids[k], rows, others)
            if has_rest and rest is None:
                record["actions"] += list(self._defaults(table, "fallback"))
            parts.append(Part(ids[k], tuple(rows), record))
        if rest is not None:
            record = self._policy(table, rest, (), [])
            record["actions"] = list(self._defaults(table, "required"))
            parts.append(Part(rest, (), record))
        return parts

    def _differs(self, table: Table, rows: Sequence[Row]) -> bool:
        defaults = [output.default for output in table.outputs]
        return any(d not in (None, said) for row in rows for d, said in zip(defaults, row.says, strict=True))

    def _defaults(self, table: Table, type_: str) -> Iterator[Record]:
        for i, output in enumerate(table.outputs):
            if output.default is not None:
                action = self.words.outcomes[table.name, i].actions[output.default]
                requires: Record = {"requires": []} if type_ == "required" else {}
                yield {"type": type_, "action": action, **requires, "source": "where no row holds"}

    def _policy(self, table: Table, policy_id: str, rows: Sequence[Row], overrides: Sequence[str]) -> Record:
        type_ = "fallback" if table.is_ordered else "required"
        conditions: list[Record] = []
        actions: list[Record] = []
        for row in rows:
            tests = self._tests(table, row)
            id = f"row_{row.number}"
            if tests:
                conditions.append({"id": id, **tests[0]} if len(tests) == 1 else {"id": id, "all_of": tests})
            requires = [*([id] if tests else []), *self._required(table, row)]
            for i, said in enumerate(row.says):
                action = self.words.outcomes[table.name, i].actions[said]
                actions.append({"type": type_, "action": action, "requires": requires, "source": row.at})
        record: Record = {"policy_id": policy_id, "draft": True, "conditions": conditions, "actions": actions}
        if overrides:
            record |= {"overrides": list(overrides), "reason": f"hit policy {table.hit_policy}: what stands first wins"}
        at = table.at if table.at != self.source.name else ""
        where = ", ".join(part for part in (self.source.name, at, f"hit policy {table.hit_policy}") if part)
        record["metadata"] = {"source": where, "owner": self.owner, "domain": self.domain}
        return {key: value for key, value in record.items() if value != []}

    def _tests(self, table: Table, row: Row) -> list[Record]:
        found: list[Record] = []
        for column, test, cell in zip(table.inputs, row.tests, row.cells, strict=False):
            if not column.is_decided:
                try:
                    found += condition(test, self.facts[column.name], self.facts)
                except TablesRefused as problem:
                    raise TablesRefused(
                        Refusal(f"{table.at}, {cell}", problem.refusals[0].why, "delete the row")
                    ) from None
        return found

    # ---- chained decisions

    def _required(self, table: Table, row: Row) -> list[str]:
        """The terms that stand for what other tables have to say."""
        found = []
        for column, test in zip(table.inputs, row.tests, strict=True):
            if column.is_decided and not isinstance(test, Anything):
                term = self._term(table, column.name, test)
                found += [term] if term is not None else []
        return found

    def _term(self, table: Table, name: str, test: Test) -> str | None:
        other, i = self._decided(name)
        outcome, meant = self.words.outcomes[other.name, i], self._meant(other, i, test)
        slugs = "_or_".join(value_slug(value) for value in outcome.actions if value in meant) or "nothing"
        term = f"{outcome.name}_is_{slugs}"
        term = term if len(term) <= 80 else f"{outcome.name[:60]}_is_{digest(term)}"
        if term not in self.terms:
            self._count = 0
            said = self._saying(table, other, i, meant)
            if said is None:
                return None
            self.terms[term] = [said]
        return term

    def _decided(self, name: str) -> tuple[Table, int]:
        if name in self.tables:
            return self.tables[name], 0
        decision, _, output = name.partition(".")
        other = self.tables[decision]
        return other, next((i for i, one in enumerate(other.outputs) if one.name == output), 0)

    def _saying(self, table: Table, other: Table, i: int, meant: frozenset[str]) -> Record | None:
        """The condition that *other* says one of *meant* in its output *i*; None where it always does.

        What *other* rests on itself is followed.
        """
        branches: list[Record] = []
        before: list[Record] = []
        for row in other.ranked:
            here = self._whole(table, other, row)
            if row.says[i] in meant:
                parts = [
                    *([here] if here is not None else []),
                    *([{"not": {"any_of": list(before)}}] if before else []),
                ]
                if not parts:
                    return None
                branches.append(parts[0] if len(parts) == 1 else {"all_of": parts})
            elif here is not None and other.is_ordered:
                before.append(here)
            if here is None and other.is_ordered:
                break  # no later row is ever reached
        else:
            rows = [self._whole(table, other, row) for row in other.rows] if other.outputs[i].default in meant else []
            if rows and None not in rows:
                branches.append({"not": {"any_of": rows}})
        if not branches:
            why = f"it tests `{clip(other.name)}` for what that decision never says"
            raise TablesRefused(Refusal(table.at, why, "correct the test"))
        return branches[0] if len(branches) == 1 else {"any_of": branches}

    def _whole(self, table: Table, other: Table, row: Row) -> Record | None:
        """The condition that a row of *other* holds; None where it always does."""
        parts = self._tests(other, row)
        for column, test in zip(other.inputs, row.tests, strict=True):
            if column.is_decided and not isinstance(test, Anything):
                inner, i = self._decided(column.name)
                said = self._saying(table, inner, i, self._meant(inner, i, test))
                parts += [said] if said is not None else []
        self._count += len(parts)
        if self._count > MOST_FOLLOWED:
            why = f"what the decision `{clip(other.name)}` says is too long to be followed"
            help = "import the two tables apart, and give the second an input of its own"
            raise TablesRefused(Refusal(table.at, why, help))
        return None if not parts else parts[0] if len(parts) == 1 else {"all_of": parts}

    def _meant(self, other: Table, i: int, test: Test) -> frozenset[str]:
        """What of the answers of *other* passes the test."""
        return frozenset(value for value in self.words.outcomes[other.name, i].actions if holds(test, value))


def holds(test: Test, said: str) -> bool:
    """Does the test hold for what another table says?"""
    match test:
        case Anything():
            return True
        case Comparison(op, operand):
            return _compared(op, said, operand)
        case Interval():
            return all(holds(end, said) for end in test.ends)
        case OneOf(tests):
            return any(holds(one, said) for one in tests)
        case Except(inner):
            return not holds(inner, said)


def _compared(op: str, said: str, operand: Operand) -> bool:
    if op in ("==", "!="):
        return (spelled(operand) == said) is (op == "==")
    try:
        left: Any = Decimal(said) if isinstance(operand, Decimal) else date.fromisoformat(said)
    except (InvalidOperation, ValueError):
        return False
    right: Any = operand
    return bool({"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op])
