"""Records and workspace → the bundle and the enriched records. Pure: the same commit gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from typing import Any, TypeVar

from pydantic import BaseModel

from bylaw.authored.causes import Cause, Causes
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
from bylaw.declared import Broken, Route, broken_business, broken_context, broken_words
from bylaw.logic.decide.asking import Asking
from bylaw.logic.formula.codec import encode
from bylaw.logic.formula.ir import TRUE, ConditionalRule, Ruleset, Unproven, Variable
from bylaw.sections import BundleUnproven, BundleUnread
from ci.formalize.paths import compiled_paths
from ci.loading.commits.markers import with_marked_files
from ci.loading.derived.record import PolicyRecord
from ci.loading.load import Workspace
from ci.loading.unread import Unread
from ci.measured.recorded import read as recorded
from ci.measured.recorded import versions
from ci.proofs.stage import Proofs

TYPES: Mapping[str, Any] = {
    "boolean": "bool",
    "integer": "int",
    "decimal": "float",
    "enum": "enum",
    "date": "date",
}


def compile_bundle(
    workspace: Workspace, proofs: Proofs, ruleset: Ruleset, unread: Iterable[Unread] = ()
) -> CompiledPolicyBundle:
    """The bundle, its etag still empty (`bylaw.bundle.dump` fills it in); *ruleset* also says what is unproven."""
    records = {record.policy.policy_id: record for record in proofs.records}
    variables = ruleset.variables
    used = {var for rule in ruleset.rules for var in _facts_of(rule)}
    order = Asking(variables, ruleset.steps, ruleset.rules).place
    paths = compiled_paths(ruleset.rules, variables, order)
    rules = [_rule(rule, records[rule.policy_id], variables) for rule in ruleset.rules]
    constraints = _constraints(ruleset, records)
    causes = Causes(workspace.decisions)
    vocabulary = whole(workspace.vocabulary, "vocabulary", broken_words)
    context = whole(workspace.context, "context", broken_context)
    business = whole(workspace.business, "business", lambda plans: broken_business(plans, context))
    return CompiledPolicyBundle(
        variables={name: _variable(variable) for name, variable in sorted(variables.items())},
        conditional_rules=rules,
        constraints=constraints,
        decision_nodes=sorted(used, key=order.__getitem__),
        compiled_paths=[CompiledPath.model_validate(path) for path in paths],
        dominance_rules=[Dominance.model_validate(rule) for rule in proofs.contradictions.dominance],
        escalations=[Escalation.model_validate(item) for item in proofs.contradictions.escalations],
        priority_lattice=dict(workspace.rules.priorities.levels.items()),
        vocabulary=vocabulary,
        outcomes={
            name: {
                "label": outcome.label,
                "complete": outcome.complete,
                "restrictive": list(vocabulary.restrictive(name)),
            }
            for name, outcome in sorted(vocabulary.outcomes.items())
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
        overrides={
            policy_id: sorted(others & records.keys())
            for policy_id, others in sorted(ruleset.overrides.items())
            if others & records.keys()
        },
        policies={
            policy_id: {
                **_policy(record, causes.told("policy", policy_id, record.policy.metadata.decision)),
                "lifted_by": _lifting(record, workspace, variables),
            }
            for policy_id, record in sorted(records.items())
        },
        context=context,
        decisions=with_marked_files(workspace.decisions, workspace.root),
        rules=workspace.rules,
        business=business if workspace.rules.features.business_knowledge else None,
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
                for name, version in versions(context, recorded(workspace.root)).items()
            },
            unproven=[_unproven(one) for one in ruleset.unproven],
            unread=[BundleUnread(**_listed(asdict(one))) for one in unread],
        ),
    )


Section = TypeVar("Section", bound=BaseModel)


def whole(section: Section, name: str, broken: Callable[[Section], Iterable[Broken]]) -> Section:
    """*section* without what has no meaning because a name in it leads nowhere; a finding has told of each."""
    while routes := {problem.falls[1:] for problem in broken(section)}:
        data = section.model_dump(by_alias=True)
        for route in sorted(routes, key=_in_order, reverse=True):  # the later items of a list first
            _without(data, route)
        section = type(section).model_validate(data)
    return section


def _in_order(route: Route) -> tuple[str, ...]:
    return tuple(f"{part:09}" if isinstance(part, int) else part for part in route)


def _without(data: Any, route: Route) -> None:
    """Take what is at *route* out of *data*, as far as it is still there; what a model may leave out is then None."""
    for key in route[:-1]:
        if key not in data and not isinstance(data, list):
            return
        data = data[key]
    data.pop(route[-1])


def _unproven(rule: Unproven) -> BundleUnproven:
    return BundleUnproven(
        policy_id=rule.policy_id,
        path=rule.path,
        line=rule.line,
        actions=list(rule.actions),
        outcomes=list(rule.outcomes),
        finding=rule.finding,
        reason=rule.reason,
        owner=rule.owner,
        domain=rule.domain,
        effective_date=_day(rule.start),
        expiry_date=_day(rule.end),
        audience=list(rule.audience),
        everything=rule.is_everything,
        beside=list(rule.beside),
    )


def _listed(data: dict[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in data.items()}


def _facts_of(rule: ConditionalRule) -> set[str]:
    from bylaw.logic.formula.ir import names

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
    """Prohibitions in the words of seed 001 (`NOT(action)`) with where they hold, then the invariants with theirs."""
    prohibitions = [
        BundleConstraint(
            constraint_id=f"C-{rule.rule_id.removeprefix('R-')}",
            policy_id=rule.policy_id,
            constraint=f"NOT({rule.effect.action})",
            scope="always" if rule.guard == TRUE else rule.domain,
            conditions=None if rule.guard == TRUE else encode(rule.guard, ruleset.variables),
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


def _cause(one: Cause) -> dict[str, Any]:
    return {**one.as_json(), **({"audience": list(one.audience)} if one.audience else {})}


def _policy(record: PolicyRecord, causes: Sequence[Cause]) -> dict[str, Any]:
    policy = record.policy
    return {
        **(_unchecked(record) if record.texts and policy.is_active else {}),
        **({} if policy.has_logic or record.in_logic else {"has_logic": False}),
        **({"steps": list(record.steps)} if record.steps and record.in_logic else {}),
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
        **({"decision": policy.metadata.decision} if policy.metadata.decision else {}),
        **({"decided_by": [_cause(one) for one in causes]} if causes else {}),
        "audience": list(policy.audience),
    }


def _lifting(record: PolicyRecord, workspace: Workspace, variables: Mapping[str, Variable]) -> list[dict[str, Any]]:
    """The exceptions that only take effects away: they make no rule, and people want to know why nothing holds."""
    found = []
    for lifting in record.liftings if record.in_logic else ():
        written: Any = record.policy
        for key in lifting.route:
            written = getattr(written, key) if isinstance(key, str) else written[key]
        found.append(
            {
                "conditions": encode(lifting.guard, variables),
                "line": workspace.line(record.path, lifting.route),
                "text": written.source_text or written.description,
                "actions": list(lifting.lifts),
            }
        )
    return found


def _unchecked(record: PolicyRecord) -> dict[str, Any]:
    """The sentences that no logic knows, and when they hold: they stay in force as text."""
    metadata = record.policy.metadata
    days = (("effective_date", metadata.effective_date), ("expiry_date", metadata.expiry_date))
    return {"texts": list(record.texts), **{key: day.isoformat() for key, day in days if day is not None}}


def enriched(records: Sequence[PolicyRecord]) -> dict[str, dict[str, Any]]:
    """File name → enriched record, for `policies/<ID>.json` beside the bundle."""
    return {f"{record.policy.policy_id}.json": record.to_json() for record in records}
