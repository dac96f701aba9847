"""Findings for a step of GitHub Actions: annotations on lines, and the whole report in the job's summary.

A runner keeps ten annotations of a kind for a step and drops the others without a word, so no more are written: new
findings come first, and what is left out is counted and stands in the summary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ci.findings import Finding, Place, Severity
from ci.loading.load import position
from ci.report.markup import code, inert, shortened
from ci.report.report import Report
from ci.report.text import left_open
from ci.report.visible import visible

MOST_OF_A_KIND = 10
MOST_TEXT = 4_000  # of one annotation: the page shows no more of it
MOST_SUMMARY_BYTES = 1_000_000  # GitHub refuses a step's summary of more than 1 MiB whole

_COMMANDS: Mapping[Severity, str] = {"error": "error", "warning": "warning", "notice": "notice"}
_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def commands(report: Report) -> str:
    """The annotations of what is new, one a line, and how many more the summary tells."""
    shown = _annotated(report)
    lines = [_command(finding, report) for finding in shown]
    return "\n".join([*lines, _counted(report, len(shown))]) + "\n"


def summary(report: Report) -> str:
    """Every finding as Markdown for the job's summary: the new ones first, as many as fit, the others counted."""
    ordered = [*_new(report), *(f for f in report.findings if f.fingerprint in report.existing)]
    head = f"### bylaw check\n\n{_counted(report, 0)}\n\n"
    size, listed = len(head.encode()), []
    for finding in ordered:
        line = _item(finding, report)
        size += len(line.encode())
        if size > MOST_SUMMARY_BYTES:
            break
        listed.append(line)
    rest = Counter(finding.id for finding in ordered[len(listed) :])
    left = ", ".join(f"{count} {id}" for id, count in sorted(rest.items()))
    told = f"\n… and {sum(rest.values())} more: {left}\n" if rest else ""
    unanswered = "".join(f"\n{inert(line)}\n" for line in left_open(report.questions))
    return head + "".join(listed) + told + unanswered + "\n"


def _new(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.fingerprint not in report.existing]


def _annotated(report: Report) -> list[Finding]:
    room = Counter(dict.fromkeys(_COMMANDS, MOST_OF_A_KIND))
    shown = []
    for finding in _new(report):
        if room[finding.severity] > 0:
            room[finding.severity] -= 1
            shown.append(finding)
    return shown


def _command(finding: Finding, report: Report) -> str:
    line, column = position(report.sources, finding.at)
    properties = {
        "file": report.folder + finding.at.path,
        "line": str(line),
        "col": str(column),
        "title": finding.id,
    }
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {told}::{_escaped(_text(finding, report), _DATA)}"


def _text(finding: Finding, report: Report) -> str:
    """The message, the other places and the next step, a line each."""
    lines = [visible(finding.message)]
    lines += [f"and {_where(place, report)}: {visible(note)}" for place, note in finding.related[:MOST_OF_A_KIND]]
    lines += [f"help: {visible(finding.help)}"] if finding.help else []
    return shortened("\n".join(lines), MOST_TEXT)


def _where(place: Place, report: Report) -> str:
    line, _ = position(report.sources, place)
    return f"{visible(report.folder + place.path)}:{line}"


def _item(finding: Finding, report: Report) -> str:
    old = " (existing)" if finding.fingerprint in report.existing else ""
    said = inert(shortened(finding.message, MOST_TEXT))
    help = f"<br>help: {inert(shortened(finding.help, MOST_TEXT))}" if finding.help else ""
    return f"- **{finding.severity}** `{finding.id}`{old} {code(_where(finding.at, report))}<br>{said}{help}\n"


def _counted(report: Report, shown: int) -> str:
    """What was found in numbers. There is no word of a file in this line: a runner would read a command out of it."""
    new = _new(report)
    parts = [_number(new, severity) for severity in _COMMANDS if any(f.severity == severity for f in new)]
    if len(new) < len(report.findings):
        parts.append(f"{len(report.findings) - len(new)} existing")
    told = ", ".join(parts) or "no findings"
    return told if not shown or shown == len(new) else f"{told}; {len(new) - shown} of them only in the job summary"


def _number(findings: Sequence[Finding], severity: Severity) -> str:
    count = sum(finding.severity == severity for finding in findings)
    return f"{count} {severity}{'' if count == 1 else 's'}"


def _property(text: str) -> str:
    """A property as the runner reads it back: what it has no code for and a terminal would act on is spelt out."""
    return "".join(_PROPERTY.get(char) or visible(char) for char in text)


def _escaped(text: str, table: Mapping[str, str]) -> str:
    return "".join(_characters(text, table))


def _characters(text: str, table: Mapping[str, str]) -> Iterator[str]:
    for char in text:
        yield table.get(char, char)
