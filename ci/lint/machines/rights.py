"""Rules on rows in `rules/roles.yaml` can be applied: what they name is there, and rows lead to it."""

from __future__ import annotations

from collections.abc import Iterator

from bylaw.authored.context import Context, Dimension
from bylaw.authored.machines.access import EVERY_SCHEMA, Rights, Role, RowRule
from bylaw.semantic.joins import Joins
from bylaw.semantic.names import Names
from bylaw.semantic.query import Unanswerable, UnknownName
from bylaw.semantic.rights import VisibleRows
from ci.findings import Finding, Place
from ci.loading.load import Workspace
from ci.loading.schema.nearest import did_you_mean

PATH = "rules/roles.yaml"


def row_rules(workspace: Workspace) -> Iterator[Finding]:
    """Every rule on rows, of every role."""
    desk = _Desk(workspace.context)
    for name, role in workspace.rules.roles.roles.items():
        for i, rule in enumerate(role.rows):
            yield from desk.rule(name, role, rule, ("roles", name, "rows", i))


class _Desk:
    """What the rules of one repository are held to."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.names = Names(context)
        self.visible = VisibleRows(context, Joins(context), Rights(()))

    def rule(self, name: str, role: Role, rule: RowRule, route: tuple[str | int, ...]) -> Iterator[Finding]:
        for i, spared in enumerate(rule.spared):
            if spared not in self.context.entities:
                message = f"the role `{name}` leaves the entity `{spared}` alone, which no file declares"
                help = did_you_mean(spared, self.context.entities)
                yield Finding("dangling-reference", message, Place(PATH, (*route, "except", i)), help=help)
        at = Place(PATH, (*route, "dimension"))
        try:
            field = self.names.field(rule.dimension)
        except UnknownName:
            message = f"the role `{name}` is narrowed by `{rule.dimension}`, which no file declares"
            yield Finding("dangling-reference", message, at, help=did_you_mean(rule.dimension, self._dimensions()))
            return
        except Unanswerable as problem:
            yield Finding("invalid-sql", f"the role `{name}` cannot be narrowed: {problem.message}", at)
            return
        if isinstance(field.part, Dimension):
            yield from self._values(name, rule, field.part, route)
        yield from self._closed(name, role, rule, at)

    def _values(self, name: str, rule: RowRule, part: Dimension, route: tuple[str | int, ...]) -> Iterator[Finding]:
        if not part.is_enum or not part.sample_values:
            return
        for i, value in enumerate(rule.values):
            if value not in part.sample_values:
                message = f"the role `{name}` sees rows of `{rule.dimension}` {value}, which is none of its values"
                help = did_you_mean(str(value), [str(known) for known in part.sample_values])
                yield Finding("value-out-of-domain", message, Place(PATH, (*route, "values", i)), help=help)

    def _closed(self, name: str, role: Role, rule: RowRule, at: Place) -> Iterator[Finding]:
        """The entities of the role's schemas that the rule closes, in one finding: all at once, or none too many."""
        closed = []
        for entity in self.context.entities.values():
            is_granted = EVERY_SCHEMA in role.schemas or entity.base_table.schema_name in role.schemas
            if is_granted and entity.name not in rule.spared and self.visible.closed(entity.name, rule) is not None:
                closed.append(f"`{entity.name}`")
        if closed:
            message = f"the role `{name}` sees no rows of {', '.join(closed)}: they lead to no one `{rule.dimension}`"
            help = f"`except` of the rule names entities of which `{name}` may see all rows"
            yield Finding("closed-entity", message, at, help=help)

    def _dimensions(self) -> list[str]:
        entities = self.context.entities.values()
        return [
            f"{entity.name}.{part.name}"
            for entity in entities
            for part in (*entity.dimensions, *entity.time_dimensions)
        ]
