"""What a repository says, shown so that a terminal acts on none of it."""

from __future__ import annotations

import re

# What would move the cursor, or turn the reading direction, is shown as its code point.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str, tab: str = "\\t") -> str:
    """*text* on one line, with nothing in it that a terminal would act on."""
    return tab.join(part.translate(_SHOWN) for part in text.split("\t"))


def visible_lines(text: str) -> str:
    """*text*, line by line as `visible` shows it."""
    return "\n".join(map(visible, text.split("\n")))


class _Shown(dict[int, str]):
    """How each letter is written, looked up once: reports of thousands of long findings are made of it."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        shown = _code(char) if _UNSEEN.match(char) else char
        self[code] = shown
        return shown


def _code(char: str) -> str:
    return {"\n": "\\n", "\r": "\\r"}.get(char, f"\\u{ord(char):04x}")


_SHOWN = _Shown()
