"""The verbs that judge without a conversation: a case, an answer somebody gave, a statement that shall run."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli import _BUNDLE, _ROOT, bundle_path
from bot.settings import Settings
from bylaw.errors import UsageError
from bylaw.logic.ir import MAX_DIGITS

if TYPE_CHECKING:
    from bot.conversation import Question
    from bot.enforcement.verdict import ComplianceDecision

_MOST_FACTS = 1_000_000  # characters of a file with the facts of a case


def _day(_: click.Context, __: click.Parameter, value: datetime | None) -> date | None:
    return None if value is None else value.date()


@click.command()
@click.option("--facts", "text", metavar="JSON", required=True, help="The case: a JSON object, or @FILE.")
@_BUNDLE
@_ROOT
@click.option(
    "--at",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d"]),
    callback=_day,
    help="On this day; default: the commit's day.",
)
@click.option("--why", is_flag=True, help="Who lost, what failed, and what would have to be different.")
@click.option("--want", metavar="ACTION", help="What would have to be different to get this action. Implies --why.")
@click.option("--json", "as_json", is_flag=True, help="The decision as one JSON document.")
def decide(
    text: str, bundle: Path | None, root: Path | None, at: date | None, why: bool, want: str | None, as_json: bool
) -> None:
    """What the policies say about a case. Facts left out are unknown, not false.

    \b
    bylaw decide --facts '{"has_receipt": false, "days_since_purchase": 20}'
    bylaw decide --facts @case.json --json
    bylaw decide --facts @case.json --want full_refund
    """
    from bot import app, settings
    from bot.cases import as_json as decision_json
    from bot.cases import as_text, read_facts
    from bot.enforcement import why as explain
    from bot.index import BundleIndex
    from bylaw.bundle import read

    given = settings.read(root or Path())
    index = BundleIndex(read(bundle_path(given, bundle, root), given.bundle_keys))
    facts = read_facts(_object(text), index)
    stamped = index.bundle.bundle_metadata.commit_date
    day = at or (date.fromisoformat(stamped) if stamped else app.now().date())
    decision = index.evaluator.decide(facts, day.toordinal())
    told = explain.why(index, index.evaluator, facts, day.toordinal(), decision, want) if why or want else None
    if as_json:
        document = decision_json(decision)
        if told is not None:
            document["why"] = explain.as_json(told, index)
        click.echo(json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True))
    else:
        click.echo("\n".join((as_text(decision, index), *(explain.as_lines(told, index) if told else ()))))


@click.command()
@click.option("--query", required=True, metavar="TEXT", help="What was asked.")
@click.option("--response", required=True, metavar="TEXT", help="The answer to judge; `-` reads it from stdin.")
@click.option("--facts", "text", metavar="JSON", help="What else is known of the case: a JSON object, or @FILE.")
@_BUNDLE
@_ROOT
@click.option("--as", "user", metavar="USER", default="anonymous", help="Who asks, for the record.")
@click.option("--at", metavar="ISO-TIME", help="Judge as if it were this time.")
@click.option("--json", "as_json", is_flag=True, help="The ComplianceDecision as one JSON document.")
@click.pass_context
def enforce(
    ctx: click.Context,
    query: str,
    response: str,
    text: str | None,
    bundle: Path | None,
    root: Path | None,
    user: str,
    at: str | None,
    as_json: bool,
) -> None:
    """Hold an assistant's answer against the policies. Exit code 1 unless it may be given as it is.

    The verdict is recorded in the audit where one is kept: in the store that BYLAW_STORE_URL names, or in the one that
    is under the root already.

    \b
    bylaw enforce --query "I bought a TV 400 days ago. Can I get a refund?" --response "Sure, a full refund."
    """
    from bot import app, settings
    from bot.cases import read_facts
    from bot.conversation import Actor, Question, moment, sayable
    from bot.enforcement.enforce import MAX_RESPONSE, check_readable
    from bot.enforcement.enforce import enforce as judged
    from bot.index import BundleIndex
    from bot.render import verdict_as_text
    from bot.store.columns import check_ids
    from bylaw.bundle import read

    given = settings.read(root or Path())
    index = BundleIndex(read(bundle_path(given, bundle, root), given.bundle_keys))
    facts = read_facts(_object(text), index) if text else {}
    answer = _piped(MAX_RESPONSE) if response == "-" else response
    check_readable(query, answer)
    started, name = app.now(), app.new_id()
    asked_at = moment(at) if at else started
    question = Question(text=query, actor=Actor(id=user), asked_at=asked_at, session_id=name, request_id=name)
    check_ids(question)
    found = judged(question, answer, index, facts)
    _record(found, question, given, started)
    if as_json:
        click.echo(json.dumps(sayable(found), indent=2, ensure_ascii=False))
    else:
        click.echo(verdict_as_text(found))
    ctx.exit(0 if found.action == "pass" else 1)


def _piped(most: int) -> str:
    """What stands on standard input, as far as it takes to see that it is too long. A mark of the encoding is none."""
    data = sys.stdin.buffer.read(4 * most + 4)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and len(data) > 4 * most:
            return data.decode("utf-8", "ignore")
        raise UsageError("the response on standard input is not UTF-8") from None


def _record(found: ComplianceDecision, question: Question, given: Settings, started: datetime) -> None:
    """Keep the verdict where a store is named, or was made before; elsewhere it is nobody's record."""
    from bot import app
    from bot.recording import Notebook, record
    from bot.store.engine import connect, is_there
    from bot.store.migrate import upgrade
    from bot.store.papers import shelf_of

    if given.store_url == Settings().store_url and not is_there(given.store_url, given.root):
        return
    with closing(connect(given.store_url, given.root)) as store:
        upgrade(store)
        book = Notebook(store, shelf_of(given.artifacts, given.root, store), app.now, app.anchoring(given))
        record(found, question, book, started)


def _object(text: str) -> dict[str, Any]:
    """The facts as given: numbers with a point stay exact, a key twice is an error."""
    if text.startswith("@"):
        try:
            with Path(text[1:]).open(encoding="utf-8") as file:
                data = file.read(_MOST_FACTS + 1)
        except (OSError, ValueError) as error:
            reason = (error.strerror or "").lower() if isinstance(error, OSError) else "it is not UTF-8 text"
            raise UsageError(f"`{text[1:]}` cannot be read: {reason}", "name a file with a JSON object in it") from None
        if len(data) > _MOST_FACTS:
            raise UsageError(f"`{text[1:]}` has more than {_MOST_FACTS:,} characters")
        text = data

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise UsageError("the facts name one fact twice")
        return found

    try:
        read = json.loads(text, parse_float=Decimal, parse_int=_whole, object_pairs_hook=once)
    except (json.JSONDecodeError, RecursionError, ValueError):
        read = None
    if not isinstance(read, dict):
        raise UsageError("the facts are not a JSON object", """write them like '{"has_receipt": true}', or @FILE""")
    return read


def _whole(digits: str) -> int | Decimal:
    """A whole number; of a size that no fact has, as a decimal, which is read in no time and refused by the fact."""
    return int(digits) if len(digits) <= MAX_DIGITS else Decimal(digits)


@click.group()
def sql() -> None:
    """SQL statements and the gate they must pass."""


@sql.command()
@click.argument("statement", metavar="SQL")
@click.option(
    "--as", "user", metavar="USER", default="anonymous", help="Whose schemas and rows count; see rules/roles.yaml."
)
@click.option("--no-catalogue", is_flag=True, help="Judge the statement's shape only: no tables, columns or rights.")
@_BUNDLE
@_ROOT
@click.option("--json", "as_json", is_flag=True, help="The verdict as one JSON document.")
@click.pass_context
def check(
    ctx: click.Context,
    statement: str,
    user: str,
    no_catalogue: bool,
    bundle: Path | None,
    root: Path | None,
    as_json: bool,
) -> None:
    """Hold a statement against the gate that every query passes. Exit code 1 when it is denied.

    \b
    bylaw sql check "select count(*) from shop.orders"
    bylaw sql check --no-catalogue "drop table orders"
    """
    if no_catalogue:
        from bylaw.sql import check_statement

        verdict = check_statement(statement, catalogue=None, schemas=None)
    else:
        from bot import settings
        from bylaw.bundle import read
        from bylaw.semantic.rights import verdict_on

        given = settings.read(root or Path())
        known = read(bundle_path(given, bundle, root), given.bundle_keys)
        verdict = verdict_on(statement, known.context, known.rules.roles, user)
    if as_json:
        click.echo(verdict.model_dump_json(indent=2))
    else:
        where = "" if verdict.line is None else f" at {verdict.line}:{verdict.column}"
        click.echo("allowed" if verdict.is_allowed else f"denied{where}: {verdict.reason}")
    ctx.exit(0 if verdict.is_allowed else 1)
