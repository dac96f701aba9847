"""The rules of two versions of a policy side by side, and what was written anew, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bylaw.logic.formula.ir import ConditionalRule, Ruleset, Variable
from bylaw.logic.words.prose import Labels, rule_in_words, sentence
from bylaw.logic.words.readable import readable
from ci.rewritten.bounds import bounds, limits, tests, told


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was written anew: a bound that moved, a test that actions gained or lost, a whole rule."""

    kind: Literal["bound", "test", "rule"]
    words: str


@dataclass(frozen=True, slots=True)
class Speech:
    """How to speak of facts and actions, and the facts themselves."""

    labels: Labels
    names: Mapping[str, str]
    variables: Mapping[str, Variable]

    def called(self, action: str) -> str:
        """The action's label, else its name as words."""
        return self.names.get(action) or action.replace("_", " ")

    def says(self, rule: ConditionalRule) -> str:
        """The sentence of the source, else the rule in words."""
        if rule.source.text:
            return f"“{rule.source.text}”"
        short = replace(rule, guard=readable(rule.guard, self.variables))
        return rule_in_words(short, self.labels, self.names).removesuffix(f" ({rule.policy_id})")


def narrowed(before: Ruleset, after: Ruleset, speech: Speech) -> list[str]:
    """Each condition that a policy gained or lost before several of its actions, with all of these."""
    lines = []
    for policy_id in sorted({rule.policy_id for rule in after.rules} & {rule.policy_id for rule in before.rules}):
        sides = [[rule for rule in side.rules if rule.policy_id == policy_id] for side in (before, after)]
        pairs, _, added = paired(*sides)
        found = _tests(pairs, speech, has_new=bool(added))
        lines += [f"{policy_id}: {_listed(whom)}: {line}" for line, whom in found.items() if len(whom) > 1]
    return lines


def rewritten(before: Sequence[ConditionalRule], after: Sequence[ConditionalRule], speech: Speech) -> Iterator[Line]:
    pairs, gone, added = paired(before, after)
    for one, two in pairs:
        yield from (Line("bound", bound.words(speech.labels)) for bound in bounds(one.guard, two.guard) or ())
    for line, whom in _tests(pairs, speech, has_new=bool(added)).items():
        yield Line("test", f"{_listed(whom)}: {line}")
    yield from (Line("rule", f"no longer: {speech.says(rule)}") for rule in gone)
    yield from (Line("rule", f"now also: {speech.says(rule)}") for rule in added)


def _tests(
    pairs: Sequence[tuple[ConditionalRule, ConditionalRule]], speech: Speech, has_new: bool
) -> dict[str, list[str]]:
    """What rules ask for, or no longer do, each with all the actions before which that is so."""
    found: dict[str, list[str]] = {}
    for one, two in pairs:
        if bounds(one.guard, two.guard) is None:
            name = speech.called(two.effect.action)
            whom = f"not {name}" if two.effect.kind == "prohibited" else name
            for line in _asked(one, two, speech.labels, has_new):
                found.setdefault(line, []).append(whom)
    return {line: list(dict.fromkeys(whom)) for line, whom in found.items()}


def _asked(one: ConditionalRule, two: ConditionalRule, spoken: Labels, has_new: bool) -> Iterator[str]:
    old, new = tests(one.guard), tests(two.guard)
    gained = {test: None for test in new if test not in old}
    lost = {test: None for test in old if test not in new}
    if gained:
        yield f"now only if {told(gained, spoken)}"
    if lost:
        yield f"no longer only if {told(lost, spoken)}"
    kept_out = [limit for limit in limits(two.guard) if limit not in limits(one.guard)]
    if not (gained or lost or has_new) and kept_out:
        yield f"no longer where {'; or where '.join(sentence(limit, spoken) for limit in kept_out)}"


def _listed(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def paired(
    before: Sequence[ConditionalRule], after: Sequence[ConditionalRule]
) -> tuple[list[tuple[ConditionalRule, ConditionalRule]], list[ConditionalRule], list[ConditionalRule]]:
    """Rules that do the same thing, in their order, equal ones first; then what only one side has."""
    pairs, gone = [], []
    left = list(after)
    waiting = []
    for rule in before:
        same = next((other for other in left if (other.effect, other.guard) == (rule.effect, rule.guard)), None)
        waiting += [rule] if same is None else []
        left = [other for other in left if other is not same]
    for rule in waiting:
        alike = [other for other in left if (other.effect, other.origin) == (rule.effect, rule.origin)]
        near = next((other for other in alike if other.source.text == rule.source.text), next(iter(alike), None))
        if near is None:
            gone.append(rule)
            continue
        pairs.append((rule, near))
        left = [other for other in left if other is not near]
    return pairs, gone, left
