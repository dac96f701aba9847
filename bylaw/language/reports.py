"""Questions that want a figure of what has been: of a time that has begun, a count, a change, the highest of many.

And their opposite: those that want what holds in a case, or that tell of one.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from bylaw.language import dates

_OPENS = (
    r"\W*(?:how (?:many|much)|by how|what|which|number of|total|average|highest|lowest|largest|biggest|smallest|show"
    r"|list)\b"
)
_WHO = r"\W*(?:who|whom|whose)\b"
_OF_ONES_OWN = (
    r"\b(?:i|my|mine|me|(?<!in )(?<!of )(?<!since )(?-i:may)|must|can|could|should|allowed|entitled|eligible|supposed"
    r"|if|when|policy|policies|rules?"
    r"|(?:have|has|had|needs?|needed) to)\b"
)
_HIGHEST = r"\b(?:(?:the|has|have|had|got|with) (?:most|least|fewest)|the (?:highest|lowest))\b|\bmost\W*$"
_PAST = r"(?:did|was|were|have|has|had)\b"
_QUANTITY = (
    r"(?:how (?:many|much|often|far|high|low|large|big|long|fast|\w+ly)"
    r"|(?:what|which) (?:share|percentage|percent|proportion|part|fraction|amount|number|sum|total|volume))\b"
)
_WENT = "left|came|went|bought|paid|sold|returned|joined|chose|broke|sent|got"  # done without "did"
_NOT_PAST = "can|may|must|should|will|would|could|be|been|is|are|was|were|do|does|did|to|have|has|not|when|if|that|who"
_LEAVE_ED = "(?:allowed|needed|required|permitted|failed|unused|need|accepted|covered|included)"
# "how much was refunded", but not "how much does a customer get whose order was late"
_COUNTED = (
    rf"\W*(?:by |to |at |in |for )?{_QUANTITY}(?:\W+(?!(?:do|does|is|are|will|would|be)\b)\w+){{0,5}}?\W+{_PAST}"
    r"|\W*(?:what|which) (?:share|percentage|percent|proportion|fraction) of\b"
    rf"|\W*how many(?: (?!(?:{_NOT_PAST})\b)[\w-]+){{1,3}}? (?:{_WENT}|(?!{_LEAVE_ED}\b)\w{{3,}}ed)\b"
    r"|\W*(?:the )?(?:top|bottom) (?:\d+|three|five|ten)\b"
    r"|(?=\W*(?:what|which|when|show|list|the|our|best|worst)\b).*\b(?:best|worst|busiest|quietest|strongest|weakest"
    r"|slowest) (?:day|weekday|week|month|quarter|year|season)\b"
)
_COUNTS = r"(?:number|share|total|sum|amount|rate|percentage|count|average|median|ratio|most|highest|lowest)"
_CHANGE = (
    r"(?:change|grow|rise|increase|decrease|fall|drop|decline|shrink|develop|evolve|improve|go(?:ne)? (?:up|down))"
    r"(?:d|ed|n|en)?\b|\b(?:grown|risen|shrunk|dropped)\b"
)
_CHANGED = (
    rf"\W*(?:how\b(?:\W+\w+)?\W+|why\W+)?{_PAST}.*\b(?:{_CHANGE})"
    r"|\W*why\W+(?:is|are|was|were|have|has|had)\b.*\b(?:up|down|higher|lower|rising|falling|growing|dropping)\b"
    r"|\W*(?:is|are)\b.*\b(?:changing|growing|rising|increasing|decreasing|falling|dropping|declining|shrinking)\b"
    rf"|\W*{_PAST}.*\b(?:more|fewer|less|higher|lower)\b.*\bthan\b"
    r"|\W*(?:is|are|do|does)\b.*\b(?:more|fewer|less|higher|lower)\b.*\bthan (?:in |the )?(?:last|previous)\b"
    r"|\W*(?:do|does)\b(?!.*\b(?:get|pay|have to|need|wait)\b).*\b(?:more|fewer|less)\b.*\bthan\b"
    r"|.*\btrends?\b"
)
_WE = r"(?:i|we|you|one|they)"
_SINGULAR = r"(?:customer|client|caller|buyer|user|member|order|parcel|payment|account|item)"  # also without an article
_ONE = (
    rf"(?:(?:an?|the|this|that|my|our|his|her|their|one|another|some) (?!{_COUNTS}\b)(?:[\w-]+ ){{0,2}}?[\w-]*[^\Ws]"
    rf"|he|she|it|some(?:one|body)|{_SINGULAR})"
)
_ASKS_FOR_A_RULE = (
    rf"\bwhat happens (?:if|when|to)\b|\bwhat (?:do|should|must|can|shall) {_WE} (?:do\b|owe|offer|give|tell|say)\b"
    r"|\bhow long (?:is|are)\b"
    rf"|\bhow (?:do|should|must|can|shall) {_WE} (?:handle|treat|deal with|respond|react)\b"
    r"|\bhow (?:long|many (?:\w+ )?(?:hours|days|weeks|months|years)) (?:do|does)(?: [\w-]+){1,4}?"
    r" (?:have(?: (?:to|for|until)\b|\W*$)|get\b)"
    r"|\bhow (?:many|much|long|often|late|soon|early|old|young|heavy|big|large|high|far|fast)"
    r"(?: (?!in\b|of\b|since\b)[\w-]+){0,3}"
    r" (?:(?-i:may)|must|should|can (?:i|an?|one|be)) "
    r"|\bwhich (?:[\w-]+ ){1,3}?(?:(?:(?-i:may)|must|can) (?:not )?be|(?:need|require) (?:an?|the))\b"
    r"|\bhow \w+ (?:is|are) too \w+\b"
    r"|^\W*(?:is|are) (?:[\w-]+ ){1,4}?(?:required|needed|necessary|mandatory)\b"
    rf"|\bwhat if (?:they|nobody|no one|{_ONE}) |\bwhat (?:counts|qualifies) as\b"
)
_OF_A_REPORT = (
    r"(?:by|per|in|for|on|at|and|or|not|only|this|last|since|from|with|without|excluding|net|gross|please|top"
    r"|did|do|does|is|are|was|were|have|has)"
)
_ASKS_AT_ITS_END = (  # "…, hold it?"
    rf"(?!{_OPENS}|\W*(?:top|compare|give|tell)\b)(?s:.*)[,;:]\W+(?!{_OF_A_REPORT}\b)[^\W\d]+(?:\W[^\W\d]+){{0,2}}\?\W*$"
)
_ON_AVERAGE = r"\b(?:average|typically|usually|normally|median|per)\b"
_IS = (
    r"(?:(?:is|was|has)(?:n't)?|had|(?:ca|wo|do|does|did|could)n't|cannot|can|will|did|lives?|wants?|needs?|asks?|says?|said|refuses?|claims?|weighs?|\w{3,}ed"
    r"|bought|brought|broke|fell|gave|got|kept|left|lost|made|paid|sent|sold|took|told)"
)
# "is the order held?", "do we lend a device?", "customer has 4 failed logins"
_OF_ONE = (
    rf"\W*(?:(?:and|so|ok|hi|hello|hey|now)\W+)?(?:(?:is|isn't|does|doesn't|will|won't|has|hasn't|must|should) {_ONE}"
    rf"|[\w-]*[^\Ws] (?:is|was|has|does|wo|ca)n't"
    rf"|(?:do|will|must|should) {_WE} (?!have\b|sell|make|earn|own\b|employ|get\b|still|ever)\w+|{_ONE} {_IS}"
    r"|(?:wants|needs|asks|says|claims|refuses|insists|complains))\b"  # of whoever is on the line
)
# "plan paused, does billing stop?": what is told of one, and what is asked of it
_TOLD_AND_ASKED = (
    rf"\W*(?!(?:in|on|at|for|by|of|during|since|over|between|within|compared|this|last|next|per)\b)"
    rf"[^,.;?]{{0,80}}\b(?:{_IS})\b[^,.;?]{{0,80}},\s*(?:(?:so|and|then|but)\s+)?"
    r"(?:do|does|is|are|can|may|must|should|will|shall)\b[^,;]{1,80}\?*\s*$"
)
_OF_THIS = r"\W*(?:th(?:is|at) (?!year|quarter|month|week|day)|he|she|my)\b"
_ANY_DAY = date(2100, 6, 15)  # whether a span has begun when it is spoken of hardly hangs on the day


def _find(pattern: str, text: str) -> re.Match[str] | None:
    """Where *pattern* stands in *text*. `re` keeps what it compiled; most texts need few of the patterns."""
    return re.search(pattern, text, re.IGNORECASE)


def _begin(pattern: str, text: str) -> re.Match[str] | None:
    return re.match(pattern, text, re.IGNORECASE)


@lru_cache(maxsize=64)
def is_report(text: str) -> bool:
    """Does *text* ask for a figure as a report has it? Never about a case of one's own, or what is allowed."""
    if _find(_OF_ONES_OWN, text):
        return False
    if _begin(_COUNTED, text) or _begin(_CHANGED, text):
        return True
    if _find(_HIGHEST, text) and (_begin(_OPENS, text) or _begin(_WHO, text)):
        return True
    if _begin(_OPENS, text) is None:
        return False
    return any(span.start is not None and span.start <= _ANY_DAY for span in dates.find(text, _ANY_DAY))


@lru_cache(maxsize=64)
def is_of_one(text: str) -> bool:
    """Is *text* about a single one: a question whether it is or gets something, or what is told of it?

    Never about what is counted, or, unless it is pointed to, about more days than one.
    """
    is_told = _begin(_TOLD_AND_ASKED, text) is not None
    if (not is_told and _begin(_OF_ONE, text) is None) or counts(text):
        return False
    if is_told or _begin(_OF_THIS, text):
        return True
    spans = (span for span in dates.find(text, _ANY_DAY) if span.start is not None and span.end is not None)
    return all((span.end - span.start).days == 1 for span in spans if span.start and span.end)


_PRICE = r"\W*how (?:much|long) (?:is|are|do|does)\b(?!.*\b(?:by|per|each|every)\b)"


def asks_a_price(text: str) -> bool:
    """Does *text* ask how much something is or costs, or how long it is, of no group?"""
    return _begin(_PRICE, text) is not None


def counts(text: str) -> bool:
    """Does *text* want a figure, of a past time or as it usually is?"""
    return _find(_ON_AVERAGE, text) is not None or is_report(text)


@lru_cache(maxsize=64)
def asks_for_a_rule(text: str) -> bool:
    """Does *text* ask what holds in a case: what happens, what to do, or how long somebody has?"""
    asks = _find(_ASKS_FOR_A_RULE, text) is not None or _begin(_ASKS_AT_ITS_END, text) is not None
    return asks and not counts(text)
