"""What the checks of a proposal share: the parts of a query, where each is bound, what a name stands for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from bot.analytics.proposals.evidence import stems
from bot.analytics.proposals.holding import Holding, Untenable, listed
from bylaw.semantic.query import (
    Part,
)


def parts(query: Part) -> Iterator[tuple[Part, tuple[Part, ...]]]:
    """Every part of *query*, each with those that it stands in, the outermost first."""
    yield from _parts(query, ())


def _parts(part: Part, above: tuple[Part, ...]) -> Iterator[tuple[Part, tuple[Part, ...]]]:
    yield part, above
    for name in type(part).model_fields:
        value = getattr(part, name)
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, Part):
                yield from _parts(one, (*above, part))


def unchecked(_holding: Holding, _part: Part, _above: Sequence[Part]) -> None:
    """Its parts have rows of their own, or we write it ourselves."""


def with_its_part(_holding: Holding, _part: Part, _above: Sequence[Part]) -> None:
    """It is checked with another field of its part, which says nothing without it."""


def bound_at(h: Holding, *names: str, kinds: Sequence[str] = ()) -> list[int]:
    places = h.at(*names, kinds=kinds)
    if not places:
        raise Untenable(f"nobody asked for {listed(names[:1])}")
    return places


def is_carried(h: Holding, part: Part, above: Sequence[Part]) -> bool:
    """Did it stand in the query before, which the question goes on from?"""
    outer = above[1] if len(above) > 1 else part
    return h.previous is not None and any(one == outer for one, _ in parts(h.previous))


def own_names(h: Holding) -> dict[str, str]:
    """The numbers that only this query has, with the number each is made of."""
    found = {one.name: one.metric for one in h.query.measures}
    return found | {one.name: one.metric for one in h.query.summaries}


def base_of(h: Holding, name: str) -> str:
    """The number of the catalogue, or written out, that *name* is made of."""
    own, seen = own_names(h), set[str]()
    while name in own and name not in seen:
        seen.add(name)
        name = own[name]
    return name


def aliases(h: Holding, name: str) -> tuple[str, ...]:
    """*name* and every number of the query that is made of it."""
    made = [one for one in own_names(h) if base_of(h, one) == name]
    made += [
        one.name for one in h.query.ratios if name in (base_of(h, half) for half in (one.numerator, one.denominator))
    ]
    return (name, *made)


def is_equal(known: object, value: object) -> bool:
    if isinstance(known, str) and isinstance(value, str):
        return known.casefold() == value.casefold()
    return not isinstance(known, bool) and str(known) == str(value)


def bare(name: str) -> str:
    place, dot, short = name.partition(".")
    return f"{place.partition('@')[0]}{dot}{short}"


def is_day(text: str) -> bool:
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return len(text) >= len("2026-01-31")


def stem_said(h: Holding, name: str, places: Sequence[int]) -> bool:
    """Do words there name the field itself, and not only the rows that have it?"""
    owner = name.partition(".")[0].partition("@")[0]
    entity = h.context.entities.get(owner)
    rows = stems(" ".join((owner, *(entity.synonyms if entity is not None else ()))))
    own = stems(name.partition(".")[2]) | {s for word in getattr(h.record(name), "synonyms", ()) for s in stems(word)}
    return any(stems(h.evidence.words[i]) & (own - rows or own) for i in places)
