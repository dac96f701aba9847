"""What every question has at hand: the theory, the records and their places, and a way to put a case in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from bylaw.logic.formula.ir import ConditionalRule, Facts
from ci.findings import Finding, Place
from ci.loading.derived.record import PolicyRecord
from ci.loading.load import CaseEntry, Workspace
from ci.progress import Progress, each
from ci.proofs.entry import entry
from ci.proofs.focus import Focus, asked_rules
from ci.proofs.theory import Theory, Verdict


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One run's view of a policy set. `words` turns a case into a phrase; `progress` hears (what, done, of).

    Questions ask about what is in the *focus*; None is everything.
    """

    workspace: Workspace
    records: Mapping[str, PolicyRecord]
    theory: Theory
    words: Callable[[Facts], str]
    progress: Progress | None = None
    focus: Focus | None = None

    # ---- what is asked about ------------------------------------------------------------------------------------

    def each_rule(self, doing: str) -> Iterator[int]:
        """The rules in focus; whoever hears of progress is told that they are *doing* it."""
        return each(doing, asked_rules(self.theory.ruleset, self.focus), self.progress)

    def each_policy(self, doing: str) -> Iterator[tuple[str, PolicyRecord]]:
        """The policies in focus, by id."""
        asked = [(id_, record) for id_, record in sorted(self.records.items()) if self.asks_of(id_)]
        return each(doing, asked, self.progress)

    def each_outcome(self, doing: str) -> Iterator[str]:
        """The complete outcomes in focus."""
        complete = self.theory.ruleset.complete
        return each(doing, [o for o in complete if self.focus is None or o in self.focus.outcomes], self.progress)

    def each_case(self, doing: str) -> Iterator[CaseEntry]:
        """The cases of `cases.yaml` in focus."""
        cases = self.workspace.cases
        asked = [c for c in cases if self.focus is None or (c.path, c.index) in self.focus.cases]
        return each(doing, asked, self.progress)

    @property
    def in_force(self) -> Inquiry:
        """The same without drafts, by which nobody is answered."""
        drafts = {name for name, record in self.records.items() if record.policy.draft and record.in_logic}
        return replace(self, theory=self.theory.without(drafts)) if drafts else self

    def asks_of(self, policy_id: str) -> bool:
        """Is the policy in focus?"""
        return self.focus is None or policy_id in self.focus.policies

    # ---- what is told -------------------------------------------------------------------------------------------

    def rule(self, i: int) -> ConditionalRule:
        """The rule at position *i*."""
        return self.theory.ruleset.rules[i]

    def place(self, i: int) -> Place:
        """Where rule *i* was written."""
        rule = self.rule(i)
        record = self.records[rule.policy_id]
        return Place(record.path, record.routes[rule.rule_id])

    def counterexample(
        self, verdict: Verdict, expect: Mapping[str, Any] | None = None, note: str = ""
    ) -> dict[str, Any] | None:
        """The case as JSON: facts in their declared units, the day, the case in words, and as an entry to paste."""
        if verdict.facts is None:
            return None
        variables = self.theory.ruleset.variables
        shown = {name: variables[name].show(value) for name, value in sorted(verdict.facts.items())}
        day = verdict.day if verdict.day is not None else self.theory.at
        words = self.words(verdict.facts)
        case = {} if expect is None else {"case": entry(words, shown, expect, note)}
        return {"facts": shown, "at": date.fromordinal(day).isoformat(), "words": words, **case}

    def unanswered(self, what: str, at: Place, verdict: Verdict, policies: tuple[str, ...]) -> Finding:
        """The finding for a question that hit its limit: it has not passed."""
        return Finding(
            "unknown-answer",
            f"{what} could not be decided: {verdict.reason}",
            at,
            policies=policies,
            help="simplify the guards, or raise the budget under `proofs` in rules/ci.yaml",
            status="UNKNOWN",
        )


def says(rule: ConditionalRule) -> str:
    """What the rule does, as a verb and an action: `says full_refund`, `prohibits disclose_pii`."""
    verb = {"outcome": "says", "required": "requires", "prohibited": "prohibits", "permitted": "permits"}
    return f"{verb[rule.effect.kind]} {rule.effect.action}"
