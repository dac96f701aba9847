"""A policy that was made from a decision table, drawn as that table: a row for each rule, a column for each fact.

A policy is one where every action says where it comes from (`source`). One that people rewrote in a way that no cell
says is none, and is told in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bylaw.authored.conditions import AllOf, AnyOf, Condition, FactCheck, Not
from bylaw.authored.policies import Policy, PolicyAction
from bylaw.authored.vocabulary import Vocabulary
from bylaw.canonical import number_text

Cells = dict[str, str]


@dataclass(frozen=True, slots=True)
class DrawnTable:
    """The heads of the columns, and the rows: first where a row stands, then its tests, then what it says."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def lines(self) -> Iterator[str]:
        """The table as text, its columns under each other."""
        whole = [self.heads, *self.rows]
        widths = [max(len(row[i]) for row in whole) for i in range(len(self.heads))]
        for n, row in enumerate(whole):
            yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            if n == 0:
                yield "  ".join("-" * width for width in widths)


def drawn_table(policy: Policy, vocabulary: Vocabulary) -> DrawnTable | None:
    """The table that *policy* came from, as the policy says it today; None where it is none."""
    if not policy.actions or policy.exceptions or any(action.source is None for action in policy.actions):
        return None
    by_id = {condition.id: condition for condition in policy.conditions if condition.id}
    tests: dict[str, Cells] = {}
    for id, condition in by_id.items():
        cells = _cells(condition, vocabulary)
        if cells is None:
            return None
        tests[id] = cells
    facts = list(dict.fromkeys(fact for cells in tests.values() for fact in cells))
    terms = list(dict.fromkeys(name for action in policy.actions for name in action.requires if name not in by_id))
    outcomes = list(dict.fromkeys(filter(None, (vocabulary.outcome_of(action.action) for action in policy.actions))))
    rows = [_row(group, tests, facts, terms, outcomes, vocabulary) for group in _grouped(policy.actions)]
    heads = ("row", *(_fact_label(vocabulary, fact) for fact in facts), *(_spoken(term) for term in terms))
    said = (
        str(vocabulary.outcomes[name].label or _spoken(name)) if name in vocabulary.outcomes else name
        for name in outcomes
    )
    return DrawnTable((*heads, *(f"→ {name}" for name in said)), tuple(rows))


def _grouped(actions: Sequence[PolicyAction]) -> Iterator[list[PolicyAction]]:
    """The actions of one row stand together, and come from one place."""
    group: list[PolicyAction] = []
    for action in actions:
        if group and (action.source, action.requires) != (group[0].source, group[0].requires):
            yield group
            group = []
        group.append(action)
    yield group


def _row(
    group: Sequence[PolicyAction],
    tests: Mapping[str, Cells],
    facts: Sequence[str],
    terms: Sequence[str],
    outcomes: Sequence[str],
    vocabulary: Vocabulary,
) -> tuple[str, ...]:
    required = group[0].requires
    cells = {fact: cell for name in required for fact, cell in tests.get(name, {}).items()}
    said = {vocabulary.outcome_of(action.action): _action_label(vocabulary, action.action) for action in group}
    return (
        group[0].source or "",
        *(cells.get(fact, "-") for fact in facts),
        *("yes" if term in required else "-" for term in terms),
        *(said.get(outcome, "-") for outcome in outcomes),
    )


def _fact_label(vocabulary: Vocabulary, fact: str) -> str:
    declared = vocabulary.facts.get(fact)
    return str(declared.label) if declared and declared.label else _spoken(fact)


def _action_label(vocabulary: Vocabulary, action: str) -> str:
    declared = vocabulary.actions.get(action)
    return str(declared.label) if declared and declared.label else _spoken(action)


def _spoken(name: str) -> str:
    return name.replace("_", " ")


# ---- cells ----------------------------------------------------------------------------------------------------------


def _cells(condition: Condition, vocabulary: Vocabulary) -> Cells | None:
    """Fact → what its cell says; None where a cell says nothing of the kind."""
    parts = condition.all_of if isinstance(condition, AllOf) else [condition]
    found: dict[str, list[str]] = {}
    for part in parts:
        one = _cell(part, vocabulary)
        if one is None:
            return None
        found.setdefault(one[0], []).append(one[1])
    return {fact: _both(texts) for fact, texts in found.items()}


def _both(texts: Sequence[str]) -> str:
    """Two bounds as one interval, where they are two."""
    if len(texts) == 2 and texts[0].startswith(">") and texts[1].startswith("<"):
        low, high = texts
        left, right = ("[" if low.startswith(">=") else "("), ("]" if high.startswith("<=") else ")")
        return f"{left}{low.lstrip('>= ')}..{high.lstrip('<= ')}{right}"
    return " and ".join(texts)


def _cell(condition: Any, vocabulary: Vocabulary) -> tuple[str, str] | None:
    match condition:
        case FactCheck(parameter=str(fact)) if condition.target == "general":
            return fact, _check(condition, vocabulary)
        case AllOf(all_of=items):
            return _same_fact([_cell(item, vocabulary) for item in items], None)
        case AnyOf(any_of=items) if not any(isinstance(item, list) for item in items):
            return _same_fact([_cell(item, vocabulary) for item in items], ", ")
        case Not(not_=inner) if not isinstance(inner, list):
            one = _cell(inner, vocabulary)
            return None if one is None else (one[0], f"not({one[1]})")
    return None


def _same_fact(cells: Sequence[tuple[str, str] | None], between: str | None) -> tuple[str, str] | None:
    known = [cell for cell in cells if cell is not None]
    if len(known) < len(cells) or len({fact for fact, _ in known}) != 1:
        return None
    texts = [text for _, text in known]
    return known[0][0], between.join(texts) if between is not None else _both(texts)


def _check(check: FactCheck, vocabulary: Vocabulary) -> str:
    operator = check.operator or ("in" if isinstance(check.value, list) else "==")
    if check.between is not None:
        return "..".join(map(_text, check.between))
    if check.value_of is not None:
        return f"{operator} {_fact_label(vocabulary, check.value_of)}"
    if isinstance(check.value, list):
        return ("..".join if operator == "between" else ", ".join)(map(_text, check.value))
    return _text(check.value) if operator in ("==", "=") else f"{operator} {_text(check.value)}"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else number_text(value)
