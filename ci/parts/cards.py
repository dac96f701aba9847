"""What is remembered of a policy file: enough to say, without reading it again, whom a change elsewhere may touch.

A card holds no logic. Its boxes are where each rule may fire, an upper bound that no case lies outside of; its keys
are what the rule may argue about. Rules that share no key, directly or through others, never matter to each other.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from bylaw.authored.vocabulary import Vocabulary
from bylaw.logic.boxes.boxes import END, START, Box, Cut, Region
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import ConditionalRule, Effect, Facts, Value
from ci.lint.words import words_in, words_of
from ci.loading.derived.record import PolicyRecord
from ci.loading.file_kinds import kind_of_file
from ci.loading.load import Workspace

PERIOD = ""  # the days on which a rule is in force, as one more fact: no declared fact has this name


@dataclass(frozen=True, slots=True)
class RuleCard:
    """Where one rule may fire, and what it may argue about. `boxes` are None where nothing bounds them."""

    keys: tuple[str, ...]
    boxes: tuple[Box, ...] | None


@dataclass(frozen=True, slots=True)
class Kind:
    """What many policies have in common.

    `days` are ordinals on which what it says begins or has ended; `keys` has an entry for every rule.
    """

    domain: str | None = None
    words: tuple[str, ...] = ()
    days: tuple[int, ...] = ()
    ends: int | None = None
    binds: bool = False  # has invariants, which hold for everybody
    decision: str | None = None  # that it comes from, as it names it
    keys: tuple[tuple[str, ...], ...] = ()

    @property
    def all_keys(self) -> frozenset[str]:
        """Everything that one of the rules may argue about."""
        return frozenset(key for keys in self.keys for key in keys)


@dataclass(frozen=True)
class Card:
    """One file under policies/ that holds a policy, or was meant to.

    `id` is what it adds to the policies that exist. `boxes` is the JSON text of where each of its rules may fire: of
    most cards nobody ever asks.
    """

    id: str
    kind: Kind = Kind()
    overrides: tuple[str, ...] = ()
    boxes: str = "[]"

    @cached_property
    def rules(self) -> tuple[RuleCard, ...]:
        """The rules that take part in the logic."""
        found = []
        for keys, written in zip(self.kind.keys, json.loads(self.boxes), strict=True):
            found.append(RuleCard(keys, None if written is None else tuple(map(read_box, written))))
        return tuple(found)


# ---- from a run -----------------------------------------------------------------------------------------------------


def cards(workspace: Workspace, records: Iterable[PolicyRecord], evaluator: Evaluator) -> dict[str, Card]:
    """A card for every file of *workspace* that was meant as a policy, by path."""
    writer = _Writer(workspace.vocabulary, evaluator)
    found = {record.path: writer.card(record) for record in records}
    misfits = {finding.at.path for finding in workspace.findings if finding.id == "schema"}
    for path, source in workspace.sources.items():
        if not is_policy(path):
            continue
        card = found.get(path) or Card(_meant(path, source.data))
        if path in misfits:
            more = {word.casefold() for word in words_in(source.text, workspace.vocabulary)}
            card = replace(card, kind=replace(card.kind, words=tuple(sorted({*card.kind.words, *more}))))
        found[path] = card
    return found


def unread(path: str) -> Card:
    """The card of a file that cannot be read: others may name what it would have declared."""
    return Card(PurePosixPath(path).stem)


def is_policy(path: str) -> bool:
    """Does the file hold one policy, by its place?"""
    room = kind_of_file(path)
    return room is not None and room.section == "policies"


def _meant(path: str, data: Any) -> str:
    written = data.get("policy_id") if isinstance(data, dict) else None
    return str(written or PurePosixPath(path).stem)


class Keys:
    """What rules may argue about, by the actions that they speak of. Of two that exclude each other, both."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._excluded: dict[str, set[str]] = defaultdict(set)
        for one, other in vocabulary.excluded_pairs():
            self._excluded[one].add(other)
            self._excluded[other].add(one)
        self._known: dict[frozenset[str], tuple[str, ...]] = {}

    def of(self, actions: frozenset[str]) -> tuple[str, ...]:
        """The keys of a rule that speaks of *actions*, by their canonical names."""
        if actions not in self._known:
            self._known[actions] = tuple(sorted({*self._keys(actions)}))
        return self._known[actions]

    def _keys(self, actions: Iterable[str]) -> Iterator[str]:
        for action in actions:
            yield from (f"action {name}" for name in (action, *self._excluded.get(action, ())))
            outcome = self._vocabulary.outcome_of(action)
            if outcome is not None:
                yield outcome_key(outcome)


class _Writer:
    """Cards of the policies whose rules *evaluator* knows."""

    def __init__(self, vocabulary: Vocabulary, evaluator: Evaluator) -> None:
        self.vocabulary, self.evaluator = vocabulary, evaluator
        self.keys = Keys(vocabulary)

    def card(self, record: PolicyRecord) -> Card:
        """What to remember of one policy."""
        policy, rules = record.policy, record.rules if record.in_logic else ()
        bounds = (policy.metadata.effective_date, policy.metadata.expiry_date)
        start, end = (day.toordinal() if day is not None else None for day in bounds)
        kind = Kind(
            domain=policy.metadata.domain,
            words=words_of(policy, self.vocabulary),
            days=tuple(day for day in (start, None if end is None else end + 1) if day is not None),
            ends=end,
            binds=record.in_logic and bool(record.constraints),
            decision=policy.metadata.decision,
            keys=tuple(self.keys.of(_actions(rule.effect)) for rule in rules),
        )
        boxes = json.dumps([self._boxes(rule) for rule in rules], separators=(",", ":"))
        return Card(policy.policy_id, kind, tuple(policy.overrides), boxes)

    def _boxes(self, rule: ConditionalRule) -> list[dict[str, Any]] | None:
        boxes, period = self.evaluator.boxes_of(self.evaluator.index_of(rule.rule_id)), _period(rule)
        if boxes is not None:
            return [written_box(Box({**box.regions, **period})) for box in boxes]
        return [written_box(Box(period))] if period else None


def _actions(effect: Effect) -> frozenset[str]:
    return frozenset((effect.action, *effect.demands, *(action for _, action in effect.takes)))


def outcome_key(outcome: str) -> str:
    """The key of everything that answers *outcome*."""
    return f"outcome {outcome}"


def _period(rule: ConditionalRule) -> dict[str, Region]:
    if rule.start is None and rule.end is None:
        return {}
    low: Cut = START if rule.start is None else (rule.start, 0)
    high: Cut = END if rule.end is None else (rule.end, 1)
    return {PERIOD: ((low, high),)}


# ---- boxes as JSON ---------------------------------------------------------------------------------------------------


def spot(facts: Facts) -> Box:
    """The cases that have these *facts*, whatever else they have."""
    return Box({name: _point(value) for name, value in facts.items()})


def _point(value: Value) -> Region:
    return frozenset((value,)) if isinstance(value, bool | str) else (((value, 0), (value, 1)),)


def written_box(box: Box) -> dict[str, Any]:
    """The regions of *box* as JSON."""
    return {var: _region(where) for var, where in box.regions.items()}


def read_box(data: Mapping[str, Any]) -> Box:
    """The box that `written_box` spells."""
    return Box({var: _read_region(where) for var, where in data.items()})


def _region(where: Region) -> list[Any]:
    """A finite region as its values; spans as four items each: value and side of both cuts, null for no bound."""
    if isinstance(where, frozenset):
        return sorted(where, key=str)
    return [[_number(low[0]), low[1], _number(high[0]), high[1]] for low, high in where]


def _number(value: Any) -> Any:
    return None if isinstance(value, float) else str(value) if isinstance(value, Fraction) else value


def _read_region(where: Sequence[Any]) -> Region:
    if where and isinstance(where[0], list):
        return tuple((_cut(low, side, START), _cut(high, other, END)) for low, side, high, other in where)
    return frozenset(where)


def _cut(value: Any, side: int, unbounded: Cut) -> Cut:
    return unbounded if value is None else (Fraction(value) if isinstance(value, str) else value, side)
