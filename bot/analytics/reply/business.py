"""What the organisation is after, where a data answer shows how far it is: a line beside the numbers, no more."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import date

from bylaw.authored.business import Business, Objective


def told(business: Business | None, metrics: Collection[str], today: date) -> Iterator[str]:
    """A caveat for each objective that is pursued *today* and seen by one of *metrics*."""
    if business is None:
        return
    for name, objective in sorted(business.objectives.items()):
        shown = [metric.replace("_", " ") for metric in objective.metrics if metric in metrics]
        if shown and objective.runs_on(today):
            work = [one.title for one in business.projects.values() if name in one.objectives and one.runs_on(today)]
            yield _line(objective, shown, work)


def _line(objective: Objective, shown: list[str], work: list[str]) -> str:
    until = "" if objective.ends_on is None else f" until {objective.ends_on.isoformat()}"
    target = "" if objective.target is None else f", {objective.target}"
    projects = f" Worked on in: {', '.join(work)}." if work else ""
    return f"Objective {objective.title}{until} is seen by {' and '.join(shown)}{target}.{projects}"
