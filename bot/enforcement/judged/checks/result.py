"""What a check is given and what it finds: the draft of an answer with its case, and a result with its violations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from bot.claims.judge import Found
from bot.enforcement.question.lookups import Rules, lookups
from bot.enforcement.question.scope import Scope
from bot.enforcement.question.topic import Topic
from bot.index import BundleIndex
from bylaw.language.glyphs import as_seen
from bylaw.logic.decide.evaluate import Decision, Evaluator
from bylaw.logic.formula.ir import ConditionalRule, Unproven, Value

Kind = Literal[
    "pii",
    "over-promise",
    "wrong-action",
    "unsupported-action",
    "wrong-figure",
    "wrong-fact",
    "wrong-source",
    "unread",
    "unanswered",
    "uncovered",
    "judged",
    "crashed",
    "impossible",
]
Judge = Callable[[str, str, Sequence[str]], float | None]  # query, answer, rules in words → [0, 1], None for no verdict


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that is wrong. `words` are the answer's own; `rule` is the one that says otherwise, `unproven` one that
    may and cannot be read.
    """

    kind: Kind
    message: str
    words: str = ""
    rule: ConditionalRule | None = None
    unproven: Unproven | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found. A score of None says that the check has nothing to go by: its weight goes to the others."""

    name: str
    score: float | None
    detail: str
    violations: tuple[Violation, ...] = ()

    @property
    def is_passed(self) -> bool:
        """Did it find nothing?"""
        return not self.violations


@dataclass(frozen=True)
class AnswerDraft:
    """An answer before anybody sees it, and everything about its case that the checks hold it against."""

    query: str
    text: str
    index: BundleIndex
    evaluator: Evaluator
    facts: Mapping[str, Value]
    day: int
    decision: Decision
    scope: Scope
    topic: Topic
    judge: Judge | None = None
    told: frozenset[str] = frozenset()  # the facts that whoever asks knows: he needs not hear them again
    found: Found | None = None  # what the judge made of the claims about the text

    @cached_property
    def seen(self) -> str:
        """The text as it looks to whoever reads it."""
        return as_seen(self.text)

    @cached_property
    def relevant(self) -> Rules:
        """The rules in force that answer what was asked: those of its outcomes, its actions, else of its domain."""
        found = [group for group in self._asked if group]
        if found:
            return lookups(self.index).joined(*found)
        rules = self.evaluator.ruleset.rules
        return tuple(rule for rule in rules if rule.domain in self.topic.domains[:1] and rule.holds_on(self.day))

    @cached_property
    def _asked(self) -> tuple[Rules, Rules]:
        """The rules in force that answer the outcomes asked about, and those that speak of the actions."""
        outcomes = self.scope.outcomes
        known = lookups(self.index)
        answering = known.answering(outcomes, self.evaluator, self.day)
        return answering, known.speaking(self.scope.actions, self.evaluator, self.day)

    @cached_property
    def deciding(self) -> Rules:
        """The rules that decide what was asked in this case: of its outcomes, and of its duties."""
        ids = [self.decision.outcomes[name].rule_id for name in self.scope.outcomes]
        found = [self.index.rule(rule_id) for rule_id in ids[:1] if rule_id is not None]
        return tuple(found or [rule for _, action, rule in self.scope.duties if action in self.scope.actions])

    @property
    def domain(self) -> str | None:
        """Where its weights and edges come from: the domain of the rule that decides, else that of the question."""
        if self.deciding:
            return self.deciding[0].domain
        return self.topic.domains[0] if self.topic.domains else None


known = lookups  # what a draft's bundle is looked up in
