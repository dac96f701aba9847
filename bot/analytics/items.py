"""What becomes of the held items of a data question: the reading that runs, or the form with what was understood."""

from __future__ import annotations

from collections.abc import Mapping

from bot.analytics.form import known_of
from bot.analytics.plan.restatement import renamed
from bot.analytics.reader.reading import Bound, NotUnderstood
from bot.ask.query.reading import HeldQuery
from bot.conversation import Binding
from bylaw.hold.item import HeldItem

OPTION = "items"  # of a Question: what a caller says that its text says
_MOST_TOLD = 6  # objections in one reply
_BOUND_AS: Mapping[str, str] = {
    "asks": "metric", "group": "dimension", "filter": "filter", "having": "filter", "time": "time", "compare": "time",
    "order": "order", "limit": "limit", "over": "metric",
}  # fmt: skip


def bound_of(held: HeldQuery, stakes: tuple[Binding, ...] = (), heard: tuple[str, ...] = ()) -> Bound:
    """The reading that runs: its query under our names, and which words say what of it."""
    assert held.query is not None, "only what is held whole runs"
    query = renamed(held.query)
    label = "" if query.window is None else query.window.label
    items = [one for one in held.reading.items if one.item.quote is not None]
    return Bound(query, (*(_binding(one, label) for one in items), *stakes), heard)


def _binding(one: HeldItem, label: str) -> Binding:
    kind = _BOUND_AS.get(one.item.kind, one.item.kind)
    name = one.item.named or (label if kind == "time" else str(one.item.unit or one.item.value or ""))
    return Binding(words=one.item.quote or "", kind=kind, name=name)


def unclear_of(held: HeldQuery) -> NotUnderstood:
    """What stands in the way of running it, with what was understood for the form."""
    objections = held.objections()
    told = "; ".join(objections[:_MOST_TOLD]) or "nothing says what is asked for"
    more = len(objections) - _MOST_TOLD
    told += f"; and {more} more" if more > 0 else ""
    understood = {} if held.query is None else known_of(renamed(held.query))
    bindings = bound_of(held).bindings if held.query is not None else ()
    return NotUnderstood(f"not all of it holds: {told}", understood=understood, bindings=bindings)
