"""Findings about a rule that was made from something else say where it stands there: the file, the row, the cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ci.findings import Finding, Place
from ci.loading.load import Workspace


def with_sources(findings: Iterable[Finding], workspace: Workspace) -> Iterator[Finding]:
    """*findings*, each with the source of the rules it is about."""
    made = {
        file.path: (file.policy.metadata.source.partition(", ")[0], [action.source for action in file.policy.actions])
        for file in workspace.policies
        if any(action.source for action in file.policy.actions)
    }
    if not made:
        yield from findings
        return

    def source(place: Place) -> str | None:
        match place.route:
            case ("actions", int(i), *_) if place.path in made:
                name, sources = made[place.path]
                return f"{name}, {sources[i]}" if sources[i] else None
        return None

    for finding in findings:
        own = source(finding.at)
        related = tuple((place, f"{said} ({at})" if (at := source(place)) else said) for place, said in finding.related)
        if own is None and related == finding.related:
            yield finding
        else:
            message = f"{finding.message} ({own})" if own else finding.message
            yield replace(finding, message=message, related=related)
