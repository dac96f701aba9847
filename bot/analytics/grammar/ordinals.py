"""Rules for a place from the top or the bottom: "the second highest", "3rd largest"."""

from __future__ import annotations

from collections.abc import Mapping

from bot.analytics.grammar import wording
from bot.analytics.grammar.scan import Scan
from bot.analytics.grammar.superlatives import SUPERLATIVES
from bylaw.semantic.query import PLACES

_WORDS: Mapping[str, int] = {word: place for place, word in enumerate(PLACES, 1) if place > 1}
_ENDINGS = frozenset(("nd", "rd", "th"))


def read_ordinal(scan: Scan) -> bool:
    """An ordinal before the word that ranks; of several rows with the same number all have its place."""
    place, length = _WORDS.get(scan.word()), 1
    if scan.here().kind == "number" and scan.word(1) in _ENDINGS and scan.here().end == scan.tokens[scan.at + 1].start:
        number = scan.here().number
        place, length = number if isinstance(number, int) and 1 < number <= len(PLACES) else None, 2
    behind = scan.at + length
    is_ranking = scan.at_word(behind) in wording.RANKING or scan.phrase(SUPERLATIVES, behind) is not None
    is_ranking |= scan.phrase(dict.fromkeys(wording.FREQUENT, True), behind) is not None
    if place is None or not is_ranking or scan.said.place is not None:
        return False
    scan.said.place = place
    scan.say(scan.at, behind, "order", PLACES[place - 1])
    scan.at = behind
    return True
