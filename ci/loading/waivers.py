"""Which findings people have accepted for now: they stand as notices until their day, and then are what they were.

A waiver that accepts nothing any more is a finding of its own: nobody should believe that something is accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from bylaw.authored.machines.waivers import Waiver
from ci.findings import SEVERITIES, Finding, Place, Severity

PATH = "rules/waivers.yaml"
_RANK = {"error": 0, "warning": 1, "notice": 2}


def accepted(
    findings: Iterable[Finding],
    waivers: Sequence[Waiver],
    at: date,
    severity: Severity | None = None,
    position: Callable[[Place], tuple[int, int]] | None = None,
    never: frozenset[str] = frozenset(),
    longest_days: int | None = None,
) -> tuple[Finding, ...]:
    """The *findings* as they count on the day *at*, the accepted ones as notices, and those about idle waivers.

    Those whose id is in *never* cannot be accepted. A finding that stands for many is accepted as a whole, or when
    each of the many is. *severity* is what `rules/ci.yaml` makes of an idle waiver.
    """
    found = list(findings)
    open_to = [finding for finding in found if finding.id not in never]
    if not waivers:
        return tuple(found)
    last = date.max if longest_days is None else at + timedelta(days=longest_days)
    holding = {waiver.finding: i for i, waiver in enumerate(waivers) if at <= waiver.until <= last}
    places = [_placed(Place(PATH, ("waivers", i)), position) for i in range(len(waivers))]
    shown = [finding if finding.id in never else _as_accepted(finding, holding, waivers, places) for finding in found]
    grade = severity or SEVERITIES["idle-waiver"]
    idle = [] if grade == "off" else [replace(one, severity=grade) for one in _idle(open_to, waivers, at, last, places)]
    return tuple(sorted([*shown, *idle], key=lambda finding: _RANK[finding.severity]))


def _placed(place: Place, position: Callable[[Place], tuple[int, int]] | None) -> Place:
    """With its line: of a large repository the text is not at hand when it is told."""
    line, column = position(place) if position else (None, None)
    return replace(place, line=line, column=column)


def _as_accepted(
    finding: Finding, holding: Mapping[str, int], waivers: Sequence[Waiver], places: Sequence[Place]
) -> Finding:
    prints = [finding.fingerprint] if finding.fingerprint in holding else list(finding.members)
    if not prints or any(print_ not in holding for print_ in prints):
        return finding
    entries = sorted({holding[print_] for print_ in prints})
    notes = tuple((places[i], _note(waivers[i])) for i in entries)
    return replace(finding, severity="notice", related=(*finding.related, *notes))


def _note(waiver: Waiver) -> str:
    return f"accepted until {waiver.until} by {waiver.by}: {waiver.because}"


def _idle(
    findings: Sequence[Finding], waivers: Sequence[Waiver], at: date, last: date, places: Sequence[Place]
) -> Iterator[Finding]:
    """Every waiver accepts a finding that stands."""
    standing = {print_ for finding in findings for print_ in (finding.fingerprint, *finding.members)}
    for waiver, place in zip(waivers, places, strict=True):
        about = (waiver.finding, waiver.until.isoformat())
        if waiver.finding not in standing:
            yield Finding(
                "idle-waiver",
                f"the waiver of `{waiver.finding}` ({waiver.id}) accepts nothing: no such finding stands any more",
                place,
                rules=about,
                help="delete the entry",
            )
        elif waiver.until > last:
            yield Finding(
                "idle-waiver",
                f"the waiver of `{waiver.finding}` ({waiver.id}) would hold until {waiver.until}: so far ahead nobody "
                "may accept a finding, and it still stands",
                place,
                rules=about,
                help=f"name a day up to {last}, as `longest_days` has it",
            )
        elif waiver.until < at:
            yield Finding(
                "idle-waiver",
                f"the waiver of `{waiver.finding}` ({waiver.id}) ended on {waiver.until}, and the finding still stands",
                place,
                rules=about,
                help="correct what it is about, or accept it anew for a while",
            )
