"""A correction held against the context: what it would change, and whether that fits and compiles.

Free text changes nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from sqlglot import exp

from bot.conversation import Reply
from bot.index import BundleIndex
from bot.memory.changes import FIELDS, LEAVE_OUT, Change, CorrectableField, Kind, Reads, field_of
from bot.memory.normal import closed_lists, normal_form, unlisted, values_in_words
from bot.memory.words import names_something
from bylaw.authored.context import Context, Gotcha, Metric
from bylaw.authored.machines.access import Roles
from bylaw.canonical import fingerprint, is_text
from bylaw.errors import BylawError, UsageError
from bylaw.semantic.catalogue import known_columns
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.expressions import InvalidExpression, columns_of, expression
from bylaw.semantic.gotchas import applicable
from bylaw.semantic.query import SemanticQuery, SeveralUnits

_LONGEST: Mapping[Reads, int] = {"condition": 1_000, "expression": 1_000, "word": 100, "text": 500, "name": 100}
_RECORDS: Mapping[str, str] = {
    "metrics": "metric",
    "entities": "entity",
    "gotchas": "gotcha",
    "glossary": "glossary term",
}


def checked(change: Change, context: Context) -> Change:
    """*change* in its one spelling. Raises UsageError for what names nothing that is written in a file, for a field
    that cannot be corrected, and for a value that does not fit or would not compile.
    """
    field = _field(change, context)
    text = " ".join(unicodedata.normalize("NFKC", change.new).split())
    if not text or not is_text(text) or not text.isprintable() or len(text) > _LONGEST[field.reads]:
        raise UsageError(f"`{field.name}` takes 1 to {_LONGEST[field.reads]} printable characters")
    tidy = change.model_copy(update={"new": text})
    tidy = tidy.model_copy(update={"new": _spelled(tidy, field, context)})
    if (personal := personal_column(tidy, context)) is not None:
        raise UsageError(f"`{personal}` is personal data: no answer reads it", "say it by another column")
    _check_values(tidy, context)
    if is_in_force(tidy, context):
        raise UsageError(f"`{change.object}` says so already", "nothing was kept; ask again and look at the reading")
    check_compiles(tidy, applied(context, tidy))
    return tidy


def structure(change: Change, context: Context) -> str:
    """The fingerprint of what a checked change means: equal for equal changes, whoever wrote them how."""
    new = change.new.casefold() if _reads(change) in ("word", "name") else change.new
    if _reads(change) in ("condition", "expression"):
        new = _meaning(new, entity_of(change, context), context)
    return fingerprint({"object": change.object, "field": change.field, "new": new})


def personal_column(change: Change, context: Context) -> str | None:
    """The personal data that a change would have answers read, None where it names none.

    Whoever asked for such an answer would be denied it.
    """
    for owner, column in _columns_read(change, context):
        entity = context.entities.get(owner)
        if entity is not None and column.casefold() in {one.casefold() for one in entity.pii}:
            return column
    return None


def may_read(change: Change, actor_id: str, roles: Roles, context: Context) -> bool:
    """May this person read every table that the value of a change reads?"""
    known = {entity.base_table.schema_name for entity in context.entities.values()}
    mine = roles.schemas_of(actor_id, known)
    owners = {owner for owner, _ in _columns_read(change, context)} & context.entities.keys()
    return all(context.entities[name].base_table.schema_name in mine for name in owners)


def current(change: Change, context: Context) -> Any:
    """What stands in the field now; None where nothing does."""
    if change.kind in ("metrics", "entities") and change.field == LEAVE_OUT:
        return None
    return getattr(getattr(context, change.kind)[change.name], change.field)


def is_in_force(change: Change, context: Context) -> bool:
    """Does *context* say what the change says?"""
    if change.name not in getattr(context, change.kind):
        return False
    entity = entity_of(change, context)
    if change.kind in ("metrics", "entities") and change.field == LEAVE_OUT:
        near = [one for one in applicable(context, {change.name}) if one.required_filter]
        return any(_is_same(one.required_filter or "", change.new, entity, context) for one in near)
    now = current(change, context)
    match _reads(change):
        case "word" if isinstance(now, list):
            return change.new.casefold() in {word.casefold() for word in now}
        case "condition" | "expression":
            return now is not None and _is_same(now, change.new, entity, context)
        case _:
            return bool(now == change.new)


def is_there(change: Change, context: Context) -> bool:
    """Is there still such a record, with a field that may be corrected?"""
    return field_of(change) is not None and change.name in getattr(context, change.kind)


def is_readable(change: Change, context: Context) -> bool:
    """Can its value still be read, and without personal data? What was kept may be older than what is declared now."""
    try:
        return personal_column(change, context) is None and bool(structure(change, context))
    except InvalidExpression:
        return False


def applied(context: Context, change: Change) -> Context:
    """*context* as it would be with the change. Raises UsageError where the record would not hold together."""
    try:
        if change.kind in ("metrics", "entities") and change.field == LEAVE_OUT:
            return _put(context, "gotchas", gotcha_of(change))
        record = getattr(context, change.kind)[change.name]
        value = [*record.synonyms, change.new] if change.field == "synonyms" else change.new
        changed = {**record.model_dump(by_alias=True, exclude_unset=True), change.field: value}
        return _put(context, change.kind, type(record).model_validate(changed))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]["msg"]
        raise UsageError(f"`{change.object}` would not hold together: {first}") from None


def gotcha_of(change: Change) -> Gotcha:
    """The trap that a change of `required_filter` on a metric or an entity writes down."""
    return Gotcha(
        id=f"{change.name.replace('_', '-')}-{fingerprint(change.model_dump())[:8]}",
        trap=f"Some rows do not belong into {change.name.replace('_', ' ')}.",
        applies_to=[change.name],
        required_filter=change.new,
        caveat=f"Of {change.name.replace('_', ' ')}, only the rows where {change.new}.",
    )


def domain_of(object_: str, context: Context) -> str | None:
    """The domain that a record belongs to: that of its entity."""
    entity = entity_of(Change(object=object_, field="", new=""), context)
    return context.entities[entity].domain if entity in context.entities else None


def schema_of(object_: str, context: Context) -> str | None:
    """The schema that the rows behind a record lie in; None where nothing says so."""
    entity = entity_of(Change(object=object_, field="", new=""), context)
    return context.entities[entity].base_table.schema_name if entity in context.entities else None


@dataclass(frozen=True)
class Correctable:
    """One field of a record behind an answer, with what stands in it."""

    object: str
    field: CorrectableField
    now: str

    @property
    def label(self) -> str:
        """`Net revenue: which rows it counts`."""
        name = self.object.partition("/")[2].replace("_", " ").replace("-", " ")
        return f"{name[:1].upper()}{name[1:]}: {self.field.label}"


def correctable(reply: Reply, context: Context) -> tuple[Correctable, ...]:
    """What may be corrected about *reply*: the fields of the records that it rests on, metrics first."""
    return tuple(_correctable(reply, context))


def objects_behind(reply: Reply, context: Context) -> tuple[str, ...]:
    """The records that *reply* rests on, as far as they are written in files."""
    cited = [one.id for one in reply.citations if one.id.partition("/")[0] in ("metrics", "entities")]
    names = {key.partition("/")[2] for key in cited}
    names |= {metric.entity for name in names if (metric := context.metrics.get(name)) and metric.entity}
    entities = [f"entities/{name}" for name in sorted(names) if name in context.entities]
    traps = [f"gotchas/{one.id}" for one in applicable(context, names) if one.required_filter]
    words = {one.words.casefold() for one in reply.bindings}
    terms = [f"glossary/{term}" for term in sorted(context.glossary) if term.casefold() in words]
    return tuple(key for key in dict.fromkeys([*cited, *entities, *traps, *terms]) if key in context.paths)


def owners_behind(reply: Reply, index: BundleIndex) -> tuple[str, ...]:
    """Who owns the policies and the records that *reply* rests on, as they are written down."""
    context = index.bundle.context
    records = (
        getattr(context, kind).get(name)
        for kind, _, name in (key.partition("/") for key in objects_behind(reply, context))
    )
    named = [getattr(record, "owner", None) for record in records]
    named += [index.owner(one.id) for one in reply.citations]
    return tuple(sorted({name for name in named if name}))


def _correctable(reply: Reply, context: Context) -> Iterator[Correctable]:
    for object_ in objects_behind(reply, context):
        kind: Kind = object_.partition("/")[0]  # type: ignore[assignment]
        record = getattr(context, kind)[object_.partition("/")[2]]
        for field in FIELDS[kind]:
            if isinstance(record, Metric) and field.name in ("expr", "filter", LEAVE_OUT) and record.type != "simple":
                continue
            now = current(Change(object=object_, field=field.name, new=""), context)
            yield Correctable(object_, field, ", ".join(now) if isinstance(now, list) else str(now or ""))


def _field(change: Change, context: Context) -> CorrectableField:
    kind, _, name = change.object.partition("/")
    if kind not in FIELDS or name not in getattr(context, kind):
        raise UsageError(f"`{change.object}` is nothing that can be corrected", "see what the answer rests on")
    if change.object not in context.paths:
        raise UsageError(f"`{change.object}` is not written in a file of its own, so it cannot be corrected here")
    found = field_of(change)
    if found is None:
        known = ", ".join(one.name for one in FIELDS[change.kind])
        raise UsageError(f"the field `{change.field}` of a {_RECORDS[kind]} cannot be corrected", f"use one of {known}")
    return found


def _reads(change: Change) -> Reads:
    found = field_of(change)
    return "text" if found is None else found.reads


def _spelled(change: Change, field: CorrectableField, context: Context) -> str:
    """The one spelling of the value; SQL reads columns that are known, of entities that are there."""
    if field.reads == "name":
        return _named(change, context)
    if field.reads not in ("condition", "expression"):
        return change.new
    entity, known = entity_of(change, context), known_columns(context)
    try:
        read = columns_of(change.new, entity)
    except InvalidExpression as error:
        raise UsageError(error.message, "write a condition or a computation on one row: channel = 'online'") from None
    if not read:
        raise UsageError(f"`{change.new}` reads no column", "name one: channel = 'online'")
    for owner, column in read:
        if owner not in known or (context.entities[owner].facts and column not in known[owner]):
            raise UsageError(f"`{owner}.{column}` is no column that the context knows")
    try:
        normal_form(change.new, entity, ())
    except InvalidExpression as error:
        raise UsageError(error.message, "write it as a shorter condition") from None
    return _sql(change.new, entity)


def _named(change: Change, context: Context) -> str:
    known = {name.casefold(): name for name in (*context.metrics, *context.entities)}
    for entity in context.entities.values():
        parts = (*entity.time_dimensions, *(() if change.field == "time_dimension" else entity.dimensions))
        known.update({f"{entity.name}.{part.name}".casefold(): f"{entity.name}.{part.name}" for part in parts})
    found = known.get(change.new.casefold())
    if found is None or (change.field == "time_dimension" and "." not in found):
        raise UsageError(f"`{change.new}` is no name that the context knows", "write it like orders.ordered_at")
    return found


def entity_of(change: Change, context: Context) -> str:
    """The entity that bare columns of the record belong to; empty where there is none."""
    match change.kind:
        case "entities":
            return change.name
        case "metrics":
            return _entity_of_metric(change.name, context)
        case "gotchas":
            first = context.gotchas[change.name].applies_to[0] if change.name in context.gotchas else ""
            return first if first in context.entities else _entity_of_metric(first, context)
        case _:
            term = context.glossary.get(change.name)
            named = "" if term is None or term.refers_to is None else term.refers_to.partition(".")[0]
            return named if named in context.entities else _entity_of_metric(named, context)


def _entity_of_metric(name: str, context: Context) -> str:
    seen: set[str] = set()
    while (metric := context.metrics.get(name)) is not None and name not in seen:
        seen.add(name)
        if metric.entity:
            return metric.entity
        name = metric.numerator or metric.metric or next((one.name for one in metric.inputs), "")
    return ""


def _sql(text: str, entity: str) -> str:
    """The one spelling of an expression: white space, upper case and brackets around the whole do not tell it apart."""
    tree = expression(text, entity).unnest()
    for column in list(tree.find_all(exp.Column)):
        if column.table == entity:
            column.set("table", None)
    return tree.sql(dialect="duckdb", comments=False)


def _is_same(one: str, other: str, entity: str, context: Context) -> bool:
    return _meaning(one, entity, context) == _meaning(other, entity, context)


def _meaning(text: str, entity: str, context: Context) -> str:
    owners = {owner for owner, _ in columns_of(text, entity)}
    return normal_form(text, entity, closed_lists(context, owners))


def _columns_read(change: Change, context: Context) -> tuple[tuple[str, str], ...]:
    """(entity, column) of everything that answers would read for the value of a change."""
    match _reads(change):
        case "condition" | "expression":
            return columns_of(change.new, entity_of(change, context))
        case "name":
            owner, _, name = change.new.partition(".")
            entity = context.entities.get(owner)
            parts = () if entity is None else (*entity.dimensions, *entity.time_dimensions)
            return next((columns_of(part.sql, owner) for part in parts if part.name == name), ())
        case _:
            return ()


def _check_values(change: Change, context: Context) -> None:
    """Raise UsageError for a value that a closed list does not hold, and for a word that names nothing."""
    match _reads(change):
        case "condition" | "expression":
            entity = entity_of(change, context)
            lists = closed_lists(context, {owner for owner, _ in _columns_read(change, context)})
            for (_, column), value, values in unlisted(change.new, entity, lists):
                raise UsageError(f"`{column}` is never `{value}`", f"it is one of {values_in_words(values)}")
        case "word" if change.field == "synonyms" and not names_something(change.new):
            raise UsageError(f"`{change.new}` names nothing by itself", "say a word that your people use for it")


def _put(context: Context, kind: str, record: Any) -> Context:
    name = record.id if isinstance(record, Gotcha) else getattr(record, "term", None) or record.name
    return context.model_copy(update={kind: {**getattr(context, kind), name: record}})


def check_compiles(change: Change, context: Context) -> None:
    """Raise UsageError where a question about the record could no longer be answered."""
    if change.kind == "glossary" or change.field in ("description", "synonyms", "unit"):
        return
    for metric in _metrics_near(change, context):
        try:
            Compiler(context).compile(SemanticQuery(metrics=(metric,)))
        except SeveralUnits:
            continue  # it is computed, of one unit at a time
        except BylawError as error:
            raise UsageError(f"`{metric}` could no longer be computed: {error.message}", error.help) from None


def _metrics_near(change: Change, context: Context) -> tuple[str, ...]:
    named = context.gotchas[change.name].applies_to if change.kind == "gotchas" else [change.name]
    own = [name for name, one in sorted(context.metrics.items()) if name in named or one.entity in named]
    return tuple(own[:3])
