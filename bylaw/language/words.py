"""A text as normalised words: one spelling for case, plurals, contractions and forms of be, have and do.

Both sides of a comparison (what people write, and the phrases of a vocabulary) go through `read_words`, so the
normal form only has to be the same for the same word, not pretty.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from bylaw.language.lexicon import closed, lexicon

DETERMINERS = closed("determining")
PRONOUNS = closed("personal")
CONJUNCTIONS = closed("conjunction")
PREPOSITIONS = closed("preposition")
AUXILIARIES = closed("auxiliary")
FUNCTION_WORDS = DETERMINERS | PRONOUNS | CONJUNCTIONS | PREPOSITIONS | AUXILIARIES | closed("adverbial")

_FORMS = lexicon().auxiliaries
_UNMARKED = lexicon().unmarked
_NEGATED = {"ca": "can", "wo": "will", "sha": "shall"}
_SUBJECTS = closed("subject_of_is")
_SINGULAR_AS_IT_IS = closed("singular_in_s")

_IN_US = ("tuses", "nuses", "ruses", "puses")  # statuses, bonuses, viruses, campuses

# INVARIANT: alternatives start with different characters (but for "w/", which is short) and no part can match in two
# ways, so the scan is linear.
_TOKEN = re.compile(
    r"\d[\d.,]*\d|\d|[wW]/(?:[oO](?:ut)?(?![^\W\d_]))?|[^\W\d_]+(?:['’][^\W\d_]+)*|[.;!?]|[,:()\u2013\u2014]"
)
_SENTENCE_END = frozenset(".;!?")


@dataclass(frozen=True, slots=True)
class Word:
    """One word in its normal form. `clause` and `sentence` count up through the text."""

    text: str
    start: int
    end: int
    clause: int
    sentence: int

    @property
    def is_number(self) -> bool:
        """Is it written in digits?"""
        return self.text[0].isdigit()


@lru_cache(maxsize=256)
def read_words(text: str) -> tuple[Word, ...]:
    """Every word of *text*, in order. A contraction gives several words at one place; line ends are white space.

    The last few are kept: one question is read for its kind, its facts, its topic and its answer.
    """
    words: list[Word] = []
    clause = sentence = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in _SENTENCE_END:
            clause, sentence = clause + 1, sentence + 1
        elif token in ",:()–—":
            clause += 1
        else:
            words += [Word(form, match.start(), match.end(), clause, sentence) for form in normal_forms(token)]
    return tuple(words)


@lru_cache(maxsize=4096)
def normal_forms(token: str) -> tuple[str, ...]:
    """The normal form of one token; more than one for a contraction, none for a lone possessive."""
    word = token.casefold().replace("’", "'")
    if word in _UNMARKED:
        return tuple(_UNMARKED[word].split())
    if "'" in word:
        return _expanded(word)
    return (_FORMS.get(word) or singular(word),)


def _expanded(word: str) -> tuple[str, ...]:
    head, _, tail = word.rpartition("'")
    if tail == "t" and head.endswith("n"):
        verb = _NEGATED.get(head[:-1], head[:-1])
        return _FORMS.get(verb, verb), "not"
    head = head.replace("'", "")
    known = {"ve": "have", "re": "be", "m": "be", "ll": "will", "d": "would"}
    if tail in known:
        return _FORMS.get(head, head), known[tail]
    if tail == "s":
        return (head, "be") if head in _SUBJECTS else (_FORMS.get(head) or singular(head),)
    return (head + tail,)


def singular(word: str) -> str:
    """The word without its plural ending, as far as spelling alone tells."""
    if len(word) < 3 or not word.endswith("s") or word in _SINGULAR_AS_IT_IS or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith(_IN_US):
        return word[:-2]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    return word[:-1]
