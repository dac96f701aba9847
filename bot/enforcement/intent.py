"""What somebody wants to know: what holds in a case, or what the rules are."""

from __future__ import annotations

import re

from bylaw.language.reports import is_report
from bylaw.language.words import read_words

_TELL = "(?:what|which|explain|describe|summari[sz]e|outline|list|show|tell|give|quote|read)"
_RULES = "(?:policy|rule|condition|requirement|term|criterion|criteria|guideline|window|deadline)"
_GENERAL = "|".join(
    (
        rf" {_TELL} (?:\w+ ){{0,5}}?{_RULES} ",
        rf"^ (?:\w+ ){{1,3}}{_RULES} $",
        r" (?:under|in|on) (?:what|which) (?:condition|circumstance|case|situation|term) ",
        r"^ how do (?:\w+ ){1,4}?work $",
        r"^ when (?:do|can|may|be|must|should|would) ",
        r"^ (?:until|by) when ",
        r"^ how (?:long|late|soon|many (?:day|week|month)) (?:can|may|must|do (?:\w+ ){1,3}have) ",
        r"^ (?:who |(?:what|which) (?:\w+ ){1,2}?)(?:get(?! \w+ed )|receive|qualify|may|must|have to"
        r"|be (?:not )?(?:eligible|entitled|allowed|accepted|refused|rejected|covered|excluded|forbidden)) ",
        r"^ who can ",
        r"^ be (?:\w+ ){1,4}?(?:required|needed|necessary|mandatory) ",
        r"^ (?:what )?do (?:\w+ ){1,3}?need ",
    )
)
# What already happened, and what there is most of, are questions to the data.
_PAST_OR_MOST = re.compile(r"\b(?:did|was|were|had|most|least|highest|lowest|top|average|total)\b", re.IGNORECASE)


def is_general(text: str) -> bool:
    """Does *text* ask what the rules are, and not what holds in a case: "when do we give store credit?"?"""
    said = f" {' '.join(word.text for word in read_words(text))} "
    return re.search(_GENERAL, said) is not None and not _PAST_OR_MOST.search(text) and not is_report(text)
