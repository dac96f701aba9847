"""The answers as findings: one function a question, each from an inquiry to what an author should read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from bylaw.logic.evaluate import Decision
from bylaw.logic.ir import ValueMisfit
from ci.findings import Finding, Place
from ci.load import CaseEntry
from ci.proofs import gap as gaps
from ci.proofs.conflict import Clash, shown, subject
from ci.proofs.grouping import Group, grouped
from ci.proofs.inquiry import Inquiry, says


def clash_findings(inquiry: Inquiry, found: list[Clash]) -> Iterator[Finding]:
    """`conflict` where nobody wins, `resolved-conflict` where the lattice or an override decides; one a cause."""
    for group in grouped(inquiry.theory, found):
        clash = shown(inquiry.theory, group.representative)
        one, two = inquiry.rule(clash.first), inquiry.rule(clash.second)
        policies = tuple(sorted({one.policy_id, two.policy_id}))
        if clash.verdict.status == "UNKNOWN":
            what = f"whether the rules `{one.rule_id}` and `{two.rule_id}` contradict each other"
            yield inquiry.unanswered(what, inquiry.place(clash.first), clash.verdict, policies)
            continue
        about = subject(inquiry.theory, clash.first, clash.second)
        case = inquiry.counterexample(clash.verdict, *_expected(inquiry, clash, about)) or {"words": "every case"}
        named = f"policies `{one.policy_id}` and `{two.policy_id}` contradict each other"
        if one.policy_id == two.policy_id:
            named = f"policy `{one.policy_id}` contradicts itself"
        positions = f"{one.policy_id} {says(one)}, {two.policy_id} {says(two)}"
        ending, help = _ending(inquiry, clash)
        yield Finding(
            "conflict" if clash.winner is None else "resolved-conflict",
            f"{named}: {case['words']}: {positions}{_period(inquiry, clash)}{ending}{_more(inquiry, group, about)}",
            inquiry.place(clash.first),
            policies=policies,
            rules=(one.rule_id, two.rule_id),
            help=help,
            related=((inquiry.place(clash.second), f"{two.policy_id} {says(two)}"), *_others(inquiry, group)),
            counterexample=case,
            status="COUNTEREXAMPLE",
            detail={"subject": about, "side": f"{one.policy_id} {says(one)}", "pairs": len(group.clashes)},
            members=tuple(_print(inquiry, other, about) for other in group.clashes),
        )


def _expected(inquiry: Inquiry, clash: Clash, about: str) -> tuple[dict[str, Any] | None, str]:
    """What a case would expect: the winner's action, or one of the two until somebody decides. Outcomes only."""
    one, two = inquiry.rule(clash.first), inquiry.rule(clash.second)
    taken = {rule.rule_id: dict(rule.effect.takes).get(about) for rule in (one, two)}
    if None in taken.values():
        return None, ""
    if clash.winner is not None:
        return {about: taken[inquiry.rule(clash.winner).rule_id]}, ""
    return {about: taken[one.rule_id]}, f"or {taken[two.rule_id]}: decide"


def _print(inquiry: Inquiry, clash: Clash, about: str) -> str:
    """What a pair is known by: words and no hash, for there may be a hundred thousand of them."""
    one, other = sorted((inquiry.rule(clash.first).policy_id, inquiry.rule(clash.second).policy_id))
    return f"{'open' if clash.winner is None else 'resolved'} {one} {other} {about}"


def _more(inquiry: Inquiry, group: Group, about: str) -> str:
    """How many pairs the finding stands for, and what they share."""
    if not group.others:
        return ""
    policies = {inquiry.rule(i).policy_id for clash in group.clashes for i in (clash.first, clash.second)}
    if group.hub is not None:
        return f"; {group.hub} contradicts {len(policies) - 1} policies about {about}, this is one of them"
    return f"; {len(group.clashes)} pairs of {len(policies)} policies contradict each other so about {about}"


def _others(inquiry: Inquiry, group: Group) -> Iterator[tuple[Place, str]]:
    """The other pairs of a group, as many as rules/ci.yaml lets a group list."""
    for clash in group.others[: inquiry.workspace.rules.ci.report.per_group]:
        sides = [inquiry.rule(clash.first), inquiry.rule(clash.second)]
        i = clash.second if sides[0].policy_id == group.hub else clash.first
        yield inquiry.place(i), f"{sides[0].policy_id} {says(sides[0])}, {sides[1].policy_id} {says(sides[1])}"


def _ending(inquiry: Inquiry, clash: Clash) -> tuple[str, str | None]:
    one, two = inquiry.rule(clash.first), inquiry.rule(clash.second)
    if clash.winner is not None:
        winner, loser = (one, two) if clash.winner == clash.first else (two, one)
        return f"; {winner.policy_id} wins {step(inquiry, winner.policy_id, loser.policy_id)}", None
    level = inquiry.records[one.policy_id].level
    if one.policy_id == two.policy_id:
        return "", "no priority can solve this: make the conditions of the two exclude each other"
    owners = sorted({inquiry.records[p].policy.metadata.owner for p in (one.policy_id, two.policy_id)})
    return (
        f"; both are level {level.number} ({level.name}), so neither gives way",
        f"narrow one of them, or declare `overrides` with a `reason`; it is for {' and '.join(owners)} to decide",
    )


def step(inquiry: Inquiry, winner: str, loser: str) -> str:
    """By which step of the lattice *winner* wins."""
    mine, its = inquiry.records[winner].level, inquiry.records[loser].level
    if mine.number != its.number:
        return f"by priority: level {mine.number} ({mine.name}) over level {its.number} ({its.name})"
    return f"because it overrides {loser}"


def _period(inquiry: Inquiry, clash: Clash) -> str:
    one, two = inquiry.rule(clash.first), inquiry.rule(clash.second)
    start = max(one.start or 0, two.start or 0)
    ends = [end for end in (one.end, two.end) if end is not None]
    parts = []
    if start > inquiry.theory.at:
        parts.append(f"from {date.fromordinal(start).isoformat()}")
    if ends:
        parts.append(f"until {date.fromordinal(min(ends)).isoformat()}")
    return f" ({' '.join(parts)})" if parts else ""


def gap(inquiry: Inquiry) -> Iterator[Finding]:
    """Every case of a complete outcome gets an action."""
    for outcome in inquiry.each_outcome("looking for cases that nothing decides"):
        path = inquiry.workspace.path_of_word("outcomes", outcome)
        at = Place(path, ("outcomes", outcome))
        verdict = gaps.gap(inquiry.theory, outcome)
        if verdict.status == "UNKNOWN":
            yield inquiry.unanswered(f"whether every case gets an answer to `{outcome}`", at, verdict, ())
        if verdict.status != "COUNTEREXAMPLE" or verdict.facts is None:
            continue
        day = verdict.day if verdict.day is not None else inquiry.theory.at
        decision = gaps.deciders(inquiry.theory, outcome).decide(verdict.facts, day)
        takers = {inquiry.rule(i).rule_id for i in inquiry.theory.rivals.taking(outcome)}
        lost = [fired for fired in decision.lost if fired.rule_id in takers]
        case = inquiry.counterexample(verdict, {outcome: None}, "say what it should be") or {}
        bans = [
            (i, rule)
            for fired in decision.fired
            if (rule := inquiry.rule(i := inquiry.theory.evaluator.index_of(fired.rule_id))).effect.kind == "prohibited"
            and any(rule.effect.action == other.action for other in lost)
        ]
        why = f", because {bans[0][1].policy_id} prohibits {bans[0][1].effect.action}" if bans else ""
        later = f" from {case['at']}" if day > inquiry.theory.at else ""
        yield Finding(
            "gap",
            f"nothing decides `{outcome}` in this case{later}: {case['words']}{why}",
            at,
            policies=tuple(sorted({*(fired.policy_id for fired in lost), *(rule.policy_id for _, rule in bans)})),
            rules=(f"outcome:{outcome}",),
            help="add a policy for it, a fallback without conditions, or take `complete` from the outcome",
            related=tuple((inquiry.place(i), f"{rule.policy_id} {says(rule)}") for i, rule in bans),
            counterexample=case,
            status="COUNTEREXAMPLE",
        )


def failing_case(inquiry: Inquiry) -> Iterator[Finding]:
    """Every case of `cases.yaml` ends as it expects."""
    for entry in inquiry.each_case("replaying cases"):
        variables = inquiry.theory.ruleset.variables
        try:
            facts = {name: variables[name].read(value) for name, value in entry.case.facts.items()}
        except (KeyError, ValueMisfit):
            continue  # the lint of cases has a finding for it
        day = entry.case.at.toordinal() if entry.case.at else inquiry.theory.at
        decision = inquiry.theory.evaluator.decide(facts, day)
        for key, expected, found in _differences(inquiry, entry, decision):
            yield Finding(
                "failing-case",
                f"the case `{entry.case.name}` expects {key}: {_list(expected)}, but gets {_list(found)}"
                + _because(decision, key),
                Place(entry.path, (entry.index, "expect", key)),
                policies=_speakers(decision, key),
                rules=(entry.case.name, key),
                counterexample={"facts": _shown(inquiry, facts), "at": date.fromordinal(day).isoformat()},
                status="COUNTEREXAMPLE",
                help=_missing(decision, key),
            )


def _differences(inquiry: Inquiry, entry: CaseEntry, decision: Decision) -> Iterator[tuple[str, Any, Any]]:
    canonical = inquiry.workspace.vocabulary.canonical
    declared = inquiry.workspace.vocabulary.actions
    for key, expected in entry.case.expect.items():
        if any(name not in declared for name in (expected if isinstance(expected, list) else [expected]) if name):
            continue  # the lint of cases has a finding for it
        if key in ("required", "prohibited", "permitted"):
            wanted = sorted({canonical(str(name)) for name in expected or ()})
            found = list(getattr(decision, key))
            if wanted != found:
                yield key, wanted, found
        elif key in decision.outcomes:
            action = decision.outcomes[key].action
            named = None if expected is None else canonical(str(expected))
            if action != named:
                yield key, named, action


def _list(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(value)}]"
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


def _missing(decision: Decision, key: str) -> str | None:
    missing = decision.undecided.get(key, ())
    return f"it still depends on {', '.join(missing)}: facts left out of a case are unknown" if missing else None


def _shown(inquiry: Inquiry, facts: Any) -> dict[str, Any]:
    return {name: inquiry.theory.ruleset.variables[name].show(value) for name, value in sorted(facts.items())}


def priority_mismatch(inquiry: Inquiry) -> Iterator[Finding]:
    """A declared priority says what the metadata says."""
    priorities = inquiry.workspace.rules.priorities
    for policy_id, record in inquiry.each_policy("comparing priorities"):
        declared = record.policy.metadata.priority
        if declared is None or priorities.level_of(declared) == record.level.number:
            continue
        yield Finding(
            "priority-mismatch",
            f"policy `{policy_id}` declares the priority `{declared}`, but its metadata make it level "
            f"{record.level.number} ({record.level.name}): {record.level.reason}",
            Place(record.path, ("metadata", "priority")),
            policies=(policy_id,),
            help="the derived level holds; correct `priority`, or leave it out",
        )
