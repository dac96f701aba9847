"""Two versions compared, told to a person and to a machine: what changes, in which case, and who says so now.

Both tellings hold the same facts; the JSON has its keys sorted, so the same comparison gives the same bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol

import click

from bylaw.gate.history import HistoryFact
from bylaw.gate.traces import Past, as_json, trace_of
from bylaw.logic.formula.codec import encode
from bylaw.logic.formula.ir import TRUE, ConditionalRule, Or, Variable
from bylaw.logic.words.prose import Labels, case_in_words, sentence
from ci.proofs.inquiry import says
from ci.proofs.versions.change import Change, Changes, Unknown
from ci.proofs.versions.influence import Subject
from ci.proofs.versions.regions import Held
from ci.proofs.versions.shared import WordChange
from ci.report.visible import visible

COLOURS = {"tightened": "yellow", "loosened": "cyan", "changed": "magenta"}


TOLD_BOXES = 3  # of a region in words; its formula has them all


class Gate(Protocol):
    """A setting that decides what is checked, and differs: in words, and what it was and is."""

    @property
    def words(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def sides(self) -> tuple[str | None, str | None]: ...


@dataclass(frozen=True, slots=True)
class GateTold:
    """Such a setting, and a case that it makes impossible."""

    gate: Gate
    case: Mapping[str, Any] | None = None

    @property
    def words(self) -> str:
        """The change in one sentence."""
        gone = f"; there is no case any more with {self.case['words']}" if self.case else ""
        return f"this changes what is checked: {self.gate.words}{gone}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared, for which day, what was found, and how to speak of the facts."""

    names: tuple[str, str]
    at: date
    found: Changes
    labels: Labels
    history: Mapping[str, HistoryFact] = field(default_factory=dict)
    remark_count: int = 0  # files, where nothing but comments and layout differs
    narrowed: tuple[str, ...] = ()  # conditions that stand before several actions of one policy
    texts: tuple[str, ...] = ()  # how the sentences that no logic checks differ, a line for each policy
    gates: tuple[GateTold, ...] = ()  # what decides what is checked, and differs
    decisions: tuple[str, ...] = ()  # what was decided, superseded and taken away, a sentence each

    @property
    def variables(self) -> dict[str, Variable]:
        """The facts of the compared cases."""
        return self.found.shared.variables

    def rule(self, n: int, i: int) -> ConditionalRule:
        """A rule of one side."""
        return (self.found.shared.before, self.found.shared.after)[n].rules[i]

    def says(self, n: int, i: int) -> str:
        """`POL-REFUND-001 says full_refund`."""
        rule = self.rule(n, i)
        return f"{rule.policy_id} {says(rule)}"

    def policies(self, change: Change) -> tuple[str, ...]:
        """The policies that speak in the case, on either side, and those whose change it is."""
        found = {self.rule(n, i).policy_id for n in (0, 1) for i in (*change.by[n], *change.causes[n])}
        return tuple(sorted(found))

    def causes(self, change: Change) -> tuple[str, ...]:
        """The ids of the rules that only one side has and that make the difference."""
        return tuple(sorted({self.rule(n, i).rule_id for n in (0, 1) for i in change.causes[n]}))

    def case(self, change: Change) -> dict[str, Any]:
        """The case as JSON: facts in their declared units, the day, and the case in words."""
        shown = {name: self.variables[name].show(value) for name, value in sorted(change.facts.items())}
        told = {"facts": shown, "at": _iso(change.day), "words": case_in_words(change.facts, self.labels)}
        past = self.past(change)
        if past is None:
            return told
        return {**told, "history": [as_json(one, lambda name, value: self.variables[name].show(value)) for one in past]}

    def past(self, change: Change) -> list[Past] | None:
        """What could have happened before, where the case has facts of history; None where that is not so."""
        return trace_of(change.facts, self.history) if self.history.keys() & change.facts.keys() else None

    def steps(self, change: Change) -> str | None:
        """What happened before the call, and the call: `full_refund 1 hour ago, then full_refund now`."""
        past = self.past(change)
        if past is None:
            return None
        taken = change.subject.name
        if change.subject.kind == "outcome":
            taken = next((side for side in (change.after, change.before) if isinstance(side, str)), taken)
        before = [f"{one.action} {one.words} ago{' by somebody else' if one.is_others else ''}" for one in past]
        return ", then ".join([*before, f"{taken} now"])

    def where(self, change: Change) -> str:
        """The cases of the region in words, the widest first; of a bound it is said that not all of them change."""
        return f"some of the cases in which {self._cases(change)}" if change.is_bound else self._cases(change)

    def _cases(self, change: Change) -> str:
        if not isinstance(change.where, Or) or len(change.where.items) <= TOLD_BOXES:
            return "every case" if change.where == TRUE else sentence(change.where, self.labels)
        told = "; or ".join(sentence(item, self.labels) for item in change.where.items[:TOLD_BOXES])
        return f"{told}; or {len(change.where.items) - TOLD_BOXES} other kinds of cases"

    def sentence(self, change: Change) -> str:
        """The change in one sentence."""
        what, then = in_words(change.subject), f"{held(change.before)} → {held(change.after)}"
        speakers = [self.says(1, i) for i in change.by[1]] or [f"{self.says(0, i)} no longer" for i in change.by[0][:1]]
        who = f" ({' and '.join(speakers)})" if speakers else ""
        steps = self.steps(change)
        case = case_in_words(change.facts, self.labels) + (f" ({steps})" if steps else "")
        return f"{what} changes{self.period(change)}: {case}: {then}{who}"

    def period(self, change: Change) -> str:
        """` from 2027-01-01 until 2027-06-30`; empty when it holds from the day asked on, for good."""
        start = f" from {_iso(change.day)}" if change.day > self.at.toordinal() else ""
        return start + (f" until {_iso(change.until)}" if change.until is not None else "")


def in_words(subject: Subject | None) -> str:
    """`refund`, or `the duty verify_identity`."""
    if subject is None:
        return "anything"
    nouns = {
        "outcome": "",
        "required": "the duty ",
        "prohibited": "the prohibition of ",
        "permitted": "the permission of ",
    }
    return f"{nouns[subject.kind]}{subject.name}"


def held(held: Held) -> str:
    """`full_refund`, `nothing`; of a duty whether it holds."""
    return "nothing" if held is None else held if isinstance(held, str) else "holds" if held else "does not hold"


def _iso(day: int) -> str:
    return date.fromordinal(day).isoformat()


# ---- for machines ---------------------------------------------------------------------------------------------------


def render_json(comparison: Comparison, recorded: Mapping[str, Any] | None = None) -> str:
    """One JSON document with a line break at its end; with what a log of answers says, where there is one."""
    found = comparison.found
    document = {
        "base": comparison.names[0],
        "head": comparison.names[1],
        "at": comparison.at.isoformat(),
        "effect": found.tendency,
        "checks": [_gate(told) for told in comparison.gates],
        "changes": [_change(comparison, change) for change in found.changes],
        "nothing_else_changes": not found.unknown,
        "only_comments_in": comparison.remark_count,
        "narrowed": list(comparison.narrowed),
        "texts": list(comparison.texts),
        "decisions": list(comparison.decisions),
        "unknown": [_unknown(limit) for limit in found.unknown],
        "vocabulary": [_word(word) for word in found.shared.words],
        "not_compared": [_rule(comparison, n, i) for n in (0, 1) for i in found.shared.foreign[n]],
        **({} if recorded is None else {"recorded": recorded}),
    }
    return json.dumps(document, indent=2, sort_keys=True, allow_nan=False) + "\n"


def _gate(told: GateTold) -> dict[str, Any]:
    before, after = told.gate.sides
    case = None if told.case is None else dict(told.case)
    return {"gate": told.gate.kind, "about": told.gate.about, "before": before, "after": after, "case": case}


def _change(comparison: Comparison, change: Change) -> dict[str, Any]:
    sides = ("before", "after")
    return {
        **_subject(change.subject),
        "before": change.before,
        "after": change.after,
        "effect": change.tendency,
        "case": comparison.case(change),
        "policies": list(comparison.policies(change)),
        "region": {
            "words": comparison.where(change),
            "formula": encode(change.where, comparison.variables),
            "is_bound": change.is_bound,
        },
        "from": _iso(change.day),
        "until": None if change.until is None else _iso(change.until),
        "by": {side: [_rule(comparison, n, i) for i in change.by[n]] for n, side in enumerate(sides)},
        "causes": [_rule(comparison, n, i) for n in (0, 1) for i in change.causes[n]],
        "missing_facts": list(change.missing),
    }


def _subject(subject: Subject) -> dict[str, str]:
    return {"kind": subject.kind, "outcome" if subject.kind == "outcome" else "action": subject.name}


def _rule(comparison: Comparison, n: int, i: int) -> dict[str, Any]:
    rule = comparison.rule(n, i)
    return {
        "side": ("base", "head")[n],
        "policy_id": rule.policy_id,
        "rule_id": rule.rule_id,
        "says": says(rule),
        "path": rule.source.path,
        "line": rule.source.line,
    }


def _unknown(limit: Unknown) -> dict[str, Any]:
    about = {} if limit.subject is None else _subject(limit.subject)
    return {**about, "at": None if limit.day is None else _iso(limit.day), "reason": limit.reason}


def _word(word: WordChange) -> dict[str, Any]:
    return {"what": word.what, "name": word.name, "change": word.change, "values": list(word.values)}


# ---- for people -----------------------------------------------------------------------------------------------------


def render(comparison: Comparison) -> str:
    """The report as text, with colours for `click.echo` to keep or strip."""
    gates = [visible(told.words) for told in comparison.gates]
    blocks = [*(["\n".join(gates)] if gates else [])]
    blocks += ["\n".join(_block(comparison, change)) for change in comparison.found.changes]
    told = (*comparison.narrowed, *comparison.texts, *(f"decisions: {one}" for one in comparison.decisions))
    notes = [*map(visible, told), *_words(comparison), *_not_compared(comparison)]
    return "\n\n".join([*blocks, *(["\n".join(notes)] if notes else []), "\n".join(_ending(comparison))])


def _block(comparison: Comparison, change: Change) -> Iterator[str]:
    subject, then = in_words(change.subject), f"{held(change.before)} → {held(change.after)}"
    mark = click.style(f"[{change.tendency}]", fg=COLOURS.get(change.tendency), bold=True)
    yield f"{mark} {visible(subject)}: {visible(then)}{comparison.period(change)}"
    yield f"  {click.style('case', fg='magenta')}    {visible(case_in_words(change.facts, comparison.labels))}"
    if (steps := comparison.steps(change)) is not None:
        yield f"  {click.style('history', fg='magenta')} {visible(steps)}"
    yield f"  {click.style('where', fg='blue')}   {visible(comparison.where(change))}"
    for n, side in enumerate(("before", "after")):
        for i, line in enumerate(_speakers(comparison, change, n)):
            head = f"{click.style(side, fg='blue')}{' ' * (8 - len(side))}" if i == 0 else " " * 8
            yield f"  {head}{visible(line)}"
    if change.missing:
        yield f"  {click.style('open', fg='blue')}    it depends on {visible(', '.join(change.missing))}"


def _speakers(comparison: Comparison, change: Change, n: int) -> Iterator[str]:
    """Who says so on one side, with the place; where nobody does, the rule that is new or was there."""
    if change.by[n]:
        clash = len(change.by[n]) > 1
        for i in change.by[n]:
            rule = comparison.rule(n, i)
            yield f"{comparison.says(n, i)}{' (in conflict)' if clash else ''}   {rule.source.path}:{rule.source.line}"
        return
    told = change.before if n == 0 else change.after
    yield "nobody says so" if isinstance(told, bool) else "nothing is decided"
    for i in change.causes[n]:
        rule = comparison.rule(n, i)
        yield f"{comparison.says(n, i)}   {rule.source.path}:{rule.source.line}"


def remarks(count: int) -> str:
    """`: one file differs in comments or layout alone`; empty where that is not all."""
    if not count:
        return ""
    return f": {'one file differs' if count == 1 else f'{count:,} files differ'} in comments or layout alone"


def _words(comparison: Comparison) -> Iterator[str]:
    for word in comparison.found.shared.words:
        values = f" {', '.join(f'`{value}`' for value in word.values)}" if word.values else ""
        what = {"value": f"values of `{word.name}`", "domain": f"the range of `{word.name}`"}
        yield visible(f"words: {what.get(word.what, f'the {word.what} `{word.name}`')}{values}: {word.change}")


def _not_compared(comparison: Comparison) -> Iterator[str]:
    for n in (0, 1):
        for i in comparison.found.shared.foreign[n]:
            rule = comparison.rule(n, i)
            why = "by a fact that only one side knows, so its cases are not compared"
            yield visible(f"words: {comparison.says(n, i)} {why}   {rule.source.path}:{rule.source.line}")


def _ending(comparison: Comparison) -> Iterator[str]:
    found = comparison.found
    counts = Counter(change.tendency for change in found.changes)
    parts = ", ".join(f"{counts[kind]} {kind}" for kind in ("tightened", "loosened", "changed") if counts[kind])
    regions = f"{len(found.changes)} region{'' if len(found.changes) == 1 else 's'} of change ({parts})"
    if not found.unknown:
        apart = sum(map(len, found.shared.foreign))
        if apart:
            told = f"{'1 rule is' if apart == 1 else f'{apart:,} rules are'} not compared, by their words"
            yield f"{regions if found.changes else 'no region of change was found'}; {told}"
            return
        what = "no case is decided differently" if comparison.decisions else "nothing changes"
        nothing = click.style(what, fg="green") + remarks(comparison.remark_count)
        yield f"{regions}; nothing else changes" if found.changes else nothing
        return
    yield f"{regions if found.changes else 'no change was found'}; whether anything else changes is not known:"
    for limit in found.unknown:
        about = "" if limit.subject is None else f"{in_words(limit.subject)}: "
        when = "" if limit.day is None else f" (on {_iso(limit.day)})"
        yield visible(f"  {about}{limit.reason}{when}")
