"""Two numbers of the same row that are put against each other: "customers with more refunds than reviews"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.analytics.grammar.said import RelatedSaid
from bot.analytics.meaning.draft import Draft
from bot.analytics.meaning.metrics import base_of
from bot.analytics.meaning.roles import rivals
from bot.analytics.reading import Stop, not_understood
from bylaw.semantic.query import Filter, Related, SemanticQuery, Than

_NO_QUERY = SemanticQuery(metrics=("none",))


def against_other(
    draft: Draft, said: RelatedSaid, part: Related, than: Related, kinds: Sequence[Sequence[Filter]]
) -> Related:
    """*part* with the number of *than* beside it; *kinds* narrow the rows of each. Raises Stop."""
    assert said.than is not None
    sides = (said, said.than)
    counted = [base_of(draft, one.metric, _NO_QUERY) for one in (part, than)]
    heads, words = part.entity.partition(".")[0], [one.entity.words for one in sides]
    leads = draft.nearness.leads_to_one
    if than.entity != part.entity or any(leads(heads, one) for one in counted):
        message = f"I do not see what has more `{words[0]}` than `{words[1]}`"
        raise Stop(not_understood(message, "name the rows that have both", (words[1],)))
    if any(len(rivals(draft, one, heads)) > 1 for one in counted):
        message = f"`{words[0]}` and `{words[1]}` belong to `{heads}` in several ways"
        raise Stop(not_understood(message, "ask for one of them at a time", (words[1],)))
    if draft.said.times:
        label = draft.said.times[0].span.label
        raise Stop(not_understood(f"I do not see what `{label}` is said of", "say it at the end", (label,)))
    own, others = ((*kind, *in_span(draft, side, name)) for kind, side, name in zip(kinds, sides, counted, strict=True))
    return part.model_copy(update={"filters": own, "than": Than(metric=than.metric, filters=others)})


def in_span(draft: Draft, side: RelatedSaid, counted: str) -> Iterator[Filter]:
    """When the rows of one side were. Raises Stop where they have no date."""
    if side.span is None:
        return
    date, span = draft.default_time(counted), side.span.span
    if date is None or span.start is None or span.end is None:
        raise Stop(not_understood(f"`{counted}` has no date, so `{span.label}` does not apply to it"))
    yield Filter(dimension=date, operator=">=", values=(span.start.isoformat(),))
    yield Filter(dimension=date, operator="<", values=(span.end.isoformat(),))
