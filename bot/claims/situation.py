"""What an answer is judged in: the bundle, the day, the facts of the case, and what the question is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property, reduce

from bot.claims.bearing import Bearing, Told, bear
from bot.claims.models import Claim
from bot.claims.terms import Terms, terms_of
from bot.index import BundleIndex
from bylaw.hold.answers.background import Quoted, quote_rule
from bylaw.logic.boxes.boxes import Region, meet_regions, region
from bylaw.logic.decide.entailment import Entailment
from bylaw.logic.decide.evaluate import Decision, Evaluator
from bylaw.logic.formula.ir import Atom, Value


@dataclass(frozen=True)
class Situation:
    """What an answer is judged in: the bundle, the day, what is known of the case, and what the question is about."""

    index: BundleIndex
    evaluator: Evaluator
    day: int
    facts: Mapping[str, Value]
    query: str = ""
    bounds: Mapping[str, tuple[Atom, ...]] = field(default_factory=dict)  # tests that facts without a value pass
    outcomes: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    is_covered: bool = True
    personal: tuple[str, ...] = ()  # personal data in the answer that nobody told
    decided: Decision | None = None  # what the rules decide in it, where somebody asked them before

    @cached_property
    def decision(self) -> Decision:
        """What the rules decide in it."""
        return self.decided or self.evaluator.decide(self.facts, self.day, names_unknown=False)

    @cached_property
    def known(self) -> Mapping[str, Region]:
        """What the case leaves of each fact that it tells of."""
        variables = self.evaluator.ruleset.variables
        tests = {name: (Atom(name, "==", value),) for name, value in self.facts.items()}
        return {
            name: reduce(meet_regions, (region(test, variables[name]) for test in those))
            for name, those in {**self.bounds, **tests}.items()
        }

    @cached_property
    def words(self) -> Terms:
        """What the vocabulary declares of facts and actions."""
        return terms_of(self.index)

    def bear(self, answer: str, claims: Sequence[Claim]) -> Bearing:
        """Hold *claims* against *answer*, knowing the case."""
        asked = frozenset((*self.outcomes, *self.actions))
        told = {name: self.words.variables[name].show(value) for name, value in self.facts.items()}
        return bear(answer, claims, self.index, Told(told, self.query, asked, date.fromordinal(self.day), self.ruled))

    @cached_property
    def ruled(self) -> Mapping[str, Quoted]:
        """By action, what the rules say that give it and that the case does not rule out."""
        found: dict[str, Quoted] = {}
        for i, rule in enumerate(self.evaluator.ruleset.rules):
            if rule.source.text and rule.holds_on(self.day) and self.is_open(i):
                for action in (rule.effect.action, *rule.effect.implied):
                    found[action] = found.get(action, Quoted()) | quote_rule(rule.source.text)
        return found

    def is_open(self, rule: int, cell: Mapping[str, Region] | None = None) -> bool:
        """May the rule of that number apply in *cell*, which is the case where none is given?"""
        boxes, known = self.evaluator.boxes_of(rule), self.known if cell is None else cell
        return boxes is None or any(_is_open(box.regions, known) for box in boxes)


def holds(case: Situation, action: str) -> bool:
    """Does every completion of the case take, require or permit the action, whatever a rule says that is unproven?"""
    if case.evaluator.unproven.about(action, case.day):
        return False
    outcome = case.index.vocabulary.outcome_of(action)
    return entailment_of(case).ways(action, outcome, dict(case.known.items()), "given").all("given")


def entailment_of(case: Situation) -> Entailment:
    """What every completion of a case takes, by the rules of its day."""
    return case.index.recently(_entailment)(case.evaluator, case.day)


def _entailment(_index: BundleIndex, evaluator: Evaluator, day: int) -> Entailment:
    return Entailment(evaluator, day)


def _is_open(regions: Mapping[str, Region], cell: Mapping[str, Region]) -> bool:
    return all(name not in cell or meet_regions(where, cell[name]) for name, where in regions.items())
