"""From the words of a question to the facts of a case. What is not said clearly stays unknown, and is reported.

A reading is used only if it is the only one: contradicting readings of a fact, words that two facts share, bounds and
ranges ("more than 30 days"), and values outside the domain give no fact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from bot.enforcement.amounts import Misread, amount_in
from bot.enforcement.belonging import (
    INSTEAD,
    is_alone,
    is_difference,
    is_fee,
    is_of_counted,
    is_of_service,
    is_other_event,
    is_other_thing,
)
from bot.enforcement.kept import kept
from bot.enforcement.phrases import Lexicon, Match, Phrase, is_bare, unit_told
from bot.enforcement.stems import stems_in
from bot.enforcement.utterance import Quantity, Utterance, utterance
from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.language.money import Money, currency_of
from bylaw.language.negation import CUES
from bylaw.language.span import listed
from bylaw.language.units import Duration, unit_of
from bylaw.language.words import DETERMINERS, PREPOSITIONS, PRONOUNS, stem_of
from bylaw.logic.ir import Value, ValueMisfit, Variable

Claims = Sequence[tuple[str, frozenset[int]]]  # actions by name, and the words that name them
NOBODY: frozenset[str] = frozenset()
_Ranked = tuple[tuple[int, int], Match, Value | Misread]  # how well it fits, where, and the value
_ADDING = frozenset("+&/")
_DENYING = listed("no not never nobody nothing without neither nor none non")
_NEAR = 5  # words around a number


@dataclass(frozen=True, slots=True)
class Read:
    """A fact that the text states: `words` is `text[start:end]`."""

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
    """All that a text says of the declared facts."""

    reads: tuple[Read, ...] = ()
    unclear: tuple[Unclear, ...] = ()
    mentioned: frozenset[str] = field(default=frozenset())  # facts that the words touch, read or not

    @property
    def facts(self) -> dict[str, Value]:
        """The facts that were read."""
        return {read.fact: read.value for read in self.reads}


def read_facts(text: str, vocabulary: Vocabulary, variables: Mapping[str, Variable], today: date) -> tuple[Read, ...]:
    """The facts that *text* states, one reading a fact, in the order of the text."""
    return read_text(text, vocabulary, variables, today).reads


def read_text(
    text: str,
    vocabulary: Vocabulary,
    variables: Mapping[str, Variable],
    today: date,
    prefer: Collection[str] = NOBODY,
) -> Reading:
    """What *text* says. Words that fit several facts are read for the one among *prefer*, if it is only one."""
    said = utterance(text, today)
    kept = said.readings.get(id(variables)) or said.dateless.get(id(variables))
    if kept is None or kept[0] is not vocabulary or kept[1] is not variables:
        reader = _Reader(said, vocabulary, variables, NOBODY)
        kept = (vocabulary, variables, reader.read(), reader.is_swayed)
        (said.readings if reader.is_dated else said.dateless)[id(variables)] = kept
    reading: Reading = kept[2]
    return _Reader(said, vocabulary, variables, prefer).read() if prefer and kept[3] else reading


@kept(8)
def lexicon(vocabulary: Vocabulary) -> Lexicon:
    """The compiled phrases of *vocabulary*; the last few are kept."""
    return Lexicon(vocabulary)


@dataclass(frozen=True, slots=True)
class _Said:
    """One reading of one fact before they are compared. `problem` is why it gives no value."""

    fact: str
    value: Value | None
    start: int
    end: int
    problem: str | None = None


class _Reader:
    def __init__(
        self, said: Utterance, vocabulary: Vocabulary, variables: Mapping[str, Variable], prefer: Collection[str]
    ) -> None:
        self.said, self.vocabulary, self.variables, self.prefer = said, vocabulary, variables, prefer
        self.mentioned: set[str] = set()
        self.explained: set[Quantity] = set()  # the numbers that a phrase speaks of
        self.spent: set[int] = set()  # the places of negations that belong to a phrase: the "no" of "no receipt"
        self.known: set[int] = set()  # the places of words that say something of a fact
        self.is_swayed = False  # do words fit several facts, so that it matters which is preferred?
        self.is_dated = said.is_dated  # does it matter which day it is?

    def read(self) -> Reading:
        known = lexicon(self.vocabulary)
        found = known.found(self.said)
        words: list[Match] = []
        slots: list[Match] = []
        for match in found.matches:
            if match.phrase.fact in self.variables:
                (words if match.quantity is None else slots).append(match)
        self.spent = {i for match in words for i in match.used if self.said.words[i].text in CUES}
        self.known = {i for match in words for i in match.used}.union(
            *(range(quantity.first, quantity.last + 1) for quantity in self.said.quantities),
            (i for i, word in enumerate(self.said.words) if known.correct(word.text)),
            *(_unit_words(self.said, match) for match in slots if match.phrase.measure is not None),
        )
        longer, claims = [*words, *slots], found.claims
        said = [*self._flags(words, longer, claims), *self._enums(words, longer, claims), *self._amounts(slots)]
        said += self._bare_amounts({one.fact for one in said})
        reads, unclear = self._settled(said)
        return Reading(reads, unclear, frozenset(self.mentioned))

    # ---- booleans and enums ------------------------------------------------------------------------------------------

    def _flags(self, matches: Sequence[Match], longer: Sequence[Match], claims: Claims) -> Iterator[_Said]:
        flags = [match for match in matches if isinstance(match.phrase.value, bool)]
        # "joined plus 3 days ago" says both: that somebody joined, and when
        whole = {m.used for m in flags if len(m.used) > 1 and not self.said.distance(m.used[0], m.used[-1])}
        said_by = [m for m in longer if m.quantity is None or not any(set(used) <= set(m.used) for used in whole)]
        for match in self._longest(flags, said_by, claims):
            if self.said.is_asked(match.used):
                continue
            self.mentioned.add(match.phrase.fact)
            value = match.phrase.value is not self.said.is_negated(match.used)
            start, end = self._extent(match)
            problem = "both are mentioned" if self.said.is_either(match.used) else None
            if problem is None and value and self.said.is_taken_back(match.used):
                problem = "the sentence takes it back"
            problem = problem or self.said.doubt(match.used)
            if is_of_service(self.said, match.used, match.phrase.before):
                problem = "it is said of something else"
            yield _Said(match.phrase.fact, value, start, end, problem)

    def _enums(self, matches: Sequence[Match], longer: Sequence[Match], claims: Claims) -> Iterator[_Said]:
        enums = [match for match in matches if isinstance(match.phrase.value, str)]
        kept = self._longest(enums, longer, claims)
        kept = [match for match in kept if not self._is_denied_value(match) and not self._is_of_other_thing(match)]
        kept = _without_modifiers(kept, self.said)
        facts_at: dict[tuple[int, ...], set[str]] = defaultdict(set)
        for match in kept:
            facts_at[match.used].add(match.phrase.fact)
        for match in kept:
            self.mentioned.add(match.phrase.fact)
            start, end = self._extent(match)
            doubt = "it is asked" if self.said.is_asked_state(match.used) else self.said.doubt(match.used)
            if doubt is not None:
                yield _Said(match.phrase.fact, None, start, end, doubt)
                continue
            sharing = facts_at[match.used] | self._also_named(match)
            chosen = self._preferred(sharing) if len(sharing) > 1 else sharing
            if len(chosen) == 1 and match.phrase.fact not in chosen:
                continue
            problem = None if len(chosen) == 1 else f"it could also be: {self._others(match.phrase.fact, sharing)}"
            yield _Said(match.phrase.fact, match.phrase.value, start, end, problem)

    def _also_named(self, match: Match) -> frozenset[str]:
        """The facts that "the card" may speak of as well, which is a gift card or a credit card."""
        first = match.used[0]
        if len(match.used) > 1 or not first or self.said.words[first - 1].text not in DETERMINERS:
            return NOBODY
        if first > 1 and self.said.words[first - 2].text in PREPOSITIONS:  # "with the card"
            return NOBODY
        return lexicon(self.vocabulary).heads.get(self.said.words[first].text, NOBODY)

    def _is_denied_value(self, match: Match) -> bool:
        return self.said.is_negated(match.used, self.spent) and not self.said.is_object(match.used)

    def _is_of_other_thing(self, match: Match) -> bool:
        words, held = match.phrase.before, lexicon(self.vocabulary)
        nouns = held.nouns.get((match.phrase.fact, words[0]), NOBODY) if len(words) == 1 else NOBODY
        fact, behind = (
            self.vocabulary.facts[match.phrase.fact],
            self.said.words[match.used[-1] + 1 : match.used[-1] + 2],
        )
        about = stems_in(f"{fact.label or match.phrase.fact} {fact.ask or ''}")
        if behind and stem_of(behind[0].text) in about:  # "flex members", where it is asked which plan a member has
            return False
        claims = (claim for _, claim in held.claims.get(words[0], ()))
        return is_other_thing(self.said, match.used, nouns, self.known, claims)

    def _preferred(self, facts: set[str]) -> set[str]:
        self.is_swayed = True
        return facts.intersection(self.prefer)

    def _others(self, fact: str, sharing: Iterable[str]) -> str:
        others = sorted(set(sharing) - {fact})
        return " or ".join(self.vocabulary.facts[other].label or other.replace("_", " ") for other in others)

    def _longest(self, mine: Sequence[Match], all_: Sequence[Match], claims: Claims) -> list[Match]:
        """Those of *mine* that are not a part of a longer phrase ("card" in "gift card")."""
        longer: dict[int, list[tuple[frozenset[int], str | None]]] = defaultdict(list)
        for match in all_:
            for i in match.used:
                longer[i].append((frozenset(match.used), None))
        for action, used in claims:
            for i in used:
                longer[i].append((used, action))
        kept = []
        for match in mine:
            here = frozenset(match.used)
            said = here - self.spent or here  # "not broken" is a part of "the seal is not broken"
            hidden = any(
                here < other or said < other - self.spent or _is_tighter(other - self.spent, here)
                if action is None
                else self._is_claimed(match, here, other, action)
                for i in match.used
                for other, action in longer[i]
            )
            if not hidden:
                kept.append(match)
        return kept

    def _is_claimed(self, match: Match, here: frozenset[int], claimed: frozenset[int], action: str) -> bool:
        """Do the words rather name an action ("store credit"), which is not itself this fact's value?"""
        if match.phrase.value == action or isinstance(match.phrase.value, bool):
            return False
        return here < claimed or (bool(here & claimed) and not here >= claimed and len(here) <= len(claimed))

    # ---- numbers, sums, durations, dates -----------------------------------------------------------------------------

    def _amounts(self, matches: Sequence[Match]) -> Iterator[_Said]:
        readings: dict[Quantity, list[_Ranked]] = defaultdict(list)
        nearest: dict[tuple[Phrase, int], Quantity] = {}
        counted = {i for match in matches if match.phrase.unit is None and not match.phrase.before for i in match.used}
        for match in matches:
            assert match.quantity is not None  # a match with a slot
            fact = self.vocabulary.facts[match.phrase.fact]
            self.is_dated |= fact.type == "date"
            value = amount_in(match, fact, self.said)
            if not is_bare(match.phrase):
                self.explained.add(match.quantity)
            if value is None or self._is_rather_of_preferred(match):
                continue
            self.explained.add(match.quantity)
            if self.said.is_asked(match.used) or self._is_denied(match) or self._is_of_another(match, counted):
                continue
            first = nearest.setdefault((match.phrase, match.used[0]), match.quantity)
            if first is not match.quantity and self.said.is_said_by_another(first, match.quantity):
                continue
            weight = match.phrase.weight if first is match.quantity else 0  # a phrase speaks of the number beside it
            rival = self._rival(match.phrase.fact, match.quantity) if is_bare(match.phrase) else None
            doubt = f"it could also be: {rival}" if rival else self.said.doubt(match.used)
            if doubt is not None:
                value = Misread(doubt)
            readings[match.quantity].append(((weight, -match.skipped), match, value))
        again = {quantity: self._said_before(quantity, readings) for quantity in self.said.quantities}
        for quantity, found in readings.items():
            if again.get(quantity) is None:
                yield from self._of_quantity(quantity, found)
        for quantity, before in again.items():
            for name in sorted({match.phrase.fact for _, match, _ in readings[before]}) if before else ():
                value = amount_in(quantity, self.vocabulary.facts[name], self.said)
                if value is not None and not isinstance(value, Misread):
                    yield _Said(name, value, quantity.start, quantity.end)

    def _said_before(self, quantity: Quantity, readings: Mapping[Quantity, Sequence[_Ranked]]) -> Quantity | None:
        """The number whose place another takes: "the order was $480, but now it is $510"."""
        words, i = self.said.words, quantity.first - 1
        if i < 1 or not (words[i].text == "now" or (words[i].text == "be" and words[i - 1].text in PRONOUNS)):
            return None
        if any(not is_bare(match.phrase) for _, match, _ in readings.get(quantity, ())):
            return None
        earlier = (q for q in readings if q.end < quantity.start and type(q.value) is type(quantity.value))
        return next((q for q in earlier if words[q.first].sentence == words[i].sentence), None)

    def _is_of_another(self, match: Match, counted: Collection[int]) -> bool:
        """Does the number belong to something else than the fact that the phrase names?"""
        quantity, after = match.quantity, match.phrase.after
        assert quantity is not None  # a match with a slot
        if is_fee(self.said, match.used, quantity, after) or is_difference(self.said, quantity, after, match.used):
            return True
        if is_of_counted(self.said, match.used, counted):
            return True
        if is_bare(match.phrase):
            return (quantity.is_struck and not match.phrase.weight) or not is_alone(self.said, quantity, self.known)
        return isinstance(quantity.value, Duration | date) and is_other_event(self.said, match.used, quantity)

    def _rival(self, fact: str, quantity: Quantity) -> str | None:
        """Another fact whose own words stand beside a number that only its unit gives to *fact*."""
        words = self.said.words
        near = range(max(quantity.first - _NEAR, 0), min(quantity.last + _NEAR + 1, len(words)))
        clauses = {words[quantity.first].clause}
        if quantity.first and ":" in self.said.text[words[quantity.first - 1].end : quantity.start]:
            clauses.add(words[quantity.first - 1].clause)  # "order total: $40"
        stems = {stem_of(words[i].text) for i in near if words[i].clause in clauses}
        own = lexicon(self.vocabulary).own
        if stems & own.get(fact, NOBODY):
            return None
        others = (name for name, mine in own.items() if name != fact and name in self.variables and stems & mine)
        rival = next((name for name in others if _fits(self.vocabulary.facts[name], quantity)), None)
        return None if rival is None else self.vocabulary.facts[rival].label or rival.replace("_", " ")

    def _of_quantity(self, quantity: Quantity, found: Sequence[_Ranked]) -> Iterator[_Said]:
        """The readings of one number: only the best-fitting phrases speak for it."""
        best = max(rank for rank, _, _ in found)
        top = [(match, value) for rank, match, value in found if rank == best]
        facts = {match.phrase.fact for match, _ in top}
        if len(facts) > 1 and len(preferred := self._preferred(facts)) == 1:
            facts = preferred
        units = [unit_of(self.vocabulary.facts[fact].unit or "") for fact in sorted(facts)]
        is_shared = len(facts) > 1 and (None in units or len(set(units)) < len(units))
        for match, value in top:
            fact = match.phrase.fact
            if fact not in facts:
                continue
            self.mentioned.add(fact)
            start, end = self._extent(match)
            if is_shared:
                yield _Said(fact, None, start, end, f"it could also be: {self._others(fact, facts)}")
            elif isinstance(value, Misread):
                yield _Said(fact, None, start, end, value.reason)
            else:
                yield _Said(fact, value, start, end)

    def _is_denied(self, match: Match) -> bool:
        """Does somebody say what does not hold: "not 20 days ago", "instead of $49"?"""
        assert match.quantity is not None
        first, words = match.quantity.first, self.said.words
        before = tuple(word.text for word in words[max(first - 2, 0) : first])
        losing = {
            i for i, word in enumerate(words) if word.text in CUES - _DENYING
        }  # who loses a thing denies no number
        return self.said.is_negated(match.used, self.spent | losing) or before[-1:] == ("not",) or before in INSTEAD

    def _bare_amounts(self, known: set[str]) -> Iterator[_Said]:
        """A sum or a duration that no phrase explains, where only one fact can take it."""
        for quantity in self.said.quantities:
            if quantity in self.explained or quantity.is_struck or not quantity.exact or not self._is_measure(quantity):
                continue
            places = range(quantity.first, quantity.last + 1)
            if is_fee(self.said, places, quantity) or is_difference(self.said, quantity):
                continue
            if not is_alone(self.said, quantity, self.known):
                continue
            fits = self._fitting(quantity)
            if len(fits) > 1:
                fits = sorted(self._preferred(set(fits)))
            if isinstance(quantity.value, date) and not (fits and self._is_called(fits[0], quantity)):
                continue
            if len(fits) == 1 and fits[0] not in known and self._rival(fits[0], quantity) is None:
                value = amount_in(quantity, self.vocabulary.facts[fits[0]], self.said)
                if value is not None and not isinstance(value, Misread):
                    self.mentioned.add(fits[0])
                    yield _Said(fits[0], value, quantity.start, quantity.end)

    def _is_called(self, fact: str, day: Quantity) -> bool:
        """Is a day called by words of the fact? Much else has a day."""
        words, own = self.said.words, lexicon(self.vocabulary).own.get(fact, NOBODY)
        return any(word.sentence == words[day.first].sentence and stem_of(word.text) in own for word in words)

    def _fitting(self, quantity: Quantity) -> list[str]:
        measured = lexicon(self.vocabulary).measured
        return [name for name, fact in measured if name in self.variables and _fits(fact, quantity)]

    def _is_rather_of_preferred(self, match: Match) -> bool:
        """Does a phrase say nothing but the unit, where a preferred fact has that unit, too?"""
        assert match.quantity is not None  # a match with a slot
        fits = set(self._fitting(match.quantity)) if is_bare(match.phrase) else set()
        chosen = self._preferred(fits) if len(fits) > 1 else set()
        return bool(chosen) and match.phrase.fact not in chosen

    def _is_measure(self, quantity: Quantity) -> bool:
        if isinstance(quantity.value, Duration):
            after = quantity.last + 1
            says_ago = after < len(self.said.words) and self.said.words[after].text == "ago"
            is_all = quantity.first == 0 and after == len(self.said.words)
            return quantity.value.is_counted or says_ago or is_all
        return isinstance(quantity.value, Money | date)

    # ---- one reading a fact ------------------------------------------------------------------------------------------

    def _extent(self, match: Match) -> tuple[int, int]:
        words = self.said.words
        start, end = words[match.used[0]].start, words[match.used[-1]].end
        if match.quantity is not None:
            start, end = min(start, match.quantity.start), max(end, match.quantity.end)
        return start, end

    def _settled(self, said: Sequence[_Said]) -> tuple[tuple[Read, ...], tuple[Unclear, ...]]:
        by_fact: dict[str, list[_Said]] = defaultdict(list)
        for one in sorted(said, key=lambda one: (one.start, one.end, one.fact)):
            by_fact[one.fact].append(one)
        reads: list[Read] = []
        unclear: list[Unclear] = []
        for fact, readings in sorted(by_fact.items()):
            settled = self._settle(fact, readings)
            (reads if isinstance(settled, Read) else unclear).append(settled)  # type: ignore[arg-type]  # by its class
        return tuple(sorted(reads, key=lambda read: (read.start, read.fact))), tuple(unclear)

    def _settle(self, fact: str, readings: Sequence[_Said]) -> Read | Unclear:
        sure = [one for one in readings if one.problem is None and one.value is not None]
        if not sure:
            return Unclear(fact, self._words(readings[0]), readings[0].problem or "no value")
        sure = self._corrected(sure)
        if len({one.value for one in sure}) > 1:
            words = "” and “".join(dict.fromkeys(self._words(one) for one in sure))
            return Unclear(fact, words, "they contradict each other")
        one = min(sure, key=lambda one: (one.start - one.end, one.start))
        if self._is_corrected(sure[-1]):
            return Unclear(fact, self._words(one), "it is corrected")
        try:
            value = self.variables[fact].read(_outside(self.variables[fact], sure[0].value))
        except ValueMisfit as misfit:
            return Unclear(fact, self._words(one), str(misfit).replace("`", ""))
        return Read(fact, value, self._words(one), one.start, one.end)

    def _corrected(self, sure: list[_Said]) -> list[_Said]:
        """Those behind the last correction: "20 days ago, no wait, 40 days ago"."""
        found = sorted(sure, key=lambda one: one.end)
        for i in range(len(found) - 1, 0, -1):
            if self.said.is_corrected(found[i - 1].end, found[i].end):
                return found[i:]
        return sure

    def _is_corrected(self, one: _Said) -> bool:
        """Does a correction follow whose number was not read for this fact: "2 times, make that 3"?"""
        fact = self.vocabulary.facts[one.fact]
        if fact.type not in ("integer", "decimal"):
            return False
        measured = unit_of(fact.unit or "") is not None or currency_of(fact.unit or "") is not None
        behind = (quantity for quantity in self.said.quantities if quantity.start >= one.end)
        number = next((q for q in behind if (_fits(fact, q) if measured else isinstance(q.value, int))), None)
        return number is not None and self.said.is_corrected(one.end, number.start, within=_NEAR)

    def _words(self, one: _Said) -> str:
        return self.said.text[one.start : one.end]


def _unit_words(said: Utterance, match: Match) -> Collection[int]:
    """The places of the unit behind a measured number."""
    assert match.quantity is not None  # a match with a slot
    told = unit_told(said, match.quantity)
    return range(match.quantity.last + 1, match.quantity.last + 1 + (told[0] if told else 0))


def _is_tighter(one: frozenset[int], other: frozenset[int]) -> bool:
    """Do words of *one* stand between those of *other* and end where it ends: "is the | seal broken"?"""
    return max(one) == max(other) and min(one) > min(other) and not one <= other


def _fits(fact: Fact, quantity: Quantity) -> bool:
    """May a fact that is measured have such a value?"""
    match quantity.value:
        case Duration():
            return unit_of(fact.unit or "") is not None
        case Money():
            currency = currency_of(fact.unit or "")
            return currency is not None and quantity.value.fits(currency)
        case date():
            return fact.type == "date"
    return False


def _outside(variable: Variable, value: Value | None) -> object:
    """The value as `Variable.read` takes it."""
    if variable.kind == "date" and isinstance(value, int):
        return date.fromordinal(value)
    return value


def _without_modifiers(matches: Sequence[Match], said: Utterance) -> list[Match]:
    """In "laptop charger" the last word says what it is, but not in "laptop + charger"."""
    words = said.words
    starts = {(match.phrase.fact, match.used[0]): match for match in matches}
    kept = []
    for match in matches:
        after = starts.get((match.phrase.fact, match.used[-1] + 1))
        is_apart = after is not None and (
            words[after.used[0]].clause != words[match.used[-1]].clause
            or not _ADDING.isdisjoint(said.text[words[match.used[-1]].end : words[after.used[0]].start])
        )
        if after is None or is_apart or after.phrase.value == match.phrase.value:
            kept.append(match)
    return kept
