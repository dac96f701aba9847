"""The head as it would be had it left alone what gates: its own policies, under the base's words, rules and cases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bylaw.authored.machines.rules import Rules
from bylaw.authored.policies import Policy
from bylaw.authored.vocabulary import Fact, Vocabulary
from ci.gating.gates import is_higher, is_lower
from ci.loading.file_kinds import CaseEntry, PolicyFile
from ci.loading.load import Workspace


def with_former_gates(before: Workspace, after: Workspace) -> Workspace:
    """*after* with everything that gates as *before* has it. What only *after* has stays."""
    return replace(
        after,
        rules=with_former_rules(before.rules, after.rules),
        vocabulary=_vocabulary(before.vocabulary, after.vocabulary),
        policies=_policies(before.policies, after.policies),
        cases=_cases(before.cases, after.cases),
    )


def with_former_rules(before: Rules, after: Rules) -> Rules:
    """*after* with the files of *before* that gate."""
    held = ("ci", "waivers", "pii", "roles", "features", "priorities")
    return after.model_copy(update={name: getattr(before, name) for name in held})


def _vocabulary(before: Vocabulary, after: Vocabulary) -> Vocabulary:
    facts = {name: _fact(before.facts.get(name), fact) for name, fact in after.facts.items()}
    outcomes = {
        name: one.model_copy(update={"complete": True})
        if (old := before.outcomes.get(name)) is not None and old.complete
        else one
        for name, one in after.outcomes.items()
    }
    actions = {}
    for name, action in after.actions.items():
        old_action = before.actions.get(name)
        is_known = old_action is not None and (old_action.outcome is None or old_action.outcome in outcomes)
        kept: dict[str, Any] = {}
        if old_action is not None and is_known:
            kept = {"outcome": old_action.outcome, "same_as": old_action.same_as}
        actions[name] = action.model_copy(update=kept)
    groups = [group for group in before.relations.excludes if all(name in actions for name in group)]
    relations = after.relations.model_copy(update={"excludes": [*after.relations.excludes, *groups]})
    return after.model_copy(update={"facts": facts, "outcomes": outcomes, "actions": actions, "relations": relations})


def _fact(before: Fact | None, after: Fact) -> Fact:
    """The fact as wide as either version has it."""
    if before is None or (before.type, before.unit) != (after.type, after.unit):
        return after
    wider: dict[str, Any] = {"values": {**before.values, **after.values}}
    if is_higher(before.minimum, after.minimum):
        wider["minimum"] = before.minimum
    if is_lower(before.maximum, after.maximum):
        wider["maximum"] = before.maximum
    return after.model_copy(update=wider)


def _policies(before: tuple[PolicyFile, ...], after: tuple[PolicyFile, ...]) -> tuple[PolicyFile, ...]:
    old = {file.policy.policy_id: file.policy for file in before}
    return tuple(replace(file, policy=_policy(old.get(file.policy.policy_id), file.policy)) for file in after)


def _policy(before: Policy | None, after: Policy) -> Policy:
    update: dict[str, Any] = {}
    known = {} if before is None or before.formal is None else {c.constraint_id: c for c in before.formal.constraints}
    own = [] if after.formal is None else after.formal.constraints
    kept = [known[one.constraint_id] for one in own if one.constraint_id in known]
    if kept != own and after.formal is not None:
        update["formal"] = after.formal.model_copy(update={"constraints": kept})
    if before is not None:
        days = {name: getattr(before.metadata, name) for name in ("effective_date", "expiry_date")}
        update["metadata"] = after.metadata.model_copy(update=days)
        update["discovery"] = before.discovery
    return after.model_copy(update=update) if update else after


def _cases(before: tuple[CaseEntry, ...], after: tuple[CaseEntry, ...]) -> tuple[CaseEntry, ...]:
    """The base's cases, then those that only the head has."""
    known = {(entry.path, entry.case.name) for entry in before}
    return (*before, *(entry for entry in after if (entry.path, entry.case.name) not in known))
