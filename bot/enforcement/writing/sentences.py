"""A text as sentences, whole or while it is written."""

from __future__ import annotations

import re

# INVARIANT: no two alternatives match at one place, so the scan is linear. A point inside a number ends nothing.
_END = re.compile(r"[.!?]+[\"”’')\]]*(?=\s|$)|\n+|;(?=\s|$)")


def split(text: str) -> list[str]:
    """The sentences of *text*, each with its end mark; a line is a sentence too."""
    found, start = [], 0
    for match in _END.finditer(text):
        found.append(text[start : match.end()])
        start = match.end()
    found.append(text[start:])
    return [part.strip() for part in found if part.strip()]


class Splitter:
    """A text that comes in pieces, as the sentences that `split` makes of the whole."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> list[str]:
        """The sentences that are whole now. A mark at the very end may go on: it waits for what follows."""
        self._held += piece
        end = max((match.end() for match in _END.finditer(self._held) if match.end() < len(self._held)), default=0)
        whole, self._held = self._held[:end], self._held[end:]
        return split(whole)

    def rest(self) -> list[str]:
        """What is left when nothing follows any more."""
        whole, self._held = self._held, ""
        return split(whole)
