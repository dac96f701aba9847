"""The statements of a revision: SQL beside it, in which only what two databases call otherwise has a placeholder."""

from collections.abc import Callable
from pathlib import Path

from alembic import op

_CALLED = {
    "sqlite": {"json": "JSON", "position": "INTEGER", "true": "1", "false": "0"},
    "postgresql": {"json": "JSONB", "position": "BIGINT", "true": "true", "false": "false"},
}


def upgrade_by(revision: str) -> Callable[[], None]:
    """What executes the statements that lie beside the file of a *revision*, one after the other."""

    def upgrade() -> None:
        text = Path(revision).with_suffix(".sql").read_text(encoding="utf-8")
        called = _CALLED[op.get_context().dialect.name]
        for statement in filter(str.strip, text.split(";")):
            op.execute(statement.format_map(called))

    return upgrade
