"""What a query is made of, for whoever asks whether something of the question is in it."""

from __future__ import annotations

from collections.abc import Iterator

from bot.analytics.proposals.evidence import Piece, stems
from bot.analytics.proposals.held import bare, base_of, own_names, parts
from bot.analytics.proposals.holding import Holding
from bylaw.semantic.query import Part


def fields_in(h: Holding) -> set[str]:
    """Every field that the query names, without the relationships that lead to it."""
    query, found = h.query, set[str]()
    for part, _ in parts(query):
        for name in type(part).model_fields:
            value = getattr(part, name)
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, str) and ("." in one or one in h.context.entities):
                    found.add(bare(one))
    return found


def numbers_in(h: Holding) -> list[str]:
    """Every number of the catalogue, or written out, that the query is made of."""
    query, own = h.query, own_names(h)
    made = {*own, *(one.name for one in query.ratios), *(one.name for one in query.differences)}
    found = [*query.metrics, *own.values(), *(order.by for order in query.order)]
    found += [half for one in query.ratios for half in (one.numerator, one.denominator)]
    found += [half for one in query.differences for half in (one.before, one.after)]
    found += [part.metric for part, _ in parts(query) if hasattr(part, "metric")]
    kept = [name for name in dict.fromkeys(found) if name not in made and (name in h.context.metrics or "(" in name)]
    return [*kept, *(inner for name in kept for inner in made_of(h, name))]


def is_before(h: Holding, part: Part) -> bool:
    return h.previous is not None and any(one == part for one, _ in parts(h.previous))


def is_inside(h: Holding, piece: Piece) -> bool:
    own_words = stems(piece.said)
    return any(piece.first in at and own_words & h.own(base_of(h, name)) for name, at in h.places.items() if name)


def made_of(h: Holding, name: str) -> Iterator[str]:
    """The metrics that a metric is made of."""
    metric = h.context.metrics.get(name)
    if metric is None:
        return
    for part in (metric.numerator, metric.denominator, metric.metric, *(one.name for one in metric.inputs)):
        if part:
            yield part
            yield from made_of(h, part)
