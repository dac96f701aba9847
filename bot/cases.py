"""A case given as facts: read them, and show what was decided, for machines and for people."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from bot.index import BundleIndex
from bylaw.authored.labels import labels
from bylaw.errors import UsageError
from bylaw.logic.evaluate import Decision, Fired
from bylaw.logic.ir import Value, ValueMisfit
from bylaw.logic.prose import rule_in_words
from bylaw.logic.shorter import shorter


def read_facts(given: Mapping[str, Any], index: BundleIndex) -> dict[str, Value]:
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


def as_json(decision: Decision) -> dict[str, Any]:
    """The decision in the shape of `bylaw decide --json`."""
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
    }


def _fired(item: Fired) -> dict[str, str]:
    return {"policy_id": item.policy_id, "rule_id": item.rule_id, "action": item.action}


def as_text(decision: Decision, index: BundleIndex) -> str:
    """The decision for a terminal: what holds, why and by which line, what lost, what is still missing."""
    return "\n".join(_lines(decision, index))


def _lines(decision: Decision, index: BundleIndex) -> Iterator[str]:
    spoken = labels(index.vocabulary)
    touched = {name for name, result in decision.outcomes.items() if result.action} | set(decision.undecided)
    touched |= {outcome for conflict in decision.conflicts for outcome in conflict.outcomes}
    for name in sorted(touched):
        result = decision.outcomes[name]
        if result.rule_id is not None:
            rule = index.rule(result.rule_id)
            yield f"{name}: {result.action}"
            short = replace(rule, guard=shorter(rule.guard, index.ruleset.variables))
            yield f"  {rule_in_words(short, spoken)}"
            yield f"  --> {rule.source.path}:{rule.source.line}"
        elif any(name in conflict.outcomes for conflict in decision.conflicts):
            yield f"{name}: nobody wins"
        else:
            yield f"{name}: open, it depends on {', '.join(decision.undecided[name])}"
    for kind in ("required", "prohibited", "permitted"):
        if actions := getattr(decision, kind):
            yield f"{kind}: {', '.join(actions)}"
    for conflict in decision.conflicts:
        about = conflict.outcome or conflict.action
        yield f"conflict: {' and '.join(conflict.policies)} contradict each other about {about}"
    for item in decision.lost:
        yield f"lost: {item.policy_id} ({item.action})"
    if not decision.fired:
        yield "no policy speaks about this case as far as it is known"
    if decision.missing_facts:
        yield f"unknown and could matter: {', '.join(decision.missing_facts)}"
