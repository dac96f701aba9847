"""What becomes of the held items of a data question: the reading that runs, or the form with what was understood."""

from __future__ import annotations

from collections.abc import Mapping

from bot.analytics.form import known_of, known_of_items, with_units
from bot.analytics.plan.restatement import renamed
from bot.analytics.reading import Bound, NotUnderstood
from bot.ask.query.reading import HeldQuery
from bot.conversation import Binding
from bylaw.hold.item import HeldItem

OPTION = "items"  # of a Question: what a caller says that its text says
_MOST_TOLD = 6  # objections in one reply
_BOUND_AS: Mapping[str, str] = {
    "asks": "metric", "group": "dimension", "filter": "filter", "having": "filter", "time": "time", "compare": "time",
    "order": "order", "limit": "limit", "over": "metric",
}  # fmt: skip


def bound_of(
    held: HeldQuery, stakes: tuple[Binding, ...] = (), heard: tuple[str, ...] = (), is_follow_up: bool = False
) -> Bound:
    """The reading that runs: its query under our names, and which words say what of it."""
    assert held.query is not None, "only what is held whole runs"
    query = renamed(held.query)
    items = [one for one in held.reading.items if one.item.quote is not None]
    times = [one for one in items if _BOUND_AS.get(one.item.kind) == "time"]
    windows = [window.label for window in query.windows]
    is_each = len(windows) == len(times)  # "Q1 against Q2": each number has a period of its own
    labels = dict(zip(map(id, times), windows if is_each else [", ".join(windows)] * len(times), strict=True))
    said = (*(_binding(one, labels.get(id(one), "")) for one in items), *stakes)
    return Bound(query, said, heard, is_follow_up=is_follow_up, items=held.items)


def _binding(one: HeldItem, label: str) -> Binding:
    kind = _BOUND_AS.get(one.item.kind, one.item.kind)
    name = one.item.named or label or str(one.item.unit or one.item.value or "")
    return Binding(words=one.item.quote or "", kind=kind, name=name)


def unclear_of(held: HeldQuery) -> NotUnderstood:
    """What stands in the way of running it, with what was understood for the form."""
    left = dict.fromkeys(one.text for one in (*held.reading.residue, *held.reading.unknown))
    objections = [one for one in held.objections() if "is left over" not in one]
    if held.problem is not None and not held.reading.items and left:
        objections = []  # nothing was understood: what was said is enough
    told = "; ".join(objections[:_MOST_TOLD])
    more = len(objections) - _MOST_TOLD
    told += f"; and {more} more" if more > 0 else ""
    if left:
        words = ", ".join(f"`{word}`" for word in list(left)[:_MOST_TOLD])
        told = f"I do not understand {words} here{f'; {told}' if told else ''}"
    said = known_of_items(held.items)
    understood = {**said, **known_of(renamed(held.query))} if held.query is not None else said
    said_so = ("period", "compared_with", *(("metrics",) if held.query is not None and held.query.measures else ()))
    understood = {**understood, **{name: said[name] for name in said_so if name in said}}
    understood = with_units(understood, held.problem)
    bindings = bound_of(held).bindings if held.query is not None else ()
    help = held.problem.help if held.problem is not None and not left else _HELP if left else None
    told = told or "nothing says what is asked for"
    return NotUnderstood(told, help, tuple(left), understood=understood, bindings=bindings)


_HELP = "leave it out, or say it in the words of the catalogue"
