"""The figures of an answer (sums, durations, percentages) and where each may come from.

A figure is founded when the case gives it, when a rule that could matter here tests it, when the action is called by
it, or when it follows from those by one step: the days that are left, a percentage of a price. Any other is made up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property, lru_cache

from bot.enforcement.utterance import Percent, Quantity, utterance
from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.language.money import Money, currency_of
from bylaw.language.span import listed
from bylaw.language.units import SECONDS, Duration, unit_of
from bylaw.language.words import singular
from bylaw.logic.ir import ConditionalRule, Formula, Value, Variable, atoms
from bylaw.logic.truth import simplify

NUMBER_WORDS = listed("one two three four five six seven eight nine ten twenty thirty forty fifty half")
Figure = tuple[str, Fraction]  # what it measures (seconds, a currency, percent), and how much


def figures(text: str, today: date) -> Iterator[tuple[Figure, Quantity]]:
    """The figures that *text* names."""
    for quantity in utterance(text, today).quantities:
        figure = _figure(quantity)
        if figure is not None:
            yield figure, quantity


@lru_cache(maxsize=5_000)
def is_figure(words: str) -> bool:
    """Are *words* a figure and nothing else: "$50", "sixty days"?"""
    found = utterance(words, date.min).quantities
    return len(found) == 1 and (found[0].start, found[0].end) == (0, len(words))


def counts(text: str, today: date) -> Iterator[tuple[Quantity, str]]:
    """The numbers that *text* names with no measure that figures know, and the word behind each; one counts nothing."""
    said = utterance(text, today)
    for quantity in said.quantities:
        if isinstance(quantity.value, int | Fraction) and quantity.value != 1:
            behind = quantity.last + 1
            yield quantity, said.words[behind].text if behind < len(said.words) else ""


@lru_cache(maxsize=5_000)
def _figures_of(name: str) -> tuple[Figure, ...]:
    """The figures in the name of an action; they depend on no day."""
    if not any(char.isdigit() for char in name) and not NUMBER_WORDS.intersection(name.casefold().split()):
        return ()
    return tuple(figure for figure, _ in figures(name, date.min))


def _figure(quantity: Quantity) -> Figure | None:
    match quantity.value:
        case Duration(unit="seconds", is_counted=False):
            return None  # the second of "a second factor"
        case Duration(amount=amount, unit=unit):
            size = SECONDS.get(unit)
            return (unit, Fraction(amount)) if size is None else ("seconds", Fraction(amount) * size)
        case Money(amount=amount, currency=currency):
            return currency, Fraction(amount)
        case Percent(amount=amount):
            return "percent", Fraction(amount)
    return None


def measure(fact: Fact | None, value: object) -> Figure | None:
    """A value of *fact* as a figure; None for what is no such measure."""
    if fact is None or fact.type not in ("integer", "decimal") or isinstance(value, bool):
        return None
    if not isinstance(value, int | Fraction):
        return None
    unit, currency = unit_of(fact.unit or ""), currency_of(fact.unit or "")
    if unit in SECONDS:
        return "seconds", Fraction(value) * SECONDS[unit or ""]
    if currency is not None:
        return currency, Fraction(value)
    return ("percent", Fraction(value)) if (fact.unit or "").casefold() in ("%", "percent") else None


def told(facts: Mapping[str, Value], declared: Mapping[str, Fact]) -> Sequence[Figure]:
    """The figures of a case, as far as its facts measure something."""
    return [figure for name, value in facts.items() if (figure := measure(declared.get(name), value)) is not None]


@dataclass(frozen=True)
class Ground:
    """Where the figures of one answer may come from. What the rules test is looked up only when it is needed."""

    facts: Mapping[str, Value]
    rules: Sequence[ConditionalRule]  # some may be there twice
    by_limit: Mapping[tuple[str, Figure], frozenset[str]]  # the rules that test a fact at a figure, in some case
    limited: Mapping[Figure, frozenset[str]]
    numbers: Mapping[object, AbstractSet[str]]  # the facts that are tested at a bare number
    near: AbstractSet[str]  # the facts that could matter here
    actions: Sequence[str]
    vocabulary: Vocabulary
    variables: Mapping[str, Variable]
    today: date

    def holds(self, figure: Figure, supposed: Mapping[str, Value], is_rest: bool = True) -> bool:
        """Is the figure founded, in the case and with what the sentence itself supposes?

        `is_rest`: it may also be what is left, or over: the days between the case and a limit.
        """
        facts = {**self.facts, **supposed}
        told = self._measured(facts) if supposed else self.told
        if figure in told.values() or figure in self.named or figure in self._derived(told):
            return True
        return self._is_limit(figure, told if is_rest else {}, facts)

    def is_limit(self, figure: Figure) -> bool:
        """Does a rule that could matter test a fact at the figure in such a case, or is an action called by it?"""
        return figure in self.named or self._is_limit(figure, {}, self.facts)

    def counts(self, number: object, behind: str, supposed: Mapping[str, Value]) -> bool:
        """Is the bare number one of the case, or of a rule that could matter here? *behind* is the word behind it."""
        told = {**self.facts, **supposed}
        found = {name for name, value in told.items() if value == number} | (
            self.numbers.get(number, set()) & self.near
        )
        measured = _measured_in(behind, self.vocabulary)
        return not found.isdisjoint(measured) if measured else bool(found)

    def _limits(self, figure: Figure, told: Mapping[str, Figure]) -> Iterator[tuple[str, Figure]]:
        """The limits that the figure is, or that it is away from what is told."""
        kind, amount = figure
        for name in sorted(self.limited.get(figure, ())):
            yield name, figure
        for name, (measured, value) in sorted(told.items()):
            if measured == kind:
                yield name, (kind, value + amount)
                yield name, (kind, value - amount)

    def _is_limit(self, figure: Figure, told: Mapping[str, Figure], facts: Mapping[str, Value]) -> bool:
        """Does a rule test it, or what it is away from what is *told*, in a case of these sorts?"""
        sorts = {name: value for name, value in facts.items() if self.variables[name].is_finite}
        return any(self._is_tested(limit, sorts) for limit in self._limits(figure, told))

    def _is_tested(self, limit: tuple[str, Figure], sorts: Mapping[str, Value]) -> bool:
        """Does a rule test it in a case of these *sorts*: yes-or-no facts and categories?"""
        ids = self.by_limit.get(limit, frozenset())
        guards = (simplify(rule.guard, sorts) for rule in self.rules if rule.rule_id in ids)
        return any(limit in limits_of(guard, self.vocabulary, self.variables) for guard in guards)

    @cached_property
    def told(self) -> Mapping[str, Figure]:
        """The facts of the case that measure something."""
        return self._measured(self.facts)

    @cached_property
    def derived(self) -> AbstractSet[Figure]:
        """The sums that follow from those of the case: a share of a price, what is left of it, a difference."""
        return self._derived(self.told)

    def _measured(self, facts: Mapping[str, Value]) -> Mapping[str, Figure]:
        return {name: f for name, value in facts.items() if (f := measure(self.vocabulary.facts.get(name), value))}

    @cached_property
    def named(self) -> frozenset[Figure]:
        """The figures by which the actions are called."""
        return frozenset(
            figure
            for action in self.actions
            for text in called(action, self.vocabulary)
            for figure in _figures_of(text)
        )

    def _derived(self, told: Mapping[str, Figure]) -> set[Figure]:
        money = [figure for figure in told.values() if figure[0] not in ("seconds", "percent")]
        rates = [rate for kind, rate in self.named if kind == "percent"]
        shares = {(kind, part) for kind, amount in money for rate in rates for part in _parts(amount, rate)}
        return shares | {(a, abs(x - y)) for a, x in money for b, y in money if a == b and x != y}


def _measured_in(unit: str, vocabulary: Vocabulary) -> frozenset[str]:
    """The facts that are measured in what the word *unit* says."""
    facts = vocabulary.facts.items() if unit else ()
    return frozenset(name for name, fact in facts if fact.unit and singular(fact.unit.casefold()) == unit)


def _parts(amount: Fraction, rate: Fraction) -> tuple[Fraction, Fraction]:
    return amount * rate / 100, amount * (100 - rate) / 100


def limits_of(
    guard: Formula, vocabulary: Vocabulary, variables: Mapping[str, Variable]
) -> frozenset[tuple[str, Figure]]:
    """What *guard* tests about amounts: (fact, figure)."""
    found = set()
    for atom in atoms(guard):
        for value in atom.value if isinstance(atom.value, tuple) else (atom.value,):
            figure = None if variables[atom.var].is_finite else measure(vocabulary.facts.get(atom.var), value)
            if figure is not None:
                found.add((atom.var, figure))
    return frozenset(found)


def called(action: str, vocabulary: Vocabulary) -> Sequence[str]:
    """The words by which a canonical action is called."""
    others = [name for name in sorted(vocabulary.actions) if vocabulary.canonical(name) == action]
    texts: list[str] = []
    for name in others or [action]:
        declared = vocabulary.actions.get(name)
        texts += [name.replace("_", " "), *((declared.label or "", *declared.phrases) if declared else ())]
    return texts
