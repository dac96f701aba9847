"""A text as normalised words: one spelling for case, plurals, contractions and forms of be, have and do.

Both sides of a comparison (what people write, and the phrases of a vocabulary) go through `read_words`, so the
normal form only has to be the same for the same word, not pretty.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from bylaw.language.lexicon import closed, lexicon
from bylaw.language.text import tokens

DETERMINERS = closed("determining")
PRONOUNS = closed("personal")
CONJUNCTIONS = closed("conjunction")
PREPOSITIONS = closed("preposition")
AUXILIARIES = closed("auxiliary")
_CLOSED = DETERMINERS | PRONOUNS | CONJUNCTIONS | PREPOSITIONS | AUXILIARIES
FUNCTION_WORDS = _CLOSED | closed("adverbial") | closed("subordinating")

_FORMS = lexicon().auxiliaries
_SUBJECTS = closed("subject_of_is")
_SINGULAR_AS_IT_IS = closed("singular_in_s")

_IN_US = ("tuses", "nuses", "ruses", "puses")  # statuses, bonuses, viruses, campuses

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
    sentence = 0
    for token in tokens(text):
        sentence += token.word in _SENTENCE_END
        if token.word[0].isalnum():
            forms = normal_forms(token.word)
            words += [Word(form, token.start, token.end, token.clause, sentence) for form in forms]
    return tuple(words)


@lru_cache(maxsize=4096)
def normal_forms(token: str) -> tuple[str, ...]:
    """The normal form of one token; more than one for a contraction."""
    return tuple(_FORMS.get(word) or singular(word) for word in spoken(token.casefold().replace("’", "'")))


def spoken(word: str) -> tuple[str, ...]:
    """The words that a contraction stands for, typed with its stroke or without; any other word as it is."""
    lex = lexicon()
    if word in lex.shortened:
        return tuple(lex.shortened[word].split())
    for ending, full in lex.contracted.items() if "'" in word else ():
        base = word.removesuffix(ending)
        if base != word and (ending != "'s" or base in _SUBJECTS):
            return base, full
    return (word.removesuffix("'s").replace("'", ""),)


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
