"""Findings as data of a review: at the place that the pull request shows, with the one right fix if there is one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from bylaw.canonical import plain
from ci.findings import Finding, Place
from ci.report.text import visible
from ci.review.document import (
    LONGEST,
    MOST,
    Case,
    FoundItem,
    OutcomeChange,
    Shown,
    Spot,
    Suggestion,
    clipped,
)
from ci.review.hunks import Diff, anchored

Line = Callable[[str, int], str]  # the text of a line of the head; empty where there is none

_NAME = 300
_MEMBERS = 200
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_TAKEN = frozenset(("true", "false", "null"))  # words that YAML reads as something else than text


def found(finding: Finding, diff: Diff, existing: bool, line: Line) -> FoundItem:
    """The finding; every place of it must carry its line."""
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
        related=[_spot(place, note) for place, note in there.related[:MOST]],
        help=None if there.help is None else clipped(there.help),
        status=there.status,
        case=case(there.counterexample),
        subject=_text(detail.get("subject"), _NAME),
        side=_text(detail.get("side")),
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
    return Spot(path=place.path, line=place.line or 1, note=clipped(note))


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


def change(finding: Finding) -> OutcomeChange:
    """An `outcome-change` as a row of the table of outcomes."""
    detail = finding.detail
    by = detail.get("by", ((), ()))
    return OutcomeChange(
        subject=clipped(detail["subject"], _NAME),
        before=clipped(detail["before"], _NAME),
        after=clipped(detail["after"], _NAME),
        by_before=[clipped(who, _NAME) for who in by[0][:50]],
        by_after=[clipped(who, _NAME) for who in by[1][:50]],
        case=case(finding.counterexample) or Case(),
        where=clipped(detail.get("where", "")),
        tendency=detail["effect"],
        fingerprint=finding.fingerprint,
    )


# ---- the one right fix ----------------------------------------------------------------------------------------------


def suggestion(finding: Finding, line: Line) -> Suggestion | None:
    """The line with the right word in the place of the misspelt one; None unless exactly that word stands there."""
    written, right = finding.detail.get("written"), finding.detail.get("replacement")
    number, column = finding.at.line, finding.at.column
    if not isinstance(written, str) or not isinstance(right, str) or number is None or column is None:
        return None
    text = line(finding.at.path, number)
    start = column - 1
    for quote in ("", '"', "'"):
        there = f"{quote}{written}{quote}"
        after = text[start + len(there) : start + len(there) + 1]
        if text[start:].startswith(there) and not re.match(r"[\w.-]", after):
            fixed = text[:start] + _scalar(right, quote) + text[start + len(there) :]
            is_clean = visible(fixed, tab="\t") == fixed and "<!-- bylaw:" not in fixed and len(fixed) <= 1_000
            return Suggestion(path=finding.at.path, line=number, end_line=number, lines=[fixed]) if is_clean else None
    return None


def _scalar(word: str, quote: str) -> str:
    """*word* in the quotes that its predecessor had, or in some where YAML needs them."""
    is_plain = _PLAIN.fullmatch(word) and word.casefold() not in _TAKEN
    return f"{quote}{word}{quote}" if is_plain else json.dumps(word, ensure_ascii=False)
