"""A text as its words, the declared words among them, and what stands around each: clauses, negations, doubt."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from bot.enforcement.question.case.amounts import Test
from bot.enforcement.question.case.mentions import Mention, Phrases, words_of
from bylaw.authored.vocabulary import Fact
from bylaw.language.figures import Figure
from bylaw.language.lexicon import closed, content, lexicon, stem
from bylaw.language.text import Text
from bylaw.language.text import words_of as plain_words
from bylaw.logic.formula.ir import Value

NEAR = 12  # words before a phrase in which it may be doubted
OBLIGING = closed("obliging")
_AUXILIARY = closed("bare_auxiliary")
_GENERAL = content(plain_words("number total many much long how the customer is was date price"))


@dataclass(frozen=True, slots=True)
class Said:
    """One reading of one fact before they are compared. `problem` is why it gives no value, `tests` what it passes."""

    fact: str
    value: Value | None
    start: int
    end: int
    rank: int = 0
    problem: str | None = None
    tests: tuple[Test, ...] = ()


class Statement:
    """A text, its words, and what of the declared *phrases* stands in them."""

    def __init__(self, text: Text, facts: Mapping[str, Fact], phrases: Phrases) -> None:
        self.text, self.facts, self.phrases, self.lexicon = text, facts, phrases, lexicon()
        self.words = words_of(text)
        self.starts = [word.start for word in self.words]
        self.mentions = phrases.find(self.words)
        self.taken = {i for one in self.mentions for i in one.used}

    def is_together(self, one: int, other: int) -> bool:
        """Do two words stand in one clause?"""
        here, there = self.words[one], self.words[other]
        return (here.clause, here.passage) == (there.clause, there.passage)

    def is_inside(self, k: int, i: int) -> bool:
        return k < len(self.words) and self.is_together(k, i)

    def before(self, i: int) -> Iterator[int]:
        """The places before word *i* in the same statement, backwards."""
        for k in range(i - 1, max(i - 2 * NEAR, 0) - 1, -1):
            if not self.is_together(k, i) or self.words[k].word in self.lexicon["splitting"]:
                return
            yield k

    def negations(self, one: Mention) -> list[int]:
        """The places of the negations that may govern a phrase. One that opens a question denies nothing."""
        found = [k for k in self.before(one.first) if self.words[k].word in self.lexicon["negation"]]
        found = [k for k in found if k not in self.taken]
        if found and self.ends_as_question(one.first) and self.opens_question(found[-1]):
            found = found[:-1]
        return sorted(found)

    def opens_question(self, k: int) -> bool:
        """Is the negation that of a verb that opens its clause ("can't I …?"), not of what is told ("no receipt?")?"""
        if not k or not self.is_together(k - 1, k) or (k > 1 and self.is_together(k - 2, k)):
            return False
        before = self.words[k - 1].word
        return self.is_auxiliary(before) or before in OBLIGING

    def ends_as_question(self, i: int) -> bool:
        passage = self.text.passages[self.words[i].passage - 1]
        return self.text.seen[passage.start : passage.end].rstrip(" )\"'”").endswith("?")

    def is_auxiliary(self, word: str) -> bool:
        return word in self.lexicon.auxiliaries or word in _AUXILIARY

    def is_light(self, first: int, behind: int) -> bool:
        """Is there nothing between two places that carries content?"""
        return not content(word.word for word in self.words[first:behind] if word.word not in self.lexicon["filling"])

    def doubt(self, i: int, is_restricted: bool = True) -> str | None:
        said = [self.words[k].word for k in range(max(i - NEAR, 0), i) if self.is_together(k, i)]
        is_left_over = is_restricted and self.lexicon["restriction"].any_in(said[-2:])
        return "it is not said for sure" if is_left_over or self.lexicon["doubting"].any_in(said) else None

    def places_of(self, figure: Figure) -> list[int]:
        return list(range(bisect_left(self.starts, figure.start), bisect_left(self.starts, figure.end)))

    def extent(self, used: Collection[int], figure: Figure | None = None) -> tuple[int, int]:
        starts = [self.words[i].start for i in used] + ([figure.start] if figure else [])
        ends = [self.words[i].end for i in used] + ([figure.end] if figure else [])
        return min(starts), max(ends)

    def named_near(self, names: Collection[str], used: Sequence[int]) -> set[str]:
        """Those of *names* that the most words of the statement around some places speak of; none where none does."""
        behind = takewhile(lambda i: self.goes_on(used[-1], i), range(used[-1] + 1, len(self.words)))
        near = {stem(self.words[i].word) for i in (*self.before(used[0]), *behind)}
        named = {name: len(near & self.own(name)) for name in names}
        most = max(named.values())
        return {name for name in names if most and named[name] == most}

    def goes_on(self, one: int, other: int) -> bool:
        return self.is_together(one, other) and self.words[other].word not in self.lexicon["splitting"]

    def own(self, name: str) -> frozenset[str]:
        """The stems of what a fact is called."""
        fact = self.facts[name]
        return content(plain_words(f"{name} {fact.label or ''} {fact.ask or ''}")) - _GENERAL

    def called(self, names: Collection[str]) -> str:
        return " or ".join(self.facts[name].label or name.replace("_", " ") for name in sorted(names))
