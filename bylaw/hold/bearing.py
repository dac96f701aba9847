"""One item beside the words of its quote: which of them are its own, and what speaks against it.

`Bearing` collects what the checks of each kind find; nothing is decided before every check has spoken.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from bylaw.hold import standing
from bylaw.hold.item import Item, Scalar, Status, Weakness
from bylaw.hold.text import Seen
from bylaw.hold.values import Values, comparisons_at
from bylaw.hold.words import Index, Mention, Name, is_content, stems_of
from bylaw.language.lexicon import closed, lexicon
from bylaw.language.text import Passage, Token
from bylaw.language.words import spoken


@dataclass(frozen=True, slots=True)
class Flaw:
    """What speaks against an item: it is refused, or weak in one way."""

    why: str
    weakness: Weakness | None = None  # None: refused


class Sentences:
    """The words of each sentence and the declared phrases in it, looked for once for all items."""

    def __init__(self, seen: Seen, index: Index) -> None:
        self._seen, self._index = seen, index
        self._words: dict[int, tuple[Token, ...]] = {}
        self._mentions: dict[int, tuple[tuple[Mention, tuple[Token, ...]], ...]] = {}
        self.speaking: dict[str, tuple[Passage, ...]] = {}  # those that may say something of a fact, by its name
        self.tried: dict[tuple[int, tuple[int, int]], Bearing] = {}  # conditions of claims, by item and place

    def words(self, passage: Passage) -> tuple[Token, ...]:
        """The words and numbers of a sentence."""
        if passage.start not in self._words:
            self._words[passage.start] = self._seen.words(passage.start, passage.end)
        return self._words[passage.start]

    def mentions(self, passage: Passage) -> tuple[tuple[Mention, tuple[Token, ...]], ...]:
        """The declared phrases of a sentence, each with its words."""
        if passage.start not in self._mentions:
            words = self.words(passage)
            found = self._index.find(words)
            self._mentions[passage.start] = tuple((one, words[one.first : one.last + 1]) for one in found)
        return self._mentions[passage.start]


@dataclass
class Bearing:
    """An item at one place of a text."""

    item: Item
    seen: Seen
    index: Index
    values: Values
    place: tuple[int, int]
    passage: Passage
    sentences: Sentences
    flaws: list[Flaw] = field(default_factory=list)
    own: set[int] = field(default_factory=set)  # the starts of the tokens that the item accounts for
    value: Scalar | list[Scalar] | None = None
    denying: tuple[Token, ...] = ()  # the negations that the item around this one says

    # ---- what checks say --------------------------------------------------------------------------------------------

    def refuse(self, why: str) -> None:
        """The text says otherwise, or the item is none."""
        self.flaws.append(Flaw(why))

    def weaken(self, weakness: Weakness, why: str) -> None:
        """The text does not say it outright."""
        self.flaws.append(Flaw(why, weakness))

    def take(self, tokens: Iterable[Token]) -> None:
        """The item accounts for these words."""
        self.own.update(token.start for token in tokens)

    @property
    def status(self) -> Status:
        """What became of it."""
        if any(flaw.weakness is None for flaw in self.flaws):
            return "refused"
        return "weak" if self.flaws else "borne"

    @property
    def why(self) -> str:
        """The reasons, those that refuse first."""
        ordered = sorted(self.flaws, key=lambda flaw: flaw.weakness is not None)
        return "; ".join(dict.fromkeys(flaw.why for flaw in ordered))

    # ---- the words --------------------------------------------------------------------------------------------------

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The words and numbers of the quote."""
        return self.seen.words(*self.place)

    @cached_property
    def words(self) -> list[str]:
        """The same in lower case."""
        return [token.word for token in self.tokens]

    @cached_property
    def around(self) -> tuple[Token, ...]:
        """The words and numbers of the whole sentence."""
        return self.sentences.words(self.passage)

    @cached_property
    def mentions(self) -> tuple[tuple[Mention, tuple[Token, ...]], ...]:
        """The declared phrases of the sentence that share a word with the quote, and their words."""
        found = self.sentences.mentions(self.passage)
        first = bisect_right(found, self.place[0], key=lambda one: one[1][-1].end)
        return found[first : bisect_left(found, self.place[1], key=lambda one: one[1][0].start)]

    def take_classes(self, *names: str) -> None:
        """The item accounts for the words of these closed classes in its quote."""
        for name in names:
            for first, behind in lexicon()[name].find(self.words):
                self.take(self.tokens[first:behind])

    def take_negations(self) -> None:
        """The item accounts for the words that deny, in its quote."""
        self.take_classes("negation")
        self.take(token for token in self.tokens if standing.is_negation(token))

    def take_comparisons(self) -> None:
        """The item accounts for the words that compare, in its quote."""
        for first, behind, _ in comparisons_at(self.words):
            self.take(self.tokens[first:behind])

    def holds_any(self, name: str) -> bool:
        """Does the quote hold a word of that closed class?"""
        return lexicon()[name].any_in(self.words)

    # ---- what it is called ------------------------------------------------------------------------------------------

    def bear_name(
        self,
        name: Name,
        *beside: Name,
        said: frozenset[str] = frozenset(),
        formed: frozenset[int] = frozenset(),
        otherwise: str = "none of its words is declared for it",
    ) -> bool:
        """Hold the quote against what *name* is called; *beside* are names whose words may stand in it, *said* stems
        that say its value, *formed* the starts of words that one of its forms says whole. Returns whether a word of the
        name itself stands there; where none does, it is weak, for the reason *otherwise*.
        """
        called = self.index.own(name) | self.index.near(name)
        around = frozenset[str]().union(*(self.index.own(one) | self.index.near(one) for one in beside))
        mine = {name.name, *name.kin, *(one.name for one in beside)}
        mine |= {name.owner} if name.owner else set()
        shared = [token for token in self.tokens if not stems_of(token.word).isdisjoint(called | said)]
        self.take(shared)
        self.take(token for token in self.tokens if not stems_of(token.word).isdisjoint(around))
        if shared:  # words that only join ("at once") are its own where a word of content is
            spelled = frozenset[str]().union(*(self.index.spelled(one) for one in (name, *beside)))
            self.take(t for t in self.tokens if not is_content(t.word) and not stems_of(t.word).isdisjoint(spelled))
        free = [token for token in shared if token.start not in formed]
        taken = [token for token in free if self._longer(token, mine, called | said) is not None]
        if shared and len(taken) < len(shared):
            return True
        other = self._longer(taken[0], mine, called | said) if taken else self._another(mine)
        if other is not None:
            self.refuse(f"its words are those of {other}")
        elif not shared and not any(self._is_value_of(mention, mine) for mention, _ in self.mentions):
            self.weaken("name", otherwise)
            self.take(self.tokens)
        return bool(shared)

    def _longer(self, token: Token, mine: set[str], called: frozenset[str]) -> str | None:
        """The name whose longer phrase holds the word, and that is none of *mine*; *called* are the stems that may
        name it: a phrase of nothing but these is its own as well.
        """
        for mention, words in self.mentions:
            is_own = all(not stems_of(word.word).isdisjoint(called) for word in words if is_content(word.word))
            if mention.size > 1 and not is_own and words[0].start <= token.start <= words[-1].start:
                owners = sorted({owner.name for owner in mention.owners})
                if mine.isdisjoint(owners) and not self._is_value_of(mention, mine):
                    return " or ".join(owners)
        return None

    def _is_value_of(self, mention: Mention, mine: set[str]) -> bool:
        """Does the phrase say a value of one of *mine* ("cats" of the animals whose species it is)? Of rows that are
        grouped by, a column names them as well ("each venue's name").
        """
        is_group = self.item.kind == "group"
        said = [self.index.get("part", owner.name) for owner in mention.owners if owner.value is not None or is_group]
        return bool(said) and len(said) == len(mention.owners) and all(one and one.owner in mine for one in said)

    def _another(self, mine: set[str]) -> str | None:
        """Another name of which a phrase stands in the quote."""
        start, end = self.place
        for mention, words in self.mentions:
            owners = sorted({owner.name for owner in mention.owners})
            is_other = mine.isdisjoint(owners) and not self._is_value_of(mention, mine)
            if is_other and start <= words[0].start and words[-1].end <= end:
                return " or ".join(owners)
        return None

    def own_mention(self, name: str) -> Sequence[Token]:
        """The words of the longest declared phrase of *name* that the quote shares a word with."""
        mine = [(m.size, words) for m, words in self.mentions if any(owner.name == name for owner in m.owners)]
        return max(mine, key=lambda one: one[0])[1] if mine else ()

    # ---- how it stands ----------------------------------------------------------------------------------------------

    def stand(self) -> None:
        """Hold a fact against how the text stands to it: doubt, wish, intent, past, another person."""
        asked = [
            (words[0].start, words[-1].end)
            for mention, words in self.sentences.mentions(self.passage)
            if any(self.index.get("asks", owner.name) is not None for owner in mention.owners)
        ]
        why = standing.unsure(self.seen, self.passage, self.place, asked)
        if why is not None:
            self.weaken("standing", why)
        named = self.own_mention(self.item.named or "")
        person = standing.of_another(self.seen, self.passage, self.place, named)
        if person is not None:
            self.weaken("standing", f"it is said of “{person}”, and not asked about")
        if standing.of_speaker(self.seen, self.passage, self.place):
            self.weaken("standing", "it is said of the one who asks, and asked about somebody else")
        if standing.is_excepted(self.seen, self.passage, self.place):
            self.refuse("it is said as an exception")

    def altering(self, called: frozenset[str], *but: Token) -> list[Token]:
        """The words in the quote that alter what is said, but for *but* and for those of stems that are *called* so."""
        mine = {token.start for token in but} | {
            t.start for t in self.tokens if not stems_of(t.word).isdisjoint(called)
        }
        return standing.altering(self.tokens, frozenset(mine))

    def is_negated(self, *named: Token) -> bool:
        """Is what the quote says denied? Negations within *named*, a declared phrase, deny nothing."""
        return standing.negations(self.seen, self.passage, self.place, (*named, *self.denying)) % 2 == 1


def is_empty(word: str) -> bool:
    """Does the word say nothing: an article, a pronoun, a greeting?"""
    return word in closed("empty") or all(part in closed("empty") for part in spoken(word))
