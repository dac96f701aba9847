"""Findings as data of a review: at the place that the pull request shows, with the one right fix if there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from bylaw.canonical import plain
from ci.findings import Finding, Place
from ci.fixes import fixed_line
from ci.loading.source import Unreadable, read
from ci.report.visible import visible
from ci.review.computed.document import (
    LONGEST,
    MOST,
    Case,
    FoundItem,
    OutcomeChange,
    Shown,
    Spot,
    Suggestion,
    clipped,
    escaped_path,
)
from ci.review.computed.hunks import Diff, anchored
from ci.review.computed.speech import Speech

Line = Callable[[str, int], str]  # the text of a line of the head; empty where there is none

_NAME = 300
_MEMBERS = 200


def found(finding: Finding, diff: Diff, existing: bool, line: Line, speech: Speech) -> FoundItem:
    """The finding, in words of people; every place of it must carry its line."""
    there = anchored(finding, diff) if not existing else finding
    detail = there.detail
    shown = _shown(there.at, diff)
    return FoundItem(
        id=there.id,
        severity=there.severity if there.severity != "off" else "notice",
        message=clipped(there.message),
        at=_spot(there.at),
        shown=shown,
        policies=[clipped(name, _NAME) for name in there.policies[:MOST]],
        related=[_spot(place, speech.voice(note)) for place, note in there.related[:MOST]],
        help=None if there.help is None else clipped(there.help),
        status=there.status,
        case=case(there.counterexample),
        subject=_text(speech.subject(str(detail.get("subject") or "")), _NAME),
        side=_text(speech.voice(str(detail.get("side") or ""))),
        ending=_text(detail.get("ending")),
        owners=[clipped(str(owner), _NAME) for owner in detail.get("owners", ())][:50],
        pairs=int(detail.get("pairs", 0)),
        members=[clipped(member, _NAME) for member in there.members[:_MEMBERS]],
        member_count=len(there.members),
        fingerprint=finding.fingerprint,
        existing=existing,
        suggestion=suggestion(there, line) if shown in ("changed", "context") and not existing else None,
    )


def _shown(place: Place, diff: Diff) -> Shown:
    return diff.shows(place.path, place.line or 1)


def _spot(place: Place, note: str = "") -> Spot:
    return Spot(path=escaped_path(place.path), line=place.line or 1, note=clipped(note))


def _text(value: Any, most: int = LONGEST) -> str | None:
    return clipped(value, most) if isinstance(value, str) and value else None


def case(counterexample: Mapping[str, Any] | None) -> Case | None:
    """The case of a finding, its facts as JSON values."""
    if not counterexample:
        return None
    told = plain(counterexample)
    facts = told.get("facts", {}) if "facts" in told or "words" in told else told
    return Case(
        words=clipped(told.get("words") or _listed(facts)),
        facts={clipped(name, _NAME): _value(value) for name, value in sorted(facts.items())[:500]},
        at=told.get("at"),
        entry=clipped(told.get("case", "")),
    )


def _listed(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}: {str(value).lower()}" for name, value in sorted(facts.items()))


def _value(value: Any) -> bool | int | float | str | None:
    if isinstance(value, bool | int | float) or value is None:
        return value
    return clipped(str(value), _NAME)


def change(finding: Finding, speech: Speech) -> OutcomeChange:
    """An `outcome-change` as a row of the table of outcomes, in words of people."""
    detail = finding.detail
    by = detail.get("by", ((), ()))
    return OutcomeChange(
        subject=clipped(speech.subject(detail["subject"]), _NAME),
        before=clipped(speech.name(detail["before"]), _NAME),
        after=clipped(speech.name(detail["after"]), _NAME),
        by_before=[clipped(speech.voice(who), _NAME) for who in by[0][:50]],
        by_after=[clipped(speech.voice(who), _NAME) for who in by[1][:50]],
        case=case(finding.counterexample) or Case(),
        where=clipped(detail.get("where", "")),
        tendency=detail["effect"],
        fingerprint=finding.fingerprint,
    )


# ---- the one right fix ----------------------------------------------------------------------------------------------


def suggestion(finding: Finding, line: Line) -> Suggestion | None:
    """The line with the right word in the place of the misspelt one; None unless exactly that word stands there."""
    number = finding.at.line
    is_named = escaped_path(finding.at.path) == finding.at.path
    fixed = fixed_line(finding, line(finding.at.path, number)) if number is not None and is_named else None
    if number is None or fixed is None or _is_unclean(fixed):
        return None
    return Suggestion(path=finding.at.path, line=number, end_line=number, lines=[fixed])


# ---- cases that nobody has written ----------------------------------------------------------------------------------

_MOST_LINES = 40  # of one suggestion: a few cases, not a page of them


def appended(entries: Iterable[tuple[str, str]], diff: Diff, line: Line) -> Iterator[Suggestion]:
    """Missing cases behind the last line of their file, where the pull request shows that line."""
    for path, texts in groupby(entries, key=lambda pair: pair[0]):
        last = max(diff.files[path].shown, default=0) if path in diff.files else 0
        if not last or escaped_path(path) != path or line(path, last + 1) or line(path, last + 2):
            continue
        lines = [line(path, last)]
        for _, text in texts:
            more = text.rstrip("\n").split("\n")
            if len(lines) + len(more) > _MOST_LINES or any(_is_unclean(row) for row in more):
                break
            lines += more
        before = [line(path, number) for number in range(1, last)]
        if len(lines) > 1 and not _is_unclean(lines[0]) and _fits(path, [*before, lines[0]], lines[1:]):
            yield Suggestion(path=path, line=last, end_line=last, lines=lines)


def _is_unclean(text: str) -> bool:
    return visible(text, tab="\t") != text or len(text) > 1_000 or "<!-- bylaw:" in text


def _fits(path: str, before: list[str], more: list[str]) -> bool:
    """Do the entries stand in one list with what is there?"""
    try:
        old, new = (read(path, "\n".join(rows).encode()).data for rows in (before, [*before, *more]))
    except Unreadable:
        return False
    added = sum(row.startswith("- ") for row in more)
    return isinstance(old, list) and isinstance(new, list) and len(new) == len(old) + added
