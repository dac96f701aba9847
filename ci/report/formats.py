"""The formats of `bylaw check`, in one table: each makes one text out of a report. What one needs is loaded with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from bylaw.errors import UsageError
from ci.report.report import Report


def text(report: Report) -> str:
    """For a person in a terminal."""
    from ci.report.text import left_open, render

    cap = None if report.caps is None else report.caps.findings
    told = render(report.findings, report.sources, report.existing, cap=cap)
    return "\n\n".join([told, *left_open(report.questions)]) + "\n"


def json(report: Report) -> str:
    """One JSON document."""
    from ci.report.jsonl import render

    most = None if report.caps is None else report.caps.json_bytes
    return render(report.findings, report.sources, report.existing, most, report.questions)


def github(report: Report) -> str:
    """Workflow commands: an annotation a line."""
    from ci.report.github import commands

    return commands(report)


def sarif(report: Report) -> str:
    """One SARIF document, for code scanning."""
    from ci.report.sarif import document

    return document(report)


def junit(report: Report) -> str:
    """One JUnit XML document, for build servers."""
    from ci.report.junit import document

    return document(report)


def append(path: Path, report: Report) -> None:
    """Add every finding as Markdown to the summary of a job. Raises UsageError where the file cannot be written."""
    from ci.report.github import summary

    try:
        with path.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(summary(report))
    except OSError as error:
        raise UsageError(f"cannot write the summary `{path}`: {error.strerror or error}") from None


FORMATS: Mapping[str, Callable[[Report], str]] = {
    "text": text,
    "json": json,
    "github": github,
    "sarif": sarif,
    "junit": junit,
}
