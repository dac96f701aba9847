"""What a declared record means, in words: a metric, an entity or a part of one, a trap, a word, an event, an aim.

Each says what it is, how it is defined, who owns it and where it is declared. A name that several records share is told
of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bylaw.authored.causes import Causes
from bylaw.authored.context import Context, Dimension, Entity, Fact, Metric, TimeDimension
from ci.lint.confirmations import definition_of
from ci.loading.load import Workspace

_MOST = 12  # names that are listed of an entity
_BUSINESS = {"objectives": "objective", "strategies": "strategy", "projects": "project"}


def record_names(workspace: Workspace) -> Iterator[str]:
    """Everything that `explain_records` knows, by name; a part also by its entity and name."""
    context, decisions = workspace.context, workspace.decisions
    for records in (context.metrics, context.entities, context.gotchas, context.glossary, context.guides):
        yield from records
    yield from (*context.verified_queries, *context.lookups, *decisions.events, *decisions.transitions)
    for entity in context.entities.values():
        for _, part, _ in _parts(entity):
            yield from (part.name, f"{entity.name}.{part.name}")
    for section in _BUSINESS:
        yield from getattr(workspace.business, section)


def explain_records(workspace: Workspace, id: str) -> Iterator[str]:
    """The lines about every record called *id*; none where there is none."""
    context = workspace.context
    if (metric := context.metrics.get(id)) is not None:
        yield _head(id, "metric", f"metrics/{id}", workspace)
        yield from _metric(metric, context, Causes(workspace.decisions))
    if (entity := context.entities.get(id)) is not None:
        yield _head(id, "entity", f"entities/{id}", workspace)
        yield from _entity(entity, context)
    for entity in context.entities.values():
        for (section, n), part, kind in _parts(entity):
            if id in (part.name, f"{entity.name}.{part.name}"):
                yield _head(f"{entity.name}.{part.name}", kind, f"entities/{entity.name}", workspace, section, n)
                yield from _part(part, entity)
    yield from _others(workspace, id)


def _head(id: str, kind: str, key: str, workspace: Workspace, *route: str | int) -> str:
    path = workspace.context.paths.get(key)
    if path is None:
        return f"{id}  {kind}"
    line = f":{workspace.line(path, route)}" if route else ""
    return f"{id}  {kind}, {path}{line}"


def _metric(metric: Metric, context: Context, causes: Causes) -> Iterator[str]:
    yield from _said(metric.description)
    yield f"  defined as {definition_of(metric)}"
    if metric.time_dimension:
        yield f"  dated by {metric.time_dimension}"
    if metric.unit or metric.time_granularity:
        yield "  " + ", ".join(
            part
            for part in (
                f"in {metric.unit}" if metric.unit else "",
                f"given by {metric.time_granularity}" if metric.time_granularity else "",
            )
            if part
        )
    yield from _also(metric.synonyms)
    entity = context.entities.get(metric.entity or "")
    yield _owner(metric.owner or (entity.owner if entity else None))
    for one in causes.told("metric", metric.name, metric.decision):
        yield f"  decided by {one.words}"
    traps = sorted(one.id for one in context.gotchas.values() if {metric.name, metric.entity} & set(one.applies_to))
    if traps:
        yield f"  traps: {', '.join(traps)}"


def _entity(entity: Entity, context: Context) -> Iterator[str]:
    yield from _said(entity.description)
    yield f"  the rows of {entity.base_table.qualified}"
    for kind, names in (
        ("grouped by", [one.name for one in entity.dimensions]),
        ("dated by", [one.name for one in entity.time_dimensions]),
        ("counted by", sorted(name for name, one in context.metrics.items() if one.entity == entity.name)),
        ("personal data", list(entity.pii)),
    ):
        if names:
            more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
            yield f"  {kind}: {', '.join(names[:_MOST])}{more}"
    yield from _also(entity.synonyms)
    yield _owner(entity.owner)


def _parts(entity: Entity) -> Iterator[tuple[tuple[str, int], Any, str]]:
    """Each part with its place in the file and its kind."""
    sections = (
        ("dimensions", "dimension"),
        ("time_dimensions", "date"),
        ("facts", "number of a row"),
        ("filters", "named condition"),
    )
    for section, kind in sections:
        for n, part in enumerate(getattr(entity, section)):
            yield (section, n), part, kind


def _part(part: Any, entity: Entity) -> Iterator[str]:
    yield from _said(part.description)
    yield f"  computed as {part.sql}"
    if isinstance(part, Dimension) and part.sample_values:
        values = ", ".join(map(str, part.sample_values[:_MOST]))
        yield f"  {'one of' if part.is_enum else 'for example'}: {values}"
    if isinstance(part, TimeDimension):
        yield f"  known by {part.time_granularity}"
    if isinstance(part, Fact) and part.unit:
        yield f"  in {part.unit}"
    if part.name in entity.pii or part.sql in entity.pii:
        yield "  personal data: no answer shows it"
    yield from _also(part.synonyms)
    yield _owner(entity.owner)


def _others(workspace: Workspace, id: str) -> Iterator[str]:
    context, decisions = workspace.context, workspace.decisions
    if (trap := context.gotchas.get(id)) is not None:
        yield _head(id, "trap", f"gotchas/{id}", workspace)
        yield f"  {trap.trap}"
        if trap.required_filter:
            yield f"  of {', '.join(trap.applies_to)}, only rows where {trap.required_filter}"
        yield _owner(trap.owner)
    if (term := context.glossary.get(id)) is not None:
        yield _head(id, "word of the glossary", f"glossary/{id}", workspace)
        yield f"  {term.means}"
        if term.refers_to:
            yield f"  stands for {term.refers_to}"
    if (guide := context.guides.get(id)) is not None:
        yield _head(id, "guide", f"guides/{id}", workspace)
        yield from _said(guide.description)
        yield from (f"  - {line}" for line in guide.conventions)
        yield _owner(guide.owner)
    if (query := context.verified_queries.get(id)) is not None:
        yield _head(id, "verified question", f"verified_queries/{id}", workspace)
        yield f"  {query.question}"
        yield f"  verified by {query.verified_by}, {query.verified_at}"
    if id in context.lookups:
        yield _head(id, "lookup", f"lookups/{id}", workspace)
    for kind, records in (("event", decisions.events), ("transition", decisions.transitions)):
        if id in records:
            yield f"{id}  {kind}, {decisions.sources.get(id, '')}"
            yield from _said(getattr(records[id], "summary", None) or getattr(records[id], "reason", None))
    for section, kind in _BUSINESS.items():
        if (record := getattr(workspace.business, section).get(id)) is not None:
            path = workspace.business.paths.get(f"{section}/{id}")
            yield f"{id}  {kind}" + (f", {path}" if path else "")
            yield from _said(getattr(record, "name", None) or getattr(record, "description", None))
            yield _owner(getattr(record, "owner", None))


def _said(text: str | None) -> Iterator[str]:
    if text:
        yield f"  {' '.join(text.split())}"


def _also(synonyms: list[str]) -> Iterator[str]:
    if synonyms:
        yield f"  also called {', '.join(synonyms)}"


def _owner(owner: str | None) -> str:
    return f"  owner: {owner or 'nobody'}"
