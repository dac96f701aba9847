"""The verbs of the bot: parse, call one function, render. A BylawError is said by the top of the command."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot import settings
from bot.clock import new_id, now
from bot.settings import Settings
from bylaw.errors import UsageError
from bylaw.roots import root_around

if TYPE_CHECKING:
    from socket import socket

    from bot.app import Bot
    from bot.conversation import Reply
    from bot.index import BundleIndex

_MOST_CHARACTERS = 1_000_000  # of a file that an option names
_FORM = 'write it like {"metrics": ["net_revenue"], "period": "2025"}'
_ROOT = click.option(
    "--root",
    metavar="DIRECTORY",
    type=click.Path(path_type=Path),
    help="The policy repository: compiled first.  [default: (the one around this folder)]",
)
_BUNDLE = click.option(
    "--bundle", metavar="FILE", type=click.Path(path_type=Path), help="A compiled bundle, instead of --root."
)
_WAREHOUSE = click.option(
    "--warehouse", metavar="URL", help="Where data questions run: duckdb:///FILE, or `demo` for generated example data."
)


@click.command()
@click.argument("question", required=False)
@click.option(
    "--form", metavar="JSON|@FILE", help="The filled form of a data question: answered whatever the words say."
)
@click.option(
    "--items", metavar="JSON|@FILE", help="What you say that the question says, as items: held against its words."
)
@click.option(
    "--kind", type=click.Choice(["policy", "data", "decision"]), help="What is asked; by default the words tell it."
)
@click.option("--as", "user", metavar="USER", default="anonymous", help="Who asks; rights come from rules/roles.yaml.")
@click.option("--session", metavar="ID", help="Continue this conversation. Without it every question stands alone.")
@_BUNDLE
@_ROOT
@_WAREHOUSE
@click.option("--at", metavar="ISO-TIME", help="Ask as if it were this time.")
@click.option("--criticality", type=click.Choice(["low", "normal", "high"]), help="How much depends on a data answer.")
@click.option("--level", type=click.IntRange(1, 5), help="Go no further alone than this level of autonomy.")
@click.option(
    "--iterative",
    is_flag=True,
    help="Where the rules leave a policy question open: let a proposal by their words be tried, for a recommendation.",
)
@click.option("--explain", is_flag=True, help="Show the statement that ran, and why the answer has its level.")
@click.option(
    "--format",
    "shape",
    type=click.Choice(["text", "json", "yaml"]),
    default="text",
    show_default=True,
    help="How the reply is written: for people, or as one document for machines.",
)
@click.option("--json", "as_json", is_flag=True, help="Like --format json: the Reply as one JSON document.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the rows (.csv, .parquet), the reply (.json, .yaml) or its chart (.png, .svg) too.",
)
@click.pass_context
def ask(
    ctx: click.Context,
    question: str | None,
    form: str | None,
    items: str | None,
    kind: str | None,
    user: str,
    session: str | None,
    bundle: Path | None,
    root: Path | None,
    warehouse: str | None,
    at: str | None,
    criticality: str | None,
    level: int | None,
    iterative: bool,
    explain: bool,
    shape: str,
    as_json: bool,
    output: Path | None,
) -> None:
    """Ask in words: about policies, about data, or why something was decided.

    Without --warehouse a data question is answered with the statement that would run. A question back is answered with
    --session; `bylaw trace ID` and `bylaw replay ID` look at an answer again, `bylaw audit export` lists them.

    Exit code: 0 with an answer (or a recommendation), 1 where you are asked back, passed on to a person, or refused.

    \b
    bylaw ask "I bought a TV 20 days ago and lost the receipt. Can I get a refund?"
    bylaw ask "What is our return policy?"
    bylaw ask --warehouse duckdb:///shop.duckdb "net revenue by region last quarter"
    bylaw ask --session tv "Can I return a TV?" && bylaw ask --session tv "12 days ago"
    bylaw ask "Why did we move the return window?" --json
    bylaw ask "net revenue by region" --items '[{"kind": "asks", "name": "net_revenue", "quote": "net revenue"}, \
        {"kind": "group", "name": "customers.region", "quote": "by region"}]'
    bylaw ask --form '{"metrics": ["net_revenue"], "by": ["customers.region"], "period": "last quarter"}'
    """
    from bot import app
    from bot.conversation import GIVEN, Actor, Question, moment
    from bot.delivery.filling import fill
    from bot.delivery.render import render
    from bot.delivery.saving import save
    from bot.request.orchestrator import handle

    asked_at = moment(at) if at else now()
    given_form, given_items = _read_json(form, "the form", _FORM), _items(items)
    unsaid = "the filled form" if given_form is not None else "the given items" if given_items is not None else ""
    if not (question := question or unsaid).strip():  # before the policies are read, which takes its time
        raise UsageError("the question is empty", 'ask something: bylaw ask "…"')
    given = given_settings(root, warehouse)
    bot = app.open_bot(given, bundle_path(given, bundle, root), is_compiled_here=is_compiled_here(given, bundle, root))
    try:
        services = bot.services()
        name = services.new_id()
        if iterative:
            from bot.enforcement.refining import check_is_on

            check_is_on(services.index)
        wished = {"criticality": criticality, "autonomy_override": level, "form": given_form, "items": given_items}
        wished |= {"kind": kind, "mode": "iter" if iterative else None}
        asked = Question(
            text=question,
            actor=Actor(id=user),
            asked_at=asked_at,
            session_id=session or name,
            request_id=name,
            options={key: value for key, value in wished.items() if value is not None},
        )
        reply = handle(asked, services)
        if reply.form is not None and shape == "text" and not as_json and _is_interactive():
            click.echo(render(reply, explain), err=True)
            picked = fill(reply.form, _hear, _say)
            again = {"request_id": services.new_id(), "options": {**asked.options, "form": picked}}
            reply = handle(asked.model_copy(update=again), services)
    finally:
        bot.close()
    _print_reply(reply, explain, "json" if as_json else shape)
    if output is not None:
        save(reply, output)
    ctx.exit(0 if reply.status in GIVEN else 1)


def _print_reply(reply: Reply, explain: bool, shape: str) -> None:
    from bot.delivery.render import hint, render
    from bot.delivery.saving import said

    click.echo(render(reply, explain) if shape == "text" else said(reply, shape))
    if shape == "text" and (told := hint(reply)):
        click.echo(told, err=True)


@click.command()
@click.option("--host", help="Default: 127.0.0.1. Anything others can reach needs BYLAW_TOKEN.")
@click.option("--port", type=click.IntRange(0, 65535), help="Default: 8080; 0 lets the system choose.")
@_BUNDLE
@_ROOT
@_WAREHOUSE
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Processes that answer; by default one a processor, at most four; one with --slack socket and with --mcp.",
)
@click.option("--slack", type=click.Choice(["http", "socket"]), help="Answer in Slack too; see BYLAW_SLACK_*.")
@click.option("--mcp", is_flag=True, help="Instead: tools for other assistants (MCP), on pipes; with --port over HTTP.")
@click.option("--as", "user", metavar="USER", default="anonymous", help="With --mcp: whose rights the tools have.")
def serve(
    host: str | None,
    port: int | None,
    bundle: Path | None,
    root: Path | None,
    warehouse: str | None,
    workers: int | None,
    slack: str | None,
    mcp: bool,
    user: str,
) -> None:
    """Answer over HTTP: POST /v2/query and /v2/enforce, /healthz, /readyz. A new bundle at the same path is picked up.

    With `--slack http` Slack posts to /slack/events, with `--slack socket` it is listened to through a socket. Several
    processes share the address, the store and its one audit chain; one that dies is replaced.

    \b
    bylaw serve --warehouse demo
    curl localhost:8080/v2/query -H 'content-type: application/json' -d '{"text": "net revenue by region last quarter"}'
    bylaw serve --mcp --as amara         for another assistant to start
    """
    from bot import app
    from bot.delivery.http import api, logs
    from bot.delivery.http.rates import Rates
    from bot.delivery.http.serving import crew
    from bot.delivery.http.serving import serve as server
    from bot.memory import opening
    from bot.request.capacity import Slots
    from bot.request.scheduler import ticking

    given = given_settings(root, warehouse)
    given = replace(given, host=host or given.host, port=given.port if port is None else port)
    given = replace(given, workers=1 if mcp else _processes(workers or given.workers, slack))
    if not mcp:
        server.allowed(given)
    logs.to_stderr()
    if not mcp and not given.is_identity_asked:
        server.warn_of_trust()
    path, is_ours = bundle_path(given, bundle, root), is_compiled_here(given, bundle, root)
    promoting = opening.promoting(root, settings.environment())
    following = opening.following(settings.environment())

    def opened() -> Bot:
        bot = app.open_bot(given, path, is_compiled_here=is_ours, promoting=promoting, pull_request=following)
        bot.settle()
        return bot

    if mcp:
        from bot.delivery import mcp as tools

        with closing(opened()) as bot:
            tools.serve(bot, user, port, host)
        return
    rates = Rates()
    with server.bound(given) as listening:

        def answer(place: socket, ready: crew.Ready) -> None:
            with ExitStack() as stack:
                bot = stack.enter_context(closing(opened()))
                stack.enter_context(ticking(bot, given.tick_seconds))
                room = Slots(given.limits.requests)
                served = api.build(bot, given, new_id, rates, room)
                if slack is not None:
                    from bot.delivery.slack import app as slack_app

                    served = stack.enter_context(slack_app.answering(bot, given, slack, served, room))
                server.serve(served, place, ready, given.limits)

        crew.run(given.workers or 1, listening, answer, lambda: click.echo(f"serving on {server.address(listening)}"))


def _processes(wanted: int | None, slack: str | None) -> int:
    """How many answer. Raises UsageError for several on one socket to Slack."""
    from bot.delivery.http.serving import crew

    if slack != "socket":
        return wanted or crew.usual_count()
    if wanted is not None and wanted > 1:
        raise UsageError(
            "`--slack socket` is one connection, held by one process", "use `--workers 1`, or --slack http"
        )
    return 1


def bundle_path(given: Settings, bundle: Path | None, root: Path | None) -> Path:
    """The bundle to answer from: the one named, else the repository's, compiled now into its `.bylaw/`."""
    if bundle is not None and root is not None:
        raise UsageError("`--bundle` and `--root` name two sources", "give one of them")
    if not is_compiled_here(given, bundle, root) and (named := bundle or given.bundle) is not None:
        return named
    from bylaw.cli import bundle_for_root  # only the command composes the wings

    return bundle_for_root(root or root_around(Path()))


def is_compiled_here(given: Settings, bundle: Path | None, root: Path | None) -> bool:
    """Does this call compile the repository itself, at whatever commit the person has checked out?"""
    return root is not None or (bundle is None and given.bundle is None)


def open_index(bundle: Path | None, root: Path | None) -> tuple[Settings, BundleIndex]:
    """The environment, and what a bundle says: all of it is read, to be held together."""
    from bot.index import BundleIndex
    from bylaw.bundle import read

    given = settings.read(root or root_around(Path()))
    return given, BundleIndex(read(bundle_path(given, bundle, root), given.bundle_keys))


def read_document(said: str, what: str) -> str:
    """*said*, or what the file holds that it names as @FILE. Raises UsageError for one that cannot be read."""
    if not said.startswith("@"):
        return said
    try:
        with Path(said[1:]).open(encoding="utf-8") as file:
            data = file.read(_MOST_CHARACTERS + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror or "").lower() if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"`{said[1:]}` cannot be read: {reason}", f"name a file with {what} in it") from None
    if len(data) > _MOST_CHARACTERS:
        raise UsageError(f"`{said[1:]}` has more than {_MOST_CHARACTERS:,} characters")
    return data


def _read_json(said: str | None, what: str, how: str) -> Any:
    """The JSON that *said* is or names; None where nothing was said."""
    if said is None:
        return None
    try:
        return json.loads(read_document(said, what))
    except (ValueError, RecursionError):
        raise UsageError(f"{what} is not JSON" if what == "the form" else f"{what} are not JSON", how) from None


def _items(said: str | None) -> Any:
    """The items in *said*. Raises UsageError for what is none."""
    given = _read_json(said, "the items", 'give a list, `[{"kind": …, "quote": …}]`')
    if given is not None:
        from bylaw.hold.item import kind_of_items

        kind_of_items(given, None)
    return given


def _is_interactive() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _hear(words: str) -> str:
    return str(click.prompt(words, default="", show_default=False, prompt_suffix="", err=True))


def _say(words: str) -> None:
    click.echo(words, err=True)


def given_settings(root: Path | None, warehouse: str | None) -> Settings:
    """The environment, with what this call says over it. What is remembered lies under the root."""
    given = settings.read(root or root_around(Path()))
    if warehouse == "demo":
        warehouse = f"duckdb:///{_demo_data(given.root).resolve()}"
    return given if warehouse is None else replace(given, warehouse=warehouse)


def _demo_data(root: Path) -> Path:
    """Today's example data, generated once a day under `.bylaw/`."""
    from bylaw.demos.warehouse import build

    today = now().date()
    path = root / ".bylaw" / f"demo-{today.isoformat()}.duckdb"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        build(path, today)
    return path
