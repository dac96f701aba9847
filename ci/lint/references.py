"""Every name of another record leads to one: overrides, steps, audiences, the policies of a case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bylaw.authored.conditions import AllOf, AnyOf, Condition, Not
from bylaw.authored.policies import Policy
from ci.findings import Finding, Place, Route
from ci.lint.cycles import cycles
from ci.loading.load import PolicyFile, Workspace
from ci.loading.schema.nearest import did_you_mean, one_right


def overrides(workspace: Workspace) -> Iterator[Finding]:
    """A policy overrides policies that exist."""
    for file in workspace.policies:
        for i, id in enumerate(file.policy.overrides):
            if id not in workspace.policy_ids:
                message = f"policy `{file.policy.policy_id}` overrides `{id}`, which no file declares"
                yield _dangling(file, message, ("overrides", i), did_you_mean(id, workspace.policy_ids))


def override_cycles(workspace: Workspace) -> Iterator[Finding]:
    """No policy overrides itself, directly or through others: then nobody would win."""
    files = {file.policy.policy_id: file for file in workspace.policies}
    for cycle in cycles({id: file.policy.overrides for id, file in files.items()}):
        circle = " → ".join(f"`{id}`" for id in (*cycle, cycle[0]))
        places = []
        for id, next_id in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
            route = ("overrides", files[id].policy.overrides.index(next_id))
            places.append((Place(files[id].path, route), f"`{id}` overrides `{next_id}`"))
        message = f"overrides lead in a circle: {circle}" if len(cycle) > 1 else f"policy `{cycle[0]}` overrides itself"
        yield Finding(
            "dangling-reference",
            message,
            places[0][0],
            policies=tuple(sorted(cycle)),
            help="one of them gives way: take its override out",
            related=tuple(places[1:]),
        )


def policies_of_cases(workspace: Workspace) -> Iterator[Finding]:
    """A case names policies that exist."""
    for entry in workspace.cases:
        for i, id in enumerate(entry.case.policies):
            if id not in workspace.policy_ids:
                message = f"case `{entry.case.name}` names the policy `{id}`, which no file declares"
                at = Place(entry.path, (entry.index, "policies", i))
                yield Finding("dangling-reference", message, at, help=did_you_mean(id, workspace.policy_ids))


def steps(workspace: Workspace) -> Iterator[Finding]:
    """A step of a procedure is the id of one of the policy's conditions."""
    for file in workspace.policies:
        known = {id for _, id in _condition_ids(file.policy)}
        for i, step in enumerate(file.policy.steps):
            if step not in known:
                message = f"policy `{file.policy.policy_id}` has the step `{step}`, which is no id of its conditions"
                help = did_you_mean(step, known, "a step names the `id` of a condition")
                yield replace(_dangling(file, message, ("steps", i), help), detail=one_right(step, known))


def condition_ids(workspace: Workspace) -> Iterator[Finding]:
    """Two conditions of a policy do not share an id."""
    for file in workspace.policies:
        first: dict[str, Route] = {}
        for route, id in _condition_ids(file.policy):
            if (before := first.setdefault(id, route)) != route:
                message = f"policy `{file.policy.policy_id}` has two conditions with the id `{id}`"
                related = ((Place(file.path, (*before, "id")), "the first one"),)
                at = Place(file.path, (*route, "id"))
                help, policies = "give one of them another id", (file.policy.policy_id,)
                yield Finding("duplicate-id", message, at, policies=policies, help=help, related=related)


def audiences(workspace: Workspace) -> Iterator[Finding]:
    """An audience is made of declared roles; a role that nobody can have would hide the policy from everybody."""
    roles = workspace.rules.roles.roles
    for file in workspace.policies:
        for i, role in enumerate(file.policy.audience):
            if role not in roles:
                name = file.policy.policy_id
                message = f"policy `{name}` is for the role `{role}`, which rules/roles.yaml does not list"
                yield _dangling(
                    file,
                    message,
                    ("audience", i),
                    did_you_mean(role, roles, "roles are declared under `roles` in rules/roles.yaml"),
                )


_NAME_IT = "name it by its id, an alias or its number"
_DECISION: Route = ("metadata", "decision")


def decisions_of_policies(workspace: Workspace) -> Iterator[Finding]:
    """A policy comes from a decision that is on record."""
    known, named = workspace.decisions, list(workspace.decisions.decisions)
    for file in workspace.policies:
        name = file.policy.metadata.decision
        if name is not None and known.named(name) is None:
            message = f"policy `{file.policy.policy_id}` comes from the decision `{name}`, which is not on record"
            yield _dangling(file, message, _DECISION, did_you_mean(name, named, _NAME_IT))


def is_unrecorded(finding: Finding) -> bool:
    """Does it say of a policy that the decision behind it is not on record?"""
    return finding.id == "dangling-reference" and finding.at.route == _DECISION


def decisions_named(workspace: Workspace) -> Iterator[Finding]:
    """A policy and a metric come from a decision that is on record."""
    yield from decisions_of_policies(workspace)
    known, named = workspace.decisions, list(workspace.decisions.decisions)
    for metric, declared in sorted(workspace.context.metrics.items()):
        name = declared.decision
        if name is not None and known.named(name) is None:
            message = f"metric `{metric}` comes from the decision `{name}`, which is not on record"
            at = Place(workspace.context.paths.get(f"metrics/{metric}", metric), ("decision",))
            yield Finding("dangling-reference", message, at, help=did_you_mean(name, named, _NAME_IT))


def _dangling(file: PolicyFile, message: str, route: Route, help: str | None) -> Finding:
    return Finding("dangling-reference", message, Place(file.path, route), policies=(file.policy.policy_id,), help=help)


def _condition_ids(policy: Policy) -> Iterator[tuple[Route, str]]:
    for i, condition in enumerate(policy.conditions):
        yield from _ids_within(condition, ("conditions", i))


def _ids_within(condition: Condition | list[Condition], route: Route) -> Iterator[tuple[Route, str]]:
    if isinstance(condition, list):
        for i, item in enumerate(condition):
            yield from _ids_within(item, (*route, i))
        return
    if condition.id is not None:
        yield route, condition.id
    match condition:
        case AllOf(all_of=items):
            yield from _ids_within(items, (*route, "all_of"))
        case AnyOf(any_of=branches):
            for i, branch in enumerate(branches):
                yield from _ids_within(branch, (*route, "any_of", i))
        case Not(not_=branch):
            yield from _ids_within(branch, (*route, "not"))
