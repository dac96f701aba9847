"""Questions that want a figure: of a time that has begun ("how many … last month"), or the highest of many."""

from __future__ import annotations

import re
from datetime import date

from bylaw.language import dates

_OPENS = re.compile(r"\W*(?:how (?:many|much)|what|which|number of|total|show|list)\b", re.IGNORECASE)
_OF_ONES_OWN = re.compile(r"\b(?:i|my|mine|me|may|must|can|could|should|allowed|if|when)\b", re.IGNORECASE)
_HIGHEST = re.compile(r"\b(?:the most|the least|the highest|the lowest|the fewest)\b", re.IGNORECASE)
_ANY_DAY = date(2100, 6, 15)  # whether a span has begun when it is spoken of hardly hangs on the day


def is_report(text: str) -> bool:
    """Does *text* ask for a figure as a report has it? Never about a case of one's own, or what is allowed."""
    if _OPENS.match(text) is None or _OF_ONES_OWN.search(text):
        return False
    if _HIGHEST.search(text):
        return True
    return any(span.start is not None and span.start <= _ANY_DAY for span in dates.find(text, _ANY_DAY))
