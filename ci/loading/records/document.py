"""A Markdown document as its parts: front matter, title, the lines before the first heading, and its sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from ci.loading.source import Unreadable, parse

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

DEEPEST = 20  # how deep quotes and lists may nest; what lies deeper is text
LONGEST = 2_000  # characters of one line that are taken apart
MOST_LINES = 20_000
MOST_HEADINGS = 2_000
_MARKED = re.compile(r"[][*_`<&\\!~]")
_FENCE = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a section: what it says, its kind and its line.

    A list has its items, a table its rows, a heading inside the section its level.
    """

    kind: str
    line: int
    text: str
    items: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    level: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the blocks up to the next one. *level* is 0 for what stands before the first heading."""

    level: int
    title: str
    line: int
    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        """What it says, as it is written."""
        return "\n\n".join(block.text for block in self.blocks if block.text).strip()


@dataclass(frozen=True, slots=True)
class Document:
    """One Markdown file. `front_lines`: the line on which a key of the front matter stands."""

    text: str
    front: Mapping[str, Any]
    front_lines: Mapping[str, int]
    sections: tuple[Section, ...] = field(default=())


def document_of(path: str, text: str) -> Document:
    """The parts of *text*. Raises Unreadable where its front matter is no plain YAML."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.count("\n") > MOST_LINES:
        raise Unreadable("unreadable-file", f"the document has more than {MOST_LINES:,} lines", help="split it")
    front, lines, start = _front_matter(path, text)
    return Document(text, front, lines, tuple(_sections(text.split("\n"), start)))


def links_in(text: str) -> list[tuple[str, str]]:
    """The links of one line, each as its words and where it leads."""
    found: list[tuple[str, str]] = []
    for token in _line_parser().parseInline(text[:LONGEST])[0].children or ():
        if token.type == "link_open":
            found.append(("", str(token.attrs.get("href", ""))))
        elif found and not found[-1][0] and token.type in ("text", "code_inline"):
            found[-1] = (token.content, found[-1][1])
    return found


def plain_line(text: str) -> str:
    """One line without the marks of Markdown: emphasis, code, and links but for their words."""
    if _MARKED.search(text) is None:
        return " ".join(text.split())
    children = _line_parser().parseInline(text[:LONGEST])[0].children or ()
    return " ".join(
        "".join(
            token.content or (" " if "break" in token.type else "") for token in children if _is_word(token)
        ).split()
    )


def _is_word(token: Token) -> bool:
    return token.type in ("text", "code_inline", "softbreak", "hardbreak")


def _front_matter(path: str, text: str) -> tuple[Mapping[str, Any], Mapping[str, int], int]:
    """What stands between two lines of `---` at the top, the line of each key, and the line where the rest begins."""
    found = _FENCE.match(text)
    if found is None:
        return {}, {}, 0
    start = text[: found.end()].count("\n")
    if not any(line.strip() and not line.lstrip().startswith("#") for line in found[1].split("\n")):
        return {}, {}, start
    try:
        source = parse(f"{path}.yaml", found[1])
    except Unreadable as problem:
        message = f"the front matter cannot be read: {problem.message}"
        raise Unreadable("unreadable-file", message, problem.line + 1, problem.column, problem.help) from None
    if not isinstance(source.data, dict):
        raise Unreadable("unreadable-file", "the front matter should be `key: value`, a line each", 2)
    marks = source.marks
    lines = {str(marks.keys[node]): (marks.key_at[node] >> 21) + 1 for node in marks.children(0)}
    return source.data, lines, start


def _sections(lines: Sequence[str], start: int) -> Iterator[Section]:
    """The sections of the lines from *start* on."""
    body = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), "\n".join(lines[start:]))
    lines = body.split("\n")
    tokens = _parser().parse(body)
    if sum(token.type == "heading_open" for token in tokens) > MOST_HEADINGS:
        raise Unreadable("unreadable-file", f"the document has more than {MOST_HEADINGS:,} headings", start + 1)
    level, title, line = 0, "", start + 1
    blocks: list[Block] = []
    for at, token in enumerate(tokens):
        if token.level or token.nesting < 0 or token.map is None:
            continue
        if token.type == "heading_open":
            yield Section(level, title, line, tuple(blocks))
            level, title = int(token.tag[1:]), plain_line(tokens[at + 1].content)
            line, blocks = token.map[0] + start + 1, []
        elif token.type != "hr":
            blocks.append(_block(tokens, at, lines, start))
    yield Section(level, title, line, tuple(blocks))


def _block(tokens: Sequence[Token], at: int, lines: Sequence[str], start: int) -> Block:
    token = tokens[at]
    assert token.map is not None
    first, last = token.map
    text = "\n".join(lines[first:last]).strip()
    kind = token.type.removesuffix("_open")
    items = tuple(_inner(tokens, at, "list_item_open", 1)) if kind.endswith("_list") else ()
    rows = tuple(tuple(row) for row in _rows(tokens, at)) if kind == "table" else ()
    return Block(kind, first + start + 1, text, items, rows)


def _inner(tokens: Sequence[Token], at: int, kind: str, level: int) -> Iterator[str]:
    """What each of the parts of the block at *at* says."""
    said: list[str] | None = None
    for token in tokens[at + 1 :]:
        if token.level == 0:
            break
        if token.level == level and token.type == kind:
            said = []
        elif token.level == level and token.nesting < 0 and said is not None:
            yield "\n".join(said).strip()
            said = None
        elif said is not None and token.type in ("inline", "fence", "code_block"):
            said.append(token.content.strip())


def _rows(tokens: Sequence[Token], at: int) -> Iterator[list[str]]:
    row: list[str] = []
    for token in tokens[at + 1 :]:
        if token.type == "table_close":
            break
        if token.type == "inline":
            row.append(token.content.strip())
        elif token.type == "tr_close":
            yield row
            row = []


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # only where Markdown is read

    # Nothing is rendered, and of the words inside a block only few are looked at: they are not taken apart here.
    return MarkdownIt("commonmark", {"maxNesting": DEEPEST, "html": False}).enable("table").disable("inline")


@cache
def _line_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": DEEPEST, "html": False}).enable("strikethrough")
