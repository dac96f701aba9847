"""One live database → a draft: read only, each statement within its time, of large tables only the first rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase

from bylaw.authored.machines.rules import Rules
from bylaw.errors import UsageError
from bylaw.progress import Hear
from bylaw.warehouses.registry import open_warehouse
from ci.importers.database import catalogue
from ci.importers.database.catalogue import Table
from ci.importers.database.links import key_of, links
from ci.importers.database.profile import Rower, measured
from ci.importers.database.records import Drafter
from ci.importers.draft import ContextDraft


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which tables are meant: of one schema, or whose names meet one of the patterns; all where nothing is said."""

    schema: str | None = None
    tables: tuple[str, ...] = ()

    def means(self, table: Table) -> bool:
        names = (table.name.lower(), table.qualified.lower())
        is_named = not self.tables or any(fnmatchcase(n, pattern.lower()) for n in names for pattern in self.tables)
        return is_named and self.schema in (None, table.schema)


def drafted(url: str, wanted: Wanted, rules: Rules, on: date, hear: Hear | None = None) -> ContextDraft:
    """What the database at *url* says, held to the lints. Raises UsageError where there is nothing that is meant."""
    limits = rules.ci.warehouse
    warehouse = open_warehouse(url, statement_seconds=limits.seconds)
    try:
        if not catalogue.is_known(warehouse.dialect):
            raise UsageError(
                f"the declarations of a database of `{warehouse.dialect}` cannot be read yet",
                "duckdb:// and postgresql:// can be imported; write the entities of others by hand",
            )
        declared = catalogue.declared(warehouse)
        tables = [table for table in declared if wanted.means(table)]
        if not tables:
            raise UsageError("no table is there that is meant", _there_are(declared))
        rower = Rower(warehouse, rules.pii, limits.rows)
        found = measured(rower, tables, hear)
        keys = {name: key for name, one in found.items() if (key := key_of(rower, one)) is not None}
        if hear is not None:
            hear("measuring joins", 0, 1)
        refers = list(links(rower, found, keys))
    finally:
        warehouse.close()
    draft = ContextDraft(wanted.schema or "main")
    Drafter(draft, found, keys, refers, on, rower.warehouse.dialect).write()
    for where, why in rower.unmeasured:
        draft.drop(where, f"it was not measured: {why.partition(' (reference')[0]}")
    for where, why in rower.unlinked:
        draft.drop(where, why)
    draft.checked()
    return draft


def _there_are(tables: Sequence[Table]) -> str:
    names = [table.qualified for table in tables[:8]]
    return f"there are {', '.join(names)}{' …' if len(tables) > len(names) else ''}" if names else "it is empty"
