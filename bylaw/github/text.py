"""Text of strangers inside GitHub's Markdown: it is shown as it was written, pings nobody, and ends where it should."""

from __future__ import annotations

import re

LONGEST_BODY = 65_536  # what GitHub takes in a comment, a review or a pull request

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&$:=^])")
# What GitHub turns into a link or a ping without any markup: @name, #12, GH-12, owner/name#12, a SHA, an address.
_BREAK = "\u2060"  # a joiner of no width: nothing is seen of it, and nothing around it is recognised
_LINKED = re.compile(r"(?<=@)(?=\w)|(?<=#)(?=\d)|(?<=[Gg][Hh]-)(?=\d)|(?<=:)(?=//)|(?<=\b[Ww]{3})(?=\.)")
_SHA = re.compile(r"[0-9a-fA-F]{7,}")


def quiet(text: str) -> str:
    """*text* on one line, every letter shown as it is: no markup, no HTML, no mention, no link."""
    plain = _CONTROL.sub("\ufffd", " ".join(text.split()))
    # Escaping first would put backslashes between `#` and its number; GitHub looks at what is shown.
    unlinked = _SHA.sub(lambda found: _BREAK.join(re.findall(".{1,6}", found[0])), _LINKED.sub(_BREAK, plain))
    return _MARKUP.sub(r"\\\1", unlinked)


def code(text: str) -> str:
    """*text* on one line as code, in which nothing is recognised."""
    plain = _CONTROL.sub("\ufffd", " ".join(text.split())) or " "
    ticks = "`" * (_longest_run(plain) + 1)
    gap = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{ticks}{gap}{plain}{gap}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """*text* as a block of code, in a fence that nothing inside it can close."""
    body = _CONTROL.sub("\ufffd", text.replace("\r\n", "\n")).rstrip("\n")
    fence = "`" * max(3, _longest_run(body) + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def shortened(parts: list[str], rest: str, longest: int = LONGEST_BODY) -> str:
    """As many *parts* as fit, a blank line between them; then *rest* with `{count}` for how many are left out."""
    whole = "\n\n".join(parts)
    if len(whole) <= longest:
        return whole
    room = longest - len(rest) - 12  # the count, and the blank line before it
    kept: list[str] = []
    for part in parts:
        room -= len(part) + 2
        if room < 0:
            break
        kept.append(part)
    return "\n\n".join([*kept, rest.replace("{count}", str(len(parts) - len(kept)))])
