"""How the rows of two entities belong together: through which rows a verb connects them, if there is one way only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.analytics.reader.meaning.draft import QueryDraft, normal_words
from bot.analytics.reader.reading import Stop, not_understood
from bot.analytics.reader.said import Ref
from bot.analytics.reader.wording import NEUTRAL_VERBS


def link_of(draft: QueryDraft, base: str, target: str, verb: Ref) -> str:
    """The entity whose rows lead to one of *base* and one of *target*, where *verb* can only mean these.

    Raises Stop where several can be meant, or none, or a relationship of several.
    """
    known = links(draft, base, target)
    meant = [link for link in known if says(draft, verb, link, (base, target))]
    is_plainly = not verb.targets or normal_words(verb.words)[0] in NEUTRAL_VERBS
    if not meant and is_plainly and len(known) == 1 and is_plain(draft, known[0], (base, target)):
        meant = known
    if len(meant) == 1:
        draft.names[verb.words] = " and ".join(dict.fromkeys((base, meant[0], target)))
        return meant[0]
    words = verb.words
    between = [name for name in known if name not in (base, target)]
    help = f"name the rows between them: {' or '.join(f'`{name}`' for name in between)}" if between else None
    raise Stop(not_understood(f"I do not see how `{words}` connects `{base}` and `{target}`", help, (words,)))


def links(draft: QueryDraft, base: str, target: str) -> list[str]:
    """Everything that can connect them: one that leads to the other, else what leads to both and to no other such."""
    leads = draft.nearness.leads_to_one
    for one, other in ((base, target), (target, base)):
        if leads(one, other):
            return [one]
    found = [name for name in sorted(draft.context.entities) if leads(name, base) and leads(name, target)]
    return [name for name in found if not any(leads(name, other) for other in found if other != name)]


def says(draft: QueryDraft, verb: Ref, link: str, ends: tuple[str, str]) -> bool:
    """Does the catalogue use *verb* for a relationship on the way, or for the rows between them?"""
    named = {target.name for target in verb.targets}
    used = {f"{left}.{name}" for left, _, names in steps(draft, link, ends) for name in names}
    return link in named or bool(named & used)


def is_plain(draft: QueryDraft, link: str, ends: tuple[str, str]) -> bool:
    """Is there one relationship only at each step?"""
    return all(len(names) == 1 for _, _, names in steps(draft, link, ends))


def steps(draft: QueryDraft, link: str, ends: tuple[str, str]) -> Iterator[tuple[str, str, list[str]]]:
    """The steps from *link* to both ends, with the relationships between the two entities of each."""
    ways = draft.compiler.joins.reachable(link)
    for step in (step for end in ends for step in ways.get(end, ())):
        for left, right in ((step.left, step.right), (step.right, step.left)):
            declared = draft.context.entities[left].relationships
            names = [one.name for one in declared if one.right_entity == right]
            if names:
                yield left, right, names


def stop_at_verbs(draft: QueryDraft, base: str, shown: Sequence[str]) -> None:
    """ "How many flights does each airline operate": a verb says nothing more than that the catalogue connects them."""
    said = draft.said
    spoken = dict.fromkeys(name.partition(".")[0] for name in (*shown, *draft.per))
    spoken |= dict.fromkeys(name for head in (*said.heads, *said.groups) for name in head.entities)
    halves = (said.ratio.numerator, said.ratio.denominator) if said.ratio is not None else ()
    inner = [part for number in (*said.numbers, *halves) for part in number.related]
    spoken |= dict.fromkeys(name for part in (*said.related, *inner) for name in part.entity.entities)
    spoken |= dict.fromkeys(name for part in said.conditions for name in part.ref.owners)
    others = [name for name in spoken if name != base and draft.nearness.distance(base, name) is not None]
    own = [name for name in shown if name.partition(".")[0] == base]
    for verb in said.verbs:
        if not others and own and said.groups and not verb.targets:
            continue  # "flow through each country", which is a column of the rivers
        if not others:
            raise Stop(not_understood(f"I do not see what `{verb.words}` is said of", None, (verb.words,)))
        told = [
            other for other in others if any(says(draft, verb, one, (base, other)) for one in links(draft, base, other))
        ]
        link_of(draft, base, (told or others)[0], verb)


def has_role(draft: QueryDraft, base: str, entity: str) -> bool:
    """Do the rows that lead to *entity* say which of its rows are meant: of all parties those that are agents?"""
    way = draft.compiler.joins.reachable(base).get(entity, ())
    return bool(way) and any(one.apply == "always" for one in draft.context.entities[way[-1].left].filters)
