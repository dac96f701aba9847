"""Several relationships between the same rows: which of them is meant, and so which of two airports of a flight.

A place is an entity, or `entity@relationship` where the relationship is not the one that is taken anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.analytics.reader.meaning.draft import QueryDraft, normal_words
from bot.analytics.reader.reading import Stop, not_understood
from bot.analytics.reader.said import Narrowing, Ref
from bot.analytics.reader.scope import Target
from bot.analytics.reader.wording import DESTINATIONS, ORIGINS, PARTICLES
from bylaw.authored.context import Relationship
from bylaw.language.words import FUNCTION_WORDS
from bylaw.semantic.query import AnyOf, Condition, Filter, Related, SemanticQuery


@dataclass(frozen=True, slots=True)
class Role:
    """A relationship, and the entity whose rows it leads away from."""

    left: str
    way: Relationship

    @property
    def columns(self) -> set[str]:
        """The columns of `left` that it starts from."""
        return {pair.left_column for pair in self.way.relationship_columns}


def rivals(draft: QueryDraft, left: str, right: str) -> list[Role]:
    """All relationships that lead from *left* to *right*."""
    return [Role(left, one) for one in draft.context.entities[left].relationships if one.right_entity == right]


def role_of(
    draft: QueryDraft, said: Ref | None, base: str, inside: Sequence[str] = (), owner: str | None = None
) -> Role | None:
    """The relationship that the words before something mean, of those that start at the rows spoken of.

    With *owner* one that leads to it. Raises Stop where they name another one, and several lead there.
    """
    if said is None or not said.targets:
        return None
    named = [(target.owner, target.name.partition(".")[2]) for target in said.targets]
    found = [
        Role(left, one)
        for left, name in named
        for one in draft.context.entities[left].relationships
        if one.name == name
    ]
    leads = draft.nearness.leads_to_one
    if owner is not None:
        there = [role for role in found if leads(role.way.right_entity, owner) or owner == role.left]
        lefts = [role.left for role in found if len(rivals(draft, role.left, owner)) > 1]
        if not there and lefts:
            message = f"I do not see which `{owner.replace('_', ' ')}` are meant by `{said.words}`"
            raise Stop(not_understood(message, "name the relationship as the catalogue does", (said.words,)))
        found = there
    verbs = [part.verb for part in draft.said.conditions if part.verb is not None]
    spoken = {*inside, *(name for head in draft.said.heads for name in head.entities)}
    spoken |= {target.owner for verb in verbs for target in verb.targets}
    by_base = [role for role in found if leads(base, role.left)]
    by_rows = [role for role in found if role.left in spoken]
    to_base = [role for role in found if leads(role.left, base)]
    fitting = by_base or by_rows or to_base
    return fitting[0] if len(fitting) == 1 else None


def place_of(draft: QueryDraft, owner: str, role: Role | None) -> str:
    """*owner* as it is reached over the role."""
    if role is None or not draft.nearness.leads_to_one(role.way.right_entity, owner) or owner == role.left:
        return owner
    return owner if role.way.default else f"{owner}@{role.way.name}"


def towards(
    draft: QueryDraft, targets: tuple[Target, ...], narrowing: Narrowing, role: Role | None
) -> tuple[Target, ...]:
    """ "From LAX": of columns that hold the same values the one that says where it starts."""
    said = narrowing.role
    if said is None:
        return targets
    leads = draft.nearness.leads_to_one
    own = tuple(t for t in targets if role and t.owner == role.left and is_column(draft, t, role.columns))
    words = {"from": ORIGINS, "to": DESTINATIONS}.get(normal_words(said.words)[-1], frozenset())
    worded = tuple(target for target in targets if words & set(normal_words(draft.spoken(target.name))))
    behind = tuple(target for target in targets if role and leads(role.way.right_entity, target.owner))
    found = own or worded or behind
    if not found and said.words.lower() == "to" and len(targets) > 1:
        words_said = f"to {narrowing.ref.words}"
        raise Stop(not_understood(f"I do not see what `{words_said}` is said of", "name the column", (words_said,)))
    return found or targets


def is_column(draft: QueryDraft, target: Target, columns: set[str]) -> bool:
    """Is it one of these columns as they are?"""
    owner, _, short = target.name.partition(".")
    dimension = draft.context.entities[owner].dimension(short)
    return dimension is not None and dimension.sql in columns


def take_place(draft: QueryDraft, owner: str, shown: Ref) -> None:
    """Note in which role *owner* is shown. Raises Stop where it is shown in two."""
    said = shown.role or draft.said.role or role_of_verb(draft, owner)
    role = role_of(draft, said, draft.base or owner, owner=owner if shown.role else None)
    is_led = role is not None and draft.nearness.leads_to_one(draft.base or owner, role.left)
    place = place_of(draft, owner, role) if is_led else owner
    if draft.places.setdefault(owner, place) != place:
        words = shown.words
        raise Stop(not_understood(f"I cannot show `{words}` in two roles at once", "ask for one at a time", (words,)))


def role_of_verb(draft: QueryDraft, owner: str) -> Ref | None:
    """ "Which user received the most", of payments that users send too: what the verb says of those who are shown."""
    asked = [draft.said.subject, draft.said.ranked, *draft.said.groups, *draft.said.outputs]
    if not any(owner in ref.entities or owner in ref.owners for ref in asked if ref is not None):
        return None
    verbs = [*draft.said.verbs, *(done.verb for done in draft.said.done if done.verb is not None)]
    for verb in verbs:
        named = {target.name for target in verb.of("relation")}
        ways = rivals(draft, draft.base or owner, owner)
        meant = tuple(Target("relation", name) for role in ways if (name := f"{role.left}.{role.way.name}") in named)
        if len(ways) > 1 and meant:
            return Ref(verb.words, meant)
    return None


def in_role_of_verb(draft: QueryDraft, verb: Ref | None, part: Related, link: str) -> Related:
    """ "Users who received 3 payments": those that the verb leads to, of the several relationships between them."""
    if verb is None or len(rivals(draft, link, part.entity)) < 2:
        return part
    role = role_of(draft, Ref(verb.words, verb.of("relation")), part.entity, (link,), part.entity)
    return part.model_copy(update={"entity": place_of(draft, part.entity, role)})


def partner_of_verb(draft: QueryDraft, verb: Ref | None, part: Related, partner: str) -> Filter | None:
    """ "Payments received by users": those that have a user there, and not at another of several relationships."""
    is_bare = not part.filters and part.against is None and (part.comparison, part.value) in ((">=", 1), ("=", 0))
    if verb is None or not is_bare or "@" in part.entity or len(rivals(draft, part.entity, partner)) < 2:
        return None
    role = role_of(draft, Ref(verb.words, verb.of("relation")), part.entity, owner=partner)
    name = f"{place_of(draft, partner, role)}.{key_name(draft, partner)}"
    return Filter(dimension=name, operator="is_null", negated=part.comparison == ">=")


def in_roles(draft: QueryDraft, query: SemanticQuery) -> SemanticQuery:
    """The query with what it shows reached in the roles that were said."""
    places = {owner: place for owner, place in draft.places.items() if place != owner}
    if not places:
        return query

    def placed(name: str) -> str:
        owner, dot, short = name.partition(".")
        return f"{places.get(owner, owner)}{dot}{short}"

    return query.model_copy(
        update={
            "dimensions": tuple(map(placed, query.dimensions)),
            "per": tuple(map(placed, query.per)),
            "order": tuple(one.model_copy(update={"by": placed(one.by)}) for one in query.order),
            "limit_by": tuple(map(placed, query.limit_by)),
        }
    )


def in_other_role(draft: QueryDraft, part: Related, link: str) -> Related:
    """ "Airports that have flights from Chicago": where they go to, for the flight's start is said of Chicago."""
    roles = rivals(draft, link, part.entity)
    if len(roles) < 2:
        return part
    meant = role_of(draft, draft.said.role, part.entity, (link,))
    left = [role for role in roles if not any(fills(draft, role, one) for one in part.filters)]
    if meant is None and 0 < len(left) < len(roles):
        meant = left[0] if len(left) == 1 else None
    return part.model_copy(update={"entity": place_of(draft, part.entity, meant)})


def fills(draft: QueryDraft, role: Role, condition: Condition) -> bool:
    """Does a condition on the rows of the role's left side speak of what the role leads to?"""
    if isinstance(condition, AnyOf):
        return any(fills(draft, role, one) for one in condition.any_of)
    if not isinstance(condition, Filter):
        return False
    place = condition.dimension.partition(".")[0]
    owner, _, named = place.partition("@")
    if owner == role.left:
        return is_column(draft, Target("dimension", condition.dimension), role.columns)
    is_behind = draft.nearness.leads_to_one(role.way.right_entity, owner)
    return is_behind and (named == role.way.name or (not named and role.way.default))


def of_their_kind(draft: QueryDraft, filters: list[Condition], grouped: Sequence[str] = ()) -> None:
    """ "Payments sent by users", where merchants send some too: those that have a partner of that kind. Raises Stop."""
    assert draft.base is not None
    filters += partners_shown(draft, grouped)
    shown = {target.owner for ref in (*draft.said.groups, *draft.said.outputs) for target in ref.targets}
    for head in draft.said.heads:
        name = head.entities[0] if head.entities else draft.base
        if name == draft.base or name in shown or name in draft.per:
            continue
        known = [role for role in rivals(draft, draft.base, name) if role.way.default] or rivals(
            draft, draft.base, name
        )
        role = role_of(draft, head.role, draft.base, owner=name) or (known[0] if len(known) == 1 else None)
        if role is None or role.left != draft.base or role.way.condition is None:
            continue
        those = Related(entity=draft.base, metric=f"count({name})")
        told = {one.dimension.partition(".")[0].partition("@")[0] for one in filters if isinstance(one, Filter)}
        if those in filters or any(fills(draft, role, one) for one in filters) or (head.role is None and name in told):
            continue
        if role not in known:
            message = f"I do not see which `{head.words}` are meant"
            raise Stop(not_understood(message, "say something of them, or of their kind", (head.words,)))
        filters.append(those)


def partners_shown(draft: QueryDraft, grouped: Sequence[str]) -> Iterator[Filter]:
    """ "Amount by merchant category", where users are paid too: by that of those payments that have a merchant."""
    for owner in dict.fromkeys(name.partition(".")[0] for name in grouped):
        place = draft.places.get(owner, owner)
        named = place.partition("@")[2]
        ways = [role.way for role in rivals(draft, draft.base or owner, owner)]
        ways = [way for way in ways if way.name == named or (not named and way.default)]
        if ways and ways[0].condition is not None and owner not in draft.per:
            yield Filter(dimension=f"{place}.{key_name(draft, owner)}", operator="is_null", negated=True)


def key_name(draft: QueryDraft, entity: str) -> str:
    """The dimension that every row of *entity* has: its key, else the first."""
    dimensions = draft.context.entities[entity].dimensions
    keys = [one.name for one in dimensions if draft.is_key(Target("dimension", f"{entity}.{one.name}"))]
    return (keys or [one.name for one in dimensions])[0]


def stop_at_roles(draft: QueryDraft) -> None:
    """A role of the rows that are counted or listed, which nothing has, would be dropped silently."""
    assert draft.base is not None
    spoken = {name for ref in (*draft.said.heads, *draft.said.groups) for name in ref.entities}
    spoken |= {name for part in draft.said.related for name in part.entity.entities}
    spoken |= {name for part in draft.said.conditions for name in part.ref.owners}
    spoken |= {name for number in draft.said.numbers for name in number.ref.owners}
    for said in draft.said.roles:
        role = role_of(draft, said, draft.base)
        if role is None:
            continue
        if draft.nearness.leads_to_one(draft.base, role.left) or role.left not in spoken:
            raise Stop(not_understood(f"I do not see what `{said.words}` is said of", None, (said.words,)))


def stop_at_lost_roles(draft: QueryDraft, filters: Sequence[Condition], shown: Sequence[str]) -> None:
    """ "Authors who were cited by Ann": a role of rows that the answer never comes to would be dropped silently."""
    assert draft.base is not None
    said = draft.said
    used = {draft.base, *(name.partition("@")[0] for name in draft.per), *(name.partition(".")[0] for name in shown)}
    used |= {name for one in filters for name in entities_in(one)}
    ways = draft.compiler.joins.reachable(draft.base)
    used |= {side for name in [*used] for step in ways.get(name, ()) for side in (step.left, step.right)}
    others = [head for head in said.heads if not said.numbers or draft.base not in head.entities]
    roles = [*(one.role for one in said.conditions), *(head.role for head in others)]
    for role in roles:  # but "references cited by publications" are a column
        words = normal_words(role.words) if role is not None else []
        if role is None or not role.targets or all(word in PARTICLES | FUNCTION_WORDS for word in words):
            continue
        if used.isdisjoint(target.owner for target in role.targets):
            raise Stop(not_understood(f"I do not see what `{role.words}` is said of", None, (role.words,)))


def entities_in(condition: Condition) -> set[str]:
    """The entities that a condition speaks of."""
    match condition:
        case AnyOf():
            return {name for one in condition.any_of for name in entities_in(one)}
        case Related():
            counted = condition.metric.partition("(")[2].rstrip(")").partition(".")[0]
            inside = {name for one in condition.filters for name in entities_in(one)}
            return {condition.entity.partition("@")[0].partition(".")[0], counted} | inside
        case Filter():
            return {condition.dimension.partition(".")[0].partition("@")[0]}
    return set()
