"""Which cases of `cases.yaml` end otherwise than they expect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from bylaw.authored.policies import Case
from bylaw.authored.vocabulary import Vocabulary
from bylaw.logic.decide.evaluate import Decision
from bylaw.logic.formula.ir import Facts, ValueMisfit
from ci.findings import Finding, Place
from ci.loading.load import CaseEntry
from ci.proofs.answers import Reply, of_case
from ci.proofs.inquiry import Inquiry


def failing_case(inquiry: Inquiry) -> Iterator[Reply]:
    """Every case of `cases.yaml` ends as it expects."""
    evaluator = inquiry.theory.replaying(len(inquiry.workspace.cases))
    for entry in inquiry.each_case("replaying cases"):
        variables = inquiry.theory.ruleset.variables
        try:
            facts = {name: variables[name].read(value) for name, value in entry.case.facts.items()}
        except (KeyError, ValueMisfit):
            continue  # the lint of cases has a finding for it
        day = entry.case.at.toordinal() if entry.case.at else inquiry.theory.at
        told = tuple[Finding, ...]()
        missed = list(
            differences(inquiry.workspace.vocabulary, entry.case, evaluator.decide(facts, day, names_unknown=False))
        )
        if missed and not _will_hold(inquiry, entry, facts, day):
            case = {"facts": _shown(inquiry, facts), "at": date.fromordinal(day).isoformat()}
            decision = evaluator.decide(facts, day)
            told = tuple(_finding(entry, case, decision, *difference) for difference in missed)
        yield Reply(of_case(entry.path, entry.index), "COUNTEREXAMPLE" if told else "PROVEN", told)


def _will_hold(inquiry: Inquiry, entry: CaseEntry, facts: Facts, day: int) -> bool:
    """Does a case that names no day end as it expects once policies that start later are in force?"""
    if entry.case.at is not None:
        return False
    theory = inquiry.theory
    starts = sorted({rule.start for rule in theory.ruleset.rules if rule.start is not None and rule.start > day})
    decisions = (theory.evaluator.decide(facts, start, names_unknown=False) for start in starts)
    return any(not list(differences(inquiry.workspace.vocabulary, entry.case, decision)) for decision in decisions)


def _finding(
    entry: CaseEntry, case: Mapping[str, Any], decision: Decision, key: str, expected: Any, found: Any
) -> Finding:
    return Finding(
        "failing-case",
        f"the case `{entry.case.name}` expects {key}: {_list(expected)}, but gets {_list(found)}"
        + _because(decision, key),
        Place(entry.path, (entry.index, "expect", key)),
        policies=_speakers(decision, key),
        rules=(entry.case.name, key),
        counterexample=case,
        status="COUNTEREXAMPLE",
        help=_missing(decision, key),
    )


def differences(vocabulary: Vocabulary, case: Case, decision: Decision) -> Iterator[tuple[str, Any, Any]]:
    """What *case* expects and *decision* does not give: the key, what was expected, and what was found."""
    canonical, declared = vocabulary.canonical, vocabulary.actions
    for key, expected in case.expect.items():
        named = expected if isinstance(expected, list | Mapping) else [expected]
        if any(name not in declared for name in named if name):
            continue  # the lint of cases has a finding for it
        if key in ("required", "prohibited", "permitted"):
            duties = list(getattr(decision, key))
            if isinstance(expected, Mapping):  # of these actions alone
                missed = {name: is_one for name, is_one in expected.items() if (canonical(name) in duties) != is_one}
                if missed:
                    yield key, missed, {name: not is_one for name, is_one in missed.items()}
                continue
            wanted = sorted({canonical(str(name)) for name in expected or ()})
            if wanted != duties:
                yield key, wanted, duties
        elif key in decision.outcomes:
            action = decision.outcomes[key].action
            taken = None if expected is None else canonical(str(expected))
            if action != taken:
                yield key, taken, action


def _list(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(value)}]"
    if isinstance(value, Mapping):
        return ", ".join(name if is_one else f"no {name}" for name, is_one in value.items())
    return "nothing" if value is None else str(value)


def _because(decision: Decision, key: str) -> str:
    result = decision.outcomes.get(key)
    if result is not None and result.policy_id is not None:
        return f" from {result.policy_id}"
    if any(key in conflict.outcomes for conflict in decision.conflicts):
        return f": {' and '.join(_speakers(decision, key))} contradict each other"
    return ""


def _speakers(decision: Decision, key: str) -> tuple[str, ...]:
    result = decision.outcomes.get(key)
    if result is not None and result.policy_id is not None:
        return (result.policy_id,)
    return tuple(sorted({p for conflict in decision.conflicts if key in conflict.outcomes for p in conflict.policies}))


def _missing(decision: Decision, key: str) -> str:
    missing = decision.undecided.get(key, ())
    if missing:
        return f"it still depends on {', '.join(missing)}: facts left out of a case are unknown"
    return "correct the policy, or what the case expects where the change is meant"


def _shown(inquiry: Inquiry, facts: Facts) -> dict[str, Any]:
    return {name: inquiry.theory.ruleset.variables[name].show(value) for name, value in sorted(facts.items())}
