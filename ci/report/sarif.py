"""Findings as SARIF 2.1.0, for code scanning: each rule with its page, each result with the fingerprint that lasts.

With a base every result says whether it is new; what the base had already is `unchanged`, and is not left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from bylaw.canonical import plain
from bylaw.language.counting import count
from ci.findings import Finding, Place, Severity
from ci.help.page import page
from ci.loading.load import position
from ci.report import pages
from ci.report.report import Report
from ci.report.visible import visible

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "bylaw/v1"

LEVELS: Mapping[Severity, str] = {"error": "error", "warning": "warning", "notice": "note", "off": "none"}


def document(report: Report) -> str:
    """The document, always the same bytes for the same findings, with a line break at its end."""
    ids = sorted({finding.id for finding in report.findings})
    index = {id: i for i, id in enumerate(ids)}
    results, size = [], 0
    most = None if report.caps is None else report.caps.json_bytes
    ordered = sorted(report.findings, key=lambda finding: finding.fingerprint in report.existing)
    for finding in ordered:
        result = _result(finding, index, report)
        size += len(json.dumps(result, indent=2))
        if most is not None and size > most:
            break
        results.append(result)
    run = {
        "tool": {"driver": {"name": "bylaw", "version": version("bylaw-policies"), "rules": [_rule(id) for id in ids]}},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(len(ordered) - len(results))],
        "results": results,
    }
    told = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(told, indent=2, allow_nan=False) + "\n"


def _rule(id: str) -> dict[str, Any]:
    told = page(id)
    assert told is not None, "a finding has one of the known ids"
    return {
        "id": id,
        "shortDescription": {"text": told.what},
        "fullDescription": {"text": pages.plain(told)},
        "help": {"text": pages.terminal(told), "markdown": pages.markdown(told)},
        "defaultConfiguration": {"level": LEVELS[told.severity]},
    }


def _result(finding: Finding, index: Mapping[str, int], report: Report) -> dict[str, Any]:
    said = finding.message if finding.help is None else f"{finding.message}\nhelp: {finding.help}"
    result: dict[str, Any] = {
        "ruleId": finding.id,
        "ruleIndex": index[finding.id],
        "level": LEVELS[finding.severity],
        "message": _message(said),
        "locations": [_location(finding.at, report)],
        "relatedLocations": [
            {"id": i, **_location(place, report), "message": _message(note)}
            for i, (place, note) in enumerate(finding.related, start=1)
        ],
        "partialFingerprints": {FINGERPRINT: finding.fingerprint},
        "properties": {
            "policies": list(finding.policies),
            "rules": list(finding.rules),
            "status": finding.status,
            "counterexample": plain(finding.counterexample),
        },
    }
    if report.has_base:
        result["baselineState"] = "unchanged" if finding.fingerprint in report.existing else "new"
    return result


def _location(place: Place, report: Report) -> dict[str, Any]:
    line, column = position(report.sources, place)
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(report.folder + place.path), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": line, "startColumn": column},
        }
    }


def _message(text: str) -> dict[str, str]:
    """*text*, in which nothing is a link: readers of SARIF make one of `[words](address)` in plain text too."""
    return {"text": "\n".join(visible(line) for line in text.split("\n")).replace("](", "] (")}


def _invocation(omitted: int) -> dict[str, Any]:
    done: dict[str, Any] = {"executionSuccessful": True}
    if omitted:
        said = f"left out: {count(omitted, 'finding')}; --all writes them all"
        done["toolExecutionNotifications"] = [{"level": "warning", "message": {"text": said}}]
    return done
