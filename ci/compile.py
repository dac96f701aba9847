"""Records and workspace → the bundle and the enriched records. Pure: the same commit gives the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from bylaw.bundle import (
    BundleConstraint,
    BundleEffect,
    BundleMetadata,
    BundleRule,
    BundleVariable,
    CompiledPath,
    CompiledPolicyBundle,
    Dominance,
    Escalation,
    RuleMetadata,
    RuleSource,
    SchemaVersion,
)
from bylaw.canonical import number_text
from bylaw.logic.codec import encode
from bylaw.logic.ir import TRUE, ConditionalRule, Ruleset, Variable
from ci.formalize.paths import compiled_paths, decision_nodes
from ci.load import Workspace
from ci.measured.recorded import read as recorded
from ci.measured.recorded import versions
from ci.proofs.stage import Proofs
from ci.record import PolicyRecord

TYPES: Mapping[str, Any] = {
    "boolean": "bool",
    "integer": "int",
    "decimal": "float",
    "enum": "enum",
    "date": "date",
}


def compile_bundle(workspace: Workspace, proofs: Proofs, ruleset: Ruleset) -> CompiledPolicyBundle:
    """The bundle, its etag still empty (`bylaw.bundle.dump` fills it in)."""
    records = {record.policy.policy_id: record for record in proofs.records}
    variables = ruleset.variables
    used = {var for rule in ruleset.rules for var in _facts_of(rule)}
    paths = compiled_paths(ruleset.rules, variables)
    rules = [_rule(rule, records[rule.policy_id], variables) for rule in ruleset.rules]
    constraints = _constraints(ruleset, records)
    return CompiledPolicyBundle(
        variables={name: _variable(variable) for name, variable in sorted(variables.items())},
        conditional_rules=rules,
        constraints=constraints,
        decision_nodes=decision_nodes({name: variables[name] for name in sorted(used)}),
        compiled_paths=[CompiledPath.model_validate(path) for path in paths],
        dominance_rules=[Dominance.model_validate(rule) for rule in proofs.contradictions.dominance],
        escalations=[Escalation.model_validate(item) for item in proofs.contradictions.escalations],
        priority_lattice=dict(workspace.rules.priorities.levels.items()),
        vocabulary=workspace.vocabulary,
        outcomes={
            name: {
                "label": outcome.label,
                "complete": outcome.complete,
                "restrictive": list(workspace.vocabulary.restrictive(name)),
            }
            for name, outcome in sorted(workspace.vocabulary.outcomes.items())
        },
        graphs={
            policy_id: record.enriched["formal"]["decision_graph"]
            for policy_id, record in sorted(records.items())
            if record.in_logic
        },
        layers={
            policy_id: record.enriched["layer_assignment"]
            for policy_id, record in sorted(records.items())
            if "layer_assignment" in record.enriched
        },
        conflicts=proofs.contradictions.conflicts,
        overrides={policy_id: sorted(others) for policy_id, others in sorted(ruleset.overrides.items())},
        policies={policy_id: _policy(record) for policy_id, record in sorted(records.items())},
        context=workspace.context,
        decisions=workspace.decisions,
        rules=workspace.rules,
        business=workspace.business if workspace.rules.features.business_knowledge else None,
        bundle_metadata=BundleMetadata(
            policy_count=len(records),
            active_policy_count=sum(record.in_logic for record in records.values()),
            rule_count=len(rules),
            constraint_count=len(constraints),
            path_count=len(paths),
            source_commit=workspace.commit,
            commit_date=workspace.commit_date.isoformat() if workspace.commit_date else None,
            committed_at=workspace.committed_at,
            schema_versions={
                name: SchemaVersion.model_validate(version)
                for name, version in versions(workspace.context, recorded(workspace.root)).items()
            },
        ),
    )


def _facts_of(rule: ConditionalRule) -> set[str]:
    from bylaw.logic.ir import names

    return names(rule.guard)


def _variable(variable: Variable) -> BundleVariable:
    def bound(value: Any) -> str | None:
        if value is None:
            return None
        return date.fromordinal(value).isoformat() if variable.kind == "date" else number_text(value)

    return BundleVariable(
        type=TYPES[variable.kind],
        values=list(variable.values) or None,
        minimum=bound(variable.minimum),
        maximum=bound(variable.maximum),
        unit=variable.unit,
    )


def _day(ordinal: int | None) -> str | None:
    return None if ordinal is None else date.fromordinal(ordinal).isoformat()


def _source(policy_id: str, source: Any) -> RuleSource:
    return RuleSource(policy_id=policy_id, path=source.path, line=source.line, source_text=source.text)


def _rule(rule: ConditionalRule, record: PolicyRecord, variables: Mapping[str, Variable]) -> BundleRule:
    effect = rule.effect
    return BundleRule(
        rule_id=rule.rule_id,
        policy_id=rule.policy_id,
        conditions=encode(rule.guard, variables),
        action=effect.action,
        effect=BundleEffect(
            kind=effect.kind,
            action=effect.action,
            outcome=effect.outcome,
            implied=list(effect.implied),
            implied_takes=list(effect.implied_takes),
        ),
        metadata=RuleMetadata(
            domain=rule.domain,
            owner=record.policy.metadata.owner,
            priority_level=rule.level,
            effective_date=_day(rule.start),
            expiry_date=_day(rule.end),
            audience=list(rule.audience),
            origin=rule.origin,
        ),
        source=_source(rule.policy_id, rule.source),
    )


def _constraints(ruleset: Ruleset, records: Mapping[str, PolicyRecord]) -> list[BundleConstraint]:
    """Prohibitions in the words of seed 001 (`NOT(action)`), then the invariants with their formulas."""
    prohibitions = [
        BundleConstraint(
            constraint_id=f"C-{rule.rule_id.removeprefix('R-')}",
            policy_id=rule.policy_id,
            constraint=f"NOT({rule.effect.action})",
            scope="always" if rule.guard == TRUE else rule.domain,
            effective_date=_day(rule.start),
            expiry_date=_day(rule.end),
            source=_source(rule.policy_id, rule.source),
        )
        for rule in ruleset.rules
        if rule.effect.kind == "prohibited"
    ]
    invariants = [
        BundleConstraint(
            constraint_id=item.constraint_id,
            policy_id=item.policy_id,
            constraint=item.text,
            scope=records[item.policy_id].policy.metadata.domain,
            formula=encode(item.formula, ruleset.variables),
            effective_date=_day(item.start),
            expiry_date=_day(item.end),
            source=_source(item.policy_id, item.source),
        )
        for item in sorted(ruleset.constraints, key=lambda c: (c.policy_id, c.constraint_id))
    ]
    return [*prohibitions, *invariants]


def _policy(record: PolicyRecord) -> dict[str, Any]:
    policy = record.policy
    return {
        "path": record.path,
        "domain": policy.metadata.domain,
        "owner": policy.metadata.owner,
        "source": policy.metadata.source,
        "is_active": policy.is_active,
        "processing_status": dict(record.status),
        "priority_level": record.level.number,
        "priority_name": record.level.name,
        "priority_reason": record.level.reason,
        "regulatory_linkage": list(policy.metadata.regulatory_linkage),
        "audience": list(policy.audience),
    }


def enriched(records: Sequence[PolicyRecord]) -> dict[str, dict[str, Any]]:
    """File name → enriched record, for `policies/<ID>.json` beside the bundle."""
    return {f"{record.policy.policy_id}.json": record.to_json() for record in records}
