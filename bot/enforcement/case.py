"""Everything about one turn that its answer is made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from bot.enforcement.question.bounds import Bound, Read
from bot.enforcement.question.memory import Memory
from bot.enforcement.question.scope import Scope
from bot.enforcement.writing.write import Words
from bot.index import BundleIndex
from bylaw.hold.item import HeldItem, Reading
from bylaw.logic.decide.evaluate import Decision, Evaluator
from bylaw.logic.formula.ir import Value


@dataclass(frozen=True)
class Case:
    """Everything about one turn that the answer is made from."""

    text: str
    today: date
    index: BundleIndex
    evaluator: Evaluator
    words: Words
    memory: Memory
    reads: tuple[Read, ...]
    bounded: Mapping[str, Bound]  # what this turn tells of facts without a value
    decision: Decision
    scope: Scope
    asked: str | None = None  # the fact that this turn should have answered
    is_declined: bool = False
    is_new: bool = False  # does another case begin, to which nothing that was said before belongs?
    told: frozenset[str] = frozenset()  # the facts that whoever asks knows: all but those that the words say otherwise
    unused: tuple[str, ...] = ()  # what was told and not used, as it is said
    withheld: tuple[str, ...] = ()  # the facts for want of which the most restrictive outcome is given
    bounds: Mapping[str, Bound] = field(default_factory=dict)  # of facts without a value that decide all the same
    reading: Reading = field(default_factory=lambda: Reading("matcher"))  # what the words of this turn bear

    @property
    def facts(self) -> Mapping[str, Value]:
        """What is known: kept from before, and said now."""
        return self.memory.facts

    @property
    def told_now(self) -> frozenset[str]:
        """The facts of which the words of this turn tell a value, or a bound that decides."""
        return frozenset(read.fact for read in self.reads) | (self.bounded.keys() & self.bounds.keys())

    def said_of(self, names: Iterable[str]) -> str:
        """What the case says of those of *names* of which something is known."""
        known = {name: self.words.told(name, value) for name, value in self.facts.items()}
        known |= {name: self.words.bound(bound.tests) for name, bound in self.bounds.items()}
        return "; ".join(known[name] for name in names if name in known)

    @property
    def asks(self) -> tuple[HeldItem, ...]:
        """The held items that say what this turn asks."""
        return tuple(one for one in self.reading.items if one.item.kind == "asks")

    @property
    def day(self) -> int:
        """The day whose rules answer, a proleptic ordinal."""
        return self.today.toordinal()
