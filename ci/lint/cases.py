"""Cases speak the vocabulary's language: declared facts with values they can take, declared outcomes and actions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bylaw.logic.formula.ir import ValueMisfit
from ci.findings import Finding, Place
from ci.lint.vocabulary import ACTIONS_LIVE_IN, FACTS_LIVE_IN, RESERVED_OUTCOMES
from ci.loading.derived.variables import variables
from ci.loading.load import CaseEntry, Workspace
from ci.loading.schema.nearest import did_you_mean, one_right
from ci.loading.schema.schema_findings import described
from ci.loading.schema.values import value_help


def case_facts(workspace: Workspace) -> Iterator[Finding]:
    """Every fact of a case is declared and has a value that it can take."""
    known = variables(workspace.vocabulary)
    for entry in workspace.cases:
        for name, value in entry.case.facts.items():
            variable = known.get(name)
            at = Place(entry.path, (entry.index, "facts", name), on_key=variable is None)
            if variable is None:
                if not workspace.is_lost(name):
                    message = f"case `{entry.case.name}` uses the fact `{name}`, which no vocabulary declares"
                    help = did_you_mean(name, known, FACTS_LIVE_IN)
                    yield Finding("unknown-fact", message, at, help=help, detail=one_right(name, known))
                continue
            try:
                variable.read(value)
            except ValueMisfit as problem:
                id = "type-mismatch" if problem.reason == "type" else "value-out-of-domain"
                declared = workspace.vocabulary.facts.get(name)
                help, fix = value_help(value, variable, declared.values if declared else {})
                yield Finding(id, f"case `{entry.case.name}`: {problem}", at, help=help, detail=fix)


def expectations(workspace: Workspace) -> Iterator[Finding]:
    """What a case expects are outcomes with one of their actions, and lists of actions."""
    for entry in workspace.cases:
        for key, expected in entry.case.expect.items():
            if key in RESERVED_OUTCOMES:
                yield from _duties(workspace, entry, key, expected)
            elif key not in workspace.vocabulary.outcomes:
                if not workspace.is_lost(key):
                    message = f"case `{entry.case.name}` expects the outcome `{key}`, which no vocabulary declares"
                    known = (*workspace.vocabulary.outcomes, *RESERVED_OUTCOMES)
                    at = Place(entry.path, (entry.index, "expect", key), on_key=True)
                    help = did_you_mean(key, known, f"known: {', '.join(known)}")
                    yield Finding("schema", message, at, help=help, detail=one_right(key, known))
            elif expected is not None:
                yield from _taken(workspace, entry, key, expected)


def _duties(workspace: Workspace, entry: CaseEntry, key: str, expected: Any) -> Iterator[Finding]:
    route = (entry.index, "expect", key)
    if isinstance(expected, dict):
        yield from _yes_or_no(workspace, entry, key, expected)
        return
    if not isinstance(expected, list):
        message = f"case `{entry.case.name}`: `{key}` should be a list of actions, not {described(expected)}"
        help = f"write all of them, `{key}: [a, b]`, or of some alone whether they are, `{key}: {{a: true, b: false}}`"
        yield Finding("schema", message, Place(entry.path, route), help=help)
        return
    for i, action in enumerate(expected):
        yield from _declared(workspace, entry, action, Place(entry.path, (*route, i)))


def _yes_or_no(workspace: Workspace, entry: CaseEntry, key: str, expected: dict[str, Any]) -> Iterator[Finding]:
    """Duties of which only some are spoken of: each action says whether it is one."""
    for action, is_one in expected.items():
        at = Place(entry.path, (entry.index, "expect", key, action))
        yield from _declared(workspace, entry, action, replace(at, on_key=True))
        if not isinstance(is_one, bool):
            message = f"case `{entry.case.name}`: `{key}` says whether `{action}` is one, not {described(is_one)}"
            yield Finding("schema", message, at, help="write `true` or `false`")


def _taken(workspace: Workspace, entry: CaseEntry, outcome: str, action: Any) -> Iterator[Finding]:
    at = Place(entry.path, (entry.index, "expect", outcome))
    wrong = list(_declared(workspace, entry, action, at))
    yield from wrong
    if wrong or action not in workspace.vocabulary.actions:
        return
    actual = workspace.vocabulary.outcome_of(action)
    if actual != outcome:
        of = f"an action of `{actual}`" if actual else "an action without an outcome"
        message = f"case `{entry.case.name}` expects `{action}` for the outcome `{outcome}`, but it is {of}"
        names = sorted(n for n in workspace.vocabulary.actions if workspace.vocabulary.outcome_of(n) == outcome)
        yield Finding("type-mismatch", message, at, help=f"actions of `{outcome}`: {', '.join(names) or 'none'}")


def _declared(workspace: Workspace, entry: CaseEntry, action: Any, at: Place) -> Iterator[Finding]:
    if not isinstance(action, str):
        message = f"case `{entry.case.name}` should expect an action here, not {described(action)}"
        yield Finding("schema", message, at)
    elif action not in workspace.vocabulary.actions and not workspace.is_lost(action):
        message = f"case `{entry.case.name}` expects the action `{action}`, which no vocabulary declares"
        help = did_you_mean(action, workspace.vocabulary.actions, ACTIONS_LIVE_IN)
        fix = one_right(action, workspace.vocabulary.actions)
        yield Finding("unknown-action", message, at, help=help, detail=fix)
