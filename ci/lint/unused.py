"""What is written and read otherwise than it looks: settings that no code asks for, conditions that no action names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel

from bylaw.authored.conditions import WITHIN_WINDOW, Condition, Not, TimeWindow
from bylaw.authored.machines.rules import RULE_FILES
from bylaw.authored.policies import Policy
from bylaw.authored.record import Shortened
from ci.findings import Finding, Place, Route
from ci.lint.meaning import exceptions_of
from ci.loading.load import Workspace


def unused_settings(workspace: Workspace) -> Iterator[Finding]:
    """Every key of a rules file is read by something."""
    for name, model in sorted(RULE_FILES.items()):
        source = workspace.sources.get(f"rules/{name}.yaml")
        for route in _retired(model, source.data, ()) if source is not None else ():
            message = f"the setting `{'.'.join(map(str, route))}` is read by nothing: what it says does not hold"
            at = Place(f"rules/{name}.yaml", route, on_key=True)
            yield Finding("unused-setting", message, at, help="delete it; no check and no answer changes")


def _retired(model: type[BaseModel], data: Any, route: Route) -> Iterator[Route]:
    """The routes of keys in *data* that *model* no longer has."""
    if not isinstance(data, dict):
        return
    for key, value in data.items():
        if issubclass(model, Shortened) and key in model.retired:
            yield (*route, key)
        elif (field := model.model_fields.get(key)) is not None and (inner := _model(field.annotation)):
            yield from _retired(inner, value, (*route, key))


def _model(annotation: Any) -> type[BaseModel] | None:
    """The model of a nested mapping."""
    found = (annotation, *get_args(annotation))
    return next((one for one in found if isinstance(one, type) and issubclass(one, BaseModel)), None)


def unused_conditions(workspace: Workspace) -> Iterator[Finding]:
    """Every condition of a policy narrows one of its actions."""
    for file in workspace.policies:
        policy = file.policy
        if _takes_all(policy):
            continue
        named = {name.casefold() for action in policy.actions for name in action.requires}
        named |= {step.casefold() for step in policy.steps}
        for i, condition in enumerate(policy.conditions):
            if named.isdisjoint(names_of(condition)):
                said = "has a condition that none of its actions requires, so it narrows nothing"
                message = f"policy `{policy.policy_id}` {said}"
                help = "give it an `id` and name that in the `requires` of each action that it should narrow"
                at = Place(file.path, ("conditions", i))
                yield Finding("unused-condition", message, at, policies=(policy.policy_id,), help=help)


def taken_conditions(workspace: Workspace) -> Iterator[Finding]:
    """What is forbidden or allowed beside actions with guards of their own says under which conditions it is."""
    for file in workspace.policies:
        policy = file.policy
        if not policy.conditions or all(one.takes_all for one in policy.actions):
            continue
        for i, action in enumerate(policy.actions):
            if action.takes_all and action.type in ("prohibited", "permitted"):
                verb = "prohibits" if action.type == "prohibited" else "permits"
                said = f"{verb} `{action.action}` only where all of its conditions hold, for it names no `requires`"
                message = f"policy `{policy.policy_id}` {said}"
                help = "write `requires: []` if it holds in every case, else the conditions that it is meant for"
                at = Place(file.path, ("actions", i))
                yield Finding("taken-conditions", message, at, policies=(policy.policy_id,), help=help)


def idle_replaces(workspace: Workspace) -> Iterator[Finding]:
    """Who names one action to be replaced means the others to stay; those of the exception's own outcome never do."""
    words = workspace.vocabulary
    for file in workspace.policies:
        policy = file.policy
        for route, exception in exceptions_of(policy.exceptions, ()):
            outcome = words.outcome_of(exception.action) if exception.action else None
            if outcome is None or not exception.replaces:
                continue
            own = {words.canonical(one.action) for one in policy.actions if words.outcome_of(one.action) == outcome}
            named = {words.canonical(name) for name in exception.replaces}
            left = sorted(own - named - {words.canonical(str(exception.action))})
            if own & named and left:
                also = ", ".join(f"`{name}`" for name in left)
                message = (
                    f"policy `{policy.policy_id}` has an exception that replaces {also} too, not only what it names"
                )
                help = (
                    f"its action is of the outcome `{outcome}`, so that all actions of that outcome yield: where one "
                    "shall stay, narrow the exception's `conditions`; else leave `replaces` out"
                )
                at = Place(file.path, (*route, "replaces"))
                yield Finding("idle-replaces", message, at, policies=(policy.policy_id,), help=help)


def idle_permissions(workspace: Workspace) -> Iterator[Finding]:
    """What is but permitted decides no outcome: where the policy answers it otherwise, that is what the case gets."""
    words = workspace.vocabulary
    for file in workspace.policies:
        policy = file.policy
        deciding = {
            words.outcome_of(one.action): words.canonical(one.action)
            for one in policy.actions
            if one.type not in ("permitted", "prohibited")
        }
        for i, action in enumerate(policy.actions):
            outcome = words.outcome_of(action.action)
            other = deciding.get(outcome)
            if action.type != "permitted" or outcome is None or other in (None, words.canonical(action.action)):
                continue
            message = f"policy `{policy.policy_id}` permits `{action.action}`, which decides nothing of `{outcome}`"
            help = f"write `type: required`, which gives the outcome this action; now `{other}` and its like decide it"
            at = Place(file.path, ("actions", i, "type"))
            yield Finding("idle-permission", message, at, policies=(policy.policy_id,), help=help)


def _takes_all(policy: Policy) -> bool:
    """Is there an action that takes all conditions, because it names none? Or does hand-written logic read them?"""
    has_own_logic = policy.formal is not None and policy.formal.logic_rules is not None
    return has_own_logic or any(one.takes_all for one in policy.actions)


def names_of(condition: Condition) -> set[str]:
    """The names by which the `requires` of an action asks for it."""
    return {id.casefold() for id in _ids(condition)} | ({WITHIN_WINDOW} if isinstance(condition, TimeWindow) else set())


def _ids(condition: Condition) -> Iterator[str]:
    if condition.id is not None:
        yield condition.id
    branches = getattr(condition, "all_of", None) or getattr(condition, "any_of", None) or []
    if isinstance(condition, Not):
        branches = condition.not_ if isinstance(condition.not_, list) else [condition.not_]
    for branch in branches:
        for one in branch if isinstance(branch, list) else [branch]:
            yield from _ids(one)
