"""Markdown in which every word of a document is shown as it was written and does nothing.

A template's own text is Markdown. Whatever a template puts in is escaped on its way, unless it was made here: a link,
code, a block, each of which nothing inside can end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bylaw.github.text import fenced
from bylaw.logic.words.graph import Graph, Node, mermaid
from ci.report.markup import code, inert, literal, shortened
from ci.report.visible import visible
from ci.review.computed.document import PolicyGraph

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
MARK = "<!-- bylaw:"  # how a line begins by which the next run knows a comment again
LABEL = 80  # letters of a label in a drawing


class Markdown(str):
    """Text that is Markdown already and goes into a body as it is."""

    __slots__ = ()


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        autoescape=False,
        finalize=lambda value: value if isinstance(value, Markdown) else inert(str(value)),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def filled(template: str, values: Mapping[str, Any]) -> str:
    """The template with *values*."""
    return _environment().get_template(f"{template}.md.j2").render(values).strip("\n") + "\n"


def said(text: str, most: int) -> Markdown:
    """*text* on one line, at most *most* letters of it; what stands between backticks is code.

    It may begin a line: whatever begins a list, a heading or code there does not.
    """
    shown = inert(shortened(text, most).strip()) or "…"
    return Markdown(f"&#{ord(shown[0])};{shown[1:]}" if shown[0] in "-+=" else shown)


def cell(text: str, most: int) -> Markdown:
    """*text* in a cell of a table. Code with a bar or a backslash in it would end the cell: then it is plain text."""
    short = shortened(text, most)
    inside = short.split("`")[1::2]
    if any(letter in part for part in inside for letter in "|\\"):
        short = short.replace("`", "'")
    return Markdown(inert(short))


def coded(text: str, most: int = 300) -> Markdown:
    """*text* as code."""
    return Markdown(code(shortened(text, most)))


def html_code(text: str, most: int = 300) -> Markdown:
    """*text* as code where HTML stands: between tags Markdown is not read, and its code spans would be no shelter."""
    return Markdown(f"<code>{literal(visible(shortened(text, most)))}</code>")


def linked(text: Markdown, address: str | None) -> Markdown:
    """*text*, which leads to *address* where there is one."""
    return text if address is None else Markdown(f"[{text}]({address})")


def block(text: str, language: str) -> Markdown:
    """*text* as a block of code; letters that nobody sees are spelt out, and no line is one of our own marks."""
    lines = (visible(line, tab="\t").replace(MARK, f"{MARK[:-1]} :") for line in text.split("\n"))
    return Markdown(fenced("\n".join(lines), language))


def joined(*parts: str) -> Markdown:
    """Parts side by side, each escaped unless it is Markdown."""
    return Markdown("".join(part if isinstance(part, Markdown) else inert(part) for part in parts))


def address(server: str, repository: str | None, sha: str, path: str, line: int) -> str | None:
    """Where GitHub shows a line of a commit for good; None where no repository is known."""
    if repository is None:
        return None
    return f"{server}/{repository}/blob/{sha}/{quote(path, safe='/')}#L{line}"


def drawn(graph: PolicyGraph) -> Markdown:
    """The decision graph as Mermaid, which GitHub draws."""
    labels = {name: _label(name, i) for i, name in enumerate([*(n.name for n in graph.nodes), *graph.terminals])}
    nodes = {labels[node.name]: Node(None, labels.get(node.yes, ""), labels.get(node.no, "")) for node in graph.nodes}
    terminals = tuple(labels[name] for name in graph.terminals)
    return block(mermaid(Graph("", nodes, terminals)).rstrip("\n"), "mermaid")


def _label(name: str, i: int) -> str:
    clean = re.sub(r"\s+", " ", visible(name))
    return clean if len(clean) <= LABEL and clean == name else f"{clean[:LABEL]} … {i}"
