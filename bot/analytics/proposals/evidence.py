"""What the words of a question say, piece by piece, whoever reads it: names of the catalogue, figures, spans, denials.

Nothing is decided here. A piece is what a proposal must answer for; which pieces a part of a query answers for is the
business of `fields`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeVar

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.tokens import Token
from bot.analytics.reader.scope import Lexicon, Target
from bylaw.authored.record import Grain
from bylaw.language import dates
from bylaw.language.lexicon import stem
from bylaw.language.units import Unit, unit_at
from bylaw.language.words import read_words

V = TypeVar("V")
Sense = Literal["max", "min"]

_LONGEST = 7  # words of a phrase of asking
_RANKS = frozenset(("rank", "ranking", "ranks"))
_BROKEN = frozenset(("broken", "split", "grouped", "group", "down", "break", "breakdown", "sorted"))
DENYING = wording.NOT | frozenset("neither nor nobody nothing never missing lack lacking".split())  # noqa: SIM905 - a table
ABSENCE = frozenset((*DENYING, "out", "false", "inactive", "unavailable", "off"))
OVERS: Mapping[str, frozenset[str]] = {
    "running": frozenset("cumulative running accumulated accumulating".split()),  # noqa: SIM905 - a table of words
    "moving": frozenset(("moving", "rolling", "trailing")),
    "rank": _RANKS | {"ranked"},
    "share": frozenset(("share", "percentage", "percent", "%", "proportion", "fraction", "portion", "part")),
    "total": wording.WHOLE | {"out", "share", "percentage", "percent", "%", "proportion", "fraction", "portion"},
    "growth": frozenset(("growth", "grow", "grew", "grown", "percent", "%", "percentage", "rate", "relative")),
    "change": frozenset(
        (word for phrase, kind in wording.CHANGED.items() if kind == "change" for word in phrase[-1:]),
    )
    | frozenset(("change", "changed", "increase", "increased", "decrease", "decreased", "rise", "fall", "mom", "yoy")),
}
PERCENT = frozenset(("percent", "%", "percentage", "percentages"))
_AVERAGES = wording.AVERAGES
_WIDE = ("best", "worst", "fastest", "slowest", "strongest", "weakest")  # which end that is, the field decides
_ORDINALS = {
    word: place
    for place, words in enumerate(
        (("first", "1st"), ("second", "2nd"), ("third", "3rd"), ("fourth", "4th"), ("fifth", "5th"), ("sixth", "6th"),
         ("seventh", "7th"), ("eighth", "8th"), ("ninth", "9th"), ("tenth", "10th")), 1)
    for word in words
}  # fmt: skip
_STRUCTURE = (
    wording.FILLERS | wording.ASKING | wording.BY | wording.ARTICLES | _BROKEN | wording.ROWS
    | wording.NEUTRAL_VERBS | wording.DISTINCT | wording.ORDERING | wording.REMARKS | wording.PARTICLES
    | wording.AGGREGATES.keys() | wording.EXTREMES.keys() | wording.GRAINS.keys() | DENYING | wording.NUMBERS.keys()
    | wording.SUFFIXES | wording.COUNT_SUFFIXES | _RANKS | wording.RELATIVE
    | {word for phrase in (*wording.COMPARISONS, *wording.AFTERWARDS, *wording.DIRECTIONS, *wording.QUOTIENTS)
       for word in phrase}
    | {word for words in OVERS.values() for word in words}
    | {*_WIDE, "or", "either", "than", "and", "both", "same", "other", "another"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Piece:
    """Words from `start` to `end` of the question; `first` and `last` are the places of its tokens."""

    first: int
    last: int
    start: int
    end: int
    said: str


@dataclass(frozen=True, slots=True)
class Mention(Piece):
    """A phrase that the catalogue knows, or what stands in quotes (`targets` empty where it is a text of its own)."""

    targets: tuple[Target, ...]
    is_role: bool = False  # it only says which of several relationships is meant: "from"
    is_moment: bool = False  # it says what happened at a moment: "joined"
    is_weak: bool = False  # a word of asking that the catalogue happens to know too: "make", "other"


@dataclass(frozen=True, slots=True)
class Figure(Piece):
    """A number, how it is compared, and what it is told in."""

    value: Decimal
    operator: str | None
    unit: Unit | None
    is_rank: bool = False  # how many are wanted: "top 5"


@dataclass(frozen=True, slots=True)
class Days(Piece):
    """A span of time."""

    span: dates.Span


@dataclass(frozen=True, slots=True)
class Extreme(Piece):
    """One end of an order; None where the words leave open which."""

    sense: Sense | None
    is_direction: bool = False  # of an order that is spelled out: "from highest to lowest"
    is_one: bool = False  # of one thing: "the longest ship"


@dataclass(frozen=True, slots=True)
class Word(Piece):
    """A word, or a phrase, that turns a number, denies, groups or joins; `word` is its normal form."""

    word: str
    grain: Grain | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """All pieces of one question. `loose` are the words that neither the catalogue nor the grammar of asking knows."""

    text: str
    tokens: tuple[Token, ...]
    words: tuple[str, ...]
    mentions: tuple[Mention, ...]
    figures: tuple[Figure, ...]
    days: tuple[Days, ...]
    denials: tuple[Word, ...]
    extremes: tuple[Extreme, ...]
    grains: tuple[Word, ...]
    groups: tuple[Word, ...]
    ordinals: tuple[Word, ...]
    loose: frozenset[int]
    remarks: frozenset[int]
    counting: frozenset[int]

    def within(self, spans: Sequence[tuple[int, int]]) -> list[int]:
        """The places of the tokens that lie in one of *spans* of the text."""
        return [
            i for i, one in enumerate(self.tokens) if any(start < one.end and one.start < end for start, end in spans)
        ]

    def has(self, words: frozenset[str], places: Sequence[int] | None = None) -> bool:
        """Does one of *words* stand at one of *places*, anywhere where none are given?"""
        at = range(len(self.words)) if places is None else places
        return any(self.words[i] in words for i in at)

    def behind(self, place: int, pieces: Sequence[V], most: int = 400) -> V | None:
        """The first of *pieces* from token *place* on, in the same sentence."""
        if place >= len(self.tokens):
            return None
        sentence = self.tokens[place].sentence
        for piece in sorted(pieces, key=lambda one: one.first):  # type: ignore[attr-defined]  # all are pieces
            first = piece.first  # type: ignore[attr-defined]  # all are pieces
            if place <= first <= place + most and self.tokens[first].sentence == sentence:
                return piece
        return None


def evidence_of(text: str, tokens: Sequence[Token], lexicon: Lexicon) -> Evidence:
    """The pieces of *text*, whose tokens are given."""
    return _Finder(text, tuple(tokens), lexicon).found()


def stems(words: str) -> frozenset[str]:
    """The words of a name that carry meaning, without their endings."""
    found = [word.text for word in read_words(re.sub(r"[_.()@,/]", " ", words))]
    return frozenset(stem(word) for word in found if word not in wording.FILLERS and word not in wording.ARTICLES)


class _Finder:
    """Finds the pieces of one question; a token belongs to one name of the catalogue at most."""

    def __init__(self, text: str, tokens: tuple[Token, ...], lexicon: Lexicon) -> None:
        self.text, self.tokens, self.lexicon = text, tokens, lexicon
        self.words = tuple("\0" if one.kind in ("time", "quoted") else one.text for one in tokens)
        self.named: dict[int, Mention] = {}
        self.taken: set[int] = set()  # tokens of comparisons and directions
        self.remarks = self._remarks()
        self.counting = self._counting()

    def found(self) -> Evidence:
        mentions = tuple(self._mentions())
        directions = tuple(self._directions())
        figures = tuple(self._figures())
        return Evidence(
            text=self.text,
            tokens=self.tokens,
            words=self.words,
            mentions=mentions,
            figures=figures,
            days=tuple(Days(*self._at(i, i), one.span) for i, one in enumerate(self.tokens) if one.span is not None),
            denials=tuple(self._single(i) for i in self._free() if self._denies(i)),
            extremes=(*directions, *self._extremes()),
            grains=tuple(self._grains()),
            groups=tuple(self._single(i) for i in self._free() if self.words[i] in ("by", "per", "each", "every")),
            ordinals=tuple(self._single(i) for i in self._free() if self.words[i] in _ORDINALS),
            loose=frozenset(i for i in self._free() if self._is_loose(i)),
            remarks=self.remarks,
            counting=self.counting,
        )

    # ---- names

    def _mentions(self) -> Iterator[Mention]:
        at = 0
        while at < len(self.tokens):
            made = None if at in self.remarks else self._mention(at)
            if made is None or self.counting.issuperset(range(made.first, made.last + 1)):
                at += 1
                continue
            yield made
            for i in range(made.first, made.last + 1):
                self.named[i] = made
            at = made.last + 1

    def _mention(self, at: int) -> Mention | None:
        token = self.tokens[at]
        if token.kind in ("time", "mark"):
            return None
        if token.kind == "quoted":
            words = [word.text for word in read_words(token.text)]
            found = self.lexicon.longest_at(words, 0)
            targets = found[1] if found is not None and found[0] == len(words) else ()
            return Mention(*self._at(at, at), tuple(one for one in targets if one.kind == "value"))
        end = at
        while end < len(self.tokens) and self.tokens[end].kind in ("word", "number"):
            end += 1 if self.tokens[end].sentence == token.sentence else len(self.tokens)
        end = min(end, len(self.tokens))
        known = self.lexicon.longest_at(self.words[at:end], 0)
        moment = self.lexicon.moment_at(self.words[at:end], 0)
        if known is not None and known[0] == 1 and token.kind == "number":
            known = None  # a figure, whichever list of values has it
        if known is not None:
            length, targets = known
            small = all(word in wording.FILLERS or word in wording.BY for word in self.words[at : at + length])
            roles = tuple(
                one for one in targets if one.kind == "relation" and (one.name in self.lexicon.roles or not small)
            )
            others = tuple(one for one in targets if one.kind not in ("relation", "stakes"))
            if small and not roles:
                others = tuple(one for one in others if one.kind == "value" and str(one.value) == token.raw)
            is_asking = length == 1 and self.words[at] in _STRUCTURE
            if is_asking and not roles:
                exact = ("metric", "entity", "time", "dimension", "flag", "fact")
                others = tuple(one for one in others if one.kind in exact and not small)
            if others or roles:
                both = (*others, *roles)
                at_least = max(length, moment[0] if moment and not small else 0)
                more = moment[1] if moment is not None and not small and moment[0] == at_least else ()
                kept = both if length == at_least else ()
                found_at = self._at(at, at + at_least - 1)
                is_date = bool(more) and all(one.kind == "time" or one in more for one in kept)
                told = tuple(dict.fromkeys((*kept, *more)))
                is_weak = at_least == 1 and self.words[at] in _STRUCTURE
                return Mention(*found_at, told, is_role=not others and not more, is_moment=is_date, is_weak=is_weak)
        if moment is not None and self.words[at] not in wording.FILLERS:
            return Mention(*self._at(at, at + moment[0] - 1), moment[1], is_moment=True)
        return None

    # ---- figures

    def _figures(self) -> Iterator[Figure]:
        for i, token in enumerate(self.tokens):
            if i in self.named or i in self.remarks:
                continue
            value = self._value(i)
            if value is None:
                continue
            number, last = value
            unit = unit_at(self.words, last + 1 + (self._word(last + 1) == "of"))
            operator, first = self._compared(i)
            after = self._phrase(wording.AFTERWARDS, last + 1 + (unit[0] if unit else 0)) or self._phrase(
                wording.AFTERWARDS, last + 1
            )
            if after is not None:
                operator = after[1]
            is_plain = operator is None and token.kind == "word" and unit is None and not self._is_ranked(i, last)
            if is_plain and number == 1:
                continue  # "one of them"
            yield Figure(
                *self._at(first, last), Decimal(number), operator, unit[1] if unit else None, self._is_ranked(i, last)
            )

    def _value(self, i: int) -> tuple[Decimal, int] | None:
        """The number that begins at token *i*, and the place of its last word: "half an hour" is 0.5 of one."""
        word = self._word(i)
        if not word:
            return None
        if word == "half" and self._word(i + 1) in ("a", "an") and unit_at(self.words, i + 2):
            return Decimal("0.5"), i + 1
        number = self.tokens[i].number
        if number is not None:
            return Decimal(number), i
        if word in wording.NUMBERS:
            return Decimal(wording.NUMBERS[word]), i
        is_one = word in ("a", "an") and unit_at(self.words, i + 1) is not None and self._word(i - 1) != "half"
        if is_one and (self._compared(i)[0] is not None or self._word(i - 1) == "within"):
            return Decimal(1), i
        return None

    def _compared(self, at: int) -> tuple[str | None, int]:
        """How the number at *at* is compared by the words right before it, and where these begin."""
        if self._word(at - 1) == "between":
            return ">=", at - 1
        if self._word(at - 1) == "and" and "between" in (self._word(at - 3), self._word(at - 4)):
            return "<=", at - 1
        end = at
        while self._word(end - 1) in ("a", "an", "the", "of", "than") and end - 1 not in self.named:
            if self._ends(end) is not None:
                break
            end -= 1
        found = self._ends(end) or self._ends(at)
        return (found[1], found[0]) if found is not None else (None, at)

    def _ends(self, end: int) -> tuple[int, str] | None:
        """The longest comparison that ends right before token *end*: where it begins, and what it says."""
        for length in range(min(_LONGEST, end), 0, -1):
            operator = wording.COMPARISONS.get(tuple(self.words[end - length : end]))
            if operator is not None:
                self.taken |= set(range(end - length, end))
                return end - length, operator
        return None

    def _is_ranked(self, first: int, last: int) -> bool:
        """Does the number say how many are wanted: "top 5", "the three longest", "5 best"?"""
        before, behind = self._word(first - 1), self._word(last + 1)
        if self._ends(first) is not None:
            return False
        rank = wording.RANKING | {"first", "last", "best", "worst", "latest", "newest"}
        return before in rank or behind in wording.EXTREMES or behind in _WIDE or behind.endswith("est")

    # ---- words that turn, deny and group

    def _denies(self, i: int) -> bool:
        if self.words[i] not in DENYING or i in self.taken or i in self.remarks:
            return False
        is_counting = self.words[i] == "no" and self._word(i + 1) == "of"
        return not is_counting

    def _directions(self) -> Iterator[Extreme]:
        at = 0
        while at < len(self.tokens):
            found = self._phrase(wording.DIRECTIONS, at) if at not in self.named else None
            if found is None or at in self.remarks:
                at += 1
                continue
            self.taken |= set(range(at, at + found[0]))
            yield Extreme(*self._at(at, at + found[0] - 1), "max" if found[1] else "min", is_direction=True)
            at += found[0]

    def _extremes(self) -> Iterator[Extreme]:
        for i in self._free():
            word = self.words[i]
            is_last_of_time = word in wording.AMBIGUOUS_EXTREMES and self._word(i + 1) in wording.GRAINS
            if i in self.taken or i in self.remarks or is_last_of_time:
                continue
            before = self._word(i - 1)
            if word == "first" and (before in _WIDE or before in wording.EXTREMES or before.endswith("est")):
                continue
            is_told = self._word(i + 1) == "first"
            if word in _WIDE:
                yield Extreme(*self._at(i, i), None, is_direction=is_told, is_one=self._is_one(i))
            elif word in wording.EXTREMES:
                sense: Sense = "max" if wording.EXTREMES[word] == "max" else "min"
                if self._word(i - 1) == "to" or (self._word(i - 2), self._word(i - 1)) == ("to", "the"):
                    sense, is_told = "min" if sense == "max" else "max", True  # "… to the lowest" comes down
                if word == "most" and self._word(i + 1) in ("recent", "recently"):
                    sense = "max"
                yield Extreme(*self._at(i, i), sense, is_direction=is_told, is_one=self._is_one(i))

    def _is_one(self, i: int) -> bool:
        """Is it said of one thing: "the longest ship", "who has the most orders"?"""
        if self.words[i] not in wording.EXTREMES or self.words[i] in (
            "first",
            "last",
            "maximum",
            "minimum",
            "max",
            "min",
        ):
            return False
        is_numbered = self._value(i - 1) is not None or self._value(i + 1) is not None
        return self._word(i - 1) == "the" and not is_numbered

    def _grains(self) -> Iterator[Word]:
        for i, word in enumerate(self.words):
            change = self._phrase(wording.CHANGES, i)
            if change is not None:
                yield Word(*self._at(i, i + change[0] - 1), word, change[1])
            elif word in wording.GRAINS:
                yield Word(*self._at(i, i), word, wording.GRAINS[word])
            elif self.tokens[i].kind == "time":
                for said in read_words(self.tokens[i].raw):
                    if said.text in wording.GRAINS:
                        yield Word(*self._at(i, i), said.text, wording.GRAINS[said.text])

    def _is_loose(self, i: int) -> bool:
        token = self.tokens[i]
        is_word = token.kind == "word" and token.text not in _STRUCTURE and i not in self.remarks
        is_unit = unit_at(self.words, i) is not None and i > 0 and self._value(i - 1) is not None
        return is_word and not is_unit and len(token.text) > 1

    def _remarks(self) -> frozenset[int]:
        """The words of hints how the answer might be computed or written: nothing hangs on them."""
        found: set[int] = set()
        for i in range(len(self.tokens)):
            for length in range(min(_LONGEST, len(self.words) - i), 0, -1):
                words = self.words[i : i + length]
                if words in wording.MATCHING:
                    found |= set(range(i, i + length))
                if words in wording.HINTS:
                    ends = range(i, len(self.tokens))
                    found |= {k for k in ends if self.tokens[k].sentence == self.tokens[i].sentence}
        return frozenset(found)

    def _counting(self) -> frozenset[int]:
        """The words that only say that something is counted: "how many", "number of"."""
        found: set[int] = set()
        for i in range(len(self.tokens)):
            for length in range(min(_LONGEST, len(self.words) - i), 0, -1):
                if self.words[i : i + length] in wording.COUNTING:
                    found |= set(range(i, i + length))
        return frozenset(found)

    # ---- small ones

    def _free(self) -> Iterator[int]:
        return (i for i in range(len(self.tokens)) if i not in self.named and self.tokens[i].kind != "time")

    def _word(self, i: int) -> str:
        return self.words[i] if 0 <= i < len(self.words) else ""

    def _phrase(self, table: Mapping[tuple[str, ...], V], at: int) -> tuple[int, V] | None:
        for length in range(min(_LONGEST, len(self.words) - at), 0, -1):
            key = self.words[at : at + length]
            if key in table:
                return length, table[key]
        return None

    def _single(self, i: int) -> Word:
        return Word(*self._at(i, i), self.words[i])

    def _at(self, first: int, last: int) -> tuple[int, int, int, int, str]:
        start, end = self.tokens[first].start, self.tokens[last].end
        return first, last, start, end, self.text[start:end]


def alike(one: str, other: str) -> bool:
    """Are they forms of one word, as far as spelling tells: "treated" and "treatments"?"""
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) >= 4 and long.startswith(short))


def place_of(word: str) -> int | None:
    """The place that an ordinal names."""
    return _ORDINALS.get(word)


def averages(evidence: Evidence) -> list[int]:
    """The places of the words that ask for an average or a median."""
    named = {i for one in evidence.mentions for i in range(one.first, one.last + 1)}
    return [
        i for i, word in enumerate(evidence.words) if word in _AVERAGES and i not in named and i not in evidence.remarks
    ]
