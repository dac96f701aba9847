"""Pieces of hand-written logic: how a text is cut into tokens, within limits, and what is raised when it is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_CHARACTERS = 64_000
MAX_TOKENS = 5_000
MAX_DEPTH = 200  # of brackets, and of the formula that comes out
MAX_DEGREE = 4  # of a product of facts: from six on, real arithmetic runs past its step limit for seconds
MAX_PARTS = 20_000  # of the formula that comes out


class InvalidExpression(ValueError):
    """A text that is no expression over the declared facts. `column` counts characters of the text from 1."""

    def __init__(self, message: str, column: int, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.column = column
        self.help = help


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text, its kind, and where it starts (from 1)."""

    kind: str
    text: str
    column: int


def tokens(text: str, pattern: re.Pattern[str]) -> Iterator[Token]:
    """The tokens of *text* without its spaces. Raises InvalidExpression for a character that begins none."""
    if len(text) > MAX_CHARACTERS:
        raise InvalidExpression(f"an expression of more than {MAX_CHARACTERS} characters is not accepted", 1)
    position = count = 0
    while position < len(text):
        match = pattern.match(text, position)
        if match is None or match.lastgroup is None:
            raise InvalidExpression(f"{_shown(text[position])} is not part of an expression", position + 1)
        if match.lastgroup != "space":
            count += 1
            if count > MAX_TOKENS:
                raise InvalidExpression(f"an expression of more than {MAX_TOKENS} tokens is not accepted", position + 1)
            for offset, character in enumerate(match.group()):
                if not character.isprintable():
                    raise InvalidExpression(f"{_shown(character)} is not accepted", position + offset + 1)
            yield Token(match.lastgroup, match.group(), position + 1)
        position = match.end()


def _shown(character: str) -> str:
    return f"`{character}`" if character.isprintable() else f"the character U+{ord(character):04X}"
