"""Conditions that name no fact, and read another domain's where their own has one of the same kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bylaw.authored.conditions import AllOf, AnyOf, Condition, FactCheck, Not
from bylaw.authored.policies import PolicyException
from ci.findings import Finding, Place, Route
from ci.loading.load import PolicyFile, Workspace


def assumed_facts(workspace: Workspace) -> Iterator[Finding]:
    """A default of every domain is told where the policy's own domain declares a fact that would fit as well."""
    for file in workspace.policies:
        for route, check in _checks(file):
            kind, domain = getattr(check, "type", "fact"), file.policy.metadata.domain
            taken = None if check.parameter else workspace.vocabulary.default_fact(kind, domain)
            if taken is None or workspace.vocabulary.defaults.get(domain, {}).get(kind):
                continue
            near = [] if _is_of(workspace, taken, domain) else _like(workspace, taken, domain)
            if near:
                id, named = file.policy.policy_id, " and ".join(f"`{name}`" for name in near)
                yield Finding(
                    "assumed-fact",
                    f"policy `{id}` has a `{kind}` condition that names no fact: it reads `{taken}`, the default of "
                    f"every domain, and {named} would fit",
                    Place(file.path, (*route, "type")),
                    policies=(id,),
                    help=f"write `parameter: {near[0]}` or `parameter: {taken}`",
                )


def _is_of(workspace: Workspace, fact: str, domain: str) -> bool:
    """Is the fact declared for the domain: by its `domains`, or in the domain's own vocabulary?"""
    declared = workspace.vocabulary.facts.get(fact)
    is_listed = declared is not None and domain in declared.domains
    return is_listed or workspace.path_of_word("facts", fact).startswith(f"policies/{domain}/")


def _like(workspace: Workspace, fact: str, domain: str) -> list[str]:
    """The domain's own facts of the same type and unit."""
    facts = workspace.vocabulary.facts
    if fact not in facts:
        return []
    alike = (facts[fact].type, facts[fact].unit)
    return [
        n for n, f in sorted(facts.items()) if n != fact and (f.type, f.unit) == alike and _is_of(workspace, n, domain)
    ]


def _checks(file: PolicyFile) -> Iterator[tuple[Route, FactCheck]]:
    """Every condition of the policy that tests a fact, wherever it stands."""
    policy = file.policy
    yield from _within(policy.conditions, ("conditions",))
    for i, action in enumerate(policy.actions):
        yield from _within(action.when, ("actions", i, "when"))
    yield from _of_exceptions(policy.exceptions, ())


def _of_exceptions(exceptions: Sequence[PolicyException], route: Route) -> Iterator[tuple[Route, FactCheck]]:
    for i, exception in enumerate(exceptions):
        here = (*route, "exceptions", i)
        yield from _within(exception.conditions, (*here, "conditions"))
        yield from _of_exceptions(exception.exceptions, here)


def _within(conditions: Sequence[Condition], route: Route) -> Iterator[tuple[Route, FactCheck]]:
    for i, condition in enumerate(conditions):
        yield from _of_one(condition, (*route, i))


def _of_one(condition: Condition | list[Condition], route: Route) -> Iterator[tuple[Route, FactCheck]]:
    match condition:
        case list():
            yield from _within(condition, route)
        case AllOf(all_of=items):
            yield from _within(items, (*route, "all_of"))
        case AnyOf(any_of=branches):
            for i, branch in enumerate(branches):
                yield from _of_one(branch, (*route, "any_of", i))
        case Not(not_=branch):
            yield from _of_one(branch, (*route, "not"))
        case FactCheck():
            yield route, condition
