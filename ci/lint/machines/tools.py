"""What tools and histories name must lead somewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bylaw.authored.tools import ChosenAction, LookupFact, Tool
from bylaw.gate.keys import KeyMisfit, Keys
from bylaw.language.units import is_convertible, is_currency
from ci.findings import Finding, Place, Route
from ci.lint.vocabulary import ACTIONS_LIVE_IN, FACTS_LIVE_IN
from ci.loading.file_kinds import CaseEntry
from ci.loading.load import Workspace
from ci.loading.schema.nearest import did_you_mean, one_right

PATH = "rules/tools.yaml"


def histories(workspace: Workspace) -> Iterator[Finding]:
    """A history fact speaks of declared actions, and sums a declared number."""
    vocabulary = workspace.vocabulary
    for file in workspace.vocabularies:
        for name, fact in file.vocabulary.facts.items():
            history = fact.history
            if history is None:
                continue
            at: Route = ("facts", name, "history")
            listed = {"count": history.count, "of": history.of, "not_after": history.not_after}
            routes = [((*at, key, i), word) for key, words in listed.items() for i, word in enumerate(words or ())]
            single = ((key, getattr(history, key)) for key in ("happened", "since", "previous"))
            routes += [((*at, key), word) for key, word in single if word is not None]
            for route, word in routes:
                yield from _action(workspace, word, f"the history of `{name}` names", Place(file.path, route))
            if history.sum is not None:
                place = Place(file.path, (*at, "sum"))
                summed = vocabulary.facts.get(history.sum)
                if summed is None:
                    yield from _fact(workspace, history.sum, f"the history of `{name}` sums", place)
                elif summed.type not in ("integer", "decimal"):
                    message = f"the history of `{name}` sums `{history.sum}`, which is no number"
                    yield Finding("type-mismatch", message, place, help="a sum is over an integer or a decimal fact")
                elif fact.unit != summed.unit:
                    message = (
                        f"`{name}` is in {fact.unit or 'no unit'}, and sums `{history.sum}` in {summed.unit or 'none'}"
                    )
                    yield Finding("unit-mismatch", message, place, help="give both the same unit")

    for entry in workspace.cases:
        for i, past in enumerate(entry.case.history or ()):
            at = (entry.index, "history", i, "action")
            yield from _action(workspace, past.action, f"the case `{entry.case.name}` names", Place(entry.path, at))
        yield from _keys(workspace, entry)


def _keys(workspace: Workspace, entry: CaseEntry) -> Iterator[Finding]:
    """A case spells keys as calls have to."""
    facts, keys = workspace.vocabulary.facts, Keys(workspace.rules.tools.keys)
    counted = {key for fact in facts.values() if fact.history is not None for key in fact.history.same or ()}
    told: list[tuple[Route, Mapping[str, Any]]] = [(("keys",), entry.case.keys)]
    told += [(("history", i), past.said) for i, past in enumerate(entry.case.history or ())]
    for route, said in told:
        for key in sorted(counted & said.keys()):
            try:
                keys.read(key, said[key])
            except KeyMisfit as misfit:
                message = f"in the case `{entry.case.name}` the key {misfit}"
                yield Finding("type-mismatch", message, Place(entry.path, (entry.index, *route, key)))


def assertable_money(workspace: Workspace) -> Iterator[Finding]:
    """No agent says for itself how much money it is about."""
    for file in workspace.vocabularies:
        for name, fact in file.vocabulary.facts.items():
            if fact.assertable and is_currency(fact.unit):
                yield Finding(
                    "assertable-money",
                    f"an agent may assert `{name}` itself, and that is an amount of money",
                    Place(file.path, ("facts", name, "assertable")),
                    help="bind it to an argument or a lookup in rules/tools.yaml, and take `assertable` away",
                )


def tools(workspace: Workspace) -> Iterator[Finding]:
    """Bindings name what is declared, in units that convert."""
    for name, tool in workspace.rules.tools.tools.items():
        route: Route = ("tools", name)
        if isinstance(tool.action, ChosenAction):
            for value, action in tool.action.values.items():
                at = Place(PATH, (*route, "action", "values", value))
                yield from _action(workspace, action, f"the tool `{name}` means", at)
        else:
            yield from _action(workspace, tool.action, f"the tool `{name}` means", Place(PATH, (*route, "action")))
        for fact in tool.facts:
            yield from _binding(workspace, name, tool, fact)


def _binding(workspace: Workspace, name: str, tool: Tool, fact: str) -> Iterator[Finding]:
    route: Route = ("tools", name, "facts", fact)
    declared, bound = workspace.vocabulary.facts.get(fact), tool.facts[fact]
    if declared is None:
        yield from _fact(workspace, fact, f"the tool `{name}` binds", Place(PATH, route, on_key=True))
        return
    if declared.history is not None:
        message = f"the tool `{name}` binds `{fact}`, which is computed from history"
        yield Finding("type-mismatch", message, Place(PATH, route, on_key=True), help="take the binding away")
    is_other = bound.unit is not None and bound.unit != declared.unit
    if is_other and (declared.unit is None or not is_convertible(bound.unit or "", declared.unit)):
        message = f"`{fact}` is in {declared.unit or 'no unit'}, and {bound.unit} does not convert"
        yield Finding("unit-mismatch", message, Place(PATH, (*route, "unit")))
    if isinstance(bound, LookupFact):
        yield from _lookup(workspace, name, route, bound)


def _lookup(workspace: Workspace, name: str, route: Route, bound: LookupFact) -> Iterator[Finding]:
    lookups = workspace.context.lookups
    found = lookups.get(bound.query)
    if found is None:
        message = f"the tool `{name}` asks the lookup `{bound.query}`, which context/lookups/ does not hold"
        help, fix = did_you_mean(bound.query, lookups), one_right(bound.query, lookups)
        yield Finding("dangling-reference", message, Place(PATH, (*route, "query")), help=help, detail=fix)
        return
    for parameter in sorted(set(bound.parameters) ^ set(found.parameters)):
        what = "does not take" if parameter in bound.parameters else "also needs"
        message = f"the lookup `{bound.query}` {what} the parameter `{parameter}`"
        yield Finding("dangling-reference", message, Place(PATH, (*route, "key")))


def lookups(workspace: Workspace) -> Iterator[Finding]:
    """What `ci.lint.machines.lookups` finds, where there is one: it loads the SQL parser."""
    if workspace.context.lookups:
        from ci.lint.machines.lookups import lookups as in_full

        yield from in_full(workspace)


def _action(workspace: Workspace, name: str, who: str, at: Place) -> Iterator[Finding]:
    actions = workspace.vocabulary.actions
    if name not in actions and not workspace.is_lost(name):
        message = f"{who} the action `{name}`, which no vocabulary declares"
        help, fix = did_you_mean(name, actions, ACTIONS_LIVE_IN), one_right(name, actions)
        yield Finding("unknown-action", message, at, help=help, detail=fix)


def _fact(workspace: Workspace, name: str, who: str, at: Place) -> Iterator[Finding]:
    facts = workspace.vocabulary.facts
    if not workspace.is_lost(name):
        message = f"{who} the fact `{name}`, which no vocabulary declares"
        help, fix = did_you_mean(name, facts, FACTS_LIVE_IN), one_right(name, facts)
        yield Finding("unknown-fact", message, at, help=help, detail=fix)
