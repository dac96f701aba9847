"""Names under context/ lead somewhere: joined entities, the parts of a metric, what a gotcha or a guide speaks of."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ci.findings import Finding, Place, Route
from ci.loading.load import Workspace
from ci.loading.schema.nearest import did_you_mean

Named = tuple[str, Route, str, str, Collection[str]]  # file key, route, who says it, the name, what there is


def context_references(workspace: Workspace) -> Iterator[Finding]:
    """Every entity, metric and dimension that context/ names is declared there."""
    for key, route, who, name, known in _names(workspace):
        if name not in known and not workspace.is_lost(name):
            at = Place(workspace.context.paths.get(key, key), route)
            message = f"{who} `{name}`, which no file declares"
            yield Finding("dangling-reference", message, at, help=did_you_mean(name, known))


def _names(workspace: Workspace) -> Iterator[Named]:
    context = workspace.context
    entities, metrics = context.entities, context.metrics
    for name, entity in entities.items():
        for i, join in enumerate(entity.relationships):
            route: Route = ("relationships", i, "right_entity")
            yield f"entities/{name}", route, f"the entity `{name}` is joined to", join.right_entity, entities
    for name, metric in metrics.items():
        who = f"the metric `{name}`"
        if metric.entity is not None:
            yield f"metrics/{name}", ("entity",), f"{who} counts", metric.entity, entities
        for field in ("numerator", "denominator", "metric"):
            if (part := getattr(metric, field)) is not None:
                yield f"metrics/{name}", (field,), f"{who} is made of", part, metrics
        for i, made_of in enumerate(metric.inputs):
            yield f"metrics/{name}", ("metrics", i), f"{who} is made of", made_of.name, metrics
    either = {**entities, **metrics}
    for name, gotcha in context.gotchas.items():
        for i, target in enumerate(gotcha.applies_to):
            yield f"gotchas/{name}", ("applies_to", i), f"the gotcha `{name}` applies to", target, either
    plans = workspace.business
    for name, objective in plans.objectives.items():
        for i, target in enumerate(objective.metrics):
            who = f"the objective `{name}` is seen by"
            yield plans.paths[f"objectives/{name}"], ("metrics", i), who, target, metrics
    for section, kind, planned in (
        ("strategies", "strategy", plans.strategies),
        ("projects", "project", plans.projects),
    ):
        for name, plan in planned.items():
            for i, target in enumerate(plan.objectives):
                who = f"the {kind} `{name}` is for"
                yield plans.paths[f"{section}/{name}"], ("objectives", i), who, target, plans.objectives
    for name, guide in context.guides.items():
        for i, target in enumerate(guide.entities):
            yield f"guides/{name}", ("entities", i), f"the guide for `{name}` speaks of", target, entities
    for name, term in context.glossary.items():
        if term.refers_to is not None:
            head = term.refers_to.partition(".")[0]
            yield f"glossary/{name}", ("refers_to",), f"the term `{name}` refers to", head, either
    for name, query in context.verified_queries.items():
        for i, metric_name in enumerate(query.query.metrics if query.query else ()):
            who = f"the verified query `{name}` asks for"
            yield f"verified_queries/{name}", ("query", "metrics", i), who, metric_name, metrics
