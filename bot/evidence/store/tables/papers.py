"""Papers in the store: what a request read and wrote, in the very transaction that keeps its reply.

One row a paper, by its fingerprint. So an answer waits for the disk once, and a store is backed up whole. With
BYLAW_ARTIFACTS papers lie on a shelf apart (`bot.evidence.artifacts`): a folder, or any file system by URL.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bot.evidence.artifacts import ArtifactError, Artifacts, Needed, Paper, Shelf, checked, paper, shelf, written
from bot.evidence.store.connection import Connection, among, inserting
from bot.evidence.store.engine import Store

EARLIER = ".bylaw/artifacts"  # the folder where papers lay before the store had room for them


@dataclass(frozen=True)
class Papers:
    """The shelf inside *store*. What is not there is looked for on an *earlier* one."""

    store: Store
    earlier: Artifacts | None = None

    def before(self, kept: Iterable[Paper]) -> None:
        """Nothing: what goes into the transaction needs no place before it."""

    def within(self, connection: Connection, kept: Iterable[Paper]) -> None:
        """Keep the papers with whatever else this transaction keeps."""
        # two transactions that keep the same papers take them in one order, and never wait for each other
        rows = [{"name": one.name, "text": one.text} for one in sorted(kept, key=lambda one: one.name)]
        if rows:
            connection.run(_KEEPING[connection.dialect], rows)

    def remove(self, names: Sequence[str]) -> int:
        """Delete those that lie on the earlier shelf; what is in the store goes with the rows beside it."""
        return 0 if self.earlier is None else self.earlier.remove(names)

    def older(self, moment: datetime) -> Sequence[str]:
        """Those of the earlier shelf: in the store a paper is kept with its entry, or not at all."""
        return () if self.earlier is None else self.earlier.older(moment)

    def remove_within(self, connection: Connection, names: Sequence[str], unless: Needed) -> int:
        """Delete the papers, except those that somebody needs: whoever keeps one again waits for this transaction."""
        chosen, given = among("name", sorted(names))
        there = connection.all(connection.locked(f"SELECT name FROM papers WHERE {chosen} ORDER BY name"), given)
        gone = {row["name"] for row in there}
        gone -= unless(gone)
        chosen, given = among("name", sorted(gone))
        connection.run(f"DELETE FROM papers WHERE {chosen}", given)
        return len(gone)

    def put(self, value: Any) -> str:
        """Keep *value* as canonical JSON in a transaction of its own; its fingerprint."""
        return self._put(paper(value))

    def put_text(self, text: str) -> str:
        """Keep *text*, which is JSON, with exactly these bytes; its fingerprint."""
        return self._put(written(text))

    def get(self, name: str) -> Any:
        """The value of the paper *name*; raises ArtifactError when it is missing or was altered."""
        return json.loads(self.get_text(name))

    def get_text(self, name: str) -> str:
        """The bytes of the paper *name* as text; raises ArtifactError when it is missing or was altered."""
        text = self._found(checked(name))
        if text is None and self.earlier is not None:
            return self.earlier.get_text(name)
        if text is None:
            raise ArtifactError(f"the artifact `{name}` is not in the store")
        if not isinstance(text, str) or written(text).name != name:
            raise ArtifactError(f"the artifact `{name}` was altered after it was written")
        return text

    def _put(self, one: Paper) -> str:
        if self._found(one.name) is None:
            with self.store.writing() as connection:
                self.within(connection, [one])
        return one.name

    def _found(self, name: str) -> Any:
        with self.store.reading() as connection:
            found = connection.first("SELECT text FROM papers WHERE name = :named", {"named": name})
        return None if found is None else found[0]


def shelf_of(url: str | None, root: Path, store: Store) -> Shelf:
    """Where papers are kept: at *url*, else in *store*."""
    if url is not None:
        return shelf(url, root)
    return Papers(store, shelf(EARLIER, root) if (root / EARLIER).is_dir() else None)


def everywhere(url: str | None, root: Path, store: Store) -> tuple[Shelf, ...]:
    """Every shelf where papers may lie: those that were kept before *url* was set are in the store."""
    here = shelf_of(None, root, store)
    return (here,) if url is None else (shelf(url, root), here)


# On PostgreSQL who keeps a paper that is there holds it, so that nobody takes it away meanwhile.
_INSERTING = inserting("papers", ("name", "text"))
_KEEPING = {
    "sqlite": f"{_INSERTING} ON CONFLICT DO NOTHING",
    "postgresql": f"{_INSERTING} ON CONFLICT (name) DO UPDATE SET name = excluded.name",
}
