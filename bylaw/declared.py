"""Names in what people wrote lead to declared ones: words about words, context, plans.

Each that does not is told by its place in the bundle, and with it what has no meaning without it: a compiler leaves
exactly that out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from bylaw.authored.business import Business
from bylaw.authored.conditions import KINDS, AllOf, AnyOf, Condition, FactCheck, Not
from bylaw.authored.context import Context
from bylaw.authored.vocabulary import Vocabulary

Route = tuple[str | int, ...]
_CONDITION_TYPES = tuple(get_args(kind.model_fields["type"].annotation)[0] for kind in KINDS)


@dataclass(frozen=True, slots=True)
class Broken:
    """A name that leads nowhere. `falls` is what says nothing without it, in sections that people wrote."""

    route: Route
    message: str
    falls: Route = ()

    def __str__(self) -> str:
        return f"`{'.'.join(map(str, self.route))}` {self.message}"


def named(route: Route, name: object, known: Collection[Any], kind: str, falls: Route = ()) -> Iterator[Broken]:
    """Nothing where *name* is known, else what it was meant to be."""
    if name not in known:
        yield Broken(route, f"names {kind} `{name}`, which is not there", falls)


def same(route: Route, said: object, is_: object, of: str) -> Iterator[Broken]:
    if said != is_:
        yield Broken(route, f"says `{said}`, and {of} says `{is_}`")


def broken_words(words: Vocabulary) -> Iterator[Broken]:
    """Words about words lead to declared ones."""
    at: Route = ("vocabulary",)
    for name, action in words.actions.items():
        route = (*at, "actions", name)
        if action.outcome is not None:
            yield from named((*route, "outcome"), action.outcome, words.outcomes, "the outcome", (*route, "outcome"))
        if action.same_as is not None:
            yield from named((*route, "same_as"), action.same_as, words.actions, "the action", (*route, "same_as"))
    for name, outcome in words.outcomes.items():
        for i, action_name in enumerate(outcome.restrictive):
            route = (*at, "outcomes", name, "restrictive", i)
            yield from named(route, action_name, words.actions, "the action", route)
    for i, group in enumerate(words.relations.excludes):
        place = (*at, "relations", "excludes", i)
        for n, name in enumerate(group):
            falls = (*place, n) if len(group) > 2 else place
            yield from named((*place, n), name, words.actions, "the action", falls)
    for name, others in words.relations.implies.items():
        place = (*at, "relations", "implies", name)
        yield from named(place, name, words.actions, "the action", place)
        for n, other in enumerate(others):
            yield from named((*place, n), other, words.actions, "the action", (*place, n))
    for domain, kinds in words.defaults.items():
        for kind, fact in kinds.items():
            route = (*at, "defaults", domain, kind)
            yield from named(route, kind, _CONDITION_TYPES, "the type of condition", route)
            yield from named(route, fact, words.facts, "the fact", route)
    for dimension, fact in words.scope.items():
        route = (*at, "scope", dimension)
        yield from named(route, fact, words.facts, "the fact", route)
    for name, conditions in words.terms.items():
        route = (*at, "terms", name)
        for fact in _facts_of(conditions):
            yield from named(route, fact, words.facts, "the fact", route)


def _facts_of(conditions: list[Condition]) -> Iterator[str]:
    """The facts that *conditions* name."""
    for condition in conditions:
        match condition:
            case AllOf():
                yield from _facts_of(condition.all_of)
            case AnyOf():
                for branch in condition.any_of:
                    yield from _facts_of(branch if isinstance(branch, list) else [branch])
            case Not():
                yield from _facts_of(condition.not_ if isinstance(condition.not_, list) else [condition.not_])
            case FactCheck():
                yield from (name for name in (condition.parameter, condition.value_of) if name is not None)


_NAMED_BY: Mapping[str, str] = {
    "entities": "name",
    "metrics": "name",
    "gotchas": "id",
    "guides": "domain",
    "verified_queries": "name",
}


def broken_context(context: Context) -> Iterator[Broken]:
    """Every entity and metric that context/ names is declared there."""
    entities, metrics = context.entities, context.metrics
    either = {**entities, **metrics}
    for section, key in _NAMED_BY.items():
        for name, record in getattr(context, section).items():
            yield from same(("context", section, name, key), getattr(record, key), name, "its key")
    for name, entity in entities.items():
        for i, join in enumerate(entity.relationships):
            place: Route = ("context", "entities", name, "relationships", i)
            yield from named((*place, "right_entity"), join.right_entity, entities, "the entity", place)
        columns = {one.name for one in entity.dimensions}
        for i, fact in enumerate(entity.facts):
            if fact.unit_column is not None:
                place = ("context", "entities", name, "facts", i)
                yield from named((*place, "unit_column"), fact.unit_column, columns, "the dimension", place)
    for name, metric in metrics.items():
        place = ("context", "metrics", name)
        if metric.entity is not None:
            yield from named((*place, "entity"), metric.entity, entities, "the entity", place)
        if metric.unit_column is not None and metric.entity in entities:
            columns = {one.name for one in entities[metric.entity].dimensions}
            yield from named((*place, "unit_column"), metric.unit_column, columns, "the dimension", place)
        for key in ("numerator", "denominator", "metric"):
            if (part := getattr(metric, key)) is not None:
                yield from named((*place, key), part, metrics, "the metric", place)
        if metric.dated_by is not None and metric.entity is not None:
            head = metric.dated_by.partition(".")[0].partition("@")[0]
            yield from named((*place, "time_dimension"), head, entities, "the entity", place)
        for i, made_of in enumerate(metric.inputs):
            yield from named((*place, "metrics", i), made_of.name, metrics, "the metric", place)
    for name, gotcha in context.gotchas.items():
        place = ("context", "gotchas", name)
        for i, target in enumerate(gotcha.applies_to):
            route = (*place, "applies_to", i)
            yield from named(route, target, either, "the metric or entity", route if gotcha.applies_to[1:] else place)
    for name, guide in context.guides.items():
        for i, target in enumerate(guide.entities):
            route = ("context", "guides", name, "entities", i)
            yield from named(route, target, entities, "the entity", route)
    for name, term in context.glossary.items():
        if term.refers_to is not None:
            place = ("context", "glossary", name)
            head = term.refers_to.partition(".")[0]
            yield from named((*place, "refers_to"), head, either, "the metric or entity", place)
    for name, query in context.verified_queries.items():
        for i, asked in enumerate(query.query.metrics if query.query else ()):
            place = ("context", "verified_queries", name)
            yield from named((*place, "query", "metrics", i), asked, metrics, "the metric", place)
    for key in context.paths:
        section, _, name = key.partition("/")
        known = getattr(context, section, {}) if name else Context.model_fields
        yield from named(("context", "paths", key), name or section, known, "the record", ("context", "paths", key))


def broken_business(business: Business, context: Context) -> Iterator[Broken]:
    """Plans speak of metrics and objectives that there are."""
    for name, objective in business.objectives.items():
        place: Route = ("business", "objectives", name)
        for i, metric in enumerate(objective.metrics):
            route = (*place, "metrics", i)
            yield from named(route, metric, context.metrics, "the metric", route if objective.metrics[1:] else place)
    for section, plans in (("strategies", business.strategies), ("projects", business.projects)):
        for name, plan in plans.items():
            for i, target in enumerate(plan.objectives):
                route = ("business", section, name, "objectives", i)
                yield from named(route, target, business.objectives, "the objective", route)
    for key in business.paths:
        section, _, name = key.partition("/")
        known = getattr(business, section, None) or {}
        yield from named(("business", "paths", key), name, known, "the record", ("business", "paths", key))
