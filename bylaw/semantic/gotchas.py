"""Which traps a question steps on: filters that must be added, and checks that the answer goes through."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, timedelta

from bylaw.authored.context import Context, Gotcha
from bylaw.semantic.query import SemanticQuery

_RANK = {"high": 0, "medium": 1, "low": 2}


def applicable(context: Context, names: Collection[str]) -> tuple[Gotcha, ...]:
    """The gotchas that apply to any of these entities or metrics, the most severe first."""
    found = [gotcha for gotcha in context.gotchas.values() if not set(gotcha.applies_to).isdisjoint(names)]
    return tuple(sorted(found, key=lambda gotcha: (_RANK[gotcha.severity], gotcha.id)))


def left_in(context: Context, entity: str) -> dict[str, str]:
    """The gotchas whose rows metrics of *entity* leave out, and a column of it does not, by id with such a metric."""
    own = {name for name, metric in context.metrics.items() if metric.entity == entity and metric.agg}
    found = [gotcha for gotcha in applicable(context, own) if gotcha.required_filter]
    return {gotcha.id: min(own & set(gotcha.applies_to)) for gotcha in found}


def said(gotcha: Gotcha) -> str:
    """What the answer says about it."""
    return (gotcha.caveat or gotcha.trap).strip()


def failed_check(gotcha: Gotcha, query: SemanticQuery, today: date) -> bool:
    """Does the answer to *query*, given on *today*, step on this trap? True where it has no check of its own."""
    if gotcha.check == "partial_period":
        if not query.windows:
            return query.grain is not None
        # A span that ends with today is whole as it was asked for; only its last month (or week …) is not.
        ends = max(window.end for window in query.windows)
        return ends > today + timedelta(days=0 if query.grain else 1)
    return True
