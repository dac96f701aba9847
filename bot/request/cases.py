"""A case given as facts: read them, and show what was decided, for machines and for people."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.index import LogicIndex
from bylaw.authored.labels import called, labels
from bylaw.errors import UsageError
from bylaw.logic.decide.evaluate import Decision, Fired
from bylaw.logic.decide.unproven import document
from bylaw.logic.formula.ir import ConditionalRule, Value, ValueMisfit
from bylaw.logic.words.prose import rule_in_words
from bylaw.logic.words.readable import readable


def read_facts(given: Mapping[str, Any], index: LogicIndex) -> dict[str, Value]:
    """The facts as logic values. Raises UsageError for a fact that is not declared or cannot have the value."""
    variables = index.ruleset.variables
    facts: dict[str, Value] = {}
    for name, raw in given.items():
        if name not in variables:
            near = difflib.get_close_matches(name, variables, n=1)
            known = (
                f"did you mean `{near[0]}`?"
                if near
                else "`bylaw explain FACT` says what policies/vocabulary.yaml declares"
            )
            raise UsageError(f"`{name}` is no declared fact", known)
        if raw is None:
            continue  # null says that the fact is unknown
        try:
            facts[name] = variables[name].read(raw)
        except ValueMisfit as misfit:
            values = variables[name].values
            raise UsageError(str(misfit), f"its values are {', '.join(values)}" if values else None) from None
    return facts


def as_json(decision: Decision, readers: Collection[str] | None = None) -> dict[str, Any]:
    """The decision in the shape of `bylaw decide --json`, for *readers*: their roles, None for whoever runs it."""
    return {
        "outcomes": {
            name: {"action": result.action, "policy_id": result.policy_id, "rule_id": result.rule_id}
            for name, result in decision.outcomes.items()
        },
        "required": list(decision.required),
        "prohibited": list(decision.prohibited),
        "permitted": list(decision.permitted),
        "fired": [_fired(item) for item in decision.fired],
        "lost": [_fired(item) for item in decision.lost],
        "conflicts": [
            {
                "policies": list(conflict.policies),
                "rules": list(conflict.rules),
                "outcome": conflict.outcome,
                "action": conflict.action,
            }
            for conflict in decision.conflicts
        ],
        "missing_facts": list(decision.missing_facts),
        "undecided": {outcome: list(facts) for outcome, facts in decision.undecided.items()},
        "path": list(decision.path),
        "unproven": [document(rule, readers) for rule in decision.unproven],
    }


def _fired(item: Fired) -> dict[str, str]:
    return {"policy_id": item.policy_id, "rule_id": item.rule_id, "action": item.action}


MOST_TOLD = 8  # facts that are not known, by name; the others are counted


def as_text(decision: Decision, index: LogicIndex, is_explained: bool = False) -> str:
    """The decision for a terminal: what holds, why and by which line, what is still missing.

    What lost is left out where it *is_explained* afterwards, to whom and why.
    """
    return "\n".join(_lines(decision, index, is_explained))


def _lines(decision: Decision, index: LogicIndex, is_explained: bool) -> Iterator[str]:
    words = called(index.vocabulary)
    disputed = {outcome for conflict in decision.conflicts for outcome in conflict.outcomes}
    settled = {name for name, result in decision.outcomes.items() if result.action} | disputed
    for name in sorted(settled):
        result = decision.outcomes[name]
        if result.rule_id is not None:
            rule = index.rule(result.rule_id)
            yield f"{words[name]}: {words[result.action or name]}"
            yield f"  {told_rule(rule, index)}"
            yield f"  --> {rule.source.path}:{rule.source.line}"
        else:
            yield f"{words[name]}: nobody wins"
    for kind in ("required", "prohibited", "permitted"):
        if actions := getattr(decision, kind):
            yield f"{kind}: {', '.join(words[action] for action in actions)}"
            for rule in _giving(kind, actions, decision, index) if is_explained else ():
                yield f"  {told_rule(rule, index)}"
                yield f"  --> {rule.source.path}:{rule.source.line}"
    for conflict in decision.conflicts:
        about = conflict.outcome or conflict.action
        yield f"conflict: {' and '.join(conflict.policies)} contradict each other about {words[about or '']}"
    for item in () if is_explained else decision.lost:
        yield f"lost: {item.policy_id} ({words[item.action]})"
    yield from _unproven(decision, index)
    if not decision.fired:
        yield "no policy speaks about this case as far as it is known"
    waiting = {name: facts for name, facts in decision.undecided.items() if name not in disputed}
    if settled and waiting:
        yield f"open: {'; '.join(words[name] for name in sorted(waiting))}"
    else:
        yield from (f"{words[name]}: open, depends on: {_facts(waiting[name], index)}" for name in sorted(waiting))
    if decision.missing_facts:
        yield f"not known, and could matter: {_facts(decision.missing_facts, index)}"


def _unproven(decision: Decision, index: LogicIndex) -> Iterator[str]:
    """The rules that cannot be read, where they stand, and what is therefore not decided."""
    words = called(index.vocabulary)
    for rule in decision.unproven:
        spoken = [words[name] for name in (*rule.outcomes, *rule.actions)]
        about = "all that the policies decide" if rule.is_everything else ", ".join(dict.fromkeys(spoken)) or "nothing"
        yield f"cannot be read, and may change {about}: {rule.reason}"
        yield f"  --> {rule.path}:{rule.line}"
    if decision.withheld:
        yield f"not decided for that reason: {', '.join(words[name] for name in decision.withheld)}"


def _giving(kind: str, actions: Sequence[str], decision: Decision, index: LogicIndex) -> Iterator[ConditionalRule]:
    """The rules that stand and give these duties; those that decide an outcome are told there."""
    lost, told = {item.rule_id for item in decision.lost}, {one.rule_id for one in decision.outcomes.values()}
    for fired in decision.fired:
        if fired.rule_id not in lost | told:
            effect = index.rule(fired.rule_id).effect
            given = effect.demands if kind == "required" else (effect.action,) if effect.kind == kind else ()
            if not set(actions).isdisjoint(given):
                yield index.rule(fired.rule_id)


def told_rule(rule: ConditionalRule, index: LogicIndex) -> str:
    """A rule in words, as short as it can be said."""
    short = replace(rule, guard=readable(rule.guard, index.ruleset.variables))
    return rule_in_words(short, labels(index.vocabulary), called(index.vocabulary))


def _facts(names: Sequence[str], index: LogicIndex) -> str:
    """The labels of facts, the first by name."""
    spoken = labels(index.vocabulary)
    told = [spoken[name].label or name.replace("_", " ") for name in names[:MOST_TOLD]]
    more = len(names) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more > 0 else "")
