"""Where a reading of a question stands: the tokens, the place, what waits for its object, what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.tokens import Token
from bot.analytics.reader.said import Narrowing, NumberSaid, Ref, RelatedSaid, Said, TimeSaid
from bot.analytics.reader.scope import Lexicon, Target
from bot.conversation import Binding
from bylaw.authored.context import Aggregation
from bylaw.language.units import Unit
from bylaw.language.words import FUNCTION_WORDS, read_words, singular
from bylaw.semantic.query import Comparison, Value

V = TypeVar("V")
_LONGEST = 7  # words of a phrase of asking
_BEFORE = 2  # words before the second of two phrases that share one: "first and last name"


class Scan:
    """The state of one reading of one question. Every rule looks from here and moves `at` over the words it takes."""

    def __init__(self, tokens: tuple[Token, ...], lexicon: Lexicon, follows: bool = False) -> None:
        self.tokens = tokens
        self.lexicon = lexicon
        self.follows = follows
        self.words = [token.text if token.kind in ("word", "number", "mark") else "\0" for token in tokens]
        self.at = 0
        self.said = Said()
        self.bindings: list[Binding] = []
        self.told: set[int] = set()  # the places of the words that the bindings cover
        self.counting: str | None = None  # the words that count, until what they count is named
        self.distinct = False
        self.agg: tuple[Aggregation, bool] | None = None
        self.agg_words = ""
        self.aggs: list[Aggregation] = []  # "highest and", before another of the same number
        self.ranked_agg: Aggregation | None = None  # "highest", before an average
        self.totals = False  # "average total": what is averaged is added up first
        self.each = False
        self.agent = False  # "made by": who did it, no group
        self.asks = False
        self.relative = False
        self.negated = False
        self.denied: frozenset[str] | None = frozenset()  # the rows named before the negation; None of "non-…"
        self.is_none = False  # after "but": no row of theirs is so
        self.alternative = False
        self.ranking = False  # after "top 5"
        self.ranked_ends = 0  # the place behind the number of "top 5 … by"
        self.quantity: tuple[Comparison, Value, Unit | None] | None = None
        self.begins = 0  # the place of the comparison read last
        self.ordering = False
        self.verb: Ref | None = None  # that was just read
        self.last: Ref | None = None  # what was named right before
        self.head: Ref | None = None  # the rows that are spoken of
        self.quotient: Quotient | None = None
        self.labels: frozenset[str] = frozenset()  # the dimension named right before its value
        self.narrowed: list[Narrowing] = []
        self.clauses = 0  # how many relations were read
        self.clause = 0  # the number of the one that is spoken of
        self.is_opened = False  # its number is given, its rows are not named yet
        self.owner: Ref | None = None  # the rows that its clause is about
        self.numbers_before = 0  # how many numbers were named before that clause
        self.role: Ref | None = None  # the words right before, where they say which of several relationships is meant
        self.role_ends = 0
        self.number_ends = -1  # the place behind the number named last
        self.part = False  # after "out of these", until something is counted
        self.narrowing: NumberSaid | None = None  # the number that this sentence is about

    def here(self) -> Token:
        return self.tokens[self.at]

    def word(self, ahead: int = 0) -> str:
        return self.at_word(self.at + ahead)

    def at_word(self, place: int) -> str:
        """The word at *place*; nothing beyond either end."""
        return self.words[place] if 0 <= place < len(self.words) else ""

    def raw(self, first: int, after: int) -> str:
        if first >= after:
            return ""
        raw = [token.raw for token in self.tokens[first:after]]
        return " ".join(raw)

    def phrase(self, table: Mapping[tuple[str, ...], V], at: int | None = None) -> tuple[int, V] | None:
        """The longest phrase of *table* that begins here: its length and its row."""
        start = self.at if at is None else at
        for length in range(min(_LONGEST, len(self.words) - start), 0, -1):
            key = tuple(self.words[start : start + length])
            if key in table:
                return length, table[key]
        return None

    def starts(self, phrases: frozenset[tuple[str, ...]]) -> int:
        """How many words of one of *phrases* begin here, the longest; 0 for none."""
        for length in range(min(_LONGEST, len(self.words) - self.at), 0, -1):
            if tuple(self.words[self.at : self.at + length]) in phrases:
                return length
        return 0

    def counts_at(self, place: int) -> bool:
        """Do words that count begin at *place*?"""
        return self.phrase(dict.fromkeys(wording.COUNTING, True), place) is not None

    @staticmethod
    def normal(words: str) -> list[str]:
        """Words of the question as the catalogue knows them."""
        return [word.text for word in read_words(words)]

    def say(self, first: int, after: int, kind: str, name: str) -> None:
        self.bindings.append(Binding(words=self.raw(first, after), kind=kind, name=name))
        self.told.update(range(first, after))

    def before_kinds(self, place: int) -> int:
        """The place of the first of the values that stand right before *place*: of "buy" in "per buy transaction"."""
        ends = {one.ends: one.begins for one in self.narrowed}
        while place in ends:
            place = ends[place]
        return place

    def take_role(self, first: int) -> Ref | None:
        """The role of what begins at *first*: "to each airport", "departing from Chicago"."""
        role = self.role
        pointing = wording.ARTICLES
        if role is not None and set(self.words[self.role_ends : first]) <= pointing:
            self.role = None
            return role
        while self.at_word(first - 1) in pointing:
            first -= 1
        word, before = self.at_word(first - 1), self.at_word(first - 2)
        is_role = word in ("from", "to") and before not in wording.COMPARED_TO
        return self.direction(word) if is_role else None

    def direction(self, word: str) -> Ref:
        """The role that "from" or "to" names."""
        found = self.lexicon.longest_at([word], 0)
        return Ref(word, tuple(one for one in found[1] if one.name in self.lexicon.roles) if found else ())

    def direction_at(self, ahead: int) -> tuple[int, bool] | None:
        return self.phrase(wording.DIRECTIONS, self.at + ahead)

    def starts_clause(self) -> bool:
        is_inside = 0 < self.at < len(self.tokens)
        return self.at == 0 or (is_inside and self.tokens[self.at - 1].sentence != self.here().sentence)

    def mention(self, at: int, skip: frozenset[str] = frozenset()) -> tuple[int, Ref] | None:
        """The longest phrase of the catalogue from place *at* on: how many tokens with what is skipped, and it."""
        start = at
        while at < len(self.words) and (
            (self.words[at] in wording.DETERMINERS and not self.is_letter(at)) or self.words[at] in skip
        ):
            known = self.lexicon.longest_at(self.words[at : at + self.lexicon.longest], 0)
            if known is not None and (known[0] > 1 or self.words[at] not in FUNCTION_WORDS):
                break  # "The Ramen Shop"
            at += 1
        if at >= len(self.tokens) or self.tokens[at].kind not in ("word", "number"):
            return None
        is_said = self.words[at - 1] == "that" and bool(self.said.times)
        is_led = self.each or self.at_word(at - 1) in wording.WHICH
        if self.words[at] in wording.GRAINS and (is_said or (self.is_time(at + 1) and not is_led)):
            return None  # "the year 2021", where "each month of 2021" may be a column
        end = at
        sentence = self.tokens[at].sentence
        furthest = min(len(self.tokens), at + self.lexicon.longest + _BEFORE)
        while end < furthest and self.tokens[end].kind in ("word", "number") and self.tokens[end].sentence == sentence:
            end += 1
        found = self.known_at(at, end)
        if found is None:
            return self.shared_word(at, end, start)
        length, targets = found
        if length == 1 and self.ordering and self.counts_at(at) and self.at_word(at + 1) == "of":
            return None  # "sorted by the number of meals", though meals have a number
        targets = tuple(target for target in targets if not self.is_small_word(target, at, length))
        if not targets:
            return None
        raw = self.tokens[at + length - 1].raw
        is_plural = singular(raw.casefold()) != raw.casefold()
        return at + length - start, Ref(self.raw(at, at + length), targets, (), is_plural)

    def known_at(self, at: int, end: int) -> tuple[int, tuple[Target, ...]] | None:
        """The longest phrase of the catalogue from *at* on, without an "at" that belongs to "at least"."""
        found = self.lexicon.longest_at(self.words[at:end], 0)
        behind = self.phrase(wording.COMPARISONS, at + found[0] - 1) if found is not None and found[0] > 1 else None
        if found is not None and behind is not None and behind[0] > 1:
            found = self.lexicon.longest_at(self.words[at : at + found[0] - 1], 0)
        return found

    def opens(self, at: int) -> bool:
        """Is there nothing but small words before place *at* in its sentence?"""
        sentence = self.tokens[at].sentence
        return all(token.text in wording.FILLERS for token in self.tokens[:at] if token.sentence == sentence)

    def is_phrase(self) -> bool:
        """Does a phrase of several words of the catalogue begin here?"""
        found = self.lexicon.longest_at(self.words[self.at : self.at + 5], 0)
        return found is not None and found[0] > 1

    def is_time(self, at: int) -> bool:
        at += 1 if at < len(self.words) and self.words[at] == "of" else 0
        return at < len(self.tokens) and self.tokens[at].kind == "time"

    def shared_word(self, at: int, end: int, start: int) -> tuple[int, Ref] | None:
        """ "First and last name": the word that two phrases share stands once."""
        if end - at < 4 or self.words[at + 1] != "and":
            return None
        second = self.lexicon.longest_at(self.words[at + 2 : end], 0)
        if second is None or second[0] < 2:
            return None
        shared = self.words[at + 1 + second[0]]
        first = self.lexicon.longest_at([self.words[at], shared], 0)
        if first is None or first[0] != 2:
            return None
        return at + 1 - start, Ref(f"{self.tokens[at].raw} {shared}", first[1])

    def is_letter(self, at: int) -> bool:
        """ "A" in capitals inside a sentence is a grade, no article."""
        is_first = at == 0 or self.tokens[at - 1].sentence != self.tokens[at].sentence
        return self.tokens[at].raw == "A" and not is_first

    def is_small_word(self, target: Target, at: int, length: int) -> bool:
        """A value that looks like an article ("A") is one only where it is written exactly so."""
        if any(word not in FUNCTION_WORDS for word in self.words[at : at + length]):
            return False
        return target.kind != "value" or self.raw(at, at + length) != str(target.value) or self.starts_clause()


Mark = Literal["before", "of", "weak", "strong", "place"]
SaidOfSide = Narrowing | RelatedSaid | TimeSaid


@dataclass(slots=True)
class Piece:
    """A condition on one side, and how it stands to the number: before it, behind "with", a verb or a place word."""

    said: SaidOfSide
    mark: Mark
    place: str = ""


@dataclass(slots=True)
class Side:
    """What one side of a quotient says."""

    start: int
    number: NumberSaid | None = None
    number_at: int = 0
    pieces: list[Piece] = field(default_factory=list)
    groups: list[Ref] = field(default_factory=list)
    entities: list[Ref] = field(default_factory=list)  # named behind the number
    mark: Mark = "before"
    place: str = ""
    is_relative: bool = False  # inside a clause that a pronoun opened


@dataclass(slots=True)
class Quotient:
    """A quotient that is being read. `separator` is where its second side begins, and how many words say so."""

    words: str
    is_part: bool
    in_percent: bool
    separator: tuple[int, int] | None
    is_ranked: bool = False
    sides: list[Side] = field(default_factory=list)

    @property
    def side(self) -> Side:
        return self.sides[-1]

    def add(self, said: SaidOfSide) -> None:
        """A condition on the side that is being read."""
        self.side.pieces.append(Piece(said, self.side.mark, self.side.place))

    def add_entity(self, ref: Ref) -> None:
        """Rows that are named on the side; "of" behind a fact only says whose it is."""
        number = self.side.number
        owners = {target.owner for target in number.ref.of("fact")} if number is not None else set()
        if self.side.mark != "of" or owners.isdisjoint(ref.entities):
            self.side.entities.append(ref)

    def speaks_of(self, ref: Ref) -> bool:
        """Has the last condition narrowed these rows: "gold customers"?"""
        last = self.side.pieces[-1].said if self.side.pieces else None
        return isinstance(last, Narrowing) and not set(last.ref.owners).isdisjoint(ref.entities)

    @property
    def narrowed(self) -> list[Narrowing]:
        """The conditions of the side that is being read."""
        return [piece.said for piece in self.side.pieces if isinstance(piece.said, Narrowing)]
