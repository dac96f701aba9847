"""Which rows count: conditions on the rows themselves, and on those related to them."""

from __future__ import annotations

from calendar import day_name
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.analytics.reader.meaning.checks import stop_at_balance
from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.meaning.kinds import both_or_either, is_other_value, stop_at_denied
from bot.analytics.reader.meaning.links import link_of, links
from bot.analytics.reader.meaning.literals import as_stored, numbers_meant, told_in_unit
from bot.analytics.reader.meaning.metrics import base_of
from bot.analytics.reader.meaning.roles import rivals
from bot.analytics.reader.reading import Stop, not_understood
from bot.analytics.reader.said import Narrowing, RelatedSaid, TimeSaid
from bot.analytics.reader.scope import Target
from bylaw.language.words import singular
from bylaw.semantic.query import (
    MOST_NESTED,
    AnyOf,
    Apart,
    Condition,
    Filter,
    First,
    Related,
    SemanticQuery,
)

NO_QUERY = SemanticQuery(metrics=("none",))


@dataclass(slots=True)
class Clause:
    """What a question says of related rows: `counted` is the entity of these. `numbers` are those of its relations."""

    counted: str
    part: Related
    numbers: set[int]
    conditions: list[Condition] = field(default_factory=list)
    is_alternative: bool = False  # to the clause before it


def all_filters(
    draft: QueryDraft,
    conditions: Sequence[Narrowing] | None = None,
    related_said: Sequence[RelatedSaid] | None = None,
    times: Sequence[TimeSaid] = (),
) -> list[Condition]:
    """Conditions, of the whole question where none are given; those of related rows go where the rows are counted.

    *times* are spans that one number alone is held to.
    """
    assert draft.base is not None
    conditions = draft.said.conditions if conditions is None else conditions
    related_said = draft.said.related if related_said is None else related_said
    found: list[Condition] = []
    nowhere: list[Condition] = []  # of no related row
    clauses = clauses_of(draft, related_said, conditions, times)
    for narrowing in conditions:
        condition = condition_of(draft, narrowing, draft.base)
        stop_at_balance(draft, condition)
        home = home_of(draft, owner_of(condition), clauses, narrowing.clause)
        if home is None:
            stop_at_many(draft, condition, narrowing)
        is_first = home is not None and not home.conditions and is_some(home.part)
        if narrowing.is_of_kind and home is not None and is_first and not narrowing.is_none:
            home.part = home.part.model_copy(update={"comparison": "=", "value": 0})  # "that do not fly from Chicago"
            condition = condition.model_copy(update={"negated": False})
        if home is None and (narrowing.is_of_kind or narrowing.is_none):
            stop_at_denied(draft, narrowing, condition)
        is_own = home is None and draft.nearness.leads_to_one(draft.base, owner_of(condition))
        if not is_own and narrowing.is_joined and not narrowing.negated:
            raise Stop(both_or_either(narrowing))
        if not is_own and narrowing.is_none:
            nowhere.append(condition)
            continue
        join(found if home is None else home.conditions, condition, narrowing.alternative)
    found = gather_related(draft, found, clauses) + nowhere
    for clause in nested_first(draft, clauses):
        if clause.counted == draft.base or (clause.counted in draft.per and is_some(clause.part)):
            found += clause.conditions
            if is_some(clause.part):
                continue
            part = clause.part
        else:
            part = narrowed(draft, clause.part, clause.counted, clause.conditions)
        stop_at_balance(draft, part)
        last = found[-1] if found else None
        outer = outer_of(draft, clause, clauses)
        if outer is not None:
            outer.conditions.append(part)
            draft.nested |= clause.numbers
        elif clause.is_alternative and isinstance(last, Related):
            found[-1] = AnyOf(any_of=(last, part))
        else:
            found.append(part)
        draft.clauses.update(dict.fromkeys(clause.numbers, part))
    return found


def outer_of(draft: QueryDraft, clause: Clause, clauses: Sequence[Clause]) -> Clause | None:
    """ "Patients with treatments without adverse events": what is said of the treatments that a patient has."""
    whose = clause.part.entity.partition(".")[0]
    if whose == draft.base or whose in draft.per or clause.is_alternative:
        return None
    return next((one for one in clauses if one is not clause and one.counted == whose), None)


def nested_first(draft: QueryDraft, clauses: Sequence[Clause]) -> list[Clause]:
    """What is said of related rows of related rows before what is said of these. Raises Stop where they form a ring."""

    def depth(clause: Clause) -> int:
        level, outer = 0, outer_of(draft, clause, clauses)
        while outer is not None:
            level, outer = level + 1, outer_of(draft, outer, clauses)
            if level == min(len(clauses), MOST_NESTED):
                message = f"I do not see whose `{clause.counted.replace('_', ' ')}` are meant"
                raise Stop(not_understood(message, "ask for fewer relations at a time"))
        return level

    return sorted(clauses, key=depth, reverse=True)


def stop_at_many(draft: QueryDraft, condition: Filter, narrowing: Narrowing) -> None:
    """ "Customers with an amount above 100": of each of their orders, or of all of them together?"""
    owner, base = owner_of(condition), draft.base
    assert base is not None
    spoken = {name for head in (*draft.said.heads, *draft.said.groups) for name in head.entities}
    if condition.operator not in ("<", "<=", ">", ">=") or draft.nearness.leads_to_one(base, owner):
        return
    if owner not in spoken and owner not in draft.per:
        words = narrowing.ref.words
        help = f"say `{owner.replace('_', ' ')} whose {words} …`, or `total {words}` of each"
        raise Stop(not_understood(f"one row of `{base}` has `{words}` many times", help, (words,)))


def clauses_of(
    draft: QueryDraft, related_said: Sequence[RelatedSaid], conditions: Sequence[Narrowing], times: Sequence[TimeSaid]
) -> list[Clause]:
    """What is said of related rows. Where rows are only said to be there, and more of the same kind, that says it."""
    told = {one.clause for one in conditions} | {one.clause for one in (*draft.said.times, *times)}
    clauses: list[Clause] = []
    for said in related_said:
        part = related_rows(draft, said)
        counted = base_of(draft, part.metric, NO_QUERY)
        if said.verb is not None and is_told(draft, part.entity.partition("@")[0], counted, said, conditions):
            continue
        same = [one for one in clauses if one.counted == counted and one.part.entity == part.entity]
        if same and is_some(part) and said.clause not in told:
            same[-1].numbers.add(said.clause)
        else:
            clauses.append(Clause(counted, part, {said.clause}, is_alternative=said.alternative))
    return clauses


def is_some(part: Related) -> bool:
    """Does it only ask whether there are any such rows?"""
    return part.comparison == ">=" and part.value == 1 and part.against is None


def is_told(draft: QueryDraft, base: str, name: str, said: RelatedSaid, conditions: Sequence[Narrowing]) -> bool:
    """ "Orders placed by gold customers": the condition on the only customer of an order says it all."""
    assert said.verb is not None
    link_of(draft, base, name, said.verb)
    inside = [part for part in conditions if part.clause == said.clause and not part.negated]
    return draft.nearness.leads_to_one(base, name) and bool(inside)


def narrowed(draft: QueryDraft, part: Related, name: str, conditions: Sequence[Condition]) -> Related:
    """*part* with conditions on its rows, or on the rows that connect them with it: "took courses online"."""
    leads = draft.nearness.leads_to_one
    between = [
        link
        for link in links(draft, part.entity.partition(".")[0], name)
        if link != name and any(leads(link, owner_of(one)) and not leads(name, owner_of(one)) for one in conditions)
    ]
    if not between:
        return part.model_copy(update={"filters": tuple(conditions)})
    link = between[0]
    is_none = (part.comparison, part.value) == ("=", 0)
    if len(between) > 1 or not (is_some(part) or is_none) or not all(leads(link, owner_of(one)) for one in conditions):
        message = f"I do not see which rows between `{part.entity}` and `{name}` are meant"
        raise Stop(not_understood(message, f"ask for them by name: `{link}`", (name,)))
    return part.model_copy(update={"metric": f"count({link})", "filters": tuple(conditions)})


def gather_related(draft: QueryDraft, found: list[Condition], clauses: list[Clause]) -> list[Condition]:
    """Conditions on the same kind of related rows hold for one of these rows together, not for one each."""
    assert draft.base is not None
    far: list[tuple[str, list[Condition]]] = []
    near: list[Condition] = []
    for condition in found:
        owner = owner_of(condition)
        if isinstance(condition, Related) or draft.nearness.leads_to_one(draft.base, owner) or owner in draft.per:
            near.append(condition)
        else:
            same = [
                others
                for name, others in far
                if name == owner and not any(is_other_value(condition, one) for one in others)
            ]
            if not same:
                far.append((owner, []))
            (same[0] if same else far[-1][1]).append(condition)
    for owner, conditions in far:
        reached = [one for one in clauses if draft.nearness.leads_to_one(owner, one.counted) and is_some(one.part)]
        for clause in reached:
            conditions += clause.conditions
            clauses.remove(clause)
        part = Related(entity=draft.base, metric=f"count({owner})", filters=tuple(conditions))
        near += conditions if len(conditions) == 1 and not reached else [part]
    return near


def home_of(draft: QueryDraft, owner: str, clauses: Sequence[Clause], number: int) -> Clause | None:
    """The related rows that a condition on *owner* narrows; None where it narrows the rows of the answer."""
    assert draft.base is not None
    spoken = [one for one in clauses if number in one.numbers]
    is_of_kind = bool(spoken) and "." in spoken[0].part.entity  # "streets with no Italian restaurant": of all of these
    if draft.nearness.leads_to_one(draft.base, owner) and not is_of_kind:
        return None
    if spoken and draft.nearness.distance(spoken[0].counted, owner) is not None:
        return spoken[0]
    leads = draft.nearness.leads_to_one
    between = [  # "bought more than one ticker": what was bought links who bought it with the ticker
        one for one in clauses if not is_some(one.part) and leads(owner, one.counted) and leads(owner, draft.base)
    ]
    return next((one for one in clauses if leads(one.counted, owner)), between[0] if len(between) == 1 else None)


def related_rows(draft: QueryDraft, said: RelatedSaid, base: str | None = None) -> Related:
    heads = said.head.entities or said.head.owners
    kind = kind_of(draft, said)
    if said.metric is not None:  # "whose average order value is above 1000"
        head, metric = heads[0], said.metric
    else:
        base = base or draft.base
        entity = draft.choose(said.entity, said.entity.of("entity")).name
        head = base if base is not None and (base in heads or not heads) else heads[0]
        if head == entity and kind is None:
            words = said.entity.words
            raise Stop(not_understood(f"I do not see what has `{words}`", "name the rows that have them", (words,)))
        metric = f"count({entity})"
        if kind is None and is_several(said) and draft.nearness.leads_to_one(head, entity):
            head = owner_of_several(draft, said, head, entity)
    comparison, value = said.comparison, told_in_unit(draft, said, metric)[0]
    return Related(entity=kind or head, metric=metric, comparison=comparison, value=value)


def is_several(said: RelatedSaid) -> bool:
    """Does it ask for more than one of them?"""
    least = {">": 1, ">=": 2, "=": 2}.get(said.comparison)
    return least is not None and not isinstance(said.value, str) and said.value >= least


def owner_of_several(draft: QueryDraft, said: RelatedSaid, head: str, entity: str) -> str:
    """ "Authors with papers in more than one journal", where a paper has one: the author has. Raises Stop."""
    is_own = draft.base in (None, head) or draft.nearness.leads_to_one(draft.base or head, head)
    if draft.base is None or is_own or len(rivals(draft, head, entity)) > 1:
        words = said.entity.words
        message = f"one row of `{head}` has one `{words}` at most"
        raise Stop(not_understood(message, f"ask for what has several `{head.replace('_', ' ')}`", (words,)))
    return draft.base


def kind_of(draft: QueryDraft, said: RelatedSaid) -> str | None:
    """ "Regions with more than 100 orders" are told by what all customers of a region have, not by one of them."""

    def is_part(target: Target) -> bool:
        labels = draft.labels(target.owner)  # a street is one part of an address
        return target.name in labels and len(labels) > 1 and not draft.is_key(target)

    heads = [ref for ref in (said.head, *draft.said.outputs) if ref.words == said.head.words]
    targets = [target for ref in heads for target in ref.of("dimension")]
    kinds = {target.name for target in targets if not draft.tells_apart(target.name, target.owner) or is_part(target)}
    owners = {target.owner for target in targets}
    named = {singular(word) for one in owners for word in (one, *draft.context.entities[one].synonyms)}
    is_some = said.comparison == ">=" and said.value == 1
    is_alone = not any(one is not said and one.head.words == said.head.words for one in draft.said.related)
    if len(kinds) != 1 or (is_some and is_alone) or singular(said.head.words.lower()) in named:
        return None
    return kinds.pop()


def condition_of(draft: QueryDraft, narrowing: Narrowing, base: str) -> Filter:
    ref = narrowing.ref
    named = ref.of("condition") if not narrowing.values and narrowing.operator == "in" else ()
    if narrowing.operator == "is_weekend":
        return weekend(draft, base, narrowing)
    if named:
        target = draft.choose(ref, named, narrowing.near)
        return Filter(dimension=target.name, negated=narrowing.negated)
    targets = ref.of("value")
    if targets and narrowing.values and any(target.value == narrowing.values[0] for target in targets):
        target = draft.choose(ref, targets, narrowing.near)
        stop_at_far_value(draft, target, narrowing, base)
        values = tuple(dict.fromkeys((target.value, *narrowing.values[1:])))
        draft.names[ref.words] = f"{target.name} {'!=' if narrowing.negated else '='} {target.value}"
        return Filter(
            dimension=target.name, values=tuple(v for v in values if v is not None), negated=narrowing.negated
        )
    attributes = ref.of("dimension", "fact", "time")
    if narrowing.operator in ("<", "<=", ">", ">="):
        attributes = numbers_meant(draft, narrowing, attributes)
    if not attributes and ref.entities:
        label = draft.label(draft.choose(ref, ref.of("entity"), narrowing.near).name)
        if len(label) != 1:
            raise Stop(
                not_understood(f"I do not see what of `{ref.words}` is {narrowing.values[0]}", "name the dimension")
            )
        name = label[0]
    else:
        name = draft.choose(ref, attributes, narrowing.near).name
    values = tuple(as_stored(draft, name, value) for value in told_in_unit(draft, narrowing, name))
    return Filter(dimension=name, values=values, operator=narrowing.operator, negated=narrowing.negated)


def stop_at_far_value(draft: QueryDraft, target: Target, narrowing: Narrowing, base: str) -> None:
    """A value that only rows far away have, which nothing in the question speaks of: a word of another meaning."""
    direct = {one.right_entity for one in draft.context.entities[base].relationships}
    if narrowing.is_labelled or draft.nearness.leads_to_one(base, target.owner) or target.owner in direct:
        return
    if narrowing.verb is not None:
        inside = [one.entity.entities for one in draft.said.related if one.clause == narrowing.clause > 0]
        link_of(draft, inside[0][0] if inside and inside[0] else base, target.owner, narrowing.verb)
        return
    spoken = {name for head in (*draft.said.heads, *draft.said.groups) for name in head.entities} - {base}
    spoken |= {name for part in draft.said.related for name in part.entity.entities}
    spoken |= {name for part in draft.said.conditions if part.verb is not None for name in part.ref.owners}
    near = draft.nearness.leads_to_one
    if not any(near(target.owner, name) or near(name, target.owner) for name in spoken):
        words = narrowing.ref.words
        message = f"I do not see what `{words}` is said of"
        raise Stop(not_understood(message, f"name it: `{target.name.replace('.', ' ')}`", (words,)))


def weekend(draft: QueryDraft, base: str, narrowing: Narrowing) -> Filter:
    """Weekends or the other days: of a date, or of a column of the names of days."""
    if not narrowing.ref.of("time") and draft.default_time(base) is None:
        for dimension in draft.context.entities[base].dimensions:
            spelled = {str(value).casefold(): str(value) for value in dimension.sample_values}
            if spelled and spelled.keys() <= {day.casefold() for day in day_name}:
                days = day_name[:5] if narrowing.negated else day_name[5:]
                is_small = all(value.islower() for value in spelled.values())
                values = tuple(spelled.get(day.casefold(), day.lower() if is_small else day) for day in days)
                return Filter(dimension=f"{base}.{dimension.name}", values=values)
    name = date_of_days(draft, base, narrowing)
    return Filter(dimension=name, operator="is_weekend", negated=narrowing.negated)


def owner_of(condition: Condition) -> str:
    if isinstance(condition, AnyOf):
        return owner_of(condition.any_of[0])
    match condition:
        case Related():
            return condition.entity.partition(".")[0]
        case Apart():
            return condition.moment.partition(".")[0]
        case First():
            return condition.by.partition(".")[0]
        case Filter():
            return condition.dimension.partition(".")[0].partition("@")[0]


def join(found: list[Condition], condition: Filter, alternative: bool) -> None:
    """Add a condition; an alternative joins the one before it."""
    if alternative and found:
        last = found[-1]
        if isinstance(last, AnyOf):
            found[-1] = AnyOf(any_of=(*last.any_of, condition))
            return
        if isinstance(last, Filter):
            found[-1] = AnyOf(any_of=(last, condition))
            return
    found.append(condition)


def date_of_numbers(draft: QueryDraft, words: str) -> str | None:
    """The date that the numbers of the question are told by. Raises Stop where they are told by several."""
    dates = sorted({date for name in draft.counted for date in draft.compiler.dates_of(name)})
    if len(dates) > 1:
        named = " and ".join(f"`{date}`" for date in dates)
        raise Stop(not_understood(f"I do not see whether `{words}` is said of {named}", "ask for one number", (words,)))
    return dates[0] if dates else None


def date_of_days(draft: QueryDraft, base: str, narrowing: Narrowing) -> str:
    """The date that weekends, or weekdays, are said of: the one named, that of the related rows, or of the numbers."""
    ref = narrowing.ref
    if ref.of("time"):
        return draft.choose(ref, ref.of("time")).name
    related = [part for part in draft.said.related if part.clause == narrowing.clause > 0]
    inside = [name for part in related for name in part.entity.entities]
    found = draft.default_time(inside[0]) if len(inside) == 1 else None
    if not inside:
        found = date_of_numbers(draft, ref.words) or draft.default_time(base)
    if found is None:
        owner = inside[0] if inside else base
        raise Stop(not_understood(f"`{owner}` has no date, so `{ref.words}` does not apply to it"))
    return found
