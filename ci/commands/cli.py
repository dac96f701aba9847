"""The click commands of this room: each parses, calls one function, renders, and ends with an exit code."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import click

from bylaw.language.counting import count
from ci.commands.days import Day
from ci.commands.options import ROOT, Nearest

# The names of `ci.commands.listing.KINDS` and `ci.commands.skeleton.KINDS`, which are loaded later.
LISTED = ("facts", "actions", "outcomes", "policies", "domains", "owners", "cases", "entities", "metrics", "gotchas",
          "glossary", "queries", "decisions")  # fmt: skip
MADE = ("policy", "case", "entity", "metric", "gotcha", "glossary", "decision")


@click.command("list")
@click.argument("kind", type=Nearest(LISTED))
@ROOT
@click.option("--json", "as_json", is_flag=True, help="One JSON document and nothing else.")
def list_(kind: str, root: Path, as_json: bool) -> None:
    """List what a repository declares: its words, policies, owners, cases, and what it knows of its data.

    \b
    bylaw list facts                     which words a condition may use
    bylaw list policies --json           for machines
    """
    from ci.loading.kept import again

    def listed() -> str:
        from ci.commands.listing import document, rows, table
        from ci.loading.load import load

        found = rows(load(root, None, date.today()), kind)
        return document(kind, found) if as_json else table(kind, found)

    from ci.report.visible import visible_lines

    told = again(root, "listed.json", f"{kind} {as_json}", date.today(), listed)
    click.echo(told if as_json else visible_lines(told))


@click.command()
@click.argument("kind", type=Nearest(MADE))
@click.argument("name")
@ROOT
@click.option("--domain", help="Of a case: the domain whose file it goes to. Of a policy its id says it.")
@click.option("--owner", default="TBD", show_default=True, help="Of a policy: who decides when it is disputed.")
@click.option("--print", "is_printing", is_flag=True, help="Only print it; write nothing.")
def new(kind: str, name: str, root: Path, domain: str | None, owner: str, is_printing: bool) -> None:
    """Write a commented file to fill in: a policy, a case, an entity, a metric, a gotcha, a term or a decision.

    It lies where `bylaw check` looks for it, names words that this repository declares, and checks without errors as
    it is. A policy may be named by its domain alone: it then gets the next free number.

    \b
    bylaw new policy expense             policies/expense/POL-EXPENSE-001.yaml, or the next number
    bylaw new case "a taxi without a receipt" --domain expense
    bylaw new metric revenue
    """
    from ci.commands.skeleton import skeleton, write
    from ci.loading.load import load

    made = skeleton(load(root, None, date.today()), kind, name, date.today(), domain, owner)
    if is_printing:
        click.echo(made.text, nl=False)
        return
    click.echo(f"wrote {write(root, made)}", err=True)
    click.echo("fill it in, then `bylaw check`", err=True)


@click.command()
@click.argument("base")
@click.argument("head")
@ROOT
@click.option("--at", type=Day(), metavar="DATE", help="As of this day; by default HEAD's.")
@click.option("--markdown", "as_markdown", is_flag=True, help="For a release or a page.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document and nothing else.")
@click.pass_context
def changelog(
    ctx: click.Context, base: str, head: str, root: Path, at: datetime | None, as_markdown: bool, as_json: bool
) -> None:
    """Say what changed from BASE to HEAD in words for people who were not there, grouped by domain and owner.

    Each side is a git ref of --root, a folder, or a bundle. Beside what was written stands what it does: every kind of
    case that is decided differently, and whether any other is.

    \b
    bylaw changelog v1 HEAD
    bylaw changelog origin/main . --markdown
    """
    from ci.changelog import render
    from ci.changelog.entries import changelog as made
    from ci.diff import compared, sides

    one, two, day = sides(base, head, root, None if at is None else at.date(), date.today())
    log = made(one, two, compared(one, two, day))
    tell = render.document if as_json else render.markdown if as_markdown else render.text
    click.echo(tell(log), color=ctx.color)


@click.command()
def lsp() -> None:
    """Serve an editor over the Language Server Protocol, on standard input and output.

    The same findings as `bylaw check` while you type, words to choose from, their meaning, where they are declared and
    used, and quick fixes. Needs the extra `bylaw-policies[lsp]`.
    """
    from importlib.metadata import version

    from bylaw.errors import UsageError

    try:
        from ci.editor.server import server
    except ImportError:
        raise UsageError("the language server is not installed", "pip install 'bylaw-policies[lsp]'") from None
    server(version("bylaw-policies")).start_io()


@click.command()
@ROOT
@click.option("--once", is_flag=True, hidden=True, help="Look once and end: for tests.")
@click.pass_context
def watch(ctx: click.Context, root: Path, once: bool) -> None:
    """Check again whenever a file changes, until Ctrl-C.

    \b
    bylaw watch                          in a second terminal, beside the editor
    """
    import time

    from ci.commands.watching import watch as run

    def look() -> None:
        click.clear()
        click.echo(_checked(root), color=ctx.color)

    def wait() -> bool:
        time.sleep(0.5)  # between two looks at the folder
        return not once

    run(root, look, wait)


def _checked(root: Path) -> str:
    """What `bylaw check` says, in text."""
    from ci.check import check
    from ci.report.formats import FORMATS
    from ci.report.report import Report

    checked = check(root, None, date.today())
    workspace = checked.workspace
    return FORMATS["text"](Report(checked.findings, workspace.sources, workspace.rules.ci.report))


@click.command()
@ROOT
@click.option("-o", "--output", "folder", type=click.Path(file_okay=False, path_type=Path),
              show_default=".bylaw/report of the repository", help="The folder for the pages.")  # fmt: skip
@click.option("--title", default="Rule book", show_default=True, help="The name at the top of every page.")
@click.option("--at", type=Day(), metavar="DATE", help="As of this day; by default the day of the commit.")
def report(root: Path, folder: Path | None, title: str, at: datetime | None) -> None:
    """Write the rule book as static pages: every policy in words, drawn, with its cases, rivals, owner and days.

    The pages need no network and no server: open index.html, print it, or attach the folder to a pull request.

    \b
    bylaw report                         where `bylaw serve` shows it, at /
    bylaw report -o site/
    """
    from bylaw.progress import progress
    from ci.pipeline import run
    from ci.site.book import book
    from ci.site.pages import write

    with progress() as heard:
        done = run(root, None if at is None else at.date(), date.today(), heard)
        made = book(done, title)
    written = write(root, folder or root / ".bylaw" / "report", made)
    click.echo(f"wrote {written}: {count(len(made.policies), 'policy', 'policies')}", err=True)
