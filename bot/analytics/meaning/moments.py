"""Which dates two moments are, and which rows are held to how far they lie apart."""

from __future__ import annotations

from collections.abc import Sequence

from bot.analytics.grammar.said import ApartSaid, Ref
from bot.analytics.meaning.draft import Draft
from bot.analytics.meaning.times import place
from bot.analytics.reading import Stop, not_understood
from bot.analytics.scope import Target
from bylaw.semantic.query import Apart, Condition


def add_aparts(draft: Draft, filters: list[Condition]) -> None:
    """Add every comparison of two moments where it belongs."""
    for said in draft.said.aparts:
        moment, since = ends_of(draft, said)
        draft.compared |= {moment.partition(".")[0], since.partition(".")[0]}
        apart = Apart(
            moment=moment,
            since=since,
            least=said.least,
            most=said.most,
            unit=said.unit,
            is_open=said.is_open,
            same=said.same,
            negated=said.negated,
        )
        place(draft, filters, [apart], finer(draft, moment, since), said.clause)


def ends_of(draft: Draft, said: ApartSaid) -> tuple[str, str]:
    """The two dates. Without one of its own the comparison is said of the rows that are spoken of last."""
    sinces = dates_of(draft, said.since)
    if said.moment is not None:
        moments = dates_of(draft, said.moment)
        fitting = [one for one in moments if any(are_of_one_row(draft, one, other) for other in sinces)]
        if not fitting:
            words = said.moment.words
            message = f"`{words}` and `{said.since.words}` are no dates of one row"
            raise Stop(not_understood(message, "compare dates of which one row has both", (words, said.since.words)))
        moment = draft.choose(said.moment, fitting, said.near).name
    else:
        heads = [name for head in reversed(draft.said.heads) for name in head.entities]
        counted = [name for number in draft.said.numbers for name in number.ref.entities]
        places = dict.fromkeys((*said.near, *heads, *counted, *([draft.base] if draft.base else ())))
        found = [name for one in places if (name := draft.default_time(one)) is not None]
        fitting_names = [
            name for name in found if any(are_of_one_row(draft, Target("time", name), other) for other in sinces)
        ]
        if not fitting_names:
            words = said.since.words
            raise Stop(not_understood(f"I do not see which date is compared with `{words}`", "name it", (words,)))
        moment = fitting_names[0]
    fitting = [one for one in sinces if are_of_one_row(draft, Target("time", moment), one)]
    since = draft.choose(said.since, fitting or sinces, (moment.partition(".")[0],)).name
    if not fitting:
        message = f"`{moment}` and `{since}` belong to no row together"
        raise Stop(not_understood(message, "compare dates of which one row has both", (said.since.words,)))
    return moment, since


def dates_of(draft: Draft, ref: Ref) -> Sequence[Target]:
    """The dates that words mean: those of that name, or the date of a thing."""
    if times := ref.of("time"):
        return times
    found = [name for entity in ref.entities if (name := draft.default_time(entity)) is not None]
    if not found:
        raise Stop(not_understood(f"`{ref.words}` has no date", "name a date", (ref.words,)))
    return [Target("time", name) for name in found]


def are_of_one_row(draft: Draft, one: Target, other: Target) -> bool:
    """Does some row have at most one of each?"""
    near = draft.nearness.leads_to_one
    return one.name != other.name and (near(one.owner, other.owner) or near(other.owner, one.owner))


def finer(draft: Draft, moment: str, since: str) -> str:
    """The entity whose rows have both moments."""
    first, second = moment.partition(".")[0], since.partition(".")[0]
    return first if draft.nearness.leads_to_one(first, second) else second
