"""Findings as JUnit XML, which every build server draws: a file is a test case, and fails by its new errors."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ci.findings import Finding
from ci.loading.load import position
from ci.report.report import Report
from ci.report.visible import visible


def document(report: Report) -> str:
    """The document, with a line break at its end. Warnings, notices and what the base already had are system output."""
    by_path: dict[str, list[Finding]] = {path: [] for path in report.sources}
    for finding in report.findings:
        by_path.setdefault(finding.at.path, []).append(finding)
    failing = {path: [one for one in found if _fails(one, report)] for path, found in by_path.items()}
    count = str(sum(bool(found) for found in failing.values()))
    suites = Element("testsuites", name="bylaw check", tests=str(len(by_path)), failures=count, errors="0")
    suite = SubElement(suites, "testsuite", name="bylaw check", tests=str(len(by_path)), failures=count, errors="0")
    for path in sorted(by_path):
        case = SubElement(suite, "testcase", classname=path.rpartition("/")[0].replace("/", "."), name=path, time="0")
        for finding in failing[path]:
            failure = SubElement(case, "failure", type=finding.id, message=visible(finding.message))
            failure.text = _told(finding, report)
        rest = [finding for finding in by_path[path] if finding not in failing[path]]
        if rest:
            SubElement(case, "system-out").text = "\n".join(_lines(rest, report))
    indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _fails(finding: Finding, report: Report) -> bool:
    return finding.severity == "error" and finding.fingerprint not in report.existing


def _lines(findings: Sequence[Finding], report: Report) -> list[str]:
    return [f"{one.severity}[{one.id}]: {_told(one, report)}" for one in findings]


def _told(finding: Finding, report: Report) -> str:
    line, column = position(report.sources, finding.at)
    help = f"\nhelp: {visible(finding.help)}" if finding.help else ""
    return f"{visible(finding.message)}\n{finding.at.path}:{line}:{column}{help}"
