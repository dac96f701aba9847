"""`bylaw eval`: every suite of a repository put to its own bot, in a folder that is thrown away."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot import settings
from bylaw.errors import UsageError
from bylaw.roots import root_around

if TYPE_CHECKING:
    from bot.conversation import AnswerKind, Question, Reply, Turn
    from bot.evaluation.metrics import Tally
    from bot.evaluation.suites import Graded
    from bot.router import Answerer
    from bylaw.authored.machines.suites import Evaluation, Suite

Watch = Callable[[str, int, int], None]  # the suite, how many questions are done, of how many


@click.command(name="eval")
@click.option(
    "--root",
    type=click.Path(path_type=Path),
    callback=lambda _ctx, _param, value: root_around(Path()) if value is None else value,
    help="The policy repository with evaluation/.",
)
@click.option(
    "--suite",
    "names",
    multiple=True,
    metavar="NAME|PATH",
    help="Only this suite, or that of a file kept elsewhere; may be given several times.",
)
@click.option("--warehouse", metavar="URL", help="Instead of the suites' own: duckdb:///FILE, or `demo`.")
@click.option("--failures", is_flag=True, help="Every question that went wrong, and why.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How the result is written: tables for people, or one JSON document.",
)
@click.pass_context
def evaluate(
    ctx: click.Context, root: Path, names: tuple[str, ...], warehouse: str | None, failures: bool, format_: str
) -> None:
    """Ask the questions of `evaluation/*.yaml` and count what is right: answers, questions back, refusals.

    Rows that are `held_out` are reported apart from those that may be tuned against, each share with its interval.
    Exit code 1 when a suite stays below its floors in `rules/evaluation.yaml`. Nothing of it is remembered.
    """
    from bot.evaluation.metrics import render
    from bylaw.canonical import canonical_json
    from bylaw.cli import suite_at, suites_for_root  # only the command composes the wings

    suites, rules = suites_for_root(root)
    files, names = [Path(name) for name in names if _is_path(name)], tuple(name for name in names if not _is_path(name))
    asked = [] if files and not names else chosen(suites, names)
    asked += [suite_at(path) for path in files]
    watch = _drawn if format_ == "text" and sys.stderr.isatty() else None
    tallies = list(tallied(root, asked, rules, warehouse, watch))
    holds = all(tally.holds for tally in tallies)
    if format_ == "json":
        click.echo(canonical_json({"suites": [tally.document() for tally in tallies], "holds": holds}))
    else:
        click.echo(render(tallies, failures))
    ctx.exit(0 if holds else 1)


def chosen(suites: Iterable[Suite], names: Iterable[str]) -> list[Suite]:
    """The suites of these names, all of them where none is named. Raises UsageError for an unknown one."""
    known = {suite.name: suite for suite in suites}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no suite `{name}`", f"the suites are: {', '.join(known)}")
    return [known[name] for name in names] or list(known.values())


def _is_path(name: str) -> bool:
    return name.endswith((".yaml", ".yml"))


def tallied(
    root: Path, suites: Iterable[Suite], rules: Evaluation, warehouse: str | None, watch: Watch | None = None
) -> Iterator[Tally]:
    """Each suite, asked and counted, on the bundle of the repository at *root*."""
    from bot.evaluation.metrics import Tally
    from bylaw.cli import bundle_for_root

    bundle = bundle_for_root(root)
    with tempfile.TemporaryDirectory(prefix="bylaw-eval-") as folder:
        for suite in suites:
            graded = _asked(suite, bundle, _address(warehouse or suite.warehouse, suite.at.date(), Path(folder)), watch)
            yield Tally(suite.name, tuple(graded), rules.floors_of(suite.name))


def _asked(suite: Suite, bundle: Path, address: str | None, watch: Watch | None) -> Iterator[Graded]:
    from bot import app
    from bot.evaluation.suites import run
    from bot.request.orchestrator import handle
    from bylaw.warehouses.registry import open_warehouse

    with tempfile.TemporaryDirectory(prefix="bylaw-eval-") as folder:
        given = replace(settings.Settings(), root=Path(folder), warehouse=address)
        bot = app.open_bot(given, bundle, is_compiled_here=True)
        golden = open_warehouse(address) if address else None
        heard: list[AnswerKind] = []
        services = bot.services()
        services = replace(services, answerers=tuple(_telling(one, heard) for one in services.answerers))

        def say(question: Question) -> tuple[Reply, AnswerKind | None]:
            heard.clear()
            reply = handle(question, services)
            return reply, heard[-1] if heard else None

        try:
            for done, one in enumerate(run(suite, say, golden), 1):
                if watch is not None:
                    watch(suite.name, done, len(suite.questions))
                yield one
        finally:
            bot.close()
            if golden is not None:
                golden.close()


def _telling(answerer: Answerer, heard: list[AnswerKind]) -> Answerer:
    """The same answerer, which says when it is asked."""

    def answer(question: Question, state: dict[str, Any], index: Any) -> Turn:
        heard.append(answerer.kind)
        return answerer.answer(question, state, index)

    return replace(answerer, answer=answer)


def _address(warehouse: str | None, day: date, folder: Path) -> str | None:
    """The address of the data; `demo` is generated for the day of the suite, once."""
    if warehouse != "demo":
        return warehouse
    from bylaw.demos.warehouse import build

    path = folder / f"demo-{day.isoformat()}.duckdb"
    if not path.exists():
        build(path, day)
    return f"duckdb:///{path}"


def _drawn(name: str, done: int, of: int) -> None:
    click.echo(f"\r{name}: {done} of {of}" + ("\r\033[K" if done == of else ""), err=True, nl=False)
