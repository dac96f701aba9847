"""Findings for a person in a terminal: what is wrong, where, the line itself, and the next step."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import click

from ci.findings import Finding, Place, Severity
from ci.loading.load import position
from ci.loading.source import Source
from ci.proofs.answers import Answered
from ci.report.following import apart, in_order
from ci.report.visible import visible

COLOURS: Mapping[Severity, str] = {"error": "red", "warning": "yellow", "notice": "cyan"}
RELATED = 4  # places of one finding that are shown
WIDTH = 100  # of a source line that is shown around the place

_WORD = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s,\[\]{}]+?(?=:\s|:$|\s|[,\[\]{}]|$)(?: [^#\s,\[\]{}:]+)*""")


def render(
    findings: Sequence[Finding],
    sources: Mapping[str, Source],
    existing: Collection[str] = frozenset(),
    cap: int | None = None,
) -> str:
    """The report as text, with colours for `click.echo` to keep or strip. *cap*: how many findings it shows at most.

    With a cap it also leaves out what may only follow from other findings.

    *existing* are fingerprints of findings that were there before: they are marked, and told after the new ones.
    """
    ordered = sorted(in_order(findings), key=lambda finding: _is_old(finding, existing))
    first, later = (ordered, []) if cap is None else apart(ordered)
    shown = capped(first, cap)
    blocks = ["\n".join(_block(finding, sources, _is_old(finding, existing))) for finding in shown]
    if len(shown) < len(first):
        blocks.append(f"… and {len(first) - len(shown)} more: {_kinds(first, shown)} (--all shows them)")
    if later:
        blocks.append(f"… and what may only follow from a policy that is not read: {_kinds(later)} (--all shows them)")
    blocks.append(_summary(ordered, sources, existing))
    return "\n\n".join(blocks)


def _is_old(finding: Finding, existing: Collection[str]) -> bool:
    return bool(existing) and finding.fingerprint in existing  # without a base nothing is old, and nobody has to ask


def left_open(questions: Sequence[Answered]) -> list[str]:
    """One line about the questions that have no answer; none where all were answered."""
    parts = []
    for answered in questions:
        counts = ((answered.unknown, "undecided"), (answered.skipped, "skipped"))
        told = " and ".join(f"{count} {how}" for count, how in counts if count)
        why = ", ".join(reason for reason, _ in answered.reasons)
        if told:
            parts.append(f"{answered.question} {told} of {answered.asked} ({visible(why)})")
    if not parts:
        return []
    return [f"not every question was answered: {'; '.join(parts)}; limits stand under `proofs` in rules/ci.yaml"]


def capped(findings: Sequence[Finding], cap: int | None) -> list[Finding]:
    """At most *cap* of the findings, in their order; every kind is among them as long as there is room."""
    if cap is None or len(findings) <= cap:
        return list(findings)
    by_id: dict[str, list[int]] = {}
    for i, finding in enumerate(findings):
        by_id.setdefault(finding.id, []).append(i)
    kept: set[int] = set()
    for depth in range(max(map(len, by_id.values()))):
        level = [positions[depth] for positions in by_id.values() if depth < len(positions)]
        kept.update(level[: cap - len(kept)])
        if len(kept) >= cap:
            break
    return [findings[i] for i in sorted(kept)]


def _block(finding: Finding, sources: Mapping[str, Source], is_old: bool) -> Iterator[str]:
    colour = COLOURS.get(finding.severity)
    head = click.style(f"{finding.severity}[{finding.id}]", fg=colour, bold=True)
    yield f"{head}{' (existing)' if is_old else ''}: {visible(finding.message)}"
    line, column = position(sources, finding.at)
    yield f"  {click.style('-->', fg='blue')} {visible(finding.at.path)}:{line}:{column}"
    source = sources.get(finding.at.path)
    text = source.line(line) if source else str(finding.detail.get("excerpt", ""))
    yield from _excerpt(text, line, column, colour)
    yield from _case(finding.counterexample, finding.message)
    for place, note in finding.related[:RELATED]:
        yield f"  {click.style('and', fg='blue')} {_at(place, sources)}: {visible(note)}"
    if len(finding.related) > RELATED:
        yield f"  {click.style('and', fg='blue')} {len(finding.related) - RELATED} more places, see --format json"
    if finding.help:
        yield f"  {click.style('help:', fg='green')} {visible(finding.help)}"


def _at(place: Place, sources: Mapping[str, Source]) -> str:
    line, column = position(sources, place)
    return f"{visible(place.path)}:{line}:{column}"


def _excerpt(text: str, line: int, column: int, colour: str | None) -> Iterator[str]:
    """The line with a mark under the word in question."""
    if not text.strip() or column > len(text) + 1:
        return
    start = max(0, min(column - 1 - WIDTH // 2, len(text) - WIDTH))
    window = text[start : start + WIDTH]
    at = column - 1 - start
    word = _WORD.match(window, at)
    length = max(1, _columns(visible(word[0]))) if word else 1
    number = str(line)
    bar = click.style("|", fg="blue")
    cut_before, cut_after = "…" if start else "", "…" if start + WIDTH < len(text) else ""
    yield f"  {number} {bar} {cut_before}{visible(window, tab=' ')}{cut_after}"
    indent = " " * (len(cut_before) + _columns(visible(window[:at], tab=" ")))
    yield f"  {' ' * len(number)} {bar} {indent}{click.style('^' * length, fg=colour)}"


def _case(counterexample: Mapping[str, Any] | None, message: str) -> Iterator[str]:
    """The case in words, unless the message tells it already."""
    if not counterexample:
        return
    words = counterexample.get("words")
    if not words:
        facts = counterexample.get("facts", counterexample)
        words = ", ".join(f"{name}: {str(value).lower()}" for name, value in sorted(facts.items()))
    if words and words not in message:
        yield f"  {click.style('case:', fg='magenta')} {visible(str(words))}"


def _kinds(findings: Sequence[Finding], shown: Sequence[Finding] = ()) -> str:
    """What the report leaves out, by kind: nothing disappears without being counted."""
    left = Counter(finding.id for finding in findings)
    left.subtract(finding.id for finding in shown)
    return ", ".join(f"{count} {id}" for id, count in sorted(left.items()) if count)


def _summary(findings: Sequence[Finding], sources: Mapping[str, Source], existing: Collection[str]) -> str:
    count = len({*sources, *(finding.at.path for finding in findings)})
    files = f"{count} {'file' if count == 1 else 'files'}"
    new = [finding for finding in findings if not _is_old(finding, existing)]
    parts = []
    for severity in ("error", "warning", "notice"):
        count = sum(finding.severity == severity for finding in new)
        if count:
            parts.append(f"{count} {'new ' if existing else ''}{severity}{'' if count == 1 else 's'}")
    if len(new) < len(findings):
        parts.append(f"{len(findings) - len(new)} existing")
    return f"{files}: {', '.join(parts) if parts else click.style('no findings', fg='green')}"


def _columns(text: str) -> int:
    """How many columns *text* takes: East Asian letters and emoji take two, what is set above a letter none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
