"""`bylaw rights`: what each role may read, and the statements with which the database holds to it by itself."""

from __future__ import annotations

from pathlib import Path

import click

from bot import settings
from bot.cli import bundle_path
from bylaw.roots import root_around


@click.command()
@click.option("--sql", "as_sql", is_flag=True, help="Grants and views for the database's administrator.")
@click.option(
    "--dialect",
    type=click.Choice(["postgres", "duckdb"]),
    default="postgres",
    show_default=True,
    help="For which database.",
)
@click.option("--reader", default="bylaw_reader", show_default=True, metavar="USER", help="Whom the bot logs in as.")
@click.option("--source", default="private.duckdb", show_default=True, metavar="FILE", help="The whole DuckDB file.")
@click.option("--bundle", type=click.Path(path_type=Path), help="Whose rules count, instead of --root's.")
@click.option("--root", type=click.Path(path_type=Path), help="The repository; default: the one around this folder.")
def rights(as_sql: bool, dialect: str, reader: str, source: str, bundle: Path | None, root: Path | None) -> None:
    """Say what each role may read; with --sql, the statements that make the database hold to it.

    The gate in front of the database judges each statement. These are the walls behind it: read them, then run them as
    the administrator. `bylaw doctor` says which of them stand.

    \b
    bylaw rights --sql | psql shop
    bylaw rights --sql --dialect duckdb --source private.duckdb | duckdb shop.duckdb
    """
    from bylaw.bundle import read
    from bylaw.semantic import walls

    given = settings.read(root or root_around(Path()))
    known = read(bundle_path(given, bundle, root), given.bundle_keys)
    context, roles = known.context, known.rules.roles
    if as_sql:
        text = walls.for_duckdb(context, source) if dialect == "duckdb" else walls.for_postgres(context, roles, reader)
        click.echo(text, nl=False)
        return
    for name, role in sorted(roles.roles.items()):
        rules = "; ".join(f"{rule.dimension} {rule.operator} {rule.attribute or rule.values}" for rule in role.rows)
        click.echo(f"{name}: {', '.join(role.schemas) or 'nothing'}{f' (only rows: {rules})' if rules else ''}")
