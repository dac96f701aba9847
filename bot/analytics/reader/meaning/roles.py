"""Several relationships between the same rows: the declared default is taken, and any other one the form asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.reading import Stop, not_understood
from bot.analytics.reader.said import Ref
from bylaw.authored.context import Relationship


def rivals(draft: QueryDraft, left: str, right: str) -> list[Relationship]:
    """All relationships that lead from *left* to *right*."""
    return [one for one in draft.context.entities[left].relationships if one.right_entity == right]


def stop_at_roles(draft: QueryDraft, shown: Sequence[str]) -> None:
    """ "Trips to Kiel", "payments received": words for another of several relationships. Raises Stop."""
    assert draft.base is not None
    said, leads = draft.said, draft.nearness.leads_to_one
    used = {draft.base, *draft.per, *(name.partition(".")[0] for name in shown)}
    used |= {name for head in said.heads for name in head.entities}
    used |= {name for part in said.related for name in part.entity.entities}
    used |= {name for part in said.conditions for name in part.ref.owners}
    of_values = [one.role for one in said.conditions if one.role is not None]  # "carriers that drive to Kiel"
    for ref in roles_said(draft):
        for target in ref.of("relation"):
            left, _, name = target.name.partition(".")
            for way in draft.context.entities[left].relationships if left in used or ref in of_values else ():
                is_one_of = way.name == name and len(rivals(draft, left, way.right_entity)) > 1
                is_other = not way.default or way.right_entity == draft.base
                if is_one_of and is_other and any(leads(way.right_entity, one) for one in used):
                    words = ref.words
                    message = f"I do not see which relationship `{words}` means"
                    raise Stop(not_understood(message, "name its column, or pick it in the form", (words,)))


def roles_said(draft: QueryDraft) -> Iterator[Ref]:
    """The words that may say which relationship leads to something: before a value or rows, or the verb."""
    said = draft.said
    halves = (said.ratio.numerator, said.ratio.denominator) if said.ratio is not None else ()
    numbers = (*said.numbers, *halves)
    conditions = (*said.conditions, *(one for number in numbers for one in number.conditions))
    related = (*said.related, *(one for number in numbers for one in number.related))
    refs = (*said.heads, *said.groups, *said.outputs, *(one.entity for one in related))
    roles = (*said.roles, *said.verbs, *(one.role for one in (*refs, *conditions)))
    verbs = (one.verb for one in (*said.done, *related, *conditions))
    yield from (one for one in (*roles, *verbs) if one is not None)


def stop_at_kinds(draft: QueryDraft, grouped: Sequence[str] = ()) -> None:
    """ "Payments of shops", where people are paid too: only some rows lead to one, and nothing says it. Raises Stop."""
    assert draft.base is not None
    shown = {name.partition(".")[0] for name in grouped}
    spoken = {name for head in draft.said.heads for name in head.entities} | shown
    narrowed = {name for part in draft.said.conditions for name in part.ref.owners} - shown
    for name in sorted(spoken - narrowed - {draft.base, *draft.per}):
        ways = rivals(draft, draft.base, name)
        if any(way.condition is not None for way in ways if way.default or len(ways) == 1):
            words = name.replace("_", " ")
            message = f"not every row of `{draft.base}` has one of `{words}`, so I do not see which are meant"
            raise Stop(not_understood(message, f"say that it has `{words}` in the form", (words,)))
