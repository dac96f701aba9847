"""DMN 1.x: every decision table of a model, with its chained decisions, or by name why it is not taken.

The XML is read with entities and document types off, and within limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ci.importers.tables.columns import Typed, Untyped, kind_of, typed_domain
from ci.importers.tables.feel import Reading, clip, name_lookup, spelled, visible
from ci.importers.tables.limits import MOST_BYTES, MOST_CELLS, MOST_COLUMNS, MOST_ELEMENTS, MOST_ROWS
from ci.importers.tables.model import (
    ANYTHING,
    Column,
    Domain,
    HitPolicy,
    Named,
    Output,
    Refusal,
    Row,
    Source,
    Table,
    TablesRefused,
    Test,
    Unsayable,
    operands,
)

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_HIT_POLICIES: Final[Mapping[str, HitPolicy]] = {name: name for name in ("UNIQUE", "ANY", "FIRST", "PRIORITY")}
_LISTS: Final = "it gives a list of everything that holds, and a policy gives one answer"
_REASONS: Final[Mapping[str, str]] = {
    "literalExpression": "it is a literal expression, not a decision table",
    "context": "it is a context, not a decision table",
    "invocation": "it invokes a function, and is no decision table",
    "functionDefinition": "it is a function, not a decision table",
    "relation": "it is a relation, not a decision table",
    "list": "it is a list, not a decision table",
    "conditional": "it is an if-then-else expression, not a decision table",
    "filter": "it is a filter, not a decision table",
    "for": "it is a loop, not a decision table",
    "every": "it is a quantified expression, not a decision table",
    "some": "it is a quantified expression, not a decision table",
}
_NAME: Final = re.compile(r"[^\W\d][\w '’]*(?:\.[^\W\d][\w '’]*)*")
_LANGUAGES: Final = re.compile(r"feel", re.IGNORECASE)


def is_dmn(text: bytes) -> bool:
    """Does the beginning of a file look like a model of DMN?"""
    return b"definitions" in text[:20_000] and b"omg.org/spec/DMN" in text[:20_000]


def read(path: Path, data: bytes, is_empty_any: bool) -> Source:
    """The tables of the model in *data*. Raises TablesRefused where none can be read at all."""
    return _Model(path.name, _root(path.name, data), is_empty_any).source()


def _root(name: str, data: bytes) -> Element:
    from bylaw.errors import UsageError

    try:
        from defusedxml import DefusedXmlException
        from defusedxml.ElementTree import ParseError, fromstring
    except ImportError:
        raise UsageError("DMN needs the extra `tables`", "uv pip install 'bylaw-policies[tables]'") from None
    if len(data) > MOST_BYTES:
        raise TablesRefused(Refusal(name, f"it is larger than {MOST_BYTES:,} bytes", "split the model"))
    try:
        root: Element = fromstring(data, forbid_dtd=True)
    except DefusedXmlException:
        why = "it declares a document type or entities, which are never read"
        raise TablesRefused(Refusal(name, why, "export the model without them")) from None
    except (ParseError, ValueError, LookupError) as problem:
        raise TablesRefused(Refusal(name, f"it is no XML: {clip(str(problem))}", "export the model again")) from None
    if _local(root) != "definitions" or "omg.org/spec/DMN" not in root.tag:
        raise TablesRefused(Refusal(name, "it is no model of DMN 1.x", "its root is `definitions` of OMG's DMN"))
    if sum(1 for _ in root.iter()) > MOST_ELEMENTS:
        raise TablesRefused(Refusal(name, f"it has more than {MOST_ELEMENTS:,} elements", "split the model"))
    return root


def _local(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _children(element: Element, name: str) -> list[Element]:
    return [child for child in element if _local(child) == name]


def _text(element: Element | None) -> str:
    """What the `text` of an expression says; nothing where there is none."""
    if element is None:
        return ""
    found = _children(element, "text")
    return (found[0].text or "").strip() if found else (element.text or "").strip()


@dataclass
class _Types:
    """The item definitions of a model, by name."""

    definitions: Mapping[str, Element]

    def of(self, reference: str | None, path: Sequence[str] = ()) -> Typed:
        """The kind and the domain that a type says, through its components and bases. Raises Unsayable."""
        seen: set[str] = set()
        domain = Domain()
        name = (reference or "").rpartition(":")[2].strip()
        steps = list(path)
        while name in self.definitions and name not in seen:
            seen.add(name)
            item = self.definitions[name]
            if item.get("isCollection") == "true":
                raise Unsayable(f"`{clip(name)}` is a list, and a fact has one value", "decide it for one item")
            domain = domain if domain != Domain() else typed_domain(_allowed(item))
            if steps:
                item = next((c for c in _children(item, "itemComponent") if c.get("name") == steps[0]), item)
                steps.pop(0)
                if item.get("isCollection") == "true":
                    raise Unsayable(f"`{'.'.join(path)}` is a list, and a fact has one value", "decide it for one item")
                domain = typed_domain(_allowed(item))
            name = (next((child.text for child in _children(item, "typeRef")), "") or "").rpartition(":")[2].strip()
        return Typed(kind_of(name), domain)


def _allowed(item: Element) -> str:
    found = [*_children(item, "allowedValues"), *_children(item, "typeConstraint")]
    return _text(found[0]) if found else ""


@dataclass
class _Model:
    """One model on its way to tables."""

    name: str
    root: Element
    is_empty_any: bool
    notices: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.types = _Types({item.get("name", ""): item for item in _children(self.root, "itemDefinition")})
        self.decisions = {one.get("name", ""): one for one in _children(self.root, "decision")}
        self.data = {one.get("name", ""): one for one in _children(self.root, "inputData")}
        self.variables = {**self.data, **self.decisions}

    def source(self) -> Source:
        """The tables, with everything refused."""
        tables: dict[str, Table] = {}
        refused: list[Refusal] = []
        counts: dict[str, int] = {}
        for decision in _children(self.root, "decision"):
            name = decision.get("name") or decision.get("id") or "a decision without a name"
            try:
                table = self._table(name, decision, counts)
                if name in tables:
                    raise TablesRefused(
                        Refusal(f"decision `{clip(name)}`", "there are two decisions of that name", "rename one")
                    )
                tables[name] = table
            except TablesRefused as problem:
                refused += problem.refusals
        for one in _children(self.root, "businessKnowledgeModel"):
            where = f"business knowledge model `{clip(one.get('name', ''))}`"
            refused.append(
                Refusal(where, "it is a function, not a decision table", "write it as a decision of its own")
            )
        for name, reason in _unfollowed(tables, set(self.decisions)):
            table = tables.pop(name)
            refused.append(Refusal(table.at, reason, "make that decision a table that can be taken"))
        if _children(self.root, "import"):
            self.notices.append(f"{self.name}: what it imports from other models was not read")
        if not tables and not refused:
            refused.append(Refusal(self.name, "it holds no decision", "name a model with decision tables"))
        if not tables:
            raise TablesRefused(*refused)
        return Source(self.name, "dmn", tuple(tables.values()), tuple(refused), tuple(self.notices), counts)

    def _table(self, name: str, decision: Element, counts: dict[str, int]) -> Table:
        at = f"decision `{clip(visible_or(name))}`"
        if _LANGUAGES.search(self.root.get("expressionLanguage", "feel")) is None:
            raise TablesRefused(Refusal(at, "the model is not written in FEEL", "export it with FEEL expressions"))
        found = _children(decision, "decisionTable")
        if not found:
            kinds = [_local(child) for child in decision if _local(child) in _REASONS]
            reason = _REASONS[kinds[0]] if kinds else "it says nothing that decides"
            help = "write it as a decision table, one row for each answer" if kinds else "give it a decision table"
            raise TablesRefused(Refusal(at, reason, help))
        table = found[0]
        rules = _children(table, "rule")
        counts[name] = len(rules)
        hit_policy = self._hit_policy(at, table)
        self._sizes(at, table, rules)
        return _Rules(self, at, name, table, rules, hit_policy).table(decision)

    def _hit_policy(self, at: str, table: Element) -> HitPolicy:
        written = table.get("hitPolicy", "UNIQUE")
        hit_policy, aggregation = written.replace("_", " ").upper(), table.get("aggregation")
        if hit_policy in _HIT_POLICIES:
            return _HIT_POLICIES[hit_policy]
        what = f"{hit_policy} {aggregation}" if aggregation else hit_policy
        why = f"it computes the {aggregation.lower()} of all rows that hold" if aggregation else _LISTS
        help = "say with UNIQUE, ANY, FIRST or PRIORITY which row decides"
        raise TablesRefused(Refusal(at, f"its hit policy is {clip(what)}: {why}", help))

    def _sizes(self, at: str, table: Element, rules: Sequence[Element]) -> None:
        columns = len(_children(table, "input")) + len(_children(table, "output"))
        if not rules:
            raise TablesRefused(Refusal(at, "its table has no rules", "add one"))
        for count, most, what in (
            (columns, MOST_COLUMNS, "columns"),
            (len(rules), MOST_ROWS, "rules"),
            (columns * len(rules), MOST_CELLS, "cells"),
        ):
            if count > most:
                raise TablesRefused(
                    Refusal(at, f"it has {count:,} {what}, and at most {most:,} are read", "split the table")
                )


def visible_or(name: str) -> str:
    """*name* on one line, without what nobody sees."""
    try:
        return visible(name)
    except Unsayable:
        return name.encode("ascii", "ignore").decode() or "(not legible)"


@dataclass
class _Rules:
    """One decision table on its way."""

    model: _Model
    at: str
    name: str
    element: Element
    rules: Sequence[Element]
    hit_policy: HitPolicy
    refusals: list[Refusal] = field(default_factory=list)

    def table(self, decision: Element) -> Table:
        """The table. Raises TablesRefused with everything that is wrong with it."""
        inputs = [self._input(i, one) for i, one in enumerate(_children(self.element, "input"), 1)]
        outputs = [self._output(i, one, decision) for i, one in enumerate(_children(self.element, "output"), 1)]
        if not outputs:
            self.refusals.append(Refusal(self.at, "it has no output", "add one"))
        self._stop()
        columns = [one for one in inputs if one is not None]
        if self.hit_policy == "PRIORITY" and not all(one is not None and one.values for one in outputs):
            why = "its hit policy is PRIORITY, and an output does not list its values, the highest first"
            self.refusals.append(Refusal(self.at, why, "add the output values, or use FIRST"))
        self._stop()
        says = [one for one in outputs if one is not None]
        rows = [self._row(number, rule, columns, says) for number, rule in enumerate(self.rules, 1)]
        self._stop()
        settled = tuple(self._settled(column, i, rows) for i, column in enumerate(columns))
        self._stop()
        if any(_children(rule, "annotationEntry") for rule in self.rules):
            self.model.notices.append(f"{self.at}: its annotations are for people and were not taken")
        compared = tuple(self._compared(settled, rows))
        self._stop()
        return Table(self.name, self.at, self.hit_policy, settled, tuple(says), tuple(rows), compared)

    def _compared(self, inputs: Sequence[Column], rows: Sequence[Row]) -> Iterator[Column]:
        """The inputs that stand only in the cells of others; each is of the kind that it is compared with."""
        known = {column.name for column in inputs}
        for row in rows:
            for column, cell, test in zip(inputs, row.cells, row.tests, strict=False):
                for name in (one.name for one in operands(test) if isinstance(one, Named)):
                    if name in self.model.decisions:
                        self._refuse(
                            cell, Unsayable(f"it compares with the decision `{clip(name)}`", "test it as an input")
                        )
                    if name in known:
                        continue
                    known.add(name)
                    variable = self.model.variables.get(name)
                    declared = self._declared(variable, ()) if variable is not None else Typed(None, Domain())
                    yield Column(name, cell, declared.kind or column.kind, declared.domain, name)

    def _stop(self) -> None:
        if self.refusals:
            raise TablesRefused(*self.refusals)

    def _refuse(self, where: str, problem: Unsayable) -> None:
        self.refusals.append(problem.at(f"{self.at}, {where}"))

    # ---- columns

    def _input(self, i: int, element: Element) -> Untyped | None:
        expressions = _children(element, "inputExpression")
        expression = expressions[0] if expressions else element
        written, where = " ".join(_text(expression).split()), f"input {i}"
        try:
            name = visible(written)
            if not name:
                raise Unsayable("it has no expression", "name the input that it tests")
            if name not in self.model.variables and not _NAME.fullmatch(name):
                raise Unsayable(f"it computes `{clip(name)}`", "compute it before, as an input of its own")
            first, *path = [name] if name in self.model.variables else name.split(".")
            is_decided = first in self.model.decisions
            variable = self.model.variables.get(first)
            own = self.model.types.of(expression.get("typeRef"))
            declared = (
                self._declared(variable, path) if variable is not None and not is_decided else Typed(None, Domain())
            )
            listed = _children(element, "inputValues")
            domain = typed_domain(_text(listed[0])) if listed and _text(listed[0]) else own.domain
            kind = own.kind or declared.kind
            if variable is None:
                self.model.notices.append(
                    f"{self.at}: `{clip(name)}` is declared nowhere in the model, and taken as an input"
                )
            domain = domain if domain != Domain() else declared.domain
            label = visible(element.get("label") or name)
            return Untyped(name, where, kind, domain, label if len(label) <= 200 else name, is_decided)
        except Unsayable as problem:
            self._refuse(where, problem)
            return None

    def _declared(self, variable: Element, path: Sequence[str]) -> Typed:
        found = _children(variable, "variable")
        return self.model.types.of(found[0].get("typeRef") if found else None, path)

    def _output(self, i: int, element: Element, decision: Element) -> Output | None:
        where = f"output {i}"
        try:
            written = element.get("name") or ""
            values = _children(element, "outputValues")
            own = self.model.types.of(element.get("typeRef") or (None if written else self._result(decision)))
            listed = _text(values[0]) if values else ""
            domain = typed_domain(listed, as_text=True) if listed else own.domain
            default = _children(element, "defaultOutputEntry")
            reading = Reading(lambda name: None)
            said = spelled(reading.value(_text(default[0]))) if default and _text(default[0]) else None
            return Output(visible(written), where, domain.values, said, visible(element.get("label") or written))
        except Unsayable as problem:
            self._refuse(where, problem)
            return None

    def _result(self, decision: Element) -> str | None:
        found = _children(decision, "variable")
        return found[0].get("typeRef") if found else None

    # ---- rows

    def _row(self, number: int, rule: Element, inputs: Sequence[Untyped], outputs: Sequence[Output]) -> Row:
        at = f"rule {number}"
        entries, results = _children(rule, "inputEntry"), _children(rule, "outputEntry")
        if (len(entries), len(results)) != (len(inputs), len(outputs)):
            own, its = f"{len(entries)} inputs and {len(results)} outputs", f"{len(inputs)} and {len(outputs)}"
            why = f"it has {own}, and the table {its}"
            self.refusals.append(Refusal(f"{self.at}, {at}", why, "give it an entry for each column"))
            return Row(number, at, (), ())
        reading = Reading(name_lookup([one.name for one in inputs] + list(self.model.variables)))
        cells = [f"{at}, input `{clip(one.label)}`" for one in inputs]
        says = [f"{at}, output `{clip(one.label or one.name or self.name)}`" for one in outputs]
        tests = [self._test(reading, cell, entry) for cell, entry in zip(cells, entries, strict=True)]
        said = [self._value(reading, cell, entry) for cell, entry in zip(says, results, strict=True)]
        for value, output, cell in zip(said, outputs, says, strict=True):
            if output.values and value and value not in output.values:
                self._refuse(cell, Unsayable(f"`{clip(value)}` is not among the output values", "add it there"))
        return Row(number, at, tuple(tests), tuple(said), (*cells, *says))

    def _test(self, reading: Reading, cell: str, entry: Element) -> Test:
        try:
            _in_feel(entry)
            text = _text(entry)
            return ANYTHING if not text and self.model.is_empty_any else reading.test(text)
        except Unsayable as problem:
            self._refuse(cell, problem)
            return ANYTHING

    def _value(self, reading: Reading, cell: str, entry: Element) -> str:
        try:
            _in_feel(entry)
            return spelled(reading.value(_text(entry)))
        except Unsayable as problem:
            self._refuse(cell, problem)
            return ""

    def _settled(self, column: Untyped, i: int, rows: Sequence[Row]) -> Column:
        tests = [(f"{self.at}, {row.cells[i]}", row.tests[i]) for row in rows]
        own, missing = column.typed(tests)
        self.refusals += missing
        if column.kind is None and not column.is_decided and not missing:
            self.model.notices.append(f"{self.at}: `{clip(column.name)}` has no type; its cells say {own.kind}")
        return own


def _in_feel(entry: Element) -> None:
    language = entry.get("expressionLanguage")
    if language and _LANGUAGES.search(language) is None:
        raise Unsayable(f"it is written in `{clip(language)}`", "write it in FEEL")


def _unfollowed(tables: Mapping[str, Table], decisions: set[str]) -> Iterator[tuple[str, str]]:
    """The tables that rest on a decision which is not taken, or on themselves; and those that rest on these."""
    taken = dict(tables)
    while True:
        lost = [(name, why) for name, table in taken.items() if (why := _missing(table, taken, decisions)) is not None]
        if not lost:
            break
        for name, why in lost:
            del taken[name]
            yield name, why
    for name in sorted(_circular(taken)):
        yield name, "it rests on itself, through the decisions that it names"


def _missing(table: Table, taken: Mapping[str, Table], decisions: set[str]) -> str | None:
    names = [column.name for column in table.inputs if column.is_decided]
    for name in names:
        decision = name if name in decisions else name.partition(".")[0]
        if decision not in taken:
            return f"its input `{clip(name)}` is a decision that is not taken"
        if len(taken[decision].outputs) > 1 and name == decision:
            return f"its input `{clip(name)}` has several outputs, and none is named"
    return None


def _circular(taken: Mapping[str, Table]) -> set[str]:
    needs = {
        name: {c.name if c.name in taken else c.name.partition(".")[0] for c in table.inputs if c.is_decided}
        for name, table in taken.items()
    }
    while free := [name for name, needed in needs.items() if not needed & needs.keys()]:
        for name in free:
            del needs[name]
    return set(needs)
