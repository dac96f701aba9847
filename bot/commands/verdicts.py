"""The verbs that judge without a conversation: a case, an answer somebody gave, a statement that shall run."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli import _BUNDLE, _ROOT, bundle_path, is_compiled_here, open_index, read_document
from bot.clock import new_id, now
from bot.settings import Settings
from bylaw.errors import UsageError
from bylaw.language.periods import is_askable
from bylaw.logic.formula.ir import MAX_DIGITS
from bylaw.roots import root_around

if TYPE_CHECKING:
    from bot.conversation import Question
    from bot.enforcement.judged.verdict import ComplianceDecision
    from bot.index import LogicIndex
    from bylaw.logic.decide.evaluate import Decision
    from bylaw.logic.formula.ir import Value


def _day(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"`{text[:40]}` is no day like 2026-01-31", param_hint="--at") from None
    if not is_askable(day):
        raise click.BadParameter("name a day of the years 1000 to 9000", param_hint="--at")
    return day


@click.command()
@click.option("--facts", "text", metavar="JSON", help="The case: a JSON object, or @FILE.")
@_BUNDLE
@_ROOT
@click.option("--at", metavar="TIME", help="On this day, or at this time; default: the commit's day, of a call now.")
@click.option("--why", is_flag=True, help="Who lost, what failed, and what would have to be different.")
@click.option("--want", metavar="ACTION", help="What would have to be different to get this action. Implies --why.")
@click.option("--action", metavar="ACTION", help="May this action be taken? allow, deny, ask or escalate.")
@click.option("--tool", metavar="TOOL", help="May this tool be called? As rules/tools.yaml binds it.")
@click.option("--arguments", metavar="JSON", help="With --tool: its arguments; else they stand among the facts.")
@click.option("--keys", metavar="JSON", help="With --action: what history is correlated by.")
@click.option("--session", metavar="ID", help="The session of the call: it is kept, and history counts.")
@click.option("--session-facts", metavar="JSON", help="Facts that you vouch for, beside those an agent says.")
@click.option("--as", "user", metavar="USER", help="Who acts.")
@click.option("--mode", type=click.Choice(["enforce", "shadow"]), help="`enforce` tightens a tool in shadow mode.")
@click.option("--warehouse", metavar="URL", help="Where lookups run.")
@click.option("--json", "as_json", is_flag=True, help="The decision as one JSON document.")
@click.pass_context
def decide(
    ctx: click.Context,
    text: str | None,
    bundle: Path | None,
    root: Path | None,
    at: str | None,
    why: bool,
    want: str | None,
    action: str | None,
    tool: str | None,
    arguments: str | None,
    keys: str | None,
    session: str | None,
    session_facts: str | None,
    user: str | None,
    mode: str | None,
    warehouse: str | None,
    as_json: bool,
) -> None:
    """What the policies say about a case, or whether one call may be made. Facts left out are unknown, not false.

    With --action or --tool the facts count as an agent's do: only those the vocabulary makes `assertable`. Exit code 1
    then, unless it is allowed.

    \b
    bylaw decide --facts '{"has_receipt": false, "days_since_purchase": 20}'
    bylaw decide --facts @case.json --json
    bylaw decide --facts @case.json --want full_refund
    bylaw decide --tool issue_refund --facts '{"amount": 20, "order_id": "17"}' --session s-1 --as amara
    """
    if action is not None or tool is not None:
        told = {"facts": text, "arguments": arguments, "keys": keys, "session_facts": session_facts}
        given_as = {name: _object(value) for name, value in told.items() if value is not None}
        _authorized(
            ctx, {"facts": {}, **given_as}, (action, tool, session, user, at, mode), bundle, root, warehouse, as_json
        )
        return
    if text is None:
        raise UsageError("nothing says what the case is", "give `--facts JSON`, or `--action` and `--tool` for a call")
    _decided(text, bundle, root, _day(at), why, want, as_json)


def _authorized(
    ctx: click.Context,
    told: dict[str, Any],
    named: tuple[str | None, ...],
    bundle: Path | None,
    root: Path | None,
    warehouse: str | None,
    as_json: bool,
) -> None:
    from bot import settings
    from bot.gate.command import Words, as_text, decided

    action, tool, session, user, at, mode = named
    if action is not None and tool is not None:
        raise UsageError("`--action` and `--tool` name two calls", "give one of them")
    given = settings.read(root or root_around(Path()))
    given = given if warehouse is None else replace(given, warehouse=warehouse)
    words = Words(action=action, tool=tool, session=session, actor=user, at=at, mode=mode, **told)
    answer = decided(words, bundle_path(given, bundle, root), given, now)
    if as_json:
        click.echo(json.dumps(answer.as_json(), indent=2, ensure_ascii=False, sort_keys=True))
    else:
        click.echo(as_text(answer))
    ctx.exit(0 if answer.is_allowed else 1)


def _decided(
    text: str, bundle: Path | None, root: Path | None, at: date | None, why: bool, want: str | None, as_json: bool
) -> None:
    from bot import settings
    from bot.request.cases import as_json as decision_json
    from bot.request.cases import as_text, read_facts

    given = settings.read(root or root_around(Path()))
    index = _logic(given, bundle, root)
    facts = read_facts(_object(text), index)
    stamped = index.bundle.bundle_metadata.commit_date
    day = at or (date.fromisoformat(stamped) if stamped else _today())
    decision = index.evaluator.decide(facts, day.toordinal())
    document, about = _why(index, facts, day, decision, want) if why or want else ({}, ())
    if as_json:
        document = {**decision_json(decision), **document}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True))
    else:
        click.echo("\n".join((as_text(decision, index, is_explained=bool(document)), *about)))


def _logic(given: Settings, bundle: Path | None, root: Path | None) -> LogicIndex:
    """What decides a case. All of a bundle that somebody else compiled is read, to be held together."""
    from bot.index import BundleIndex, LogicIndex

    path = bundle_path(given, bundle, root)
    if is_compiled_here(given, bundle, root):
        from bylaw.bundle_logic import read_logic

        return LogicIndex(read_logic(path, given.bundle_keys))
    from bylaw.bundle import read

    return BundleIndex(read(path, given.bundle_keys))


def _why(
    index: LogicIndex, facts: Mapping[str, Value], day: date, decision: Decision, want: str | None
) -> tuple[dict[str, Any], Sequence[str]]:
    """Why it was decided so, or what it would take: as a part of the document, and as lines."""
    from bot.enforcement.writing import why  # only whoever asks for it needs it

    told = why.why(index, index.evaluator, facts, day.toordinal(), decision, want)
    return {"why": why.as_json(told, index)}, tuple(why.as_lines(told, index))


def _today() -> date:
    return now().date()


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--mcp", is_flag=True, required=True, help="The server behind the gate speaks MCP.")
@_BUNDLE
@_ROOT
@click.option("--as", "user", metavar="USER", default="anonymous", help="Who acts, where no token says it.")
@click.option("--session", metavar="ID", help="The session that history is of; by default one for each client.")
@click.option("--session-facts", metavar="JSON", help="Facts that you vouch for.")
@click.option("--warehouse", metavar="URL", help="Where lookups run.")
@click.option("--upstream", metavar="URL", help="The server is there, over streamable HTTP; instead of COMMAND.")
@click.option("--upstream-token", envvar="BYLAW_UPSTREAM_TOKEN", metavar="TOKEN", help="The bearer token it wants.")
@click.option("--listen", metavar="HOST:PORT", help="With --upstream: where clients come; default 127.0.0.1:8081.")
@click.option("--patience", type=click.FloatRange(0.1), default=300.0, show_default=True, metavar="SECONDS",
              help="With --upstream: how long the server may say nothing.")  # fmt: skip
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def guard(
    ctx: click.Context,
    mcp: bool,
    bundle: Path | None,
    root: Path | None,
    user: str,
    session: str | None,
    session_facts: str | None,
    warehouse: str | None,
    upstream: str | None,
    upstream_token: str | None,
    listen: str | None,
    patience: float,
    command: tuple[str, ...],
) -> None:
    """Stand between agents and an MCP server: what may never be called is not listed, every call is decided first.

    Over HTTP clients come with BYLAW_TOKEN or a token of BYLAW_JWT_ISSUER, where one is set: it says who acts.

    \b
    bylaw guard --mcp --as support-bot -- python my_server.py
    bylaw guard --mcp --upstream http://127.0.0.1:8000/mcp --listen 127.0.0.1:8081
    """
    from bot import settings
    from bot.gate.command import gate_of
    from bot.gate.decision_point import open_decision_point
    from bot.gate.passage import Passage

    if (upstream is None) == (not command):
        raise UsageError("a server is behind the gate: its command, or its address", "give COMMAND or `--upstream URL`")
    given = settings.read(root or root_around(Path()))
    given = given if warehouse is None else replace(given, warehouse=warehouse)
    found = gate_of(bundle_path(given, bundle, root), given).prepare()
    facts = {} if session_facts is None else _object(session_facts)

    def passage(actor: str | None, name: str | None) -> Passage:
        return Passage(point, lambda: found, actor or user, session or name, facts)

    if upstream is not None:
        listening, answered = _behind_http(given, listen), (upstream, upstream_token, patience)
        point = open_decision_point(given.store_url, lambda: found, now, given.root, given)
        listening(passage, *answered)
        return
    from bot.gate.proxy import run

    point = open_decision_point(given.store_url, lambda: found, now, given.root, given)
    ctx.exit(run(command, passage(user, new_id()), (sys.stdin, sys.stdout)))


def _behind_http(given: Settings, listen: str | None) -> Callable[..., None]:
    """What answers at the address *listen*, which is bound at once. Raises UsageError for one that is none."""
    from bot.delivery.http.endpoints import proxy
    from bot.delivery.http.endpoints.upstream import Upstream
    from bot.delivery.http.logs import to_stderr
    from bot.delivery.http.serving import serve

    host, _, port = (listen or "127.0.0.1:8081").rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise UsageError(f"`{(listen or '')[:80]}` is no HOST:PORT", "write it like 127.0.0.1:8081")
    to_stderr()
    here = replace(given, host=host.strip("[]"), port=int(port))
    listening = serve.bound(here)

    def answer(passage: Callable[..., Any], url: str, token: str | None, seconds: float) -> None:
        door = proxy.Door(Upstream(url, token, seconds), passage)
        application = proxy.application(door, here, new_id)
        told = f"{serve.address(listening)}{proxy.PATH}"
        serve.serve(application, listening, lambda: click.echo(told), here.limits)

    return answer


@click.command()
@click.option("--query", required=True, metavar="TEXT", help="What was asked.")
@click.option("--response", required=True, metavar="TEXT", help="The answer to judge; `-` reads it from stdin.")
@click.option("--facts", "text", metavar="JSON", help="What else is known of the case: a JSON object, or @FILE.")
@click.option("--claims", "said", metavar="JSON", help="What the answer says, as claims: a JSON list, or @FILE.")
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
    said: str | None,
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
    from bot.claims.models import parse_claims
    from bot.conversation import Actor, Question, moment, sayable
    from bot.delivery.render import verdict_as_text
    from bot.enforcement.author import opinion_of
    from bot.enforcement.enforce import MAX_RESPONSE, check_readable
    from bot.enforcement.enforce import enforce as judged
    from bot.evidence.store.columns import check_ids
    from bot.request.cases import read_facts
    from bylaw.llm.registry import Off, open_llm

    given, index = open_index(bundle, root)
    facts = read_facts(_object(text), index) if text else {}
    answer = _piped(MAX_RESPONSE) if response == "-" else response
    check_readable(query, answer)
    started, name = now(), new_id()
    asked_at = moment(at) if at else started
    question = Question(text=query, actor=Actor(id=user), asked_at=asked_at, session_id=name, request_id=name)
    check_ids(question)
    claims = None if said is None else parse_claims(read_document(said, "claims"))
    with closing(open_llm(given.llm, time.monotonic)) as model:
        opinion = opinion_of(index, None if isinstance(model.llm, Off) else model)
        found = judged(question, answer, index, facts, opinion.judge, claims, opinion.reader)
    _record(found, question, given, started, opinion.papers())
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


def _record(
    found: ComplianceDecision, question: Question, given: Settings, started: datetime, papers: Mapping[str, Any]
) -> None:
    """Keep the verdict where a store is named, or was made before; elsewhere it is nobody's record."""
    from bot.evidence import anchoring
    from bot.evidence.recording import Notebook, record
    from bot.evidence.store.engine import connect, is_there
    from bot.evidence.store.migrate import upgrade
    from bot.evidence.store.tables.papers import shelf_of

    if given.store_url == Settings().store_url and not is_there(given.store_url, given.root):
        return
    with closing(connect(given.store_url, given.root)) as store:
        upgrade(store)
        book = Notebook(store, shelf_of(given.artifacts, given.root, store), now, anchoring.anchoring(given))
        record(found, question, book, started, papers)


def _object(text: str) -> dict[str, Any]:
    """The facts as given: numbers with a point stay exact, a key twice is an error."""
    text = read_document(text, "a JSON object")

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


@click.command()
@click.argument("question")
@click.option("--facts", "text", metavar="JSON", help="What is known of the case: a JSON object, or @FILE.")
@_BUNDLE
@_ROOT
@click.option("--as", "user", metavar="USER", default="anonymous", help="Who asks; rights come from rules/roles.yaml.")
@click.option("--at", metavar="ISO-TIME", help="As if it were this time.")
@click.option("--json", "as_json", is_flag=True, help="The guidance as one JSON document.")
def guide(
    question: str, text: str | None, bundle: Path | None, root: Path | None, user: str, at: str | None, as_json: bool
) -> None:
    """Say what an answer to QUESTION may rest on, before anybody writes it.

    The policies that speak with their rules and lines, what must be told, what must never be said or done, what is
    still unknown, and with --json the scaffold and the texts for the layers of an assistant.

    \b
    bylaw guide "Can I return a TV without the receipt?"
    bylaw guide "Can I return it?" --facts '{"days_since_purchase": 20}' --json
    """
    from bot.conversation import Actor, Question, moment, sayable
    from bot.delivery.render import safe
    from bot.enforcement.enforce import check_readable
    from bot.enforcement.guidance import guide as guided
    from bot.enforcement.guidance import in_words
    from bot.request.cases import read_facts

    check_readable(question)
    _, index = open_index(bundle, root)
    name, asked_at = new_id(), moment(at) if at else now()
    asked = Question(text=question, actor=Actor(id=user), asked_at=asked_at, session_id=name, request_id=name)
    found = guided(asked, index, read_facts(_object(text), index) if text else {})
    click.echo(json.dumps(sayable(found), indent=2, ensure_ascii=False) if as_json else safe(in_words(found)))


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
        from bylaw.sql.gate import check_statement

        verdict = check_statement(statement, catalogue=None, schemas=None)
    else:
        from bylaw.semantic.rights import verdict_on

        known = open_index(bundle, root)[1].bundle
        verdict = verdict_on(statement, known.context, known.rules.roles, user)
    if as_json:
        click.echo(verdict.model_dump_json(indent=2))
    else:
        where = "" if verdict.line is None else f" at {verdict.line}:{verdict.column}"
        click.echo("allowed" if verdict.is_allowed else f"denied{where}: {verdict.reason}")
        if not verdict.columns_checked:
            click.echo("ONLY ITS SHAPE WAS CHECKED: not which tables, columns, personal data or rows it reads.")
    ctx.exit(0 if verdict.is_allowed else 1)
