"""The numbers of a statement as values of facts: beside declared words, in a unit that only one fact has, as an age."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import lru_cache

from bot.enforcement.question.case.amounts import Misread, is_measured_so, value_of
from bot.enforcement.question.case.mentions import Place
from bot.enforcement.question.case.statement import Said, Statement
from bylaw.language import dates
from bylaw.language.days import find_days
from bylaw.language.figures import Figure, figures
from bylaw.language.lexicon import closed, content, stem
from bylaw.language.text import Text, parse
from bylaw.language.units import unit_named
from bylaw.language.words import singular
from bylaw.logic.formula.ir import Op, Value

BOUND = "it gives a bound or a range, not one value"
_NAMED, _WELL_NAMED = 5, 15  # the ranks of one and of two declared words around a number
_ONE_PERSON, _COMING_OF_AGE, _AGING = closed("one_person"), closed("coming_of_age"), closed("aging")
_ANYBODY = closed("somebody") - closed("pronoun")
_KIN = frozenset(map(stem, closed("kin")))
_RANGES = frozenset(("to", "-", "–", "or", "till", "until", "and"))
_SIGNS: Mapping[str, Op] = {"<": "<", ">": ">", "≤": "<=", "≥": ">=", "<=": "<=", ">=": ">="}


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


class Numbers:
    """The readings of the numbers *at* a statement; facts that are *asked* about count more than those *near* them."""

    def __init__(self, at: Statement, asked: frozenset[str], near: frozenset[str], today: date) -> None:
        self.at, self.asked, self.near, self.today = at, asked, near, today

    def value_of(self, name: str, figure: Figure) -> Value | Misread | None:
        """What *figure* is for the fact *name*."""
        return value_of(self.at.facts[name], figure, self.today)

    def read(self) -> Iterator[Said]:
        found = figures_of(self.at.text, self.today)
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
            around = [one for one in self._places(figure) if one.fact in self.at.facts]
            known.update(one.fact for one in around if one.rank > 0)
            places = [one for one in around if self._may_be_meant(one, figure)]
            if not figure.is_firm and not any(place.rank >= _NAMED for place in places):
                continue
            valued = [(place, value) for place in places if (value := self.value_of(place.fact, figure)) is not None]
            options = [
                one for one in valued if isinstance(one[1], Misread) or not self._is_foreign(one[0].fact, figure)
            ]
            if options:
                yield from self._of_its_value(figure, options, known, is_inexact)
            elif not any(one.rank >= _NAMED and self.value_of(one.fact, figure) is not None for one in around):
                untold.append((figure, is_inexact))
        for figure, is_inexact in untold:
            yield from self._by_unit(figure, known, is_inexact)

    def _age(self, figure: Figure, is_inexact: bool) -> Said | None:
        """A number without a unit that a person is, or is of ("she is 12", "a child of 12"): the only age in years."""
        used = self.at.places_of(figure)
        ages = [name for name in self.at.phrases.ages if name in self.at.facts]
        asked = [name for name in ages if name in self.asked] or ages
        if figure.unit is not None or len(used) != 1 or len(asked) != 1:
            return None
        first = self._aged_from(used[0])
        value = self.value_of(asked[0], figure)
        if first is None or value is None or isinstance(value, Misread):
            return None
        start, end = self.at.extent([first, *used], figure)
        misread = self.misread(figure, value, frozenset(used), is_inexact)
        return _said(asked[0], misread or value, start, end, _WELL_NAMED)

    def _aged_from(self, k: int) -> int | None:
        """Where the words begin that make the number at *k* the years of one person; None where none do."""
        behind = self.at.words[k + 1].word if self.at.is_inside(k + 1, k) else ""
        ahead = [self.at.words[i].word for i in range(max(k - 6, 0), k) if self.at.is_together(i, k)]
        bounding = len(max(self._bounding(ahead), key=len, default=()))
        first, said = k - bounding, ahead[: len(ahead) - bounding][-2:]
        match said:
            case [*_, before] if before in _AGING:
                return first - 1
            case [who, "of"] if self._is_person(who):
                return first - 2
            case [who, verb] if verb in _COMING_OF_AGE and (who in _ONE_PERSON or self._is_person(who)):
                is_counting = bool(content([behind])) and not self._names_a_day(k + 1)
                return None if is_counting or behind == "of" else first - 2
            case [*_, who] if bounding and singular(behind) == behind and self._is_person(who):
                return first - 1  # "children under 12"
        return None

    def _is_person(self, word: str) -> bool:
        """Is it a word for a person: by family or age, or as the question for the age calls whom it asks about?"""
        is_named = any(stem(word) in self.at.own(name) for name in self.at.phrases.ages)
        return is_named or stem(word) in _KIN or word in _ANYBODY

    def inexact(self) -> Iterator[Said]:
        """Words of a fact around what is no number: "renewed it a few times"."""
        said = [word.word for word in self.at.words]
        for first, behind in self.at.lexicon["inexact"].find(said):
            if first and said[first - 1] == "how":
                continue
            unit = self.at.lexicon.unit(said, behind) if behind < len(said) else None
            last = behind - 1 + (unit[1] if unit else 0)
            core, end = self.at.words[behind - 1].end, self.at.words[last].end
            figure = Figure(self.at.words[first].start, end, (), unit[0] if unit else None, core=core)
            for place in self._places(figure):
                if place.fact in self.at.facts and place.rank >= _NAMED:
                    extent = self.at.extent(place.used, figure)
                    yield Said(place.fact, None, *extent, place.rank, "it does not say exactly how many")

    def none(self) -> Iterator[Said]:
        """No thing of those that a fact counts: "no points" are none, and what was never renewed was so at no time."""
        numbered = {place.fact for one in figures_of(self.at.text, self.today) for place in self._places(one)}
        for deed in self.at.phrases.deeds(self.at.words):
            denied = self.at.negations(deed) if deed.owner not in numbered else []
            if denied and deed.owner in self.at.facts and self.at.is_light(denied[-1] + 1, deed.first):
                yield Said(deed.owner, 0, *self.at.extent([*denied, *deed.used]), _NAMED)
        for word in self.at.words:
            if word.word == "no":
                figure = Figure(word.start, word.end, (Fraction(0),), core=word.end)
                for place in self._places(figure):
                    counted = [i for i in place.used if self.at.words[i].start > word.start]
                    if counted and place.fact in self.at.facts and self._is_number(place.fact):
                        problem = self.misread(figure, 0, place.used)
                        yield _said(place.fact, problem or 0, *self.at.extent(place.used, figure), place.rank)

    def _places(self, figure: Figure) -> Iterator[Place]:
        return self.at.phrases.places(self.at.words, self.at.starts, figure)

    def _is_foreign(self, name: str, figure: Figure) -> bool:
        """Is the fact declared for other domains than that of the matter, which has one that is measured so?"""
        is_apart = name not in self.near and bool(self.at.facts[name].domains)
        return is_apart and bool(self._measured_so(figure, self.asked))

    def _may_be_meant(self, place: Place, figure: Figure) -> bool:
        """Is a number that counts something else no value, and one of a fact that nobody asked about well named?"""
        is_asked = place.fact in self.near
        least = 1 if figure.unit == "date" else 0 if is_asked else _WELL_NAMED if self.asked else 1
        if place.rank < least:
            return False
        used, measured = self.at.places_of(figure), self.at.facts[place.fact].unit is not None
        return not (
            measured and figure.unit is None and used and self._counts_another(figure, used[-1] + 1, place.fact)
        )

    def _of_its_value(
        self, figure: Figure, options: Sequence[tuple[Place, Value | Misread]], known: set[str], is_inexact: bool
    ) -> Iterator[Said]:
        """A number is of the fact that it is a value of: "I'm 30 days late" tells no age."""
        misfits = {place.fact for place, value in options if isinstance(value, Misread)}
        proper = [one for one in options if one[0].rank >= _NAMED and one[0].fact not in misfits]
        if all(place.fact in misfits for place, _ in options) and misfits.isdisjoint(self.asked):
            by_unit = [*self._by_unit(figure, known - misfits, is_inexact)]
            if by_unit:
                yield from by_unit
                return
        best = [(self._by_own_unit(place, figure), value) for place, value in proper or options]
        yield from self._of_figure(figure, best, is_inexact)

    def _by_own_unit(self, place: Place, figure: Figure) -> Place:
        """Of two facts whose words fit, the one in whose very unit the number is told fits better."""
        is_own = figure.unit is not None and figure.unit == unit_named(self.at.facts[place.fact].unit)
        return replace(place, rank=place.rank + is_own)

    def _of_figure(
        self, figure: Figure, options: Sequence[tuple[Place, Value | Misread]], is_inexact: bool
    ) -> Iterator[Said]:
        """The reading of one number beside words of facts: the best fitting words speak for it."""
        best = max(place.rank for place, _ in options)
        top = {place.fact: (place, value) for place, value in options if place.rank == best}
        names = set(top) & self.asked if len(top) > 1 and len(set(top) & self.asked) == 1 else set(top)
        for name in sorted(names):
            place, value = top[name]
            start, end = self.at.extent(place.used, figure)
            misread = self.misread(figure, value, place.used, is_inexact)
            if len(names) > 1:
                misread = Misread(f"it could also be: {self.at.called(names - {name})}")
            start = min(start, self._begins(figure)) if misread and misread.tests else start
            yield _said(name, misread or value, start, end, best)

    def _by_unit(self, figure: Figure, known: Collection[str], is_inexact: bool) -> Iterator[Said]:
        """A number without declared words, where only one of the facts asked about is measured so."""
        if not figure.is_firm or figure.per or figure.unit == "date":
            return
        used = self.at.places_of(figure)
        fits = self._measured_so(figure, self.asked) - set(known)
        rivals = self._measured_so(figure, self.near)
        own = {name for name in fits | rivals if unit_named(self.at.facts[name].unit) == figure.unit}
        if len(own) == 1 and figure.unit is not None:
            fits &= own
        elif fits and len(fits | rivals) > 1:
            fits &= self.at.named_near(fits | rivals, used) if used else set()
        if len(fits) != 1 or not used or self._counts_another(figure, used[-1] + 1, next(iter(fits))):
            return
        name = next(iter(fits))
        value = self.value_of(name, figure)
        if value is None or set(used) <= self.at.taken:
            return
        misread = self.misread(figure, value, frozenset(used), is_inexact)
        start = self._begins(figure) if misread and misread.tests else figure.start
        yield _said(name, misread or value, start, figure.end)

    def _measured_so(self, figure: Figure, names: Collection[str]) -> set[str]:
        """Those of *names* that have such a unit; a number without one counts what it stands before."""
        numbers = {name: self.at.facts[name].unit for name in names if self._is_number(name)}
        used = self.at.places_of(figure)
        behind = (
            [figure.unit]
            if figure.unit
            else [word.word for word in self.at.words[used[-1] + 1 : used[-1] + 2]]
            if used
            else []
        )
        counted = {
            name for name, unit in numbers.items() if unit is None and any(stem(w) in self.at.own(name) for w in behind)
        }
        if figure.unit is None:
            return counted
        return counted | {
            name for name, unit in numbers.items() if unit and is_measured_so(self.at.facts[name], figure.unit)
        }

    def _is_number(self, name: str) -> bool:
        return name in self.at.facts and self.at.facts[name].type in ("integer", "decimal")

    def _counts_another(self, figure: Figure, k: int, name: str) -> bool:
        """Does a noun of something else stand behind the number?"""
        is_sum = (figure.unit or "").isupper()  # "a $40 mouse" tells a price, of whatever it is
        if k >= len(self.at.words) or not self.at.is_together(k - 1, k) or (k in self.at.taken and not is_sum):
            return False
        return (figure.unit is None or is_sum) and self.stands_before(k, name)

    def stands_before(self, k: int, name: str) -> bool:
        """Is what stands at *k* a word of something else than a fact?"""
        if k >= len(self.at.words) or not self.at.is_together(k - 1, k):
            return False
        word = self.at.words[k].word
        if self._names_a_day(k):
            return False  # "she turned 12 last week" counts no weeks
        is_light = word in self.at.lexicon["dimension"] or not content([word])
        return word[0].isdecimal() or not (is_light or stem(word) in self.at.own(name))

    def _names_a_day(self, k: int) -> bool:
        """Does the word at *k* name days: "last week"?"""
        return any(one.begins <= self.at.words[k].start < one.ends for one in dates.find(self.at.text.seen, self.today))

    def misread(
        self, figure: Figure, value: Value | Misread, used: frozenset[int], is_inexact: bool = False
    ) -> Misread | None:
        """Why a number is not the *value* that the person tells, as far as the words around it say."""
        places = self.at.places_of(figure)
        first, last = (places[0], places[-1]) if places else (0, -1)
        before = [
            self.at.words[i].word
            for i in range(max(0, first - 4), first)
            if i not in used and self.at.is_together(i, first)
        ]
        behind = [self.at.words[i].word for i in range(last + 1, min(last + 4, len(self.at.words))) if i not in used]
        ahead = self.at.text.seen[max(figure.start - 9, 0) : figure.start].rstrip()
        after = self.at.text.seen[figure.end : figure.end + 9].lstrip()[:1]
        if not closed("apiece").isdisjoint(behind[:1]):
            return Misread("it is said of each")
        bound, doubt = self._bound(before, behind, ahead[-2:], after), self.at.doubt(first, is_restricted=False)
        denied = self._denies(before)
        if is_inexact or bound is not None:
            is_sure = not (is_inexact or bound is None or isinstance(value, Misread) or doubt or denied)
            return Misread(BOUND, ((bound, value),) if is_sure else ())  # type: ignore[arg-type]  # it is sure of them
        if ahead[-1:] == "-" and ahead[-2:-1] in ("", " "):
            return Misread("it is below zero")
        problem = "it is denied" if denied else doubt  # "only 3 days" are three
        return Misread(problem) if problem else value if isinstance(value, Misread) else None

    def _bound(self, before: Sequence[str], behind: Sequence[str], ahead: str, after: str) -> Op | None:
        """The comparison that the words or signs around a number say.

        Behind it only "or more" and its like bound it: "from" and "before" open much else there.
        """
        rows = self.at.lexicon.comparisons
        said = [*self._bounding(before)]
        if not said and behind[:1] in (["or"], ["and"]):
            said = [row for row in rows if tuple(behind[: len(row)]) == row]
        if said:
            return rows[max(said, key=len)]  # type: ignore[return-value]  # the lexicon's are such
        return _SIGNS.get(ahead) or _SIGNS.get(ahead[-1:]) or (">=" if after == "+" else None)

    def _bounding(self, before: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """The phrases of comparison that end the words *before* a number."""
        for row, operator in self.at.lexicon.comparisons.items():
            if operator != "==" and tuple(before[-len(row) :]) == row:
                yield row

    def _denies(self, before: Sequence[str]) -> bool:
        """Do the words *before* a number deny it, or leave open how it is compared: "is not over 12", "or over 12"?"""
        length = len(max(self._bounding(before), key=len, default=()))
        ahead = before[: len(before) - length][-2:]
        return any(word in self.at.lexicon["negation"] for word in ahead) or (length > 0 and ahead[-1:] == ["or"])

    def _begins(self, figure: Figure) -> int:
        """Where a number begins, with the phrase of comparison before it."""
        first = next(iter(self.at.places_of(figure)), 0)
        ahead = [word.word for word in self.at.words[max(first - 4, 0) : first] if word.start < figure.start]
        length = len(max(self._bounding(ahead), key=len, default=()))
        return min(figure.start, self.at.words[first - length].start) if length else figure.start

    def _is_range(self, one: Figure, other: Figure) -> bool:
        gap = self.at.text.seen[one.end : other.start].strip().casefold()
        return gap in _RANGES and one.unit == other.unit


def _said(name: str, value: Value | Misread, start: int, end: int, rank: int = 0) -> Said:
    """The reading of *name* in a stretch of the text; of a number that is misread no value, and why."""
    if isinstance(value, Misread):
        return Said(name, None, start, end, rank, value.reason, value.tests)
    return Said(name, value, start, end, rank)
