"""Text of strangers inside Markdown: shown as it was written, it does nothing.

It makes no link, pings nobody, and is no HTML. Whatever a report says in Markdown goes through here.
"""

from __future__ import annotations

import re

from ci.report.visible import visible

# GitHub looks for mentions and numbers of issues in what Markdown has become, where a reference is a letter again:
# behind these letters stands a space without width.
_CALLS = "@#"
# What Markdown would act on is written as a character reference.
_ACTIVE = {ord(char): f"&#{ord(char)};{'&#8203;' if char in _CALLS else ''}" for char in r"\`*_{}[]()<>!|~&:.$@#"}
_NUMBERED = re.compile(r"gh-(?=\d)", re.IGNORECASE)  # GH-12 is the number of an issue too


def inert(text: str) -> str:
    """*text* on one line; what stands between two backticks is code, every other letter only itself."""
    shown = visible(text)
    parts = shown.split("`") if text.count("`") % 2 == 0 else [shown]
    # Two code spans side by side would be read as one: something stands between them.
    return "".join(_span(part or " ") if i % 2 else literal(part) or "&#8203;" for i, part in enumerate(parts))


def code(text: str) -> str:
    """*text* as a code span, on one line, which nothing in it can end."""
    return _span(visible(text) or " ")


def _span(shown: str) -> str:
    longest = max((len(run) for run in re.findall("`+", shown)), default=0) if "`" in shown else 0
    fence = "`" * (longest + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}"


def shortened(text: str, most: int) -> str:
    """*text*, its end left out beyond *most* characters, and how much that was."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"


def literal(text: str) -> str:
    """*text*, every letter only itself, in Markdown and in HTML. Give it one visible line."""
    return _NUMBERED.sub(r"\g<0>&#8203;", text.translate(_ACTIVE))
