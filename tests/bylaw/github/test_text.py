"""Text of strangers is shown as it was written, pings nobody, and ends where it should."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bylaw.github.text import LONGEST_BODY, code, fenced, quiet, shortened
from tests.rows import each

HOSTILE = [
    "@acme/everyone please look",
    "see #12, GH-12 and acme/policies#12",
    "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
    "<img src=x onerror=alert(1)> <!-- bylaw:summary -->",
    "[click](javascript:alert(1)) ![x](http://evil.example/x.png)",
    "http://evil.example and www.evil.example and eve@evil.example",
    "**bold** _it_ ~~no~~ `code` $x$ :tada: # title",
    "first\n\n# title\n- item\n> quote\n```suggestion\nx\n```",
    "| a | b |",
    "a\x00b\u202ec\u200bd",
    "```\n@acme/everyone\n```",
    "&lt;b&gt; &#64;acme",
    "1. one",
    "---",
]
MENTION = re.compile(r"(?<![\w`])@[A-Za-z0-9]|#\d|GH-\d|https?://\S|www\.\S|\b[0-9a-f]{7,40}\b", re.IGNORECASE)


def tokens(markdown: str):
    inline = list(MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown))
    return [token.type for token in inline], [child for token in inline for child in token.children or []]


@each("text", HOSTILE)
def test_quiet_text_is_one_plain_paragraph_without_links(text):
    blocks, children = tokens(quiet(text))
    assert blocks in (["paragraph_open", "inline", "paragraph_close"], [])
    assert {child.type for child in children} <= {"text", "text_special"}
    shown = "".join(child.content for child in children)
    assert not MENTION.search(shown)
    visible = shown.replace("\u2060", "")
    assert visible.split() == re.sub(r"[\x00\u202e\u200b]", "\ufffd", text).split()


@given(st.text(max_size=80))
def test_no_text_at_all_gets_out_of_quiet(text):
    blocks, children = tokens(quiet(text))
    assert blocks in (["paragraph_open", "inline", "paragraph_close"], [])
    assert {child.type for child in children} <= {"text", "text_special"}


@given(st.text(alphabet="`a b\n@#", max_size=30))
def test_code_is_one_piece(text):
    _, children = tokens(f"x {code(text)} y")
    assert [child.type for child in children] == ["text", "code_inline", "text"]


@given(st.text(alphabet="`~ \n\ra@", max_size=60))
def test_nothing_closes_a_fence(text):
    blocks, _ = tokens(f"{fenced(text, 'yaml')}\n\nafter")
    assert blocks == ["fence", "paragraph_open", "inline", "paragraph_close"]


def test_what_is_left_out_is_counted():
    parts = [f"part {number}: {'x' * 90}" for number in range(50)]
    short = shortened(parts, "and {count} more", 1_000)
    kept = short.count("part ")
    assert len(short) <= 1_000
    assert short.endswith(f"and {50 - kept} more")
    assert kept > 5


def test_what_fits_is_left_whole():
    assert shortened(["a", "b"], "and {count} more") == "a\n\nb"
    assert LONGEST_BODY == 65_536
