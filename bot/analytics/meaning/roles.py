"""Several relationships between the same rows: which of them is meant, and so which of two airports of a flight.

A place is an entity, or `entity@relationship` where the relationship is not the one that is taken anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.analytics.grammar.said import Narrowing, Ref
from bot.analytics.grammar.wording import DESTINATIONS, ORIGINS
from bot.analytics.meaning.draft import Draft, normal_words
from bot.analytics.reading import Stop, not_understood
from bot.analytics.scope import Target
from bylaw.authored.context import Relationship
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


def rivals(draft: Draft, left: str, right: str) -> list[Role]:
    """All relationships that lead from *left* to *right*."""
    return [Role(left, one) for one in draft.context.entities[left].relationships if one.right_entity == right]


def role_of(draft: Draft, said: Ref | None, base: str, inside: Sequence[str] = ()) -> Role | None:
    """The relationship that the words before something mean, of those that start at the rows spoken of."""
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
    verbs = [part.verb for part in draft.said.conditions if part.verb is not None]
    spoken = {*inside, *(name for head in draft.said.heads for name in head.entities)}
    spoken |= {target.owner for verb in verbs for target in verb.targets}
    by_base = [role for role in found if leads(base, role.left)]
    by_rows = [role for role in found if role.left in spoken]
    to_base = [role for role in found if leads(role.left, base)]
    fitting = by_base or by_rows or to_base
    return fitting[0] if len(fitting) == 1 else None


def place_of(draft: Draft, owner: str, role: Role | None) -> str:
    """*owner* as it is reached over the role."""
    if role is None or not draft.nearness.leads_to_one(role.way.right_entity, owner) or owner == role.left:
        return owner
    return owner if role.way.default else f"{owner}@{role.way.name}"


def towards(draft: Draft, targets: tuple[Target, ...], narrowing: Narrowing, role: Role | None) -> tuple[Target, ...]:
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


def is_column(draft: Draft, target: Target, columns: set[str]) -> bool:
    """Is it one of these columns as they are?"""
    owner, _, short = target.name.partition(".")
    dimension = draft.context.entities[owner].dimension(short)
    return dimension is not None and dimension.sql in columns


def take_place(draft: Draft, owner: str, shown: Ref) -> None:
    """Note in which role *owner* is shown. Raises Stop where it is shown in two."""
    role = role_of(draft, shown.role or draft.said.role, draft.base or owner)
    is_led = role is not None and draft.nearness.leads_to_one(draft.base or owner, role.left)
    place = place_of(draft, owner, role) if is_led else owner
    if draft.places.setdefault(owner, place) != place:
        words = shown.words
        raise Stop(not_understood(f"I cannot show `{words}` in two roles at once", "ask for one at a time", (words,)))


def in_roles(draft: Draft, query: SemanticQuery) -> SemanticQuery:
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


def in_other_role(draft: Draft, part: Related, link: str) -> Related:
    """ "Airports that have flights from Chicago": where they go to, for the flight's start is said of Chicago."""
    roles = rivals(draft, link, part.entity)
    if len(roles) < 2:
        return part
    meant = role_of(draft, draft.said.role, part.entity, (link,))
    left = [role for role in roles if not any(fills(draft, role, one) for one in part.filters)]
    if meant is None and 0 < len(left) < len(roles):
        meant = left[0] if len(left) == 1 else None
    return part.model_copy(update={"entity": place_of(draft, part.entity, meant)})


def fills(draft: Draft, role: Role, condition: Condition) -> bool:
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


def of_their_kind(draft: Draft, filters: list[Condition]) -> None:
    """ "Payments sent by users", where merchants send some too: those that have a partner of that kind. Raises Stop."""
    assert draft.base is not None
    shown = {target.owner for ref in (*draft.said.groups, *draft.said.outputs) for target in ref.targets}
    for head in draft.said.heads:
        name = head.entities[0] if head.entities else draft.base
        if name == draft.base or name in shown or name in draft.per:
            continue
        known = [role for role in rivals(draft, draft.base, name) if role.way.default] or rivals(
            draft, draft.base, name
        )
        role = role_of(draft, head.role, draft.base) or (known[0] if len(known) == 1 else None)
        if role is None or role.left != draft.base or role.way.condition is None:
            continue
        those = Related(entity=draft.base, metric=f"count({name})")
        if those in filters or any(fills(draft, role, one) for one in filters):
            continue
        if role not in known:
            message = f"I do not see which `{head.words}` are meant"
            raise Stop(not_understood(message, "say something of them, or of their kind", (head.words,)))
        filters.append(those)


def stop_at_roles(draft: Draft) -> None:
    """A role of the rows that are counted or listed, which nothing has, would be dropped silently."""
    assert draft.base is not None
    for said in draft.said.roles:
        role = role_of(draft, said, draft.base)
        if role is not None and draft.nearness.leads_to_one(draft.base, role.left):
            raise Stop(not_understood(f"I do not see what `{said.words}` is said of", None, (said.words,)))
