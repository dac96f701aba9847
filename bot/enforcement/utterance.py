"""A text as the fact reader sees it: normalised words, the quantities among them, and what is negated or asked."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import Any

from bylaw.language import dates
from bylaw.language.days import find_days
from bylaw.language.money import Money, may_be_thousands, read_money
from bylaw.language.negation import CUES, read_negations
from bylaw.language.numbers import read_numbers
from bylaw.language.span import Number, Span, listed
from bylaw.language.units import Duration, read_durations
from bylaw.language.words import (
    CONJUNCTIONS,
    DETERMINERS,
    FUNCTION_WORDS,
    PREPOSITIONS,
    PRONOUNS,
    Word,
    read_words,
    singular,
)

NEGATION_REACH = 5  # words between a negation and what it negates
_CONDITIONS = listed("need require required whether unless supposed")
_MODALS = _CONDITIONS | listed("must should")
_UNREAL = listed("would will could might may shall")
_LOSING = listed("lost lose misplaced threw destroyed")
_ASKED_VERBS = listed("have be do keep get")
_UNSURE = listed("maybe perhap possibly doubt unsure thought guess")
_NO_DOUBT = (("not", "doubt"), ("no", "doubt"))
_NOT_SURE = listed(
    "know remember recall saying said claim claiming claimed clear certain obvious proven "
    "telling mentioning knowing noticing"
)
_MOVED = listed("moved switched changed upgraded downgraded promoted went came")  # "from standard to gold"
_KNOWING = listed("know wonder ask check see sure tell")  # before an "if" that asks
_FEW = r"(?:one|two|three|four|five|six|seven|eight|nine|ten)\b"
_CORRECTION = re.compile(
    r"(?i)\b(?:no,? wait|wait,? no|i meant?|(?:scratch|strike|make) that|correction|or rather|oops|h[ao](?:ng|ld) on"
    r"|sorry(?! (?:for|about|that))|actually|my (?:bad|mistake)|more like|closer to|(?<=[,.] )well"
    rf"|(?<=[,.?!] )no(?:,? (?:just|only|(?:it|that)(?:['’]s| is| was)))?(?=,? (?:\d|{_FEW}|$)))\b"
)
_BOUND = re.compile(r"(?i)(?:since|until|till|before|after|through)\s+(?:the\s+)?")
_RANGE = re.compile(r"(?i)\b\d{1,2}(?:st|nd|rd|th|\.)?\s*(?:and|or|to|until|till|[-–—/&])\s*(?:on\s+)?(?:the\s+)?$")
_EXACTLY = re.compile(r"(?i)\W*(?:to be (?:exact|precise)|(?:to be )?more precisely)\b")
TIMES = {"once": 1, "twice": 2, "thrice": 3}
_SAYING = listed("say tell think know mean")
_PROMISING = listed("say said tell told promise promised claim claimed wrote")
_GETTING = listed("get receive give refund return exchange accept take replace be")
_OR_ELSE = re.compile(
    r"(?i)\b(?:or (?:(?:was|is|were) (?:it|that)|even)|maybe|perhaps|and (?:one|another|the other) of)\W*$"
)
_NEAR = 9  # words from the first of a question to what it asks for
_CORRECTED_IN = 7  # words from a number to the one that takes its place
PEOPLE = listed(
    "colleague coworker friend neighbour neighbor sister brother mother father mum mom dad cousin aunt uncle boss "
    "daughter son wife husband partner flatmate roommate"
)
_OTHER, _WHO = listed("another other different previous"), listed("customer client person guy lady member user caller")
_SPEAKERS = PRONOUNS - {"it"}
_THEIR_OWN = listed("his her hers their theirs own")
_OPENERS = listed("be have do can could will would should may must shall")


@dataclass(frozen=True, slots=True)
class Percent:
    """So many parts of a hundred."""

    amount: Number


@dataclass(frozen=True, slots=True)
class Times:
    """How often: "twice"."""

    count: int


Value = Number | Times | Duration | Money | Percent | date | dates.Span


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with what it counts, and the words (first, last) that say it."""

    value: Value
    start: int
    end: int
    first: int
    last: int
    words: str
    exact: bool = True
    is_struck: bool = False  # taken back; its value is the one that was meant


@lru_cache(maxsize=64)
def utterance(text: str, today: date) -> Utterance:
    """*text* as an utterance. The last few are kept: one turn reads a text for its facts, its topic, its figures."""
    return _undated(text).on(today)


@lru_cache(maxsize=64)
def _undated(text: str) -> Utterance:
    return Utterance(text)


class Utterance:
    """One text, read once for all facts; the days that it names count from the day it is said `on`."""

    today = date.min
    days: tuple[Quantity, ...] = ()
    is_dated = False  # does what it says depend on the day?

    def __init__(self, text: str) -> None:
        self.text = text
        self.readings: dict[int, tuple[Any, ...]] = {}  # what readers keep of it beside it, for the day it is said on
        self.dateless: dict[int, tuple[Any, ...]] = {}  # and for whatever day
        self.words: tuple[Word, ...] = read_words(text)
        self._starts = [word.start for word in self.words]
        numbers = read_numbers(text, self.words)
        money, durations = read_money(text, self.words, numbers), read_durations(text, self.words, numbers)
        self._measures = [self._of(span) for spans in (money, durations) for span in spans]
        self._numbers = [self._percent_or_number(span) for span in numbers]
        often = [word for i, word in enumerate(self.words) if word.text in TIMES and self._says_how_often(i)]
        self._numbers += [self._placed(Times(TIMES[word.text]), word.start, word.end) for word in often]
        self.quantities = self._quantities(frozenset())
        self._cues = {self._cue(span): span.end for span in read_negations(text, self.words)}
        self._sentence_start: list[int] = []
        for i, word in enumerate(self.words):
            goes_on = i and self.words[i - 1].sentence == word.sentence
            self._sentence_start.append(self._sentence_start[-1] if goes_on else i)
        ends = [*(word.start for word in self.words[1:]), len(text)]
        self._questions = {  # the sentences that end with a question mark
            word.sentence for word, end in zip(self.words, ends, strict=False) if "?" in text[word.end : end]
        }

    def on(self, today: date) -> Utterance:
        """The same, said on that day."""
        said = copy(self)
        said.today, said.readings = today, {}
        spans = [self._of_bound(span, today) for span in dates.find(self.text, today) if span.shift is None]
        found = find_days(self.text, today)
        named = [self._placed(span, span.begins, span.ends) for span in spans]
        named = [one for one in named if not one.first or self.words[one.first - 1].text != "ago"]  # "a week ago today"
        single = [self._placed(day, start, end) for start, end, day in found if day is not None]
        if named or single:
            days = [*(_as_day(place) for place in named if _is_day(place)), *single]
            said.days = tuple(self._as_one(place) for place in days if place.first <= place.last)
            said.quantities = said._quantities({i for place in named for i in range(place.first, place.last + 1)})
        said.is_dated = bool(found) or any(isinstance(one.value, date) for one in said.quantities)
        return said

    def _of_bound(self, span: dates.Span, today: date) -> dates.Span:
        """The day that a time begins or ends with: "since 1 November"; any other span as it is."""
        bound = _BOUND.match(self.text, span.begins, span.ends)
        inner = dates.find(self.text[bound.end() : span.ends], today) if bound else ()
        if bound is None or len(inner) != 1:
            return span
        return replace(inner[0], begins=bound.end() + inner[0].begins, ends=bound.end() + inner[0].ends)

    def _as_one(self, day: Quantity) -> Quantity:
        """The day, not exact where it is one of two: "between the 3rd and the 6th of November"."""
        is_one_of_two = _RANGE.search(self.text, max(day.start - 24, 0), day.start) is not None
        return replace(day, exact=False) if is_one_of_two else day

    def _says_how_often(self, i: int) -> bool:
        """Is it behind a word that may be done: "repaired once", not "at once", "once I have it"?"""
        return (
            i > 0 and self.words[i - 1].clause == self.words[i].clause and self.words[i - 1].text not in FUNCTION_WORDS
        )

    def _cue(self, negation: Span[str]) -> int:
        """The word that negates: of the two words of "haven't" the second."""
        i = bisect_left(self._starts, negation.start)
        while self.words[i].text != negation.value:
            i += 1
        return i

    # ---- quantities -------------------------------------------------------------------------------------------------

    def _quantities(self, in_dates: Collection[int]) -> tuple[Quantity, ...]:
        # the 2026 of "May 2026" counts nothing
        bare = [quantity for quantity in self._numbers if quantity.first not in in_dates]
        taken: list[Quantity] = []
        covered: set[int] = set()
        for quantity in (*self._measures, *self.days, *bare):
            places = range(quantity.first, quantity.last + 1)
            if places and not covered.intersection(places) and not self._is_calendar(quantity):
                taken.append(quantity)
                covered.update(places)
        return self._as_corrected(sorted(taken, key=lambda quantity: quantity.start))

    def _is_calendar(self, day: Quantity) -> bool:
        """Is it only said which day it is: "today is the 20th", "today's the 20th"?"""
        if not day.words.casefold().startswith("today"):
            return False
        following = self.words[day.last + 1].text if day.last + 1 < len(self.words) else ""
        return following == "be" or self.text[self.words[day.last].start : self.words[day.last].end].endswith("s")

    def _as_corrected(self, found: Sequence[Quantity]) -> tuple[Quantity, ...]:
        """The same, where one that is taken back at once has the value that was meant: "a $200, sorry, $250 order"."""
        kept = list(found)
        for k in range(len(kept) - 1, 0, -1):
            wrong, right = kept[k - 1], kept[k]
            if right.first - wrong.last <= _CORRECTED_IN and _OR_ELSE.search(self.text, wrong.end, right.start):
                kept[k - 1], kept[k] = replace(wrong, exact=False), replace(right, exact=False)
            if right.first - wrong.last > _CORRECTED_IN:
                continue
            is_corrected = self.is_corrected(wrong.end, right.start, within=1)
            if not is_corrected and (_EXACTLY.match(self.text, right.end) is None or right.first - wrong.last > 3):
                continue
            meant = _in_place_of(wrong.value, right.value, self.stands_alone(right))
            if meant is not None:
                kept[k - 1] = replace(wrong, value=meant, end=right.end, is_struck=True)
        return tuple(kept)

    def _of(self, span: Span[Number] | Span[Duration] | Span[Money]) -> Quantity:
        return self._placed(span.value, span.start, span.end, span.exact)

    def _percent_or_number(self, span: Span[Number]) -> Quantity:
        quantity = self._of(span)
        if "." in span.words and may_be_thousands(span.words):
            quantity = replace(quantity, exact=False)
        following = quantity.last + 1
        ahead = self.words[following].start if following < len(self.words) else len(self.text)
        if self.text[span.end : ahead].lstrip().startswith("%"):
            return replace(quantity, value=Percent(span.value))
        behind = " ".join(word.text for word in self.words[following : following + 2])
        count = 2 if behind == "per cent" else behind.startswith(("percent", "pct"))
        if not count:
            return quantity
        last = following + count - 1
        return replace(quantity, value=Percent(span.value), last=last, end=self.words[last].end)

    def _placed(self, value: Value, start: int, end: int, exact: bool = True) -> Quantity:
        first = bisect_left(self._starts, start)
        last = bisect_left(self._starts, end) - 1
        return Quantity(value, start, end, first, last, self.text[start:end], exact)

    # ---- what stands around -----------------------------------------------------------------------------------------

    def distance(self, one: int, other: int) -> int:
        """How many words that say something stand between word *one* and word *other*."""
        return sum(word.text not in DETERMINERS for word in self.words[one + 1 : other])

    def is_negated(self, used: Sequence[int], spent: Collection[int] = ()) -> bool:
        """Does an odd number of negations reach the words *used* (ascending indexes)?

        Cues among them do not count, nor do those *spent* on other words ("no receipt"), unless an "or" goes on.
        """
        first, last = used[0], used[-1]
        count = sum(1 for i in range(first, last) if i in self._cues and i not in used)
        reach = 0 if self.words[first].text in PREPOSITIONS else NEGATION_REACH
        for i in range(first - 1, max(first - 12, -1), -1):
            if self.words[i].clause != self.words[first].clause or self.distance(i, first) > reach:
                break
            is_spent = i in spent and "or" not in (word.text for word in self.words[i:first])
            if i in self._cues and self._cues[i] > self.words[first].start and not is_spent:
                count += 1
        return count % 2 == 1

    def is_object(self, used: Sequence[int]) -> bool:
        """Are the words *used* what is done to, or not: the phone of "never dropped the phone"?"""
        first = used[0]
        if (
            first < 2
            or self.words[first - 1].text not in DETERMINERS
            or self.words[first - 1].text in ("a", "an", "any")
        ):
            return False
        at = first - 2
        at -= at > 0 and self.words[at].text in ("for", "of", "on", "from")  # "no receipt for the phone"
        before = self.words[at]
        return before.clause == self.words[first].clause and before.text not in FUNCTION_WORDS | CUES

    def is_asked(self, used: Sequence[int]) -> bool:
        """Are the words *used* part of a question or a demand ("do I need…", "is it…") rather than said of the case?"""
        first, words = used[0], self.words
        if words[first].text == "have" and first + 1 < len(words) and words[first + 1].text == "to":
            return True
        modals = _CONDITIONS if words[first].text in PREPOSITIONS else _MODALS
        for i in range(first - 1, max(first - 5, -1), -1):
            if words[i].clause != words[first].clause:
                break
            if words[i].text in modals or (words[i].text == "have" and words[i + 1].text == "to"):
                return True
        before = [word.text for word in words[max(first - 2, 0) : first]]
        if words[first].text in PREPOSITIONS:
            return before[-1:] == ["only"]
        if before == ["used", "to"] or (
            before and (before[-1] in _UNREAL or (before[-1] == "have" and before[0] in _UNREAL))
        ):
            return True
        if words[first].text in _ASKED_VERBS and self._opens_question(first):
            return True
        return self._asks_if(first, first - 4) or self._is_predicate(used)

    def _is_predicate(self, used: Sequence[int]) -> bool:
        """Is it what a question wants to know: "is the box still sealed?"?"""
        first, words = used[0], self.words
        if words[first].sentence not in self._questions:
            return False
        start = self._sentence_start[first]
        opens = words[start].text in ("be", "have", "do") and first - start < _NEAR
        if not opens or not self.ends_clause(used[-1]):
            return False
        between = [word.text for word in words[start + 1 : first] if word.text not in DETERMINERS]
        told = [text for text in between if text not in FUNCTION_WORDS and text not in _SAYING]
        is_other = any(text in CONJUNCTIONS or text in ("if", "when", "not") for text in between)
        return not is_other and len(told) <= (not PRONOUNS.intersection(between))

    def _opens_question(self, i: int) -> bool:
        start = self._sentence_start[i]
        following = self.words[start + 1].text if start + 1 < len(self.words) else ""
        if self.words[start].text not in _OPENERS or following == "not":
            return False
        if following not in PRONOUNS and self.words[start].sentence not in self._questions:
            return False  # "have the receipt" is short for "I have the receipt"
        return i == start or self.distance(start, i) <= 1

    def is_either(self, used: Sequence[int]) -> bool:
        """Do the words leave it open: "with or without", "whether or not"?"""
        before = [word.text for word in self.words[max(used[0] - 2, 0) : used[0]]]
        after = [word.text for word in self.words[used[-1] + 1 : used[-1] + 3]]
        if before == ["with", "or"] or before == ["or", "not"] or after == ["or", "not"]:
            return True
        rest = range(used[-1] + 1, min(used[-1] + 12, len(self.words)))  # "one with a receipt, the other without"
        return any(
            self.ends_clause(i) and (self.words[i].text == "without" or self._is_denied_of_another(i)) for i in rest
        )

    def _is_denied_of_another(self, i: int) -> bool:
        """Does a statement end with word *i*: "the console isn't", not "isn't it?" or "she hasn't"?"""
        who, verb, last = (self.words[k].text for k in (i - 2, i - 1, i))
        return last == "not" and verb in ("be", "have", "do") and who not in PRONOUNS and not self.ends_clause(i - 2)

    def ends_clause(self, i: int) -> bool:
        """Is it the last word of its clause?"""
        return i + 1 == len(self.words) or self.words[i + 1].clause != self.words[i].clause

    def doubt(self, used: Sequence[int]) -> str | None:
        """Why the words *used* need not hold of the case: they are a guess, a wish, past, or said of somebody else."""
        here = [i for i in range(max(used[0] - 12, 0), used[0]) if self.words[i].clause == self.words[used[0]].clause]
        before = [self.words[i].text for i in here]
        pairs = set(pairwise([*before, *(self.words[i].text for i in range(used[0], used[-1] + 1))]))
        is_unsure = not _UNSURE.isdisjoint(before) and pairs.isdisjoint(_NO_DOUBT)
        if is_unsure or any(one in ("not", "never", "without") and two in _NOT_SURE for one, two in pairs):
            return "it is not said for sure"
        if before[-4:-2] == ["not", "sure"] or (("not", "that") in pairs and not self._is_twice_denied(used)):
            return "it is not said for sure"
        wish = next((i for i, text in enumerate(before) if text == "wish"), None)
        if "hope" in before[:-1] and "to" not in before:
            return "it is only wished"
        if (wish is not None and before[wish + 1 : wish + 2] != ["to"]) or before[:2] == ["if", "only"]:
            return "it is only wished"
        if ("to", "become") in pairs:
            return "it is only wished"
        if [text for text in before if text not in DETERMINERS][-3:] == ["used", "to", "be"]:
            return "it is said of the past"
        if before[-1:] and before[-1] in ("from", "of") and not _MOVED.isdisjoint(before):
            return "it is said of the past"
        if any((one in _OTHER and two in _WHO) or (one in _WHO and two == "before") for one, two in pairwise(before)):
            return "it is said of somebody else"
        if self.words[used[0]].text in PREPOSITIONS and _is_promised(before):
            return "it is said of what was promised"
        if before[:1] == ["who"] and here[0] and self.words[here[0] - 1].text in PEOPLE:
            before = [self.words[here[0] - 1].text, *before]
        person = next((i for i, text in enumerate(before) if text in PEOPLE), None)
        if person is not None and self._is_of(before[person + 1 :], used):
            return "it is said of somebody else"
        return None

    def _is_twice_denied(self, used: Sequence[int]) -> bool:
        """Is it "not that I do not have it"? That somebody did not lose a thing does not say that it is there."""
        return any(self.words[i].text == "not" for i in used)

    def _is_of(self, between: Sequence[str], used: Sequence[int]) -> bool:
        """Is it the person's own: "is a student", "lost his receipt"?"""
        verbs = {"be", "have"}.intersection((*between, self.words[used[0]].text))
        if verbs and all(text in verbs or text in DETERMINERS or text == "who" for text in between):
            return True
        rest = range(used[0], min(used[-1] + 6, len(self.words)))
        near = (self.words[i].text for i in rest if self.words[i].clause == self.words[used[0]].clause)
        return any(text in _THEIR_OWN for text in (*between, *near))

    def is_asked_state(self, used: Sequence[int]) -> bool:
        """Is it asked whether something has been done: "has my order been shipped", "he asks whether it was"?"""
        first = used[0]
        if not self.words[used[-1]].text.endswith("ed"):
            return False
        start = self._sentence_start[first]
        is_open = self.words[start].text in ("have", "be") and self.words[first].sentence in self._questions
        return (is_open and used[-1] > start + 1) or (
            self._asks_if(first, first - 5)
            and self.words[max(used[-1] - 1, 0)].text in ("be", "have", "already", "yet")
        )

    def _asks_if(self, i: int, start: int) -> bool:
        """Does "whether", or an "if" that asks ("do you know if"), stand before word *i*, from word *start* on?"""
        words = self.words
        for k in range(i - 1, max(start, 0) - 1, -1):
            if words[k].clause != words[i].clause:
                return False
            before = [word.text for word in words[max(k - 2, 0) : k]]
            if words[k].text == "whether" or (words[k].text == "if" and not _KNOWING.isdisjoint(before)):
                return True
        return False

    def is_said_by_another(self, one: Quantity, other: Quantity) -> bool:
        """Is the *other* number told in a statement of its own: "they charge 280 and we charge 310"?"""
        between = self.words[one.last + 1 : other.first]
        behind = self.words[other.last + 1 : other.last + 2]
        if self.is_corrected(one.end, other.start):
            return False
        does = between[-1:] and between[-1].text.endswith("ed") and between[-1].text not in ("priced", "delivered")
        return bool(does) or any(word.text in _SPEAKERS for word in (*between, *behind))

    def is_taken_back(self, used: Sequence[int]) -> bool:
        """Does the sentence go on with "… but lost it"?"""
        last, words = used[-1], self.words
        return any(
            words[i].text in _LOSING and words[i + 1].text in PRONOUNS
            for i in range(last + 1, min(last + 7, len(words) - 1))
            if words[i].sentence == words[last].sentence
        )

    def is_corrected(self, start: int, end: int, within: int | None = None) -> bool:
        """Does the text between two places take back what stands before: "no wait", "I meant"?

        *within*: at most so many words before *end*.
        """
        found = _CORRECTION.search(self.text, start, end)
        if found is None:
            return False
        return within is None or sum(found.end() <= word.start < end for word in self.words) <= within

    def stands_alone(self, quantity: Quantity, unit: str | None = None) -> bool:
        """Does nothing that it might count follow the number?"""
        if self.ends_clause(quantity.last):
            return True
        text = self.words[quantity.last + 1].text
        if self.text[quantity.end : self.words[quantity.last + 1].start].strip() == "+":
            return True
        return text in FUNCTION_WORDS or (unit is not None and text == singular(unit.casefold()))


def _is_promised(before: Sequence[str]) -> bool:
    """Did somebody say what will be: "the clerk said you would get it back | without a receipt"?"""
    told = next((i for i, text in enumerate(before) if text in _PROMISING), len(before))
    will = next((i for i in range(told + 1, len(before)) if before[i] in _UNREAL or before[i] == "can"), len(before))
    return not _GETTING.isdisjoint(before[will + 1 :])


def _in_place_of(wrong: Value, right: Value, is_alone: bool) -> Value | None:
    """The value that was meant by *right*, which is in the unit of *wrong* where it has none; None for another kind."""
    if type(wrong) is type(right) and not isinstance(right, Number):
        return right
    if not isinstance(right, Number) or not is_alone:
        return None
    if isinstance(wrong, Number):
        return right
    return replace(wrong, amount=right) if isinstance(wrong, Duration | Money) else None


def _is_day(place: Quantity) -> bool:
    """Is a single day named?"""
    span = place.value
    if not isinstance(span, dates.Span) or span.start is None or span.end is None:
        return False
    return (span.end - span.start).days == 1 and place.first <= place.last


def _as_day(place: Quantity) -> Quantity:
    assert isinstance(place.value, dates.Span) and place.value.start is not None  # _is_day
    return replace(place, value=place.value.start)
