"""Which letters names are written with: those that people can see and tell apart from what they stand for."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

from bylaw.errors import GateDenied

TEXTS = frozenset({
    TokenType.STRING, TokenType.NATIONAL_STRING, TokenType.RAW_STRING, TokenType.HEREDOC_STRING, TokenType.HEX_STRING,
    TokenType.BIT_STRING, TokenType.BYTE_STRING, TokenType.UNICODE_STRING,
})  # fmt: skip
_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd", "Nl", "Pc"})


def check_letters(tokens: Sequence[Token]) -> None:
    """Raise GateDenied for a name with a letter that is not seen, or that compatibility makes another one.

    Databases differ in which of those they skip, fold or take for a space: none of them is asked.
    """
    for token in tokens:
        if token.token_type in TEXTS or token.text.isascii():
            continue
        for letter in token.text:
            if not letter.isascii() and unicodedata.category(letter) not in _CATEGORIES:
                shown = unicodedata.name(letter, f"U+{ord(letter):04X}").lower()
                raise GateDenied("letters", f"a name holds a letter that nobody sees ({shown})", token.start)
        if unicodedata.normalize("NFKC", token.text) != token.text:
            plain = unicodedata.normalize("NFKC", token.text)
            raise GateDenied("letters", f"a name is written in letters that stand for others: `{plain}`", token.start)
