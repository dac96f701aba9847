"""The pages of `docs/`, for the terminal: `bylaw docs [TOPIC]`. In a wheel they lie beside the package."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from bylaw.errors import UsageError

_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HIDDEN = "\x00"
_MOST = 2  # paragraphs of one page that a word is shown in
_COLLECTED = ("every-finding", "keys")  # made by machines, and about every word
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
    """The page of *topic*, else what the pages say of that word. Raises UsageError where none does."""
    known = topics()
    if topic in known:
        return _page(topic)
    if told := list(mentions(topic)):
        return "\n\n".join([f"# {topic}", *told]) + "\n"
    import difflib

    near = difflib.get_close_matches(topic, known, n=1)
    raise UsageError(
        f"no page speaks of `{topic}`",
        f"did you mean `{near[0]}`?" if near else f"topics: {', '.join(known)}",
    )


def mentions(word: str) -> Iterator[str]:
    """What the pages say of *word*: sections with it in their heading, rows of tables that begin with it.

    Where there are none, the paragraphs that use it, a few of each page.
    """
    told = list(_about(word))
    yield from told or _uses(word)


def _pattern(word: str) -> re.Pattern[str]:
    """*word* by itself, in one or the plural, its parts joined by a space, `-` or `_`."""
    parts = r"[\s_-]+".join(map(re.escape, re.split(r"[\s_-]+", word.strip())))
    return re.compile(rf"(?<![\w-]){parts}s?(?![\w-])", re.IGNORECASE)


def _uses(word: str) -> Iterator[str]:
    """The paragraphs, rows and blocks of the pages that people read in order which use *word*, `_MOST` of each."""
    about = _pattern(word)
    for topic in topics():
        if topic in _COLLECTED:
            continue
        page = re.sub(_FENCE, lambda fence: fence[0].replace("\n\n", "\n"), _page(topic))
        found = [part.strip() for part in re.split(r"\n{2,}", page) if about.search(part)]
        for part in found[:_MOST]:
            rows = [row for row in part.splitlines() if about.search(row)] if part.startswith("|") else [part]
            yield "\n".join([f"({topic})", *rows])
        if len(found) > _MOST:
            yield f"({topic}: {len(found) - _MOST} more, `bylaw docs {topic}`)"


def _page(topic: str) -> str:
    return (folder() / f"{topic}.md").read_text(encoding="utf-8")


def _about(word: str) -> Iterator[str]:
    about = _pattern(word)
    for topic in topics():
        page = re.sub(_FENCE, _kept, _page(topic))
        for section in re.split(r"^(?=##+ )", page, flags=re.MULTILINE)[1:]:
            heading, _, body = section.replace(_HIDDEN, "#").partition("\n")
            if about.search(heading):
                yield f"{heading} ({topic})\n{body.rstrip()}"
            elif rows := [row for row in map(_cells, body.splitlines()) if row[:1] == [f"`{word}`"]]:
                head = next(cells for cells in map(_cells, body.splitlines()) if cells)
                yield "\n\n".join([f"{heading} ({topic})", *(_told(head, row) for row in rows)])


def _kept(fence: re.Match[str]) -> str:
    """A block of code as it is, save that none of its lines is taken for a heading."""
    return fence[0].replace("#", _HIDDEN)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] if line.startswith("|") else []


def _told(head: list[str], row: list[str]) -> str:
    """A row of a table as a list: what its columns are called, and what they say."""
    return "\n".join(f"- {name}: {cell}" for name, cell in zip(head, row, strict=False) if cell)


def _shown(page: str) -> str:
    """The page for a terminal, which shows no titles of code blocks: the file that a block writes stands above it."""
    return re.sub(r'^(```\w+) title="([^"]+)"$', r"*\2*\n\n\1", page, flags=re.MULTILINE)


@click.command()
@click.argument("topic", required=False)
@click.option("--list", "is_listing", is_flag=True, help="The topics, a line each.")
@click.option("--plain", is_flag=True, help="The page as it is written, in Markdown; so it is where output is piped.")
@click.pass_context
def docs(ctx: click.Context, topic: str | None, is_listing: bool, plain: bool) -> None:
    """Read the handbook: the overview, the page of a TOPIC, or what the pages say of a word.

    \b
    bylaw docs                           where to begin
    bylaw docs conditions                a page
    bylaw docs requires                  a key, a finding or a heading
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
        console.print(Markdown(_shown(page)))
