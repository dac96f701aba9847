"""The pages of `docs/`, for the terminal: `bylaw docs [TOPIC]`. In a wheel they lie beside the package."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bylaw.errors import UsageError

_PLACES = (Path(__file__).parent / "docs", Path(__file__).parents[1] / "docs")


def folder() -> Path:
    """Where the pages are. Raises UsageError where an installation has none."""
    for place in _PLACES:
        if (place / "index.md").is_file():
            return place
    raise UsageError("this installation has no documentation beside it")


def topics() -> dict[str, str]:
    """Each topic and its title, the overview first."""
    pages = sorted(folder().glob("*.md"), key=lambda page: (page.stem != "index", page.stem))
    return {page.stem: page.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# ") for page in pages}


def text(topic: str) -> str:
    """The page of *topic*. Raises UsageError, with the nearest one, where there is none."""
    known = topics()
    if topic not in known:
        import difflib

        near = difflib.get_close_matches(topic, known, n=1)
        raise UsageError(
            f"there is no page `{topic}`", f"did you mean `{near[0]}`?" if near else f"topics: {', '.join(known)}"
        )
    return (folder() / f"{topic}.md").read_text(encoding="utf-8")


@click.command()
@click.argument("topic", required=False)
@click.option("--list", "is_listing", is_flag=True, help="The topics, a line each.")
@click.option("--plain", is_flag=True, help="The page as it is written, in Markdown; so it is where output is piped.")
@click.pass_context
def docs(ctx: click.Context, topic: str | None, is_listing: bool, plain: bool) -> None:
    """Read the handbook: the overview, or the page of a TOPIC.

    \b
    bylaw docs                           where to begin
    bylaw docs conditions
    """
    if is_listing:
        for name, title in topics().items():
            click.echo(f"{name.ljust(12)}  {title}")
        return
    page = text(topic or "index")
    if plain or not sys.stdout.isatty():
        click.echo(page, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(no_color=ctx.color is False)
    with console.pager(styles=ctx.color is not False):
        console.print(Markdown(page))
