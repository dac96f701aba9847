"""What is known beside the claims of an answer: what the person said and asked, and what the rules say themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from bylaw.hold.bearing import is_empty
from bylaw.hold.text import see
from bylaw.language.lexicon import closed, stem
from bylaw.language.text import Token

_ARTICLES = frozenset(("a", "an", "the"))
_STATING = frozenset(("now", "given", "seeing"))  # before "that" they say that it is so
_REASONING = frozenset(("because", "since", "as", "for"))
_BEFORE_THAT = _STATING | {"so"}


@dataclass(frozen=True)
class Quoted:
    """What rules say: the pairs of words of content that follow each other, and their reasons, whole."""

    pairs: frozenset[tuple[str, str]] = frozenset()
    reasons: frozenset[tuple[str, ...]] = frozenset()

    @property
    def words(self) -> frozenset[str]:
        """The stems of the words of content."""
        return frozenset(word for pair in self.pairs for word in pair)

    def __or__(self, other: Quoted) -> Quoted:
        return Quoted(self.pairs | other.pairs, self.reasons | other.reasons)


@dataclass(frozen=True)
class Background:
    """What is known beside the claims of an answer.

    `said` are stems of what the person said, `told` the values of the facts, `asked` the names that the question is
    about and `named` those that its own words name, `ruled` by action what the rules say that give it; `permitted` are
    actions that a rule permits. `is_turned` says whether the question itself denies ("can't I …?").
    """

    said: frozenset[str] = frozenset()
    told: Mapping[str, str] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    is_turned: bool = False
    ruled: Mapping[str, Quoted] = field(default_factory=dict)
    permitted: frozenset[str] = frozenset()


@lru_cache(maxsize=4096)
def quote_rule(text: str) -> Quoted:
    """What the text of one rule says."""
    seen = see(text)
    sentences = [seen.words(passage.start, passage.end) for passage in seen.text.passages]
    told = ([stem(token.word) for token in words if is_telling(token)] for words in sentences)
    return Quoted(
        frozenset(pair for words in told for pair in pairwise(words)),
        frozenset(spell_reason(reason) for words in sentences for reason in find_reasons(words)),
    )


def is_telling(token: Token) -> bool:
    """Does the word say more than how others are joined?"""
    return not is_empty(token.word) and token.word not in closed("function")


def find_reasons(words: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The reasons that a sentence gives, each up to the next pause; the first word leads to it."""
    said = [token.word for token in words]
    for k, token in enumerate(words):
        is_measure = token.word == "as" and "as" in (
            *said[max(0, k - 2) : max(0, k - 1)],
            *said[k + 2 : k + 3],
        )  # "as long as"
        is_led = token.word in _BEFORE_THAT and said[k + 1 : k + 2] == ["that"]
        if is_led or (token.word in _REASONING and not is_measure):
            end = next((i for i in range(k, len(words)) if words[i].clause != token.clause), len(words))
            yield words[k:end]


def is_cause(reason: Sequence[Token]) -> bool:
    """Does it say that something is so ("since you have a ticket"), rather than for what, as what or since when?"""
    following = reason[1].word if len(reason) > 1 else ""
    is_clause = following in closed("determining") | closed("personal") | closed("pointing")
    is_led = reason[0].word == "because" or (following == "that" and reason[0].word in _STATING)
    return is_led or (reason[0].word in ("since", "as") and is_clause)


def spell_reason(reason: Sequence[Token]) -> tuple[str, ...]:
    """The stems of a reason but for the word that leads to it and for articles: nothing else of it may be changed."""
    said = [token.word for token in reason[1:] if token.word not in _ARTICLES]
    return tuple(map(stem, said[1:] if reason[0].word in _BEFORE_THAT else said))
