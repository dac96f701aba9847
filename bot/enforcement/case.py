"""Everything about one turn that its answer is made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from bot.enforcement.question.case.bounds import Bound
from bot.enforcement.question.case.facts import Read, Unclear
from bot.enforcement.question.memory import Memory
from bot.enforcement.question.topic.scope import Scope
from bot.enforcement.writing.write import Words
from bot.index import BundleIndex
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
    unclear: tuple[Unclear, ...]
    decision: Decision
    scope: Scope
    asked: str | None = None  # the fact that this turn should have answered
    is_declined: bool = False
    picked: str | None = None  # which of the topics that were offered this turn is
    told: frozenset[str] = frozenset()  # the facts that whoever asks knows: all but those that the words say otherwise
    unused: tuple[str, ...] = ()  # what was told and not used, as it is said
    withheld: tuple[str, ...] = ()  # the facts for want of which the most restrictive outcome is given
    on: date | None = None  # the day whose rules answer, where it is not the day it is asked on
    is_part: bool = False  # is it one of several stretches of days that are answered together?
    bounds: Mapping[str, Bound] = field(default_factory=dict)  # of facts without a value that decide all the same

    @property
    def facts(self) -> Mapping[str, Value]:
        """What is known: kept from before, and said now."""
        return self.memory.facts

    @property
    def told_now(self) -> tuple[Read, ...]:
        """What the words of this turn tell of the case: values, and bounds that decide."""
        bounds = (one.as_bound for one in self.unclear if one.fact in self.bounds)
        return (*self.reads, *(one for one in bounds if one is not None))

    def said_of(self, names: Iterable[str]) -> str:
        """What the case says of those of *names* of which something is known."""
        known = {name: self.words.told(name, value) for name, value in self.facts.items()}
        known |= {name: self.words.bound(bound.tests) for name, bound in self.bounds.items()}
        return "; ".join(known[name] for name in names if name in known)

    @property
    def day(self) -> int:
        """The day whose rules answer, a proleptic ordinal: one that was named, or that on which it is asked."""
        return (self.on or self.today).toordinal()
