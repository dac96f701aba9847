"""Context files hold: their SQL parses, the columns and records they name exist, their words mean one thing.

Verified SQL goes through the very gate that the bot enforces, and verified questions through its compiler.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bylaw.authored.context import Context, Expressed, Metric, VerifiedQuery
from bylaw.language.words import read_words
from bylaw.semantic.catalogue import catalogue_of, known_columns
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.expressions import InvalidExpression, columns_of
from bylaw.semantic.query import Filter, SemanticQuery, Unanswerable, UnknownName
from bylaw.sql.catalogue import Catalogue
from bylaw.sql.gate import check_statement
from ci.findings import Finding, Place
from ci.loading.load import Workspace
from ci.loading.schema.nearest import did_you_mean

_PARAMETER = re.compile(r"\{([A-Za-z_]\w*)\}")


def catalog(workspace: Workspace) -> Iterator[Finding]:
    """Every finding about entities, metrics, gotchas, glossary, guides and verified queries."""
    desk = _Desk(workspace)
    yield from desk.entities()
    yield from desk.metrics()
    yield from desk.gotchas()
    yield from desk.words()
    yield from desk.verified()
    yield from desk.synonyms()


@dataclass(frozen=True, slots=True)
class _Fragment:
    """A piece of SQL in a file, and the entity whose columns it may name bare."""

    text: str
    entity: str
    place: Place


class _Desk:
    """What the lints of one workspace share."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.context: Context = workspace.context
        self.known: Mapping[str, frozenset[str]] = known_columns(self.context)
        self.closed = {name for name, entity in self.context.entities.items() if entity.facts}
        self.compiler = Compiler(self.context)

    def entities(self) -> Iterator[Finding]:
        for name, entity in self.context.entities.items():
            for section in ("dimensions", "time_dimensions", "facts", "filters"):
                parts: list[Expressed] = getattr(entity, section)
                for i, part in enumerate(parts):
                    place = self._at("entities", name, section, i, "expr" if part.expr else "name")
                    yield from self._check(_Fragment(part.sql, name, place), own=True)

            for i, fact in enumerate(entity.facts):
                yield from self._unit(fact.unit_column, name, self._at("entities", name, "facts", i, "unit_column"))
            for i, join in enumerate(entity.relationships):
                if join.condition is not None:
                    place = self._at("entities", name, "relationships", i, "condition")
                    yield from self._own(_Fragment(join.condition, name, place))

    def metrics(self) -> Iterator[Finding]:
        for name, metric in self.context.metrics.items():
            if metric.type == "simple" and metric.entity in self.context.entities:
                for key, text in (("expr", metric.expr), ("filter", metric.filter)):
                    if text is not None and text != "*":
                        fragment = _Fragment(text, metric.entity or "", self._at("metrics", name, key))
                        yield from self._check(fragment)
                yield from self._unit(metric.unit_column, metric.entity or "", self._at("metrics", name, "unit_column"))
            yield from self._dated(name, metric)

    def _unit(self, column: str | None, name: str, place: Place) -> Iterator[Finding]:
        """The column with the unit of each row is a dimension of these rows."""
        entity = self.context.entities[name]
        if column is not None and entity.dimension_of(column) is None:
            known = [dimension.name for dimension in entity.dimensions]
            yield from self._known(f"dimension of `{name}`", column, known, place)

    def _dated(self, name: str, metric: Metric) -> Iterator[Finding]:
        if metric.time_dimension is None or metric.entity not in self.context.entities:
            return
        owner, dot, short = metric.time_dimension.rpartition(".")
        place = self._at("metrics", name, "time_dimension")
        entity = self.context.entities.get(owner if dot else metric.entity or "")
        if entity is None:
            yield from self._known("entity", owner, self.context.entities, place)
            return
        names = [part.name for part in entity.time_dimensions]
        yield from self._known(f"time dimension of `{entity.name}`", short, names, place)

    def gotchas(self) -> Iterator[Finding]:
        for key, gotcha in self.context.gotchas.items():
            if gotcha.required_filter is None:
                continue
            place = self._at("gotchas", key, "required_filter")
            for owner in sorted({owner for applied in gotcha.applies_to for owner in self._bases(applied)}):
                yield from self._check(_Fragment(gotcha.required_filter, owner, place))

    def _bases(self, name: str) -> list[str]:
        """The entities whose rows an entity or a metric counts."""
        if name in self.context.entities:
            return [name]
        metric = self.context.metrics.get(name)
        parts = [metric.entity] if metric else []
        for half in (metric.numerator, metric.denominator) if metric else ():
            found = self.context.metrics.get(half or "")
            parts.append(found.entity if found else None)
        return [part for part in parts if part in self.context.entities and part is not None]

    def words(self) -> Iterator[Finding]:
        for key, term in self.context.glossary.items():
            owner, dot, short = (term.refers_to or "").partition(".")
            entity = self.context.entities.get(owner)
            if dot and entity is not None:
                names = [dimension.name for dimension in entity.dimensions]
                yield from self._known(f"dimension of `{owner}`", short, names, self._at("glossary", key, "refers_to"))

    def verified(self) -> Iterator[Finding]:
        catalogue = catalogue_of(self.context)
        for key, query in self.context.verified_queries.items():
            if query.sql is not None:
                yield from self._verified_sql(key, query, catalogue)
            elif query.query is not None:
                yield from self._verified_words(key, query)

    def _verified_sql(self, key: str, query: VerifiedQuery, catalogue: Catalogue) -> Iterator[Finding]:
        verdict = check_statement(filled_sql(query), catalogue=catalogue, schemas=None)
        if verdict.reason is not None:
            id = "unknown-column" if "is not a known column" in verdict.reason else "invalid-sql"
            place = self._at("verified_queries", key, "sql")
            yield Finding(id, f"the verified query `{key}` would be denied: {verdict.reason}", place)

    def _verified_words(self, key: str, query: VerifiedQuery) -> Iterator[Finding]:
        spec = query.query
        assert spec is not None
        dimensions = [f"{name}.{d.name}" for name, entity in self.context.entities.items() for d in entity.dimensions]
        missing = []
        for i, name in enumerate(spec.dimensions):
            place = self._at("verified_queries", key, "query", "dimensions", i)
            missing += list(self._known("dimension", name, dimensions, place))
        yield from missing
        if missing or not self.context.metrics.keys() >= set(spec.metrics):
            return
        filters = tuple(Filter(dimension=name, values=tuple(values)) for name, values in sorted(spec.filters.items()))
        asked = SemanticQuery(
            metrics=tuple(spec.metrics), dimensions=tuple(spec.dimensions), filters=filters, grain=spec.grain
        )
        try:
            self.compiler.compile(asked)
        except (UnknownName, InvalidExpression):
            return  # said where it is written
        except Unanswerable as problem:
            place = self._at("verified_queries", key, "query")
            message = f"the verified query `{key}` cannot be computed: {problem.message}"
            yield Finding("invalid-sql", message, place, help=problem.help)

    def synonyms(self) -> Iterator[Finding]:
        """One phrase, two metrics (or two dimensions). A glossary term without `refers_to` says that this is meant."""
        meant = {
            _normal(phrase)
            for term in self.context.glossary.values()
            if term.refers_to is None
            for phrase in (term.term, *term.synonyms)
        }
        first: dict[tuple[str, tuple[str, ...]], tuple[str, Place]] = {}
        for kind, name, phrase, place in self._phrases():
            key = kind, _normal(phrase)
            if not key[1] or key[1] in meant:
                continue
            known, where = first.setdefault(key, (name, place))
            if known != name:
                yield Finding(
                    "ambiguous-synonym",
                    f"`{phrase}` means the {kind} `{known}` and the {kind} `{name}`, so the bot has to ask which",
                    place,
                    help="take it away from one of them, or say in a glossary term of that name that both are meant",
                    related=((where, f"also means `{known}`"),),
                )

    def _phrases(self) -> Iterator[tuple[str, str, str, Place]]:
        for name, metric in self.context.metrics.items():
            yield "metric", name, name.replace("_", " "), self._at("metrics", name, "name")
            for i, phrase in enumerate(metric.synonyms):
                yield "metric", name, phrase, self._at("metrics", name, "synonyms", i)
        for name, entity in self.context.entities.items():
            for d, dimension in enumerate(entity.dimensions):
                for i, phrase in enumerate(dimension.synonyms):
                    place = self._at("entities", name, "dimensions", d, "synonyms", i)
                    yield "dimension", f"{name}.{dimension.name}", phrase, place
        for name, entity in self.context.entities.items():
            for i, phrase in enumerate(entity.synonyms):
                yield "entity", name, phrase, self._at("entities", name, "synonyms", i)

    # ---- one reference, one fragment

    def _check(self, fragment: _Fragment, own: bool = False) -> Iterator[Finding]:
        """The fragment parses, and names columns that are there. An entity's own parts declare its columns."""
        try:
            columns = columns_of(fragment.text, fragment.entity)
        except InvalidExpression as problem:
            yield Finding("invalid-sql", problem.message, fragment.place)
            return
        for owner, column in columns:
            if owner not in self.context.entities:
                yield from self._known("entity", owner, self.context.entities, fragment.place)
            elif owner in self.closed and column not in self.known[owner] and not (own and owner == fragment.entity):
                message = f"`{fragment.text}` uses the column `{column}`, which `{owner}` does not declare"
                yield Finding("unknown-column", message, fragment.place, help=did_you_mean(column, self.known[owner]))
            elif owner != fragment.entity and owner not in self.compiler.joins.reachable(fragment.entity):
                message = f"`{fragment.text}` uses `{owner}`, which `{fragment.entity}` cannot be joined with safely"
                yield Finding("invalid-sql", message, fragment.place)

    def _own(self, fragment: _Fragment) -> Iterator[Finding]:
        """As `_check`, of columns of the entity itself alone."""
        found = list(self._check(fragment, own=True))
        beyond = [] if found else [owner for owner, _ in columns_of(fragment.text, fragment.entity)]
        for owner in dict.fromkeys(owner for owner in beyond if owner != fragment.entity):
            message = f"`{fragment.text}` uses `{owner}`; a condition of a relationship reads `{fragment.entity}` alone"
            found.append(Finding("invalid-sql", message, fragment.place))
        yield from found

    def _known(self, what: str, name: str, known: Iterable[str], place: Place) -> Iterator[Finding]:
        names = list(known)
        if name not in names:
            message = f"`{name}` is named here, and there is no such {what}"
            yield Finding("dangling-reference", message, place, help=did_you_mean(name, names))

    def _at(self, section: str, name: str, *route: str | int) -> Place:
        path = self.context.paths.get(f"{section}/{name}", f"context/{section}/{name}.yaml")
        return self.workspace.place(path, *route)


def _normal(phrase: str) -> tuple[str, ...]:
    return tuple(word.text for word in read_words(phrase.replace("_", " ")))


def filled_sql(query: VerifiedQuery) -> str:
    """The statement of a verified query with the parameters that it names itself."""
    return _PARAMETER.sub(lambda match: _literal(query.parameters.get(match[1], "")), query.sql or "")


def _literal(value: object) -> str:
    return str(value).replace("'", "''")
