"""Findings for machines: one JSON document, always the same bytes for the same findings."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bylaw.canonical import plain
from ci.findings import Finding, Place
from ci.loading.load import position
from ci.loading.source import Source
from ci.proofs.answers import Answered


def render(
    findings: Sequence[Finding],
    sources: Mapping[str, Source],
    existing: Collection[str] = frozenset(),
    most_bytes: int | None = None,
    questions: Sequence[Answered] = (),
) -> str:
    """The document, with a line break at its end. *existing*: fingerprints of findings that were there before.

    *questions* says of how many policies, outcomes and cases each question was asked, and what came of it.

    Beyond *most_bytes* the last findings are left out; the summary counts all of them and says how many are missing.
    """
    ordered = sorted(findings, key=lambda finding: finding.fingerprint in existing) if existing else list(findings)
    listed: list[str] = []
    size = 0
    for finding in ordered:
        text = _indented(_finding(finding, sources, existing))
        size += len(text)
        if most_bytes is not None and size > most_bytes:
            break
        listed.append(text)
    summary = {**_summary(ordered, existing), "omitted": len(ordered) - len(listed)}
    # Plain ASCII: a terminal's or a runner's encoding can then break nothing.
    told = "[\n" + ",\n".join(listed) + "\n  ]" if listed else "[]"
    counts = json.dumps(summary, indent=2).replace("\n", "\n  ")
    answers = json.dumps([answered.to_json() for answered in questions], indent=2).replace("\n", "\n  ")
    return "{\n" + f'  "findings": {told},\n  "questions": {answers},\n  "summary": {counts}\n' + "}\n"


def _indented(document: Mapping[str, Any]) -> str:
    return "    " + json.dumps(document, indent=2, allow_nan=False).replace("\n", "\n    ")


def _finding(finding: Finding, sources: Mapping[str, Source], existing: Collection[str]) -> dict[str, Any]:
    return {
        "id": finding.id,
        "severity": finding.severity,
        "message": finding.message,
        **_place(finding.at, sources),
        "policies": list(finding.policies),
        "rules": list(finding.rules),
        "counterexample": _counterexample(finding.counterexample),
        "status": finding.status,
        "help": finding.help,
        "related": [{**_place(place, sources), "message": note} for place, note in finding.related],
        "detail": plain(finding.detail),
        "fingerprint": finding.fingerprint,
        "existing": finding.fingerprint in existing,
    }


def _place(place: Place, sources: Mapping[str, Source]) -> dict[str, Any]:
    line, column = position(sources, place)
    return {"path": place.path, "line": line, "column": column}


def _counterexample(case: Mapping[str, Any] | None) -> Any:
    """A case always says its facts under `facts`."""
    if case is None:
        return None
    return plain(case if "facts" in case else {"facts": case} if "words" not in case else {"facts": {}, **case})


def _summary(findings: Sequence[Finding], existing: Collection[str]) -> dict[str, int]:
    new = [finding for finding in findings if finding.fingerprint not in existing]
    severities = ("error", "warning", "notice")
    counts = {f"{severity}s": sum(f.severity == severity for f in new) for severity in severities}
    return {**counts, "existing": len(findings) - len(new), "total": len(findings)}
