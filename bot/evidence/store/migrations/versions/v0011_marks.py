"""The chain says what stands in the rows that decide. Those that are there already are anchored by one entry.

A mark is made as `bot.evidence.store.marks` makes it now; whoever covers more columns later anchors anew.
"""

import sqlalchemy as sa
from alembic import op

from bot.clock import now
from bot.evidence.store.connection import Served
from bot.evidence.store.covered import ANCHORED, digest_of, name_of
from bot.evidence.store.marks import COVERED, mark, new_salt
from bot.evidence.store.migrations.statements import upgrade_by
from bot.evidence.store.tables import audit
from bylaw.audit.entry import parsed

revision = "0011"
down_revision = "0010"

_BATCH = 1_000
_AUDIT = sa.table(
    "audit", *(sa.column(name) for name in ("position", "at", "prev_hash", "entry_hash", "header", "payload"))
)


def upgrade() -> None:
    """Add the columns; give each row its salt and keep its mark, and one digest of all marks in the chain."""
    upgrade_by(__file__)()
    anchors = sa.table("row_anchors", sa.column("name"), sa.column("mark"))
    bind = op.get_bind()
    count = sum(_anchor(bind, table, anchors) for table in COVERED)
    if count:
        rows = bind.execute(sa.select(anchors).order_by(anchors.c.name))
        digest = digest_of((row.name, row.mark) for row in rows)
        end = audit.End.of(Served(bind))
        body = {"event": "upgrade", "rows_before": count, **audit.NOWHERE}
        entry = end.add(audit.prepare(body), now(), None, {ANCHORED: digest})
        values = {"position": entry.seq, "at": parsed(entry.header)["kept"]["at"]}
        hashed = {name: getattr(entry, name) for name in ("prev_hash", "entry_hash", "header", "payload")}
        bind.execute(_AUDIT.insert().values(**values, **hashed))


def _anchor(bind: sa.Connection, table: str, anchors: sa.TableClause) -> int:
    """Anchor the rows of *table*; how many there were."""
    covered = COVERED[table]
    names = tuple(dict.fromkeys((*covered.key, *covered.columns)))
    found = sa.table(table, sa.column("salt"), *map(sa.column, names))
    where = "" if table != "requests" else " WHERE reply IS NOT NULL"
    columns = ", ".join(f'"{name}"' for name in names)
    rows = bind.execute(sa.text(f"SELECT {columns} FROM {table}{where}")).mappings().all()
    for at in range(0, len(rows), _BATCH):
        part = [{**row, "salt": new_salt()} for row in rows[at : at + _BATCH]]
        kept = [(name_of(table, row, named), value) for row in part for named, value in [mark(table, row)]]
        bind.execute(anchors.insert(), [{"name": name, "mark": value} for name, value in kept])
        its = sa.and_(*(found.c[name] == sa.bindparam(f"its_{name}") for name in covered.key))
        values = [{"its_salt": row["salt"], **{f"its_{name}": row[name] for name in covered.key}} for row in part]
        bind.execute(found.update().where(its).values(salt=sa.bindparam("its_salt")), values)
    return len(rows)
