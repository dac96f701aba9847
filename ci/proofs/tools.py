"""Can the tools of an agent be called, and does a call say what rules ask? By the logic that decides calls."""

from __future__ import annotations

from collections.abc import Iterator

from bylaw.authored.tools import Tool
from bylaw.logic.decide.authorize import Authorizer
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import Ruleset, names
from ci.findings import Finding, Place
from ci.loading.load import Workspace

PATH = "rules/tools.yaml"


def tools(workspace: Workspace, ruleset: Ruleset, day: int) -> Iterator[Finding]:
    """What is found of every tool."""
    bound = workspace.rules.tools.tools
    if not bound:
        return
    authorizer = Authorizer(Evaluator(ruleset, is_indexed=True))
    for name, tool in bound.items():
        vocabulary = workspace.vocabulary
        actions = [vocabulary.canonical(action) for action in tool.actions if action in vocabulary.actions]
        if actions and not any(authorizer.may_ever(action, {}, day) for action in actions):
            named = " or ".join(f"`{one}`" for one in actions)
            yield Finding(
                "uncallable-tool",
                f"nobody may ever call the tool `{name}`: no policy allows {named}",
                Place(PATH, ("tools", name), on_key=True),
                help="write the policy that permits it, or take the tool away",
                status="PROVEN",
            )
        yield from _unbound(workspace, ruleset, name, tool, frozenset(actions))
    yield from _untyped(workspace, ruleset)


def _unbound(
    workspace: Workspace, ruleset: Ruleset, name: str, tool: Tool, actions: frozenset[str]
) -> Iterator[Finding]:
    """The facts that rules about the tool's actions test, and that nothing about a call of it could say."""
    asked: dict[str, str] = {}
    for rule in ruleset.rules:
        if actions & {rule.effect.action, *rule.effect.demands}:
            for fact in sorted(names(rule.guard)):
                asked.setdefault(fact, rule.policy_id)
    for fact, policy_id in sorted(asked.items()):
        declared = workspace.vocabulary.facts[fact]
        if fact not in tool.facts and declared.history is None and not declared.assertable:
            yield Finding(
                "unbound-fact",
                f"`{policy_id}` asks for `{fact}`, which no call of the tool `{name}` says",
                Place(PATH, ("tools", name), on_key=True),
                policies=(policy_id,),
                help="bind it: {from: argument | lookup | session}; until then such a call is at best asked back",
            )


def _untyped(workspace: Workspace, ruleset: Ruleset) -> Iterator[Finding]:
    """The keys by which a rule's facts are counted, where nothing says how they are spelled."""
    bound = workspace.rules.tools
    first = {key: name for name, tool in reversed(bound.tools.items()) for key in tool.keys}
    spoken = frozenset[str]().union(*(names(rule.guard) for rule in ruleset.rules))
    counted: dict[str, str] = {}
    for fact in sorted(spoken):
        declared = workspace.vocabulary.facts.get(fact)
        for key in (declared.history.same or ()) if declared is not None and declared.history is not None else ():
            counted.setdefault(key, fact)
    for key, fact in sorted(counted.items()):
        if key in first and key not in bound.keys:
            yield Finding(
                "untyped-key",
                f"`{fact}` goes by the key `{key}`, and nothing says how `{key}` is spelled",
                Place(PATH, ("tools", first[key], "keys", key), on_key=True),
                help=f"say it at the top of the file: `keys: {{{key}: {{type: integer}}}}`, or text, uuid, date",
            )
