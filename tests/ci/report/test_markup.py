"""Text of strangers inside Markdown, read back by a real Markdown reader: what they wrote is seen, and nothing more."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ci.report.markup import code, inert, shortened
from ci.report.visible import visible
from tests.rows import each

READER = MarkdownIt("gfm-like", {"linkify": False, "html": True})
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](https://example.com)",
    "![picture](https://example.com/a.png)",
    "<https://example.com>",
    "*bold* _slanted_ ~~gone~~ **more**",
    "a | b\n--|--\n1 | 2",
    "# a heading",
    "- a list",
    "1. a list",
    "```\ncode",
    "`open",
    "``a`b``",
    "&lt;b&gt; &#64;",
    "$x^2$",
    "\\<b>",
    "<!-- gone",
]


def seen(markdown: str) -> tuple[set[str], str]:
    """The elements that *markdown* becomes, and the words a person sees."""
    shown = READER.render(f"x {markdown}")
    elements = set(re.findall(r"<(\w+)", shown))
    return elements, html.unescape(re.sub(r"<[^>]*>", "", shown)).replace("\u200b", "").strip()[2:]


@each("text", HOSTILE)
def test_hostile_text_is_seen_as_it_was_written(text: str) -> None:
    elements, words = seen(inert(text))
    assert elements <= {"p", "code"}
    assert words.replace("`", "").split() == visible(text).replace("`", "").split()


@each("text", HOSTILE)
def test_a_code_span_holds_whatever_is_in_it(text: str) -> None:
    elements, words = seen(code(text))
    assert elements == {"p", "code"}
    assert words.strip() == visible(text).strip()


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_no_text_becomes_an_element(text: str) -> None:
    assert seen(inert(text))[0] <= {"p", "code"}
    assert seen(code(text))[0] == {"p", "code"}


@each("text", ["@octocat", "cc @org/team", "a@b", "#12", "org/repo#12", "x`@octocat"])
def test_nobody_is_called_and_no_issue_is_named(text: str) -> None:
    shown = html.unescape(READER.render(inert(text)))
    assert not re.search(r"[@#]\w", shown)


def test_what_stands_between_backticks_is_code() -> None:
    assert inert("the fact `has_receipt` is new") == "the fact `has_receipt` is new"
    assert "`@octocat`" in inert("`@octocat`")
    assert READER.render(inert("`a``b`")).count("<code>") == 2
    assert inert("one ` only") == "one &#96; only"


def test_a_shortened_text_says_by_how_much() -> None:
    assert shortened("abc", 3) == "abc"
    assert shortened("a" * 5_003, 3) == "aaa… (5,000 more characters)"


@each("text", ["@octocat", "ping @acme/security", "#12", "acme/policies#3", "GH-12", "see gh-7"])
def test_nobody_is_called_in_what_a_reader_sees(text: str) -> None:
    words = html.unescape(re.sub(r"<[^>]*>", "", READER.render(f"x {inert(text)}")))
    assert not re.search(r"@\w|#\d|gh-\d", words, re.IGNORECASE)
    assert words.replace("\u200b", "").strip() == f"x {text}"
