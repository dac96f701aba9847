"""The verdict on one answer: the `ComplianceDecision` of seed 001, its checks, its sources, what becomes of it."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field

from bot.claims.models import Reading, Verdict
from bot.conversation import Citation, Spoken
from bot.enforcement.judged.checks.registry import CHECKS, Check, run
from bot.enforcement.judged.checks.result import AnswerDraft, CheckResult, Violation
from bot.enforcement.judged.score import Action, Scored, score
from bot.enforcement.question.lookups import lookups
from bylaw.logic.formula.ir import ConditionalRule


class Broken(Spoken):
    """One violation. `words` are the answer's; the rule is the one that says otherwise, where there is one."""

    kind: str
    check: str
    message: str
    words: str = ""
    policy_id: str | None = None
    rule_id: str | None = None
    path: str | None = None
    line: int | None = None


class Checked(Spoken):
    """One check. A score of null: it had nothing to go by, and its weight went to the others."""

    name: str
    passed: bool
    score: float | None
    detail: str


class Correction(Spoken):
    """What `auto_correct` changed (seed 000, auto-correct audit)."""

    original_fragment: str
    corrected_fragment: str
    reason: str
    policy_id: str | None = None


class AuditTrail(Spoken):
    """What the verdict rests on."""

    applied_policies: tuple[str, ...] = ()
    decision_path: str = ""
    source_documents: tuple[str, ...] = ()
    auto_corrections: tuple[Correction, ...] = ()
    diff: tuple[str, ...] = ()


class Escalated(Spoken):
    """Who has to look at it, why, and at which case."""

    owners: tuple[str, ...]
    reason: str
    case: dict[str, Any] = Field(default_factory=dict)


class ComplianceDecision(Spoken):
    """What becomes of an answer. `delivered` is the text that may be shown: null where none may."""

    score: float
    action: Action
    verdict: Verdict
    reading: Reading
    reason: str
    violations: tuple[Broken, ...] = ()
    evidence: tuple[Citation, ...] = ()
    audit_trail: AuditTrail = AuditTrail()
    llm_response: str
    delivered: str | None = None
    query: str = ""
    domain: str | None = None
    checks: tuple[Checked, ...] = ()
    weights: dict[str, float] = Field(default_factory=dict)
    facts: dict[str, Any] = Field(default_factory=dict)
    outcomes: dict[str, Any] = Field(default_factory=dict)
    missing_facts: tuple[str, ...] = ()
    escalation: Escalated | None = None
    bundle_etag: str
    commit: str | None = None


def verdict(draft: AnswerDraft, checks: Mapping[str, Check] = CHECKS) -> ComplianceDecision:
    """Run the checks on *draft*, score them, and say what becomes of it."""
    results, found = run(draft, checks), draft.found
    scored = score(results, draft.index.rules.enforcement, draft.domain)
    rules = _rules(draft, results)
    variables = draft.evaluator.ruleset.variables
    facts = {name: variables[name].show(value) for name, value in sorted(draft.facts.items())}
    return ComplianceDecision(
        score=scored.score,
        action=scored.action,
        verdict=found.verdict if found is not None else "unread",
        reading=found.reading if found is not None else Reading(by="plain"),
        reason=scored.reason,
        violations=tuple(_broken(result, violation) for result in results for violation in result.violations),
        evidence=tuple(_citation(rule, draft.index.commit) for rule in rules),
        audit_trail=_trail(draft, rules),
        llm_response=draft.text,
        delivered=draft.text if scored.action == "pass" else None,
        query=draft.query,
        domain=draft.domain,
        checks=tuple(
            Checked(name=result.name, passed=result.is_passed, score=result.score, detail=result.detail)
            for result in results
        ),
        weights=dict(scored.weights),
        facts=facts,
        outcomes={name: draft.decision.outcomes[name].action for name in draft.scope.outcomes},
        missing_facts=draft.scope.missing,
        escalation=_escalated(draft, scored, rules, facts),
        bundle_etag=draft.index.etag,
        commit=draft.index.commit,
    )


def _rules(draft: AnswerDraft, results: Iterable[CheckResult]) -> tuple[ConditionalRule, ...]:
    """The rules that decide the case, and those that a violation names."""
    named = [*(draft.found.rules if draft.found is not None else ())]
    named += [v.rule for result in results for v in result.violations if v.rule is not None]
    return tuple({rule.rule_id: rule for rule in (*draft.deciding, *named)}.values())


def _broken(result: CheckResult, violation: Violation) -> Broken:
    rule, unproven = violation.rule, violation.unproven
    named: dict[str, Any] = {}
    if rule is not None:
        place = {"path": rule.source.path, "line": rule.source.line}
        named = {"policy_id": rule.policy_id, "rule_id": rule.rule_id, **place}
    elif unproven is not None:
        named = {"policy_id": unproven.policy_id, "path": unproven.path, "line": unproven.line}
    return Broken.model_validate(
        {
            "kind": violation.kind,
            "check": result.name,
            "message": violation.message,
            "words": violation.words,
            **named,
        }
    )


def _citation(rule: ConditionalRule, commit: str | None) -> Citation:
    source = rule.source
    return Citation(id=rule.policy_id, path=source.path, line=source.line, commit=commit, text=source.text)


def _trail(draft: AnswerDraft, rules: Iterable[ConditionalRule]) -> AuditTrail:
    policies = tuple(dict.fromkeys(rule.policy_id for rule in rules))
    held = (draft.index.bundle.policies.get(policy_id, {}).get("source") for policy_id in policies)
    asked = lookups(draft.index).facts_of(draft.deciding)
    steps = [step for step in draft.decision.path if step.partition("=")[0] in asked]
    actions = dict.fromkeys(rule.effect.action for rule in draft.deciding)
    return AuditTrail(
        applied_policies=policies,
        decision_path=" → ".join((*steps, *actions)),
        source_documents=tuple(dict.fromkeys(str(source) for source in held if source)),
    )


def _escalated(
    draft: AnswerDraft, scored: Scored, rules: Iterable[ConditionalRule], facts: dict[str, Any]
) -> Escalated | None:
    if scored.action != "escalate":
        return None
    return Escalated(owners=owners(draft, rules), reason=scored.reason, case=facts)


def owners(draft: AnswerDraft, rules: Iterable[ConditionalRule]) -> tuple[str, ...]:
    """Who answers for the rules that cannot be read, where it is about these; else for *rules*, else for those that
    could matter, else for the general domains.
    """
    unproven = draft.found.unproven if draft.found is not None else ()
    if lost := {one.owner for one in unproven} - {""}:
        return tuple(sorted(lost)[:3])
    for group in (list(rules), list(draft.relevant)):
        found = set(map(draft.index.owner, {rule.policy_id for rule in group})) - {""}
        if found:
            return tuple(sorted(found)[:3])
    general = set(draft.index.rules.priorities.general_domains)
    spoken = [rule for rule in draft.evaluator.ruleset.rules if rule.domain in general]
    return tuple(sorted({draft.index.owner(rule.policy_id) for rule in spoken} - {""})[:3])
