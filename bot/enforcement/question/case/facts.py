"""From the words of a question to the facts of a case, by declared words alone. What is not said clearly stays unknown.

A small closed reader: declared phrases, values and synonyms; numbers beside a declared phrase, or in a unit that only
one of the facts has that are asked about; negation within the clause. All else is not read, and what was told and not
used is said. A wrong fact is worse than a missing one, which is asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from bot.enforcement.question.case.amounts import Misread, Test
from bot.enforcement.question.case.mentions import Mention, phrases_of
from bot.enforcement.question.case.numbers import Numbers, figures_of
from bot.enforcement.question.case.statement import NEAR, OBLIGING, Said, Statement
from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.language.figures import Figure
from bylaw.language.lexicon import closed, content
from bylaw.language.text import Text, parse
from bylaw.language.words import singular
from bylaw.logic.formula.ir import Value, ValueMisfit, Variable

_SHORT = 4  # words of a reply that says little beside its number
_MOST_UNUSED = 3  # that are told
_PREPOSITIONS = closed("opening_a_place")


@dataclass(frozen=True, slots=True)
class Read:
    """A fact that the text states, and its words."""

    fact: str
    value: Value
    words: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unclear:
    """Words that speak of a fact without giving its value, why not, and the tests that it passes by them."""

    fact: str
    words: str
    reason: str
    tests: tuple[Test, ...] = ()
    start: int = 0

    @property
    def as_bound(self) -> Read | None:
        """A value that it bounds, at its words; None where it bounds none."""
        end = self.start + len(self.words)
        return Read(self.fact, self.tests[0][1], self.words, self.start, end) if self.tests else None


@dataclass(frozen=True)
class Reading:
    """All that a text says of the declared facts; `unused` are figures that it tells and that say nothing of them."""

    reads: tuple[Read, ...] = ()
    unclear: tuple[Unclear, ...] = ()
    mentioned: frozenset[str] = field(default=frozenset())  # facts that the words touch, read or not
    unused: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, Value]:
        """The facts that were read."""
        return {read.fact: read.value for read in self.reads}


def is_sayable(fact: Fact) -> bool:
    """May words say the fact? Some come only from a system that is trusted, or from what happened before."""
    return fact.assertable is not False and fact.history is None


def read_text(
    text: str,
    vocabulary: Vocabulary,
    variables: Mapping[str, Variable],
    today: date,
    asked: Collection[str] = (),
    near: Collection[str] = (),
) -> Reading:
    """What *text* says. Words that fit several facts are read for the one among those *asked* about.

    What fits none of these may be of one of those *near* it.
    """
    return _Reader(parse(text), vocabulary, variables, today, frozenset(asked), frozenset(near)).read()


def read_reply(
    text: str, name: str, vocabulary: Vocabulary, variables: Mapping[str, Variable], today: date
) -> list[tuple[Value | Misread, str]]:
    """What the figures of a reply are for the one fact that was asked for, each with its words."""
    return [*_Reader(parse(text), vocabulary, variables, today, frozenset((name,))).replied(name)]


class _Reader:
    def __init__(
        self,
        text: Text,
        vocabulary: Vocabulary,
        variables: Mapping[str, Variable],
        today: date,
        asked: frozenset[str],
        near: frozenset[str] = frozenset(),
    ) -> None:
        self.today, self.asked, self.near, self.variables = today, asked, asked | near, variables
        facts = {name: fact for name, fact in vocabulary.facts.items() if name in variables and is_sayable(fact)}
        self.at = Statement(text, facts, phrases_of(vocabulary))
        self.numbers = Numbers(self.at, asked, self.near, today)
        self.measures = [{*self.at.places_of(one)} for one in figures_of(text, today) if one.unit]

    def read(self) -> Reading:
        said = [*self._flags(), *self._values(), *self.numbers.read(), *self.numbers.inexact(), *self.numbers.none()]
        reads, unclear = self._settled(said)
        touched = {one.fact for one in said}
        return Reading(reads, unclear, frozenset(touched), tuple(self._unused(said)))

    def _flags(self) -> Iterator[Said]:
        for one in self.at.mentions:
            if not isinstance(one.value, bool) or not self._is_wanted(one) or self._is_asked(one):
                continue
            outside = self.at.negations(one)
            count = one.negations + len(outside)
            problem = self.at.doubt(one.first) or self._either(one)
            is_far = bool(outside) and not self.at.is_light(outside[-1] + 1, one.first)
            if is_far and self.at.words[one.first].word in _PREPOSITIONS:  # "I can't get it back without a receipt"
                count, outside, is_far = one.negations, [], False
            if count > 1 or is_far:
                problem = problem or "I am not sure what the “not” belongs to"
            start, end = self.at.extent([*one.used, *outside])
            yield Said(one.owner, one.value is not bool(count), start, end, len(one.used), problem)

    def _values(self) -> Iterator[Said]:
        mine = [one for one in self.at.mentions if isinstance(one.value, str) and self._is_wanted(one)]
        following = {(one.owner, one.first): one.value for one in mine}
        mine = [one for one in mine if not self._is_modifier(one, following) and not self._is_verb(one)]
        sharing: dict[frozenset[int], set[str]] = defaultdict(set)
        for one in mine:
            sharing[one.used].add(one.owner)
        for one in mine:
            others = sharing[one.used]
            if len(others) > 1:
                others = self.at.named_near(others, sorted(one.used)) or others
            chosen = others & self.asked if len(others & self.asked) == 1 else others
            if one.owner not in chosen:
                continue
            problem = self.at.doubt(one.first)
            if len(chosen) > 1:
                problem = f"it could also be: {self.at.called(chosen - {one.owner})}"
            outside = self.at.negations(one)
            if outside and self.at.is_light(outside[-1] + 1, one.first):
                problem = "it is denied"
            yield Said(one.owner, one.value, *self.at.extent(one.used), len(one.used), problem)

    def _is_wanted(self, one: Mention) -> bool:
        """Is it of a fact that is asked about, or said in more words than one, and no part of a measure ("8 years")?"""
        if any(one.used < measure for measure in self.measures):
            return False
        carrying = content(self.at.words[i].word for i in one.used)
        is_well_named = len(carrying) > 1 or (not self.asked and not (one.is_name and len(one.used) == 1))
        return one.owner in self.at.facts and (one.owner in self.near or is_well_named)

    def _is_asked(self, one: Mention) -> bool:
        """Is it the question itself ("do you have the receipt?"), and nothing that is told?"""
        least = max(one.first - NEAR, 0)
        first = next(i for i in range(one.first, -1, -1) if i == least or not self.at.is_together(i - 1, one.first))
        opener = self.at.words[first].word
        if not (self.at.is_auxiliary(opener) or opener in OBLIGING) or not self.at.ends_as_question(one.first):
            return False
        behind = self.at.words[one.last + 1].word if self.at.is_inside(one.last + 1, one.first) else ""
        if len(one.used) == 1 and content([behind]):
            return False  # it describes what follows: "vaccinated cats"
        if first == one.first:
            return self.at.is_auxiliary(opener)  # "have the receipt?"
        between = [word.word for word in self.at.words[first + 1 : one.first]]
        is_apart = any(word in self.at.lexicon["splitting"] for word in between)
        is_thing = self.at.words[one.first].word in (
            *self.at.lexicon["determining"].by_first,
            "with",
            "without",
            "no",
            "on",
            "in",
        )
        return not is_apart and not is_thing and len(content(between)) <= 1

    def _is_modifier(self, one: Mention, following: Mapping[tuple[str, int], object]) -> bool:
        """Does another value of the fact follow directly, so that this one only describes it ("laptop charger")?"""
        value = following.get((one.owner, one.last + 1), one.value)
        return value != one.value and self.at.is_together(one.last, one.last + 1)

    def _is_verb(self, one: Mention) -> bool:
        """Is the name of a value what somebody did ("I placed it"), not what something is?"""
        before = self.at.words[one.first - 1].word if one.first else ""
        return one.is_name and len(one.used) == 1 and before in ("i", "we", "you", "he", "she", "they")

    def _either(self, one: Mention) -> str | None:
        """ "With or without a receipt" says neither."""
        said = [word.word for word in self.at.words[max(one.first - 2, 0) : one.first]]
        return "both are mentioned" if said[-1:] == ["or"] and said[0] in _PREPOSITIONS else None

    def _settled(self, said: Sequence[Said]) -> tuple[tuple[Read, ...], tuple[Unclear, ...]]:
        by_fact: dict[str, list[Said]] = defaultdict(list)
        for one in sorted(said, key=lambda one: (one.start, one.end)):
            by_fact[one.fact].append(one)
        settled = [self._settle(fact, readings) for fact, readings in sorted(by_fact.items())]
        reads = sorted((one for one in settled if isinstance(one, Read)), key=lambda read: (read.start, read.fact))
        return tuple(reads), tuple(one for one in settled if isinstance(one, Unclear))

    def _settle(self, fact: str, readings: Sequence[Said]) -> Read | Unclear:
        readings = self._corrected(readings)
        sure = [one for one in readings if one.problem is None]
        if not sure:
            first = readings[0]
            tests = first.tests if all(one.tests == first.tests for one in readings) else ()
            return Unclear(fact, self._quote(first), first.problem or "no value", tests, first.start)
        if len({one.value for one in sure}) > 1:
            words = "” and “".join(dict.fromkeys(map(self._quote, sure)))
            return Unclear(fact, words, "they contradict each other")
        one = max(sure, key=lambda one: (one.rank, one.start - one.end))
        is_date = self.variables[fact].kind == "date" and isinstance(one.value, int)
        try:
            value = self.variables[fact].read(date.fromordinal(one.value) if is_date else one.value)  # type: ignore[arg-type]
        except ValueMisfit as misfit:
            return Unclear(fact, self._quote(one), str(misfit).replace("`", ""))
        return Read(fact, value, self._quote(one), one.start, one.end)

    def _corrected(self, readings: Sequence[Said]) -> Sequence[Said]:
        """Those behind the last correction: "20 days ago, no wait, 40 days ago"."""
        for i in range(len(readings) - 1, 0, -1):
            between = self.at.text.seen[readings[i - 1].end : readings[i].start].casefold()
            said = [word.strip(".,;:!?-") for word in between.split()]
            if said and self.at.lexicon["correcting"].any_in([word for word in said if word]):
                return readings[i:]
        return readings

    def _quote(self, one: Said) -> str:
        return self.at.text.seen[one.start : one.end]

    def _unused(self, said: Sequence[Said]) -> Iterator[str]:
        """The declared words and the figures that are told and not used, these with what is counted."""
        for one in self.at.mentions:
            if one.value is not None and one.owner in self.at.facts and not one.is_name and not self._is_wanted(one):
                start, end = self.at.extent(one.used)
                yield self.at.text.seen[start:end]
        extents = [(one.start, one.end) for one in said] + [self.at.extent(one.used) for one in self.at.mentions]
        taken = {at for start, end in extents for at in range(start, end)}
        found = [one for one in figures_of(self.at.text, self.today) if one.is_firm and not self._is_of_a_name(one)]
        used = {(one.values, one.unit) for one in found if not taken.isdisjoint(range(one.start, one.end))}
        left = [one for one in found if (one.values, one.unit) not in used]
        for figure in left[:_MOST_UNUSED]:
            places = self.at.places_of(figure)
            if places:
                first, last = places[0], places[-1]
                before = self.at.words[first - 1].word if first and self.at.is_together(first - 1, first) else ""
                first -= before in self.at.lexicon["measuring"]
                last += self._is_counted(last + 1, last)
                yield self.at.text.seen[
                    min(self.at.words[first].start, figure.start) : max(self.at.words[last].end, figure.end)
                ]

    def _is_of_a_name(self, figure: Figure) -> bool:
        """Does the number end a name or an identifier: "pol-refund-002"?"""
        return self.at.text.seen[max(figure.start - 2, 0) : figure.start].rstrip("-").isalnum() and (
            self.at.text.seen[figure.start - 1 : figure.start] == "-"
        )

    def _is_counted(self, k: int, i: int) -> bool:
        """Does the thing that is counted stand at *k*, in the plural: "30 bananas"?"""
        return self.at.is_inside(k, i) and singular(self.at.words[k].word) != self.at.words[k].word

    def replied(self, name: str) -> Iterator[tuple[Value | Misread, str]]:
        """What each figure is for a fact that was asked for; one that counts something else is nothing."""
        found = figures_of(self.at.text, self.today)
        for figure in found:
            places = self.at.places_of(figure)
            value = self.numbers.value_of(name, figure)
            is_measured = figure.unit is not None or self.at.facts[name].unit is None
            counts = figure.unit is None and bool(places) and self.numbers.stands_before(places[-1] + 1, name)
            if value is None or (counts and (self.at.facts[name].unit is not None or len(self.at.words) > _SHORT)):
                continue
            is_one = not is_measured and len(found) > 1
            misread = self.numbers.misread(figure, value, frozenset(), is_one)
            yield misread or value, self.at.text.seen[figure.start : figure.end]
