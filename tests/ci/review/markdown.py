"""What a body becomes when it is read, as far as a CommonMark parser with tables tells: nothing but what is ours."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# Every piece of HTML that a body may hold; between the tags stands text without any.
_TAGS = re.compile(r"</?(?:details|summary|sub|code)>|<br>|<!-- bylaw:(?:summary|finding [0-9a-f]{16}) -->")
_CALLS = re.compile(r"(?<![\w`])@[A-Za-z0-9]|(?<![\w&])#\d|\bgh-\d", re.IGNORECASE)
_CODE = re.compile(r"<code>.*?</code>", re.DOTALL)
_MERMAID = re.compile(r'flowchart TD|  n\d+\{"[^"`<>\n]*"\}|  t\d+\["[^"`<>\n]*"\]|  [nt]\d+ -- (?:yes|no) --> [nt]\d+')
BLOCKS = {"suggestion", "yaml", "mermaid"}
HEADINGS = {
    "This changes what is checked",
    "Which cases change outcome",
    "Contradictions",
    "Who must decide",
    "New findings",
    "Other new findings",
    "Questions without an answer",
}


def tokens(body: str) -> Iterator[Token]:
    """Everything in the order of the text, what stands in a line one by one."""
    for token in _PARSER.parse(body):
        yield token
        yield from token.children or ()


def harmless(body: str, handles: Sequence[str] = (), links: str = "https://github.com/acme/policies/blob/") -> None:
    """Fails where a word of a document does more than to be read."""
    found = list(tokens(body))
    for token in found:
        match token.type:
            case "html_block" | "html_inline":
                rest = _TAGS.sub("", _CODE.sub("", token.content))
                assert "<" not in rest and ">" not in rest, token.content
                _calls_nobody(html.unescape(rest), ())
            case "text":
                _calls_nobody(token.content, handles)
            case "link_open":
                assert str(token.attrs["href"]).startswith(links)
            case "image" | "code_block" | "hr" | "blockquote_open":
                raise AssertionError(f"{token.type} in a body: {token.content}")
            case "fence":
                assert token.info in BLOCKS, token.info
                assert token.info != "mermaid" or all(map(_MERMAID.fullmatch, token.content.splitlines()))
    _headings(found)
    assert (found[-2].content, found[-1].type) == ("</sub>", "paragraph_close"), "something swallowed the end"
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08]", body)


def _calls_nobody(text: str, handles: Sequence[str]) -> None:
    for handle in handles:
        text = text.replace(handle, "")
    assert not _CALLS.search(text), text


def _headings(found: list[Token]) -> None:
    for i, token in enumerate(found):
        if token.type == "heading_open" and token.tag != "h3":
            assert token.tag == "h4"
            assert found[i + 1].content in HEADINGS


def table(body: str) -> list[list[str]]:
    """The cells of the table, row by row; a row for each line in the source or the table is broken."""
    rows: list[list[str]] = []
    for token, after in zip(found := list(_PARSER.parse(body)), found[1:], strict=False):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("td_open", "th_open"):
            rows[-1].append(after.content)
    return rows
