"""Questions that want a figure of what has been: of a time that has begun, a count, a change, the highest of many.

And their opposite: those that want what holds in a case.
"""

from __future__ import annotations

import re
from datetime import date

from bylaw.language import dates

_OPENS = re.compile(
    r"\W*(?:how (?:many|much)|by how|what|which|number of|total|average|highest|lowest|largest|biggest|smallest|show"
    r"|list)\b",
    re.IGNORECASE,
)
_WHO = re.compile(r"\W*(?:who|whom|whose)\b", re.IGNORECASE)
_OF_ONES_OWN = re.compile(
    r"\b(?:i|my|mine|me|(?<!in )(?<!of )(?<!since )(?-i:may)|must|can|could|should|allowed|entitled|eligible|supposed"
    r"|if|when|policy|policies|rules?"
    r"|(?:have|has|had|needs?|needed) to)\b",
    re.IGNORECASE,
)
_HIGHEST = re.compile(r"\b(?:the most|the least|the highest|the lowest|the fewest)\b", re.IGNORECASE)
_PAST = r"(?:did|was|were|have|has|had)\b"
_QUANTITY = (
    r"(?:how (?:many|much|often|far|high|low|large|big|long|fast|\w+ly)"
    r"|(?:what|which) (?:share|percentage|percent|proportion|part|fraction|amount|number|sum|total|volume))\b"
)
# "how much was refunded", but not "how much does a customer get whose order was late"
_COUNTED = re.compile(
    rf"\W*(?:by |to |at |in |for )?{_QUANTITY}(?:\W+(?!(?:do|does|is|are|will|would|be)\b)\w+){{0,5}}?\W+{_PAST}",
    re.IGNORECASE,
)
_CHANGE = (
    r"(?:change|grow|rise|increase|decrease|fall|drop|decline|shrink|develop|evolve|improve|go(?:ne)? (?:up|down))"
    r"(?:d|ed|n|en)?\b|\b(?:grown|risen|shrunk|dropped)\b"
)
_CHANGED = re.compile(
    rf"\W*(?:how\b(?:\W+\w+)?\W+|why\W+)?{_PAST}.*\b(?:{_CHANGE})"
    r"|\W*why\W+(?:is|are|was|were|have|has|had)\b.*\b(?:up|down|higher|lower|rising|falling|growing|dropping)\b"
    r"|\W*what\W+(?:caused|led to|drove|drives)\b"
    r"|\W*(?:is|are)\b.*\b(?:changing|growing|rising|increasing|decreasing|falling|dropping|declining|shrinking)\b"
    r"|.*\btrends?\b",
    re.IGNORECASE,
)
_ASKS_FOR_A_RULE = re.compile(
    r"\bwhat happens (?:if|when|to|with|after|once)\b|\bwhat (?:happens|now)\W*$"
    r"|\bwhat (?:do|should|must|can|shall) (?:i|we|you|one|they) do (?:if|when|with|about|after|once)\b"
    r"|\bhow (?:long|many (?:\w+ )?(?:hours|days|weeks|months|years)) (?:do|does)(?: [\w-]+){1,4}?"
    r" (?:have (?:to|for|until)|get)\b",
    re.IGNORECASE,
)
_ON_AVERAGE = re.compile(r"\b(?:average|typically|usually|normally|median|per)\b", re.IGNORECASE)
_ANY_DAY = date(2100, 6, 15)  # whether a span has begun when it is spoken of hardly hangs on the day


def is_report(text: str) -> bool:
    """Does *text* ask for a figure as a report has it? Never about a case of one's own, or what is allowed."""
    if _OF_ONES_OWN.search(text):
        return False
    if _COUNTED.match(text) or _CHANGED.match(text):
        return True
    if _HIGHEST.search(text) and (_OPENS.match(text) or _WHO.match(text)):
        return True
    if _OPENS.match(text) is None:
        return False
    return any(span.start is not None and span.start <= _ANY_DAY for span in dates.find(text, _ANY_DAY))


def asks_for_a_rule(text: str) -> bool:
    """Does *text* ask what holds in a case: what happens, what to do, or how long somebody has?"""
    return _ASKS_FOR_A_RULE.search(text) is not None and not (_ON_AVERAGE.search(text) or is_report(text))
