"""The page of a finding id as people read it: in a terminal, in a code scanner's help, and all of them in one file."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from ci.help.page import Files, Page

WIDTH = 100

_HEAD = """\
# Every finding

What `bylaw check` may say, each with an example that has it and one that has not. The examples are small
repositories: besides what they show, they hold the vocabulary at the end of this page. Where rows are shown, it is
`bylaw check --warehouse` that finds it. `bylaw explain ID` says the same in a terminal, and `severities` in
`rules/ci.yaml` makes a finding an error, a warning, a notice, or turns it off.
"""

LANGUAGES: Mapping[str, str] = {"json": "json", "md": "md"}


def terminal(page: Page) -> str:
    """The page as text, without its last line break."""
    parts = [f"{page.id} ({page.severity} unless rules/ci.yaml says otherwise)"]
    parts += [_wrapped(text) for text in (page.what, page.todo, page.why)]
    if page.before is not None:
        parts.append(_files("it was", page.before))
    if page.data:
        parts.append("  the rows: " + textwrap.indent(page.data.rstrip(), "    ").lstrip())
    parts += [_files("bad", page.bad), _files("good", _changed(page))]
    return "\n\n".join(parts)


def plain(page: Page) -> str:
    """The page in three sentences or so, where no markup is read."""
    return " ".join((page.what, page.todo, page.why))


def markdown(page: Page) -> str:
    """The page without its heading, with its examples in code blocks."""
    return "\n\n".join(_parts(page))


def handbook(pages: Sequence[Page], base: Files) -> str:
    """Every page in one file, `docs/every-finding.md`, a heading each."""
    index = ", ".join(f"[`{page.id}`](#{page.id})" for page in pages)
    told = [f"## {page.id}\n\n{markdown(page)}" for page in pages]
    words = "\n\n".join(["## The vocabulary of the examples", *_blocks(base)])
    return "\n\n".join([_HEAD.rstrip("\n"), index, *told, words]) + "\n"


def _parts(page: Page) -> Iterator[str]:
    yield f"*{page.severity}*, unless `rules/ci.yaml` says otherwise."
    yield page.what
    yield f"**Why:** {page.why}"
    if page.before is not None:
        yield "**It was:**"
        yield from _blocks(page.before)
    if page.data:
        yield "**The rows:**"
        yield f"```sql\n{page.data.rstrip()}\n```"
    yield "**Bad:**"
    yield from _blocks(page.bad)
    yield "**Good:**"
    yield from _blocks(_changed(page))
    yield f"**What to do:** {page.todo}"


def _changed(page: Page) -> Files:
    """The files of the good example that the bad one does not have the same; all of them where it only leaves some."""
    return {path: text for path, text in page.good.items() if page.bad.get(path) != text} or page.good


def _blocks(files: Files) -> Iterator[str]:
    for path, text in files.items():
        yield f"`{path}`"
        yield f"```{LANGUAGES.get(path.rpartition('.')[2], 'yaml')}\n{text.rstrip(chr(10))}\n```"


def _files(title: str, files: Files) -> str:
    shown = [f"{path}\n{textwrap.indent(text.rstrip(), '    ')}" for path, text in files.items()]
    return "\n".join(f"  {title}: {text}" for text in shown)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
