"""What changed in each policy, in words, with the cases that are decided differently because of it.

What is written and what is proved stand beside each other: a bound that moved is told as it was moved, and every kind
of case whose outcome changes is told by the policy that causes it.
"""

from __future__ import annotations

from calendar import month_name
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Literal

from bylaw.logic.formula.ir import ConditionalRule, Or
from bylaw.logic.words.prose import case_in_words
from ci.diff import Paper, Version, speech_of
from ci.proofs.versions.changed import Change
from ci.report.changes import Comparison
from ci.rewritten.rules import Speech, rewritten

Kind = Literal["new", "gone", "bound", "test", "rule", "period", "owner", "level", "overrides"]
FEW_RULES = 6  # of a policy that is new are told one by one


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that changed, from a day on where that lies ahead."""

    kind: Kind
    words: str
    since: date | None = None


@dataclass(frozen=True, slots=True)
class Shift:
    """A kind of case that is decided differently, from a day and until a day where it has those."""

    where: str
    before: str
    after: str
    since: date | None
    until: date | None


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """What changed of one policy: `entries` as it was written, `shifts` as it was proved."""

    policy_id: str
    paper: Paper
    entries: tuple[Entry, ...]
    shifts: tuple[Shift, ...]


@dataclass(frozen=True, slots=True)
class Changelog:
    """Two versions for people who were not there. `reworded` are policies whose text alone differs."""

    comparison: Comparison
    policies: tuple[PolicyChange, ...]
    reworded: tuple[str, ...]

    @property
    def is_proved(self) -> bool:
        """Is it known that no other case is decided differently?"""
        return not self.comparison.found.unknown


def changelog(one: Version, two: Version, comparison: Comparison) -> Changelog:
    """What *comparison*, which is of *one* and *two*, means for whom."""
    book = _Book(one, two, comparison)
    changed = []
    for policy_id in sorted({*one.papers, *two.papers}):
        entries, shifts = tuple(book.entries(policy_id)), tuple(book.shifts(policy_id))
        if entries or shifts:
            changed.append(PolicyChange(policy_id, book.paper(policy_id), entries, shifts))
    told = {change.policy_id for change in changed}
    ordered = sorted(changed, key=lambda change: (change.paper.domain, change.paper.owner, change.policy_id))
    return Changelog(comparison, tuple(ordered), tuple(sorted(book.reworded() - told - book.told_as_text())))


@dataclass(frozen=True)
class _Book:
    """Both versions, to look up in."""

    one: Version
    two: Version
    comparison: Comparison

    @cached_property
    def speech(self) -> Speech:
        return speech_of(self.one, self.two)

    def paper(self, policy_id: str) -> Paper:
        return self.two.papers.get(policy_id) or self.one.papers[policy_id]

    def entries(self, policy_id: str) -> Iterator[Entry]:
        old, new = self.one.papers.get(policy_id), self.two.papers.get(policy_id)
        before, after = (self._rules(side, policy_id) for side in (self.one, self.two))
        if old is None and new is not None:
            yield from self._begun(policy_id, new, after)
        elif new is None:
            yield Entry("gone", "no longer there")
        elif old is not None:
            since = new.since if new.since != old.since and self._is_ahead(new.since) else None
            lines = dict.fromkeys(rewritten(before, after, self.speech))
            yield from (Entry(line.kind, line.words, since) for line in lines)
            yield from _kept_differently(old, new)
            yield from self._weighed(policy_id, before, after)

    def shifts(self, policy_id: str) -> Iterator[Shift]:
        """The kinds of cases that change because of this policy; of several that cause it, the first one's."""
        for change in self.comparison.found.changes:
            if self._cause(change) == policy_id:
                yield self._shift(change)

    def reworded(self) -> set[str]:
        """The policies whose record differs."""
        old, new = self.one.records, self.two.records
        return {policy_id for policy_id in old.keys() & new.keys() if old[policy_id] != new[policy_id]}

    def told_as_text(self) -> set[str]:
        """The policies whose sentences that no logic checks differ: that is told by itself."""
        old, new = self.one.unchecked, self.two.unchecked
        return {policy_id for policy_id in {*old, *new} if old.get(policy_id) != new.get(policy_id)}

    # ---- as it was written ------------------------------------------------------------------------------------------

    def _rules(self, side: Version, policy_id: str) -> list[ConditionalRule]:
        return [rule for rule in side.ruleset.rules if rule.policy_id == policy_id]

    def _is_ahead(self, day: date | None) -> bool:
        return day is not None and day > self.comparison.at

    def _begun(self, policy_id: str, paper: Paper, rules: Sequence[ConditionalRule]) -> Iterator[Entry]:
        """A new policy: what is different from the one whose place it takes, else what it says."""
        since = paper.since if self._is_ahead(paper.since) else None
        for other in self._left_by(paper):
            lines = rewritten(self._rules(self.one, other), rules, self.speech)
            moved = dict.fromkeys(line for line in lines if line.kind == "bound")
            if moved:
                yield Entry("new", f"takes the place of {other}", since)
                yield from (Entry(line.kind, line.words, since) for line in moved)
                return
        until = "" if paper.until is None else f", until {in_english(paper.until)}"
        yield Entry("new", f"new, from {paper.source}{until}", since)
        yield from (Entry("rule", self.speech.says(rule), since) for rule in rules[:FEW_RULES])
        if len(rules) > FEW_RULES:
            yield Entry("rule", f"{len(rules) - FEW_RULES} more rules: `bylaw explain {policy_id}`", since)

    def _left_by(self, paper: Paper) -> Iterator[str]:
        """The policies of the domain that are gone, or that now end on the day before."""
        for policy_id, old in sorted(self.one.papers.items()):
            new = self.two.papers.get(policy_id)
            end = None if new is None or new.until == old.until else new.until
            follows = end is not None and paper.since == end + timedelta(days=1)
            if old.domain == paper.domain and (new is None or follows):
                yield policy_id

    def _weighed(
        self, policy_id: str, before: Sequence[ConditionalRule], after: Sequence[ConditionalRule]
    ) -> Iterator[Entry]:
        old, new = ({rule.level for rule in rules} for rules in (before, after))
        if len(old) == len(new) == 1 and old != new:
            yield Entry("level", f"now level {min(new)} instead of {min(old)}: the lower number goes first")
        was, now = (side.ruleset.overrides.get(policy_id, frozenset()) for side in (self.one, self.two))
        for words, others in (("now goes before", now - was), ("no longer goes before", was - now)):
            if others:
                yield Entry("overrides", f"{words} {', '.join(sorted(others))}")

    # ---- as it was proved -------------------------------------------------------------------------------------------

    def _cause(self, change: Change) -> str | None:
        for n in (1, 0):
            for i in change.causes[n] or change.by[n]:
                return self.comparison.rule(n, i).policy_id
        return None

    def _shift(self, change: Change) -> Shift:
        since, until = date.fromordinal(change.day), change.until
        return Shift(
            self._where(change),
            self._held(change, change.before),
            self._held(change, change.after),
            since if self._is_ahead(since) else None,
            None if until is None else date.fromordinal(until),
        )

    def _where(self, change: Change) -> str:
        """The region where one clause says it, else one case of it: who was not there wants an example."""
        if change.is_bound or isinstance(change.where, Or):
            return f"for instance {case_in_words(change.facts, self.comparison.labels)}"
        return f"where {self.comparison.where(change)}"

    def _held(self, change: Change, held: str | bool | None) -> str:
        kind = change.subject.kind
        if held is None or isinstance(held, str):
            return "nothing is decided" if held is None else self.speech.called(held)
        words = {"required": "must", "prohibited": "must not", "permitted": "may"}[kind]
        return f"{self.speech.called(change.subject.name)}: {words if held else f'no “{words}”'}"


def _kept_differently(old: Paper, new: Paper) -> Iterator[Entry]:
    """Whose it is, and from when until when it holds."""
    if old.owner != new.owner:
        yield Entry("owner", f"now decided by {new.owner} instead of {old.owner}")
    for words, was, now in (("holds from", old.since, new.since), ("ends on", old.until, new.until)):
        if was != now:
            day = "no given day" if now is None else in_english(now)
            yield Entry("period", f"{words} {day}" + ("" if was is None else f" instead of {in_english(was)}"))


def in_english(day: date) -> str:
    """`1 March 2027`."""
    return f"{day.day} {month_name[day.month]} {day.year}"
