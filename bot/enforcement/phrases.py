"""The phrases of a vocabulary, compiled once, and where they occur in an utterance.

A phrase matches its words in order; determiners are ignored, a few other words may stand between. Every step looks a
bounded distance ahead, so reading is linear in the text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain

from bot.enforcement.utterance import TIMES, Quantity, Utterance
from bot.enforcement.variants import HELPERS, SLOT, of_age, of_flag, of_slot
from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.language.money import Money, currency_of
from bylaw.language.negation import CUES, NO_NEGATION
from bylaw.language.quantities import SPELLED, Unit, factor, unit_at
from bylaw.language.span import listed
from bylaw.language.typos import Correction, Nearest
from bylaw.language.units import Duration, unit_of
from bylaw.language.words import (
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    FUNCTION_WORDS,
    PREPOSITIONS,
    PRONOUNS,
    read_words,
    stem_of,
)

_WEIGHTLESS = DETERMINERS | AUXILIARIES | {"not"}
_VALUE_GAP, _FLAG_GAP, _SLOT_GAP = 1, 2, 6  # words that may stand between the words of a phrase
_MAX_QUANTITIES = 4  # that are tried for one phrase

# Enum values that also are everyday words: read only as the answer to a question.
GENERIC = listed("other none nothing unknown all any general information yes no true false")
_SPEAKERS = PRONOUNS - {"it"}
_WONDERING = listed("if whether sure certain know there")
_LETTERS = {"m": SPELLED[("meter",)], "g": SPELLED[("gram",)]}  # elsewhere "5m" counts millions
_PARTICLES = listed("up off out back down only")


_IMPLIED = frozenset(
    ("", "ago", "time", "be")
)  # of nothing at all, of "3 May", of "twice", of "the order's 45 dollars"


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that say something of a fact. With a slot, `before` and `after` stand around the number."""

    fact: str
    before: tuple[str, ...]
    value: bool | str | None = None
    has_slot: bool = False
    unit: str | None = None
    after: tuple[str, ...] = ()
    gap: int = 0
    exact_case: str | None = None
    is_one_clause: bool = True
    is_ahead: bool = False  # its number is a day to come
    is_behind_thing: bool = False  # said of the thing that is named before it: "phone broken"
    measure: Unit | None = None  # of its number, where it is no duration and no sum

    @property
    def weight(self) -> int:
        """How many words it takes."""
        return len(self.before) + len(self.after)


@dataclass(frozen=True, slots=True)
class Match:
    """An occurrence: the words it used (indexes, ascending), the words skipped, and the number in its slot."""

    phrase: Phrase
    used: tuple[int, ...]
    skipped: int = 0
    quantity: Quantity | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What stands in an utterance: phrases in order of their first words, and (action, the words that name it)."""

    matches: tuple[Match, ...]
    claims: tuple[tuple[str, frozenset[int]], ...]


def phrase_words(text: str) -> tuple[str, ...]:
    """The words of a phrase in normal form, determiners left out (unless there is nothing else)."""
    words = tuple(word.text for word in read_words(text.replace("_", " ")))
    return tuple(word for word in words if word not in DETERMINERS) or words


class Lexicon:
    """Every phrase of one vocabulary by its first word, and the words that a slip of the keyboard may have meant."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        phrases = [phrase for name, fact in sorted(vocabulary.facts.items()) for phrase in _phrases(name, fact)]
        self.by_first: dict[str, list[Phrase]] = defaultdict(list)
        self.slot_first: list[Phrase] = []
        for phrase in dict.fromkeys(phrases):
            if phrase.before:
                self.by_first[phrase.before[0]].append(phrase)
            elif phrase.has_slot:
                self.slot_first.append(phrase)
        self.things = frozenset(phrase.before[-1] for phrase in phrases if isinstance(phrase.value, str))
        self.nouns = _nouns(phrases)
        self.heads = _heads(phrases)
        self.slots_by_end: dict[str, list[Phrase]] = defaultdict(list)
        for phrase in self.slot_first:
            self.slots_by_end[phrase.after[-1] if phrase.after else ""].append(phrase)
        self.claims: dict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
        for name, action in sorted(vocabulary.actions.items()):
            for said in (name, action.label or "", *action.phrases):
                words = phrase_words(said)
                if len(words) > 1:
                    self.claims[words[0]].append((name, words))
        for name in sorted(vocabulary.outcomes):  # "plan access" is no request for access
            words = phrase_words(name)
            if len(words) > 1:
                self.claims[words[0]].append((name, words))
        self.measured = tuple((name, fact) for name, fact in sorted(vocabulary.facts.items()) if _is_measured(fact))
        self.own = _own_words(vocabulary, self.measured)
        self._found: dict[tuple[str, tuple[Quantity, ...]], Found] = {}
        told = chain.from_iterable((*phrase.before, *phrase.after) for phrase in phrases)
        self._nearest = Nearest(word for word in told if word not in HELPERS)
        self._corrections: dict[str, Correction | None] = {}

    def found(self, said: Utterance) -> Found:
        """What stands in *said*. The last few are kept: one turn reads a text for its kind, its topic and its facts."""
        key = said.text, said.quantities
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= 64:
                self._found.clear()
            matcher = Matcher(self, said)
            found = self._found[key] = Found(tuple(matcher.matches()), tuple(matcher.claims()))
        return found

    def correct(self, word: str) -> Correction | None:
        """What a word that is in no phrase was meant to be."""
        if word in FUNCTION_WORDS or word in HELPERS or word[0].isdigit():
            return None
        if len(self._corrections) > 10_000:  # a cache, kept small
            self._corrections.clear()
        if word not in self._corrections:
            self._corrections[word] = self._nearest.correct(word)
        return self._corrections[word]


def is_bare(phrase: Phrase) -> bool:
    """Does the phrase say nothing but the unit: "{value} days ago"?"""
    return all(word in FUNCTION_WORDS for word in (*phrase.before, *phrase.after))


def _nouns(phrases: Sequence[Phrase]) -> dict[tuple[str, str], frozenset[str]]:
    """For a value that is one word and begins its other names, what these go on with: "cancel" of "cancel my plan"."""
    alone = {(phrase.fact, phrase.before[0], phrase.value) for phrase in phrases if len(phrase.before) == 1}
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for phrase in phrases:
        if len(phrase.before) > 1 and (phrase.fact, phrase.before[0], phrase.value) in alone:
            found[phrase.fact, phrase.before[0]].add(phrase.before[1])
    return {key: frozenset(nouns) for key, nouns in found.items()}


def _heads(phrases: Sequence[Phrase]) -> dict[str, frozenset[str]]:
    """The facts whose values have a name that ends with a word: the "card" of "gift card" and of "credit card"."""
    found: dict[str, set[str]] = defaultdict(set)
    for phrase in phrases:
        if isinstance(phrase.value, str) and len(phrase.before) > 1 and phrase.before[0] not in PREPOSITIONS:
            found[phrase.before[-1]].add(phrase.fact)
    return {word: frozenset(facts) for word, facts in found.items()}


def _own_words(vocabulary: Vocabulary, measured: Sequence[tuple[str, Fact]]) -> dict[str, frozenset[str]]:
    """The stems that only one of the measured facts of a unit is called by; names of outcomes are everybody's."""
    common = {stem_of(name) for name in (*vocabulary.outcomes, "value", "amount", "price", "date")}
    called: dict[str, set[str]] = {}
    for name, fact in measured:
        said = fact.phrases if isinstance(fact.phrases, list) else chain(*fact.phrases.values())
        words = chain.from_iterable(map(phrase_words, (fact.label or name, *said)))
        called[name] = {stem_of(word) for word in words if not _is_unit(word)}
    units = {name: fact.unit for name, fact in measured}
    return {
        name: frozenset(mine.difference(common, *(called[other] for other in called if _is_rival(other, name, units))))
        for name, mine in called.items()
    }


def _is_unit(word: str) -> bool:
    is_empty = word in FUNCTION_WORDS or word in _PARTICLES
    return is_empty or unit_of(word) is not None or currency_of(word) is not None


def _is_rival(one: str, other: str, units: Mapping[str, str | None]) -> bool:
    return one != other and units[one] == units[other]


def _is_measured(fact: Fact) -> bool:
    """Does it take a duration, a sum of money or a day, so that one without a phrase may be its value?"""
    unit = fact.unit or ""
    is_number = fact.type in ("integer", "decimal")
    return fact.type == "date" or (is_number and (unit_of(unit) is not None or currency_of(unit) is not None))


def _phrases(name: str, fact: Fact) -> Iterator[Phrase]:
    match fact.type:
        case "boolean":
            yield from _flag_phrases(name, fact)
        case "enum":
            for value, synonyms in fact.values.items():
                for said in (value, *synonyms):
                    words = phrase_words(said)
                    if words[1:] and words[0] == "in":  # "at the store" is where "in the store" is
                        yield Phrase(name, ("at", *words[1:]), value, gap=_VALUE_GAP, is_one_clause="," not in said)
                    if words and " ".join(words) not in GENERIC:
                        exact_case = said if len(words) == 1 and words[0] in FUNCTION_WORDS else None
                        gap = _VALUE_GAP if len(words) > 1 else 0
                        one = "," not in said
                        yield Phrase(name, words, value, gap=gap, exact_case=exact_case, is_one_clause=one)
        case _:
            said_of = fact.phrases if isinstance(fact.phrases, list) else list(chain(*fact.phrases.values()))
            for said in said_of:
                if said.count(SLOT) == 1:
                    phrase = _slot_phrase(name, said, fact)
                    is_count = fact.unit is None and phrase.unit is None and phrase.measure is None
                    yield phrase
                    ways = list(of_slot(said, is_count))
                    yield from (_slot_phrase(name, way, fact) for way in ways)
                    if unit_of(fact.unit or "") == "days":
                        ahead = (way for way in (said, *ways) if way.partition(SLOT)[0].endswith(" in "))
                        yield from (_ahead(name, way) for way in ahead)
            if name.endswith("_age") and unit_of(fact.unit or "") == "years":
                yield from (_slot_phrase(name, way, fact) for way in of_age(name))


def _flag_phrases(name: str, fact: Fact) -> Iterator[Phrase]:
    said = fact.phrases if isinstance(fact.phrases, dict) else {"true": fact.phrases}
    texts = [(text, key == "true") for key in ("true", "false") for text in said.get(key, ())]
    for text, value in of_flag(name, texts):
        words = phrase_words(text)
        if words and not all(word in FUNCTION_WORDS for word in words):
            yield Phrase(name, words, value, gap=_FLAG_GAP, is_one_clause="," not in text)
    for text, value in texts:
        if text.startswith("is ") and len(text.split()) == 2:
            yield Phrase(name, phrase_words(text)[1:], value, is_behind_thing=True)


def _slot_phrase(name: str, said: str, fact: Fact) -> Phrase:
    left, right = (part.strip() for part in said.split(SLOT))
    unit = currency_of(left[-1:]) if left else None
    after, is_sum = phrase_words(right), currency_of(fact.unit or "") is not None
    if right.startswith("%"):
        unit = "%"
    for length in (2, 1):
        named = " ".join(after[:length])
        found = None if is_sum else unit_of(named)  # "{value} a night" is a price
        found = found or (currency_of(named) if length == 1 else None)
        if len(after) >= length and found is not None:
            unit, after = found, after[length:]
            break
    measured = unit_at(after, 0) if unit is None and not is_sum else None
    if measured is not None:
        after = after[measured[0] :]
    measure = None if measured is None else measured[1]
    return Phrase(name, phrase_words(left), has_slot=True, unit=unit, after=after, gap=_SLOT_GAP, measure=measure)


def _ahead(name: str, said: str) -> Phrase:
    """The phrase for the day itself: "renews on 1 December" for "renews in {value} days"."""
    return Phrase(name, phrase_words(said.partition(SLOT)[0])[:-1], has_slot=True, gap=_SLOT_GAP, is_ahead=True)


class Matcher:
    """Finds the phrases of a lexicon in one utterance."""

    def __init__(self, lexicon: Lexicon, said: Utterance) -> None:
        self.lexicon, self.said = lexicon, said
        self._corrected: list[Correction | None] = [lexicon.correct(word.text) for word in said.words]
        self._by_first_word = {quantity.first: k for k, quantity in enumerate(said.quantities)}
        meant = {correction.word for correction in self._corrected if correction is not None}
        self._present = {word.text for word in said.words} | meant | _IMPLIED
        ends = self._present & lexicon.slots_by_end.keys() if said.quantities else ()
        self._slot_first = [phrase for end in sorted(ends) for phrase in lexicon.slots_by_end[end]]

    def matches(self) -> Iterator[Match]:
        """Every occurrence of every phrase, in order of its first word."""
        for i, word in enumerate(self.said.words):
            keys = {word.text} | ({meant.word} if (meant := self._corrected[i]) else set())
            if word.text == "be" and self._has_s(i):  # "he's had it"
                keys.add("have")
            for key in sorted(keys):
                for phrase in self.lexicon.by_first.get(key, ()):
                    if phrase.before[-1] in self._present:
                        yield from self._at(phrase, i)
            k = self._by_first_word.get(i)
            if k is not None:
                for phrase in self._slot_first:
                    used = self._around(phrase, (), self.said.quantities[k])
                    if used is not None:
                        yield Match(phrase, used, 0, self.said.quantities[k])

    def claims(self) -> Iterator[tuple[str, frozenset[int]]]:
        """Where the names of actions stand: (action, the words used)."""
        for i, word in enumerate(self.said.words):
            for action, words in self.lexicon.claims.get(word.text, ()):
                used = self._follow(words, i, 0, within_clause=True)
                if used is not None:
                    yield action, frozenset(used)

    def _at(self, phrase: Phrase, i: int) -> Iterator[Match]:
        used = self._follow(phrase.before, i, phrase.gap, within_clause=phrase.is_one_clause and not phrase.has_slot)
        if used is None or not self._is_sure(phrase, used) or (phrase.is_behind_thing and not self._is_behind_thing(i)):
            return
        if not phrase.has_slot:
            if phrase.exact_case is None or self._has_case(used[0], phrase.exact_case):
                yield Match(phrase, used, self.said.distance(used[0], used[-1]) - max(len(used) - 2, 0))
            return
        for quantity in self._candidates(used, is_past="ago" in phrase.after):
            around = self._around(phrase, used, quantity)
            if around is not None:
                near = (used[-1], quantity.first) if quantity.first > used[-1] else (quantity.last, used[0])
                yield Match(phrase, around, self.said.distance(*near), quantity)

    def _is_behind_thing(self, i: int) -> bool:
        """Is word *i* told of the thing before it: "phone broken", but neither "phone, broken" nor "phone broken?"?"""
        words, text = self.said.words, self.said.text
        if not i or words[i - 1].text not in self.lexicon.things or words[i - 1].clause != words[i].clause:
            return False
        return "?" not in text[words[i].end : words[i + 1].start if i + 1 < len(words) else len(text)]

    def _follow(self, literals: Sequence[str], i: int, gap: int, within_clause: bool) -> tuple[int, ...] | None:
        """The places of *literals* from word *i* on, None where one is missing."""
        words = self.said.words
        used = [i]
        for literal in literals[1:]:
            if literal == "be" and self._has_s(used[-1]):
                continue
            k, skipped = used[-1] + 1, 0
            while k < len(words) and words[k].sentence == words[i].sentence:
                if words[k].clause != words[i].clause and (within_clause or words[k].text in _SPEAKERS):
                    return None  # "the competitor has it for $249, we charge …"
                if self._is(k, literal):
                    break
                skipped += words[k].text not in _WEIGHTLESS
                if skipped > gap or (within_clause and self._ends(words[k].text, literals)):
                    return None
                k += 1
            else:
                return None
            used.append(k)
        return tuple(used)

    def _ends(self, text: str, literals: Sequence[str]) -> bool:
        """May the words of a phrase not stand around this one: "I do not | doubt that she has the receipt"?"""
        if text in CONJUNCTIONS or text == literals[0]:
            return True
        if literals[0] == "nor":
            return text in AUXILIARIES
        is_another = text in PRONOUNS or text in NO_NEGATION or text in _WONDERING
        return is_another and not CUES.isdisjoint(literals)

    def _is(self, i: int, literal: str) -> bool:
        meant = self._corrected[i]
        text = self.said.words[i].text
        return text == literal or (meant is not None and meant.word == literal) or (text, literal) == ("back", "ago")

    def _has_s(self, i: int) -> bool:
        """Is a "be" written at its end: "the order's 45 dollars"?"""
        return self.said.text[self.said.words[i].start : self.said.words[i].end].endswith(("'s", "’s"))

    def _is_sure(self, phrase: Phrase, used: Sequence[int]) -> bool:
        """A weak correction needs a word beside it that is spelled right, and "no problem with" lacks nothing."""
        if phrase.before[0] in CUES and len(used) > 1 and self.said.words[used[0] + 1].text in NO_NEGATION:
            return False
        slips = [self._corrected[i] for i in used if self._corrected[i] is not None]
        if not any(slip is not None and slip.strength == "weak" for slip in slips):
            return True
        return any(self._corrected[i] is None and self.said.words[i].text not in FUNCTION_WORDS for i in used)

    def _has_case(self, i: int, written: str) -> bool:
        """Is it written just so? "US" is a region only in capitals, and only where not everything is."""
        word = self.said.words[i]
        return self.said.text[word.start : word.end] == written and not self.said.text.isupper()

    def _candidates(self, used: Sequence[int], is_past: bool) -> list[Quantity]:
        """The quantities near the words of a phrase: behind them, and for "… ago" also in front."""
        quantities, words = self.said.quantities, self.said.words
        # a date takes its "on" along, so it may begin with the last word of the phrase
        ahead = range(used[0] + 1, min(used[-1] + 16, len(words)))
        k = next((self._by_first_word[i] for i in ahead if i in self._by_first_word), len(quantities))
        found = [
            quantity
            for quantity in quantities[k : k + _MAX_QUANTITIES]
            if quantity.last > used[-1]
            and words[quantity.first].sentence == words[used[-1]].sentence
            and self.said.distance(used[-1], quantity.first) <= _SLOT_GAP
        ]
        found += self._told_before(used)
        here = words[used[-1]].clause
        if is_past and not any(is_past_or_long(one) and words[one.first].clause == here for one in found):
            for i in range(used[0] - 1, max(used[0] - 10, -1), -1):
                near = self._by_first_word.get(i)
                if near is not None and words[i].sentence == words[used[0]].sentence:
                    found.append(quantities[near])
        return found

    def _told_before(self, used: Sequence[int]) -> list[Quantity]:
        """The sum that a relative clause goes on: "the 120 dollars (that) they paid"."""
        words, i = self.said.words, used[0] - 1
        if i < 1 or words[i].text not in PRONOUNS:
            return []
        i -= words[i - 1].text in ("that", "which")
        found = [quantity for quantity in self.said.quantities if quantity.last == i - 1]
        return [one for one in found if isinstance(one.value, Money) and words[i].sentence == words[one.last].sentence]

    def _is_since(self, k: int, quantity: Quantity, used: Sequence[int]) -> bool:
        """Is it "20 days since I bought it"?"""
        return bool(used) and used[0] > quantity.last and k < used[0] and self.said.words[k].text in ("since", "after")

    def _around(self, phrase: Phrase, used: Sequence[int], quantity: Quantity) -> tuple[int, ...] | None:
        """All words of the phrase, if what must stand behind the number does."""
        places = list(used)
        k = quantity.last + 1
        if phrase.measure is not None:
            told = unit_told(self.said, quantity)
            if told is None or factor(told[1], phrase.measure) is None:
                return None
            places += range(k, k + told[0])
            k += told[0]
        for literal in phrase.after:
            if literal == "time" and quantity.words.casefold() in TIMES:
                continue
            if literal == "ago" and (is_past(quantity) or self._is_since(k, quantity, used)):
                continue
            skipped = 0
            while k < len(self.said.words) and not self._is(k, literal) and skipped < 2:
                skipped += self.said.words[k].text not in DETERMINERS
                k += 1
            if k >= len(self.said.words) or not self._is(k, literal):
                return None
            if skipped and literal != "ago":
                return None
            places.append(k)
            k += 1
        return tuple(sorted({*places, *range(quantity.first, quantity.last + 1)}))


def unit_told(said: Utterance, quantity: Quantity) -> tuple[int, Unit] | None:
    """The unit of measure behind a bare number, and how many words it takes."""
    behind = [word.text for word in said.words[quantity.last + 1 : quantity.last + 6]]
    letter = _LETTERS.get(behind[0]) if behind else None
    return unit_at(behind, 0) if letter is None else (1, letter)


def is_past_or_long(quantity: Quantity) -> bool:
    """Is it a day or a duration?"""
    return isinstance(quantity.value, date | Duration)


def is_past(quantity: Quantity) -> bool:
    """Do its own words say that it lies in the past: "yesterday", "on 3 May"?"""
    return isinstance(quantity.value, date) or bool(getattr(quantity.value, "is_ago", False))
