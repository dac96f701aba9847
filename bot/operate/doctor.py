"""`bylaw doctor`: which walls stand around this installation, one row a check, each with what to do where one is down.

A check looks at what is configured and answers in one line; it changes nothing. What it cannot look at it says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from bot import settings
from bot.settings import Settings
from bylaw.errors import BylawError, UsageError
from bylaw.language.counting import count
from bylaw.roots import root_around

if TYPE_CHECKING:
    from bylaw.authored.context import Context
    from bylaw.warehouses.port import Warehouse

_LOOK_SECONDS = 10
_MOST_NAMED = 5
State = Literal["stands", "open", "unknown", "off"]


@dataclass(frozen=True, slots=True)
class Row:
    """How it is with one wall. `open` fails the command; `off` is a wall of something that is not in use here."""

    check: str
    state: State
    said: str
    help: str | None = None


Check = Callable[[Settings], Iterable[Row]]


def signature(given: Settings) -> Iterable[Row]:
    """Is a bundle served only with a signature?"""
    if given.bundle_keys:
        yield Row("bundle signature", "stands", "only bundles that one of the given keys signed are served")
    else:
        help = "sign with `bylaw compile --sign-key` and give the public key as BYLAW_BUNDLE_KEY"
        yield Row("bundle signature", "off", "any bundle at the address is served", help)


def gate(given: Settings) -> Iterable[Row]:
    """What stands before and around every statement, wherever it runs."""
    yield Row("sql gate", "stands", "every statement is judged, and run as it was written out from what was judged")
    kind = (given.warehouse or "").partition(":")[0].partition("+")[0]
    if kind == "duckdb":
        yield Row("limits of statements", "stands", "statements run in processes that are ended from outside")
    elif kind == "postgresql":
        yield Row("limits of statements", "stands", "the server's limit of time; the line is cut where it does not act")
    else:
        said = "no warehouse is connected" if not kind else f"whatever `{kind}` itself holds"
        yield Row("limits of statements", "off" if not kind else "unknown", said)


_RUN = "run what `bylaw rights --sql` prints as the database's administrator"
_PERSONAL_IN_POSTGRES = (
    "SELECT has_column_privilege(current_user, format('%I.%I', '{schema}'::text, '{table}'::text), "
    "'{column}', 'SELECT')"
)
_STRONG_IN_POSTGRES = (
    "SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
)
_WRITES_IN_POSTGRES = (
    "SELECT count(*) FROM information_schema.table_privileges WHERE privilege_type <> 'SELECT' "
    "AND table_schema NOT IN ('pg_catalog', 'information_schema') "
    "AND grantee IN (SELECT rolname FROM pg_roles WHERE pg_has_role(current_user, oid, 'usage') UNION SELECT 'PUBLIC')"
)


def warehouse(given: Settings) -> Iterable[Row]:
    """What the login of the bot can read and do in the database itself, whatever the gate lets through."""
    from bylaw.warehouses.port import WarehouseError
    from bylaw.warehouses.registry import open_warehouse

    if given.warehouse is None:
        yield Row("database rights", "off", "no warehouse is connected (BYLAW_WAREHOUSE)")
        return
    try:
        opened = open_warehouse(given.warehouse, statement_seconds=_LOOK_SECONDS)
    except BylawError as error:
        yield Row("database rights", "unknown", error.message, "mend BYLAW_WAREHOUSE")
        return
    try:
        yield from rights(partial(_context, given), opened)
    except WarehouseError as error:
        yield Row("database rights", "unknown", error.message)
    finally:
        opened.close()


def rights(context: Callable[[], Context], opened: Warehouse) -> Iterable[Row]:
    """What the login behind *opened* may do, and which personal columns of the context it can read."""
    if opened.dialect == "postgres":
        strong = opened.run(_STRONG_IN_POSTGRES, 1).rows[0][0]
        state: State = "open" if strong else "stands"
        yield Row(
            "warehouse user", state, "it may do more than read" if strong else "it has no rights over others", _RUN
        )
        writes = opened.run(_WRITES_IN_POSTGRES, 1).rows[0][0]
        said = f"{count(writes, 'right')} to write granted to it" if writes else "it is granted nothing but to read"
        yield Row("warehouse writes", "open" if writes else "stands", said, _RUN if writes else None)
    elif opened.dialect == "duckdb":
        yield Row("warehouse writes", "stands", "the file is opened to be read only")
    try:
        found = sorted(_personal_in_reach(context(), opened))
    except BylawError as error:
        yield Row("personal columns", "unknown", error.message)
        return
    if found:
        shown = ", ".join(found[:_MOST_NAMED]) + (" …" if len(found) > _MOST_NAMED else "")
        yield Row("personal columns", "open", f"the login itself could read {shown}", _RUN)
    else:
        yield Row("personal columns", "stands", "the login itself can read none of them")


def _context(given: Settings) -> Context:
    from bot.cli import bundle_path
    from bylaw.bundle import read

    return read(bundle_path(given, given.bundle, None if given.bundle else given.root), given.bundle_keys).context


def _personal_in_reach(context: Context, opened: Warehouse) -> Iterator[str]:
    """The personal columns that the login can read; of a database without logins, those that are there."""
    from bylaw.semantic.walls import personal

    for table, columns in personal(context).items():
        schema, _, name = table.partition(".")
        there = {column.lower() for column in opened.columns(schema, name)}
        for column in columns:
            if column.lower() not in there:
                continue
            asked = _PERSONAL_IN_POSTGRES.format(schema=schema, table=name, column=column)
            if opened.dialect != "postgres" or opened.run(asked, 1).rows[0][0]:
                yield f"{table}.{column}"


def identity(given: Settings) -> Iterable[Row]:
    """Does who asks over HTTP have to say who they are?"""
    from bot.delivery.http.identity.bearer import Bearer
    from bot.delivery.http.identity.identity import LOOPBACK

    help = "set BYLAW_TOKEN, BYLAW_JWT_ISSUER or BYLAW_PROXY_HEADER"
    if not given.is_identity_asked and given.host in LOOPBACK:
        yield Row("identity", "off", "whoever is on this machine may ask as anybody; others are not served", help)
    elif not given.is_identity_asked:
        yield Row("identity", "open", f"nobody is asked who they are, and `{given.host}` can be reached", help)
    else:
        ways = {"a token": given.token, "JSON Web Tokens": given.tokens, "a proxy": given.proxy_header}
        yield Row(
            "identity", "stands", "who asks is known by " + ", ".join(way for way, is_set in ways.items() if is_set)
        )
    if given.tokens is not None:
        try:
            Bearer(given.tokens).open()
        except UsageError as error:
            yield Row("identity keys", "open", error.message, error.help)


def log(given: Settings) -> Iterable[Row]:
    """Is the audit log the one that was written here?"""
    from bot.evidence import anchoring
    from bot.evidence.store.engine import StoreError, connect, is_there
    from bot.evidence.store.tables import audit

    last, path = anchoring.head_of(given).read(), anchoring.checkpoints_of(given)
    if not is_there(given.store_url, given.root) and last is None:
        yield Row("audit log", "off", "nothing was recorded yet")
        return
    try:
        store = connect(given.store_url, given.root)
        with store.reading() as connection:
            holds = last is None or audit.hash_at(connection, last.count) == last.head
        store.close()
    except StoreError as error:
        yield Row("audit log", "unknown", error.message, error.help)
        return
    if not holds:
        yield Row("audit log", "open", "it is not the one that was written here", "see `bylaw audit verify`")
    elif last is None:
        yield Row("audit log", "unknown", "nothing says where it stood", "it is said from the next answer on")
    else:
        yield Row("audit log", "stands", f"it reaches the entry it last had ({last.count}); checkpoints in {path.name}")


# A new wall is a new line here: what it is called, and who looks.
CHECKS: Mapping[str, Check] = {
    "bundle": signature,
    "identity": identity,
    "log": log,
    "gate": gate,
    "warehouse": warehouse,
}


def examined(given: Settings) -> list[Row]:
    """Every row of every check, in the order of the table."""
    return [row for look in CHECKS.values() for row in look(given)]


@click.command()
@click.option("--root", type=click.Path(path_type=Path), help="The repository; default: the one around this folder.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document and nothing else.")
@click.pass_context
def doctor(ctx: click.Context, root: Path | None, as_json: bool) -> None:
    """Say what protects this installation, what does not yet, and what to do about it.

    Exit code 1 where one that is in use stands open.
    """
    rows = examined(settings.read(root or root_around(Path())))
    if as_json:
        click.echo(json.dumps({"checks": [asdict(row) for row in rows]}, indent=2))
    else:
        width = max(len(row.check) for row in rows)
        for row in rows:
            click.echo(f"{row.state:8} {row.check:{width}}  {row.said}")
            if row.help is not None:
                click.echo(f"{'':8} {'':{width}}  help: {row.help}")
    ctx.exit(1 if any(row.state == "open" for row in rows) else 0)
