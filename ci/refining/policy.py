"""A policy as what the loop refines: its rules may be rewritten from its text, its cases say whether they are right.

Words, cases and every other policy are frozen: a proposal is a list of rules for this one policy, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bylaw.authored.policies import Formal, LogicRule, Policy
from bylaw.canonical import fingerprint
from bylaw.errors import UsageError
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import ValueMisfit, Variable
from bylaw.logic.formula.notation import infix
from bylaw.logic.words.shorter import shorter
from bylaw.refine.evidence import Evidence
from bylaw.refine.guardrail import MAX_RULES, Refusal
from bylaw.refine.machine import Mark
from bylaw.refine.subjects import Candidate
from ci.formalize.stage import formalize
from ci.loading.derived.record import PolicyRecord
from ci.loading.derived.variables import variables
from ci.loading.load import CaseEntry, PolicyFile, Workspace
from ci.proofs.questions.failing_case import differences
from ci.proofs.stage import ruleset_of

_MOST_FAILING = 20  # cases that a proposer is told of


class ProposedRule(LogicRule):
    """A rule of a policy with the very words that say it."""

    quote: Annotated[str, Field(max_length=2_000)] | None = None


class ProposedRules(BaseModel):
    """All rules that the policy shall have."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    logic_rules: tuple[ProposedRule, ...] = Field(max_length=MAX_RULES, min_length=1)


@dataclass(frozen=True)
class PolicySubject:
    """One policy of a repository, with the cases beside it. `day` is that of cases which name none."""

    workspace: Workspace
    file: PolicyFile
    day: date
    _others: list[PolicyRecord] = field(default_factory=list, compare=False)

    @classmethod
    def of(cls, workspace: Workspace, policy_id: str, day: date) -> PolicySubject:
        """The policy of that id. Raises UsageError where there is none, or it has no cases to be held by."""
        file = next((one for one in workspace.policies if one.policy.policy_id == policy_id), None)
        if file is None:
            raise UsageError(f"there is no policy `{policy_id}` that can be read", "`bylaw list policies` lists them")
        rest = tuple(one for one in workspace.policies if one is not file)
        records, _ = formalize(replace(workspace, policies=rest), variables(workspace.vocabulary))
        subject = cls(workspace, file, day, records)
        if not subject.cases:
            help = (
                f"write some into `{PurePosixPath(file.path).parent / 'cases.yaml'}`: `bylaw cases --missing --write`"
            )
            raise UsageError(f"`{policy_id}` has no cases, and nothing else says whether its rules are right", help)
        return subject

    @property
    def answer(self) -> type[BaseModel]:
        """All rules of the policy."""
        return ProposedRules

    @cached_property
    def cases(self) -> tuple[CaseEntry, ...]:
        """The cases beside the policy that may speak of it."""
        folder = PurePosixPath(self.file.path).parent
        return tuple(
            entry
            for entry in self.workspace.cases
            if PurePosixPath(entry.path).parent == folder
            and (not entry.case.policies or self.file.policy.policy_id in entry.case.policies)
        )

    @cached_property
    def variables(self) -> Mapping[str, Variable]:
        """The declared facts."""
        return variables(self.workspace.vocabulary)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """What the policy says in words, each sentence once."""
        return tuple(dict.fromkeys(_texts(self.workspace.sources[self.file.path].data)))

    def first(self) -> Candidate:
        """The policy as it is written."""
        record, problems = self._record(self.file.policy)
        rules = _as_rules(record, self.variables) if record.status["formalization"] == "complete" else []
        return self._candidate(record, rules, problems, (), 1.0)

    def judge(self, proposed: Mapping[str, Any]) -> Candidate | Refusal:
        """The policy with other rules, or why they are not looked at."""
        try:
            document = ProposedRules.model_validate(proposed)
        except ValidationError as error:
            problem = error.errors(include_input=False)[0]
            return Refusal((f"`{'.'.join(map(str, problem['loc']))}`: {problem['msg']}",))
        rules = [LogicRule.model_validate(one.model_dump(exclude={"quote"})) for one in document.logic_rules]
        if len({one.rule_id for one in rules}) < len(rules):
            return Refusal(("two rules have one id",))
        own = self.file.policy.formal or Formal()
        policy = self.file.policy.model_copy(update={"formal": own.model_copy(update={"logic_rules": rules})})
        record, problems = self._record(policy)
        if problems:
            return Refusal(tuple(problems))
        known = {one["meaning"] for one in _as_rules(self._record(self.file.policy)[0], self.variables)}
        told = _as_rules(record, self.variables)
        new = [(one, rule) for one, rule in zip(told, document.logic_rules, strict=True) if one["meaning"] not in known]
        assumptions = tuple(text for one, rule in new for text in self._assumed(one, rule))
        fidelity = 1.0 if not new else round((len(new) - len(assumptions)) / len(new), 6)
        quotes = {rule.rule_id: rule.quote for rule in document.logic_rules if rule.quote}
        kept = [{**one, **({"quote": quotes[one["rule_id"]]} if one["rule_id"] in quotes else {})} for one in told]
        return self._candidate(record, kept, [], assumptions, fidelity)

    def told(self) -> Mapping[str, Any]:
        """The text, the words, and what the cases expect."""
        vocabulary = self.workspace.vocabulary
        facts = {
            name: {"type": one.kind, **({"values": list(one.values)} if one.values else {}), **_unit(one)}
            for name, one in sorted(self.variables.items())
        }
        actions = {name: vocabulary.outcome_of(name) for name in sorted(vocabulary.actions)}
        return {
            "task": "Write the rules of this policy so that each case ends as it expects, where the text says so.",
            "question": self.file.policy.policy_id,
            "text": "\n".join(self.sentences),
            "words": {"facts": facts, "actions": actions},
            "notation": "antecedent: comparisons of facts joined by and, or, not; consequent: one action; "
            "type: required, prohibited, permitted or fallback",
            "cases": [
                {"name": one.case.name, "facts": one.case.facts, "expect": one.case.expect} for one in self.cases
            ],
        }

    def _assumed(self, told: Mapping[str, Any], rule: ProposedRule) -> Iterator[str]:
        evidence = Evidence("\n".join(self.sentences))
        said = f"{told['antecedent']} → {told['consequent']}"
        if rule.quote is None:
            yield f"{said} (nothing is quoted for it)"
        elif not evidence.is_verbatim(rule.quote):
            yield f"{said} (what is quoted for it is not in the policy)"

    def _record(self, policy: Policy) -> tuple[PolicyRecord, list[str]]:
        file = PolicyFile(policy, self.file.path)
        records, findings = formalize(replace(self.workspace, policies=(file,)), self.variables)
        return records[0], [finding.message for finding in findings]

    def _candidate(
        self,
        record: PolicyRecord,
        rules: Sequence[Mapping[str, Any]],
        problems: Sequence[str],
        assumptions: tuple[str, ...],
        fidelity: float,
    ) -> Candidate:
        failing = [*self._failing(record)]
        held = len(self.cases) - len(failing)
        status = "unknown" if problems else "consistent_entails" if not failing else "consistent_no_entailment"
        feedback = {
            "status": status,
            "core": [],
            "missing": [],
            "failing": failing[:_MOST_FAILING],
            "notes": [*problems],
        }
        meaning = fingerprint(sorted(one["meaning"] for one in rules))
        shown = [{key: value for key, value in one.items() if key != "meaning"} for one in rules]
        mark = Mark(meaning, status, fidelity, len(failing), held, len(self.cases))
        document = {"policy_id": self.file.policy.policy_id, "logic_rules": shown}
        return Candidate(document, feedback, mark, assumptions)

    def _failing(self, record: PolicyRecord) -> Iterator[dict[str, Any]]:
        """The cases that end otherwise, each with what it expects and what it gets."""
        evaluator = Evaluator(ruleset_of(self.workspace, [*self._others, record], self.variables))
        for entry in self.cases:
            case = entry.case
            try:
                facts = {name: self.variables[name].read(value) for name, value in case.facts.items()}
            except (KeyError, ValueMisfit) as error:
                yield {"case": case.name, "problem": str(error)}
                continue
            decision = evaluator.decide(facts, (case.at or self.day).toordinal(), names_unknown=False)
            for key, expected, found in differences(self.workspace.vocabulary, case, decision):
                yield {"case": case.name, "facts": dict(case.facts), "of": key, "expected": expected, "found": found}
                break


def _as_rules(record: PolicyRecord, known: Mapping[str, Variable]) -> list[dict[str, Any]]:
    """The rules of a record as people write them by hand; `meaning` tells them apart whatever they are called."""
    found = []
    for rule in record.rules:
        antecedent = infix(shorter(rule.guard, known), known)
        kind = "required" if rule.effect.kind == "outcome" else rule.effect.kind
        written = {"antecedent": antecedent, "consequent": rule.effect.action, "type": kind}
        found.append({"rule_id": rule.rule_id, **written, "meaning": fingerprint(written)})
    return found


def _unit(variable: Variable) -> dict[str, str]:
    return {"unit": variable.unit} if variable.unit else {}


def _texts(raw: Any) -> Iterator[str]:
    """Every sentence that a policy quotes or says in words, wherever it stands."""
    match raw:
        case Mapping():
            for key, value in raw.items():
                if key in ("source_text", "description", "text_only"):
                    yield from (str(one) for one in (value if isinstance(value, list) else [value]) if one)
                else:
                    yield from _texts(value)
        case list():
            for value in raw:
                yield from _texts(value)
