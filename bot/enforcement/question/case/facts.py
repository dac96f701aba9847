"""From the words of a question to the facts of a case, by declared words alone. What is not said clearly stays unknown.

A small closed reader: declared phrases, values and synonyms; numbers beside a declared phrase, or in a unit that only
one of the facts has that are asked about; negation within the clause. All else is not read, and what was told and not
used is said. A wrong fact is worse than a missing one, which is asked for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from functools import lru_cache
from itertools import takewhile

from bot.enforcement.question.case.mentions import Mention, Place, phrases_of, words_of
from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.language import dates
from bylaw.language.days import find_days
from bylaw.language.figures import Figure, figures, unit_named
from bylaw.language.lexicon import closed, content, lexicon, stem
from bylaw.language.text import Text, parse
from bylaw.language.text import words_of as plain_words
from bylaw.language.words import singular
from bylaw.logic.formula.ir import Value, ValueMisfit, Variable, exact

BOUND = "it gives a bound or a range, not one value"
_SHORT = 4  # words of a reply that says little beside its number
_MOST_UNUSED = 3  # that are told
_NEAR = 12  # words before a phrase in which it may be doubted
_NAMED, _WELL_NAMED = 5, 15  # the ranks of one and of two declared words around a number
_AUXILIARY, _OBLIGING = closed("bare_auxiliary"), closed("obliging")
_PREPOSITIONS = closed("opening_a_place")
_ONE_PERSON, _COMING_OF_AGE, _AGING = closed("one_person"), closed("coming_of_age"), closed("aging")
_KIN = frozenset(map(stem, closed("kin")))
_RANGES = frozenset(("to", "-", "–", "or", "till", "until", "and"))
_YEAR = {("years", "months"): Fraction(12), ("months", "years"): Fraction(1, 12)}


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
    """Words that speak of a fact without giving its value, and why not."""

    fact: str
    words: str
    reason: str


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


@dataclass(frozen=True, slots=True)
class Misread:
    """Why a figure gives a fact no value."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Said:
    """One reading of one fact before they are compared. `problem` is why it gives no value."""

    fact: str
    value: Value | None
    start: int
    end: int
    rank: int = 0
    problem: str | None = None


def is_sayable(fact: Fact) -> bool:
    """May words say the fact? Some come only from a system that is trusted, or from what happened before."""
    return fact.assertable is not False and fact.history is None


def read_facts(text: str, vocabulary: Vocabulary, variables: Mapping[str, Variable], today: date) -> tuple[Read, ...]:
    """The facts that *text* states, one reading a fact, in the order of the text."""
    return read_text(text, vocabulary, variables, today).reads


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


def read_unsure(
    text: str, name: str, vocabulary: Vocabulary, variables: Mapping[str, Variable], today: date, used: Sequence[Read]
) -> Value | None:
    """The only number of *text* that tells nothing else, where it could be what is asked. It has to be confirmed."""
    free = [
        one for one in figures_of(parse(text), today) if all(one.end <= r.start or r.end <= one.start for r in used)
    ]
    if len(free) != 1:
        return None
    reader = _Reader(parse(text), vocabulary, variables, today, frozenset((name,)))
    value = reader.value_of(name, free[0])
    if value is None or isinstance(value, Misread) or reader.problem(free[0], frozenset(), is_inexact=False):
        return None
    try:
        return variables[name].read(value)
    except ValueMisfit:
        return None


def figures_of(text: Text, today: date) -> tuple[Figure, ...]:
    """The figures of *text* and the days that it names as people do: yesterday, on Tuesday."""
    return _figures(text.source, today)


@lru_cache(maxsize=128)
def _figures(source: str, today: date) -> tuple[Figure, ...]:
    text, found = parse(source), list(figures(source))
    spans = (span for span in dates.find(text.seen, today) if span.start is not None and span.end is not None)
    days = [(one.begins, one.ends, one.start) for one in spans if (one.end - one.start).days == 1]  # type: ignore[operator]
    named = [(start, end, day) for start, end, day in find_days(text.seen, today) if day is not None]
    days += [(start + 3 * text.seen[start:end].casefold().startswith("on "), end, day) for start, end, day in named]
    taken = {at for one in found for at in range(one.start, one.end)}
    for start, end, day in days:
        if taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            found.append(Figure(start, end, (day,), "date", core=end))  # type: ignore[arg-type]
    return tuple(sorted(found, key=lambda one: one.start))


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
        self.text, self.today, self.asked, self.near = text, today, asked, asked | near
        self.facts = {name: fact for name, fact in vocabulary.facts.items() if name in variables and is_sayable(fact)}
        self.variables, self.lexicon = variables, lexicon()
        self.phrases = phrases_of(vocabulary)
        self.words = words_of(text)
        self.starts = [word.start for word in self.words]
        self.mentions = self.phrases.find(self.words)
        self.taken = {i for one in self.mentions for i in one.used}

    def read(self) -> Reading:
        said = [*self._flags(), *self._values(), *self._numbers(), *self._inexact()]
        reads, unclear = self._settled(said)
        touched = {one.fact for one in said}
        return Reading(reads, unclear, frozenset(touched), tuple(self._unused(said)))

    def replied(self, name: str) -> Iterator[tuple[Value | Misread, str]]:
        """What each figure is for a fact that was asked for; one that counts something else is nothing."""
        found = figures_of(self.text, self.today)
        for figure in found:
            places = self._places_of(figure)
            value = self.value_of(name, figure)
            is_measured = figure.unit is not None or self.facts[name].unit is None
            counts = figure.unit is None and bool(places) and self._stands_before(places[-1] + 1, name)
            if value is None or (counts and (self.facts[name].unit is not None or len(self.words) > _SHORT)):
                continue
            is_one = not is_measured and len(found) > 1
            problem = self.problem(figure, frozenset(), is_one)
            yield (value if problem is None else Misread(problem)), self.text.seen[figure.start : figure.end]

    # ---- flags and categories ---------------------------------------------------------------------------------------

    def _flags(self) -> Iterator[_Said]:
        for one in self.mentions:
            if not isinstance(one.value, bool) or not self._is_wanted(one) or self._is_asked(one):
                continue
            outside = self._negations(one)
            count = one.negations + len(outside)
            problem = self._doubt(one.first) or self._either(one)
            is_far = bool(outside) and not self._is_light(outside[-1] + 1, one.first)
            if is_far and self.words[one.first].word in _PREPOSITIONS:  # "I can't get it back without a receipt"
                count, outside, is_far = one.negations, [], False
            if count > 1 or is_far:
                problem = problem or "I am not sure what the “not” belongs to"
            start, end = self._extent([*one.used, *outside])
            yield _Said(one.owner, one.value is not bool(count), start, end, len(one.used), problem)

    def _values(self) -> Iterator[_Said]:
        mine = [one for one in self.mentions if isinstance(one.value, str) and self._is_wanted(one)]
        following = {(one.owner, one.first): one.value for one in mine}
        mine = [one for one in mine if not self._is_modifier(one, following) and not self._is_verb(one)]
        sharing: dict[frozenset[int], set[str]] = defaultdict(set)
        for one in mine:
            sharing[one.used].add(one.owner)
        for one in mine:
            others = sharing[one.used]
            if len(others) > 1:
                others = self._named_near(others, sorted(one.used)) or others
            chosen = others & self.asked if len(others & self.asked) == 1 else others
            if one.owner not in chosen:
                continue
            problem = self._doubt(one.first)
            if len(chosen) > 1:
                problem = f"it could also be: {self._called(chosen - {one.owner})}"
            outside = self._negations(one)
            if outside and self._is_light(outside[-1] + 1, one.first):
                problem = "it is denied"
            yield _Said(one.owner, one.value, *self._extent(one.used), len(one.used), problem)

    def _is_wanted(self, one: Mention) -> bool:
        """Is it of a fact that is asked about, or said in more words than one?"""
        carrying = content(self.words[i].word for i in one.used)
        is_well_named = len(carrying) > 1 or (not self.asked and not (one.is_name and len(one.used) == 1))
        return one.owner in self.facts and (one.owner in self.near or is_well_named)

    def _is_asked(self, one: Mention) -> bool:
        """Is it the question itself ("do you have the receipt?"), and nothing that is told?"""
        least = max(one.first - _NEAR, 0)
        first = next(i for i in range(one.first, -1, -1) if i == least or not self._is_together(i - 1, one.first))
        opener = self.words[first].word
        if not (self._is_auxiliary(opener) or opener in _OBLIGING) or not self._ends_as_question(one.first):
            return False
        behind = self.words[one.last + 1].word if self._is_inside(one.last + 1, one.first) else ""
        if len(one.used) == 1 and content([behind]):
            return False  # it describes what follows: "vaccinated cats"
        if first == one.first:
            return self._is_auxiliary(opener)  # "have the receipt?"
        between = [word.word for word in self.words[first + 1 : one.first]]
        is_apart = any(word in self.lexicon["splitting"] for word in between)
        is_thing = self.words[one.first].word in (
            *self.lexicon["determining"].by_first,
            "with",
            "without",
            "no",
            "on",
            "in",
        )
        return not is_apart and not is_thing and len(content(between)) <= 1

    def _ends_as_question(self, i: int) -> bool:
        passage = self.text.passages[self.words[i].passage - 1]
        return self.text.seen[passage.start : passage.end].rstrip(" )\"'”").endswith("?")

    def _is_modifier(self, one: Mention, following: Mapping[tuple[str, int], object]) -> bool:
        """Does another value of the fact follow directly, so that this one only describes it ("laptop charger")?"""
        value = following.get((one.owner, one.last + 1), one.value)
        return value != one.value and self._is_together(one.last, one.last + 1)

    def _is_verb(self, one: Mention) -> bool:
        """Is the name of a value what somebody did ("I placed it"), not what something is?"""
        before = self.words[one.first - 1].word if one.first else ""
        return one.is_name and len(one.used) == 1 and before in ("i", "we", "you", "he", "she", "they")

    # ---- numbers ----------------------------------------------------------------------------------------------------

    def _numbers(self) -> Iterator[_Said]:
        found = figures_of(self.text, self.today)
        untold: list[tuple[Figure, bool]] = []
        known: set[str] = set()
        for before, figure, after in zip((None, *found), found, (*found[1:], None), strict=False):
            is_last = before is not None and self._is_range(before, figure)
            is_inexact = is_last or (after is not None and self._is_range(figure, after))
            if is_last and before is not None:
                figure = replace(figure, start=before.start)  # "10 to 15 days" is one
            if (aged := self._age(figure, is_inexact)) is not None:
                yield aged
                continue
            around = [one for one in self.phrases.places(self.words, self.starts, figure) if one.fact in self.facts]
            known.update(one.fact for one in around if one.rank > 0)
            places = [one for one in around if self._may_be_meant(one, figure)]
            if not figure.is_firm and not any(place.rank >= _NAMED for place in places):
                continue
            options = [(place, value) for place in places if (value := self.value_of(place.fact, figure)) is not None]
            if options:
                best = [(self._by_own_unit(place, figure), value) for place, value in options]
                yield from self._of_figure(figure, best, is_inexact)
            elif not any(one.rank >= _NAMED and self.value_of(one.fact, figure) is not None for one in around):
                untold.append((figure, is_inexact))
        for figure, is_inexact in untold:
            yield from self._by_unit(figure, known, is_inexact)

    def _age(self, figure: Figure, is_inexact: bool) -> _Said | None:
        """A number without a unit that a person is, or is of ("she is 12", "a child of 12"): the only age in years."""
        used = self._places_of(figure)
        ages = [name for name in self.phrases.ages if name in self.facts]
        asked = [name for name in ages if name in self.asked] or ages
        if figure.unit is not None or len(used) != 1 or len(asked) != 1:
            return None
        first = self._aged_from(used[0])
        value = self.value_of(asked[0], figure)
        if first is None or value is None or isinstance(value, Misread):
            return None
        start, end = self._extent([first, *used], figure)
        return _Said(asked[0], value, start, end, _WELL_NAMED, self.problem(figure, frozenset(used), is_inexact))

    def _aged_from(self, k: int) -> int | None:
        """Where the words begin that make the number at *k* the years of one person; None where none do."""
        said = [self.words[i].word for i in range(max(k - 2, 0), k) if self._is_together(i, k)]
        behind = self.words[k + 1].word if self._is_inside(k + 1, k) else ""
        match said:
            case [*_, before] if before in _AGING:
                return k - 1
            case [who, "of"] if self._is_person(who):
                return k - 2
            case [who, verb] if verb in _COMING_OF_AGE and (who in _ONE_PERSON or self._is_person(who)):
                return None if content([behind]) or behind == "of" else k - 2
        return None

    def _is_person(self, word: str) -> bool:
        """Is it a word for a person: by family or age, or as the question for the age calls whom it asks about?"""
        return stem(word) in _KIN or any(stem(word) in self._own(name) for name in self.phrases.ages)

    def _inexact(self) -> Iterator[_Said]:
        """Words of a fact around what is no number: "renewed it a few times"."""
        said = [word.word for word in self.words]
        for first, behind in self.lexicon["inexact"].find(said):
            if first and said[first - 1] == "how":
                continue
            unit = self.lexicon.unit(said, behind) if behind < len(said) else None
            last = behind - 1 + (unit[1] if unit else 0)
            core, end = self.words[behind - 1].end, self.words[last].end
            figure = Figure(self.words[first].start, end, (), unit[0] if unit else None, core=core)
            for place in self.phrases.places(self.words, self.starts, figure):
                if place.fact in self.facts and place.rank >= _NAMED:
                    extent = self._extent(place.used, figure)
                    yield _Said(place.fact, None, *extent, place.rank, "it does not say exactly how many")

    def _may_be_meant(self, place: Place, figure: Figure) -> bool:
        """Is a number that counts something else no value, and one of a fact that nobody asked about well named?"""
        is_asked = place.fact in self.near
        least = 1 if figure.unit == "date" else 0 if is_asked else _WELL_NAMED if self.asked else 1
        if place.rank < least:
            return False
        used, measured = self._places_of(figure), self.facts[place.fact].unit is not None
        return not (
            measured and figure.unit is None and used and self._counts_another(figure, used[-1] + 1, place.fact)
        )

    def _by_own_unit(self, place: Place, figure: Figure) -> Place:
        """Of two facts whose words fit, the one in whose very unit the number is told fits better."""
        is_own = figure.unit is not None and figure.unit == unit_named(self.facts[place.fact].unit)
        return replace(place, rank=place.rank + is_own)

    def _of_figure(
        self, figure: Figure, options: Sequence[tuple[Place, Value | Misread]], is_inexact: bool
    ) -> Iterator[_Said]:
        """The reading of one number beside words of facts: the best fitting words speak for it."""
        best = max(place.rank for place, _ in options)
        top = {place.fact: (place, value) for place, value in options if place.rank == best}
        rivals = (
            self._measured_so(figure, self.asked) - set(top) if best == 0 else set()
        )  # nothing but the unit is declared
        if best == 0 and not set(top) & self.asked and rivals:
            yield from self._by_unit(figure, set(), is_inexact)
            return
        names = set(top) & self.asked if len(top) > 1 and len(set(top) & self.asked) == 1 else set(top)
        for name in sorted(names):
            place, value = top[name]
            start, end = self._extent(place.used, figure)
            problem = self.problem(figure, place.used, is_inexact)
            if len(names) > 1:
                problem = f"it could also be: {self._called(names - {name})}"
            if isinstance(value, Misread):
                problem, value = problem or value.reason, None  # type: ignore[assignment]  # a reason is no value
            yield _Said(name, value, start, end, best, problem)  # type: ignore[arg-type]

    def _by_unit(self, figure: Figure, known: Collection[str], is_inexact: bool) -> Iterator[_Said]:
        """A number without declared words, where only one of the facts asked about is measured so."""
        if not figure.is_firm or figure.per or figure.unit == "date":
            return
        used = self._places_of(figure)
        fits = self._measured_so(figure, self.asked) - set(known)
        rivals = self._measured_so(figure, self.near)
        own = {name for name in fits | rivals if unit_named(self.facts[name].unit) == figure.unit}
        if len(own) == 1 and figure.unit is not None:
            fits &= own
        elif fits and len(fits | rivals) > 1:
            fits &= self._named_near(fits | rivals, used) if used else set()
        if len(fits) != 1 or not used or self._counts_another(figure, used[-1] + 1, next(iter(fits))):
            return
        name = next(iter(fits))
        value = self.value_of(name, figure)
        if value is None or set(used) <= self.taken:
            return
        problem = self.problem(figure, frozenset(used), is_inexact)
        if isinstance(value, Misread):
            yield _Said(name, None, figure.start, figure.end, 0, problem or value.reason)
        else:
            yield _Said(name, value, figure.start, figure.end, 0, problem)

    def _named_near(self, names: Collection[str], used: Sequence[int]) -> set[str]:
        """Those of *names* that the most words of the statement around some places speak of; none where none does."""
        behind = takewhile(lambda i: self._goes_on(used[-1], i), range(used[-1] + 1, len(self.words)))
        near = {stem(self.words[i].word) for i in (*self._before(used[0]), *behind)}
        named = {name: len(near & self._own(name)) for name in names}
        most = max(named.values())
        return {name for name in names if most and named[name] == most}

    def _goes_on(self, one: int, other: int) -> bool:
        return self._is_together(one, other) and self.words[other].word not in self.lexicon["splitting"]

    def _measured_so(self, figure: Figure, names: Collection[str]) -> set[str]:
        """Those of *names* that have such a unit; a number without one counts what it stands before."""
        numbers = {name: self.facts[name].unit for name in names if self._is_number(name)}
        used = self._places_of(figure)
        behind = (
            [figure.unit]
            if figure.unit
            else [word.word for word in self.words[used[-1] + 1 : used[-1] + 2]]
            if used
            else []
        )
        counted = {
            name for name, unit in numbers.items() if unit is None and any(stem(w) in self._own(name) for w in behind)
        }
        if figure.unit is None:
            return counted
        return counted | {name for name, unit in numbers.items() if unit and self._ratio(name, figure.unit) is not None}

    def _is_number(self, name: str) -> bool:
        return name in self.facts and self.facts[name].type in ("integer", "decimal")

    def _counts_another(self, figure: Figure, k: int, name: str) -> bool:
        """Does a noun of something else stand behind the number?"""
        is_sum = (figure.unit or "").isupper()  # "a $40 mouse" tells a price, of whatever it is
        if k >= len(self.words) or not self._is_together(k - 1, k) or (k in self.taken and not is_sum):
            return False
        return (figure.unit is None or is_sum) and self._stands_before(k, name)

    def _stands_before(self, k: int, name: str) -> bool:
        """Is what stands at *k* a word of something else than a fact?"""
        if k >= len(self.words) or not self._is_together(k - 1, k):
            return False
        word = self.words[k].word
        is_light = word in self.lexicon["dimension"] or not content([word])
        return word[0].isdecimal() or not (is_light or stem(word) in self._own(name))

    def _own(self, name: str) -> frozenset[str]:
        """The stems of what a fact is called."""
        fact = self.facts[name]
        return content(plain_words(f"{name} {fact.label or ''} {fact.ask or ''}")) - _GENERAL

    def value_of(self, name: str, figure: Figure) -> Value | Misread | None:
        """What *figure* is for a fact: its value, why it is none, or None where it measures something else."""
        fact = self.facts[name]
        if fact.type == "date" or figure.unit == "date":
            return self._day(fact, figure)
        if fact.type not in ("integer", "decimal") or any(isinstance(one, date) for one in figure.values):
            return None
        ratio = self._ratio(name, figure.unit)
        if ratio is None:
            is_money = (figure.unit or "").isupper() and (unit_named(fact.unit) or "").isupper()
            is_working = figure.unit == "business_days" and unit_named(fact.unit) in self.lexicon.sizes
            told = (figure.unit or "").replace("_", " ")
            return Misread(f"it is in {told}, not in {fact.unit}") if is_money or is_working else None
        values = {ratio * one for one in figure.values if not isinstance(one, date)}
        if figure.unit not in (None, "percent") and Fraction(1, 2) in figure.values:
            values = {ratio / 2}  # half an hour is no 50 per cent
        if fact.type == "integer":
            values = {one for one in values if one.denominator == 1} if len(values) > 1 else values
        if len(values) != 1:
            return Misread("it can be read in two ways")
        value = values.pop()
        if fact.type == "integer" and value.denominator != 1:
            return Misread(f"it is not a whole number{f' of {fact.unit}' if fact.unit else ''}")
        return exact(value)

    def _ratio(self, name: str, unit: str | None) -> Fraction | None:
        """How many of the fact's unit one of the figure's is; None where they do not convert."""
        own = unit_named(self.facts[name].unit)
        if unit == own or unit is None or (own is None and unit is not None and not unit.isupper()):
            return Fraction(1)
        if (unit, own) in _YEAR:
            return _YEAR[unit, own]  # type: ignore[index]  # it is a pair of units
        if unit == "cents" and own and own.isupper():
            return Fraction(1, 100)
        sizes = self.lexicon.sizes
        if own not in sizes or unit not in sizes or sizes[unit][0] != sizes[own][0]:
            return None
        return sizes[unit][1] / sizes[own][1]

    def _day(self, fact: Fact, figure: Figure) -> Value | Misread | None:
        """A day as a date, or as the number of days since or until it."""
        days = [one for one in figure.values if isinstance(one, date)]
        if not days:
            return None
        if figure.unit == "day of the year":
            days, figure = [self._latest(days[0])], replace(figure, unit="date")
        if figure.unit != "date" or len(days) > 1:
            return Misread("it can be read in two ways") if fact.type == "date" else None
        if fact.type == "date":
            return days[0].toordinal()
        if unit_named(fact.unit) != "days" or fact.type != "integer":
            return None
        says_ago = any("ago" in one.split() for one in fact.phrases)
        apart = (self.today - days[0]).days
        return apart if says_ago and apart >= 0 else -apart if not says_ago and apart <= 0 else None

    def _latest(self, day: date) -> date:
        """The last day of that name up to today."""
        year = self.today.year - ((day.month, day.day) > (self.today.month, self.today.day))
        return day.replace(year=year) if (day.month, day.day) != (2, 29) else date(year, 3, 1)

    def problem(self, figure: Figure, used: frozenset[int], is_inexact: bool) -> str | None:
        """Why a number is not what the person says, as far as the words around it tell."""
        places = self._places_of(figure)
        first, last = (places[0], places[-1]) if places else (0, -1)
        before = [
            self.words[i].word for i in range(max(0, first - 4), first) if i not in used and self._is_together(i, first)
        ]
        behind = [self.words[i].word for i in range(last + 1, min(last + 4, len(self.words))) if i not in used]
        rows = [row for row, operator in self.lexicon.comparisons.items() if operator != "=="]
        ahead = self.text.seen[max(figure.start - 9, 0) : figure.start].rstrip()
        after = self.text.seen[figure.end : figure.end + 9].lstrip()[:1]
        is_bound = any(
            tuple(before[-len(row) :]) == row or tuple(behind[: len(row)]) == row for row in rows if len(row) < 4
        )
        if not closed("apiece").isdisjoint(behind[:1]):
            return "it is said of each"
        if (
            is_inexact
            or (is_bound and not self._is_exception(before, behind))
            or ahead[-1:] in tuple("<>≤≥")
            or after == "+"
        ):
            return BOUND
        if ahead[-1:] == "-" and ahead[-2:-1] in ("", " "):
            return "it is below zero"
        denied = [word for word in before[-2:] if word in self.lexicon["negation"]]
        return "it is denied" if denied else self._doubt(first, is_restricted=False)  # "only 3 days" are three

    def _is_exception(self, before: Sequence[str], behind: Sequence[str]) -> bool:
        """Do the words only seem to bound: "from" and "before" open much else behind a number?"""
        rows = self.lexicon.comparisons
        is_before = any(tuple(before[-len(row) :]) == row for row, operator in rows.items() if operator != "==")
        return not is_before and behind[:1] not in (["or"], ["and"])

    def _is_range(self, one: Figure, other: Figure) -> bool:
        gap = self.text.seen[one.end : other.start].strip().casefold()
        return gap in _RANGES and one.unit == other.unit

    # ---- what stands around -----------------------------------------------------------------------------------------

    def _is_together(self, one: int, other: int) -> bool:
        """Do two words stand in one clause?"""
        here, there = self.words[one], self.words[other]
        return (here.clause, here.passage) == (there.clause, there.passage)

    def _is_inside(self, k: int, i: int) -> bool:
        return k < len(self.words) and self._is_together(k, i)

    def _before(self, i: int) -> Iterator[int]:
        """The places before word *i* in the same statement, backwards."""
        for k in range(i - 1, max(i - 2 * _NEAR, 0) - 1, -1):
            if not self._is_together(k, i) or self.words[k].word in self.lexicon["splitting"]:
                return
            yield k

    def _negations(self, one: Mention) -> list[int]:
        """The places of the negations that may govern a phrase. One that opens a question denies nothing."""
        found = [k for k in self._before(one.first) if self.words[k].word in self.lexicon["negation"]]
        found = [k for k in found if k not in self.taken]
        if found and self._ends_as_question(one.first) and self._opens_question(found[-1]):
            found = found[:-1]
        return sorted(found)

    def _opens_question(self, k: int) -> bool:
        """Is the negation that of a verb that opens its clause ("can't I …?"), not of what is told ("no receipt?")?"""
        if not k or not self._is_together(k - 1, k) or (k > 1 and self._is_together(k - 2, k)):
            return False
        before = self.words[k - 1].word
        return self._is_auxiliary(before) or before in _OBLIGING

    def _is_auxiliary(self, word: str) -> bool:
        return word in self.lexicon.auxiliaries or word in _AUXILIARY

    def _is_light(self, first: int, behind: int) -> bool:
        """Is there nothing between two places that carries content?"""
        return not content(word.word for word in self.words[first:behind] if word.word not in self.lexicon["filling"])

    def _either(self, one: Mention) -> str | None:
        """ "With or without a receipt" says neither."""
        said = [word.word for word in self.words[max(one.first - 2, 0) : one.first]]
        return "both are mentioned" if said[-1:] == ["or"] and said[0] in _PREPOSITIONS else None

    def _doubt(self, i: int, is_restricted: bool = True) -> str | None:
        said = [self.words[k].word for k in range(max(i - _NEAR, 0), i) if self._is_together(k, i)]
        is_left_over = is_restricted and self.lexicon["restriction"].any_in(said[-2:])
        return "it is not said for sure" if is_left_over or self.lexicon["doubting"].any_in(said) else None

    def _places_of(self, figure: Figure) -> list[int]:
        return list(range(bisect_left(self.starts, figure.start), bisect_left(self.starts, figure.end)))

    def _extent(self, used: Collection[int], figure: Figure | None = None) -> tuple[int, int]:
        starts = [self.words[i].start for i in used] + ([figure.start] if figure else [])
        ends = [self.words[i].end for i in used] + ([figure.end] if figure else [])
        return min(starts), max(ends)

    def _called(self, names: Collection[str]) -> str:
        return " or ".join(self.facts[name].label or name.replace("_", " ") for name in sorted(names))

    def _is_of_a_name(self, figure: Figure) -> bool:
        """Does the number end a name or an identifier: "pol-refund-002"?"""
        return self.text.seen[max(figure.start - 2, 0) : figure.start].rstrip("-").isalnum() and (
            self.text.seen[figure.start - 1 : figure.start] == "-"
        )

    def _is_counted(self, k: int, i: int) -> bool:
        """Does the thing that is counted stand at *k*, in the plural: "30 bananas"?"""
        return self._is_inside(k, i) and singular(self.words[k].word) != self.words[k].word

    # ---- one reading a fact -----------------------------------------------------------------------------------------

    def _settled(self, said: Sequence[_Said]) -> tuple[tuple[Read, ...], tuple[Unclear, ...]]:
        by_fact: dict[str, list[_Said]] = defaultdict(list)
        for one in sorted(said, key=lambda one: (one.start, one.end)):
            by_fact[one.fact].append(one)
        settled = [self._settle(fact, readings) for fact, readings in sorted(by_fact.items())]
        reads = sorted((one for one in settled if isinstance(one, Read)), key=lambda read: (read.start, read.fact))
        return tuple(reads), tuple(one for one in settled if isinstance(one, Unclear))

    def _settle(self, fact: str, readings: Sequence[_Said]) -> Read | Unclear:
        readings = self._corrected(readings)
        sure = [one for one in readings if one.problem is None]
        if not sure:
            return Unclear(fact, self._quote(readings[0]), readings[0].problem or "no value")
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

    def _corrected(self, readings: Sequence[_Said]) -> Sequence[_Said]:
        """Those behind the last correction: "20 days ago, no wait, 40 days ago"."""
        for i in range(len(readings) - 1, 0, -1):
            between = self.text.seen[readings[i - 1].end : readings[i].start].casefold()
            said = [word.strip(".,;:!?-") for word in between.split()]
            if said and self.lexicon["correcting"].any_in([word for word in said if word]):
                return readings[i:]
        return readings

    def _quote(self, one: _Said) -> str:
        return self.text.seen[one.start : one.end]

    def _unused(self, said: Sequence[_Said]) -> Iterator[str]:
        """The declared words and the figures that are told and not used, these with what is counted."""
        for one in self.mentions:
            if one.value is not None and one.owner in self.facts and not one.is_name and not self._is_wanted(one):
                start, end = self._extent(one.used)
                yield self.text.seen[start:end]
        extents = [(one.start, one.end) for one in said] + [self._extent(one.used) for one in self.mentions]
        taken = {at for start, end in extents for at in range(start, end)}
        found = [one for one in figures_of(self.text, self.today) if one.is_firm and not self._is_of_a_name(one)]
        used = {(one.values, one.unit) for one in found if not taken.isdisjoint(range(one.start, one.end))}
        left = [one for one in found if (one.values, one.unit) not in used]
        for figure in left[:_MOST_UNUSED]:
            places = self._places_of(figure)
            if places:
                first, last = places[0], places[-1]
                before = self.words[first - 1].word if first and self._is_together(first - 1, first) else ""
                first -= before in self.lexicon["measuring"]
                last += self._is_counted(last + 1, last)
                yield self.text.seen[min(self.words[first].start, figure.start) : max(self.words[last].end, figure.end)]


_GENERAL = content(plain_words("number total many much long how the customer is was date price"))
