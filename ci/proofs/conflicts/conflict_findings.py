"""Contradictions as findings: one a cause, in words, with the step of the lattice by which it ends."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from ci.findings import Finding, Place
from ci.proofs.conflicts.conflict import Clash, shown, subject
from ci.proofs.conflicts.grouping import Group, grouped
from ci.proofs.inquiry import Inquiry, says

MOST_OWNERS = 8  # that one sentence names


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
        ending, help, owners = _ending(inquiry, group, clash)
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
            detail={
                "subject": about,
                "side": f"{one.policy_id} {says(one)}",
                "pairs": len(group.clashes),
                "ending": ending.removeprefix("; "),
                "owners": owners,
            },
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


def _ending(inquiry: Inquiry, group: Group, clash: Clash) -> tuple[str, str | None, list[str]]:
    """How it ends, what to do about it, and who has to decide where nobody wins."""
    one, two = inquiry.rule(clash.first), inquiry.rule(clash.second)
    if clash.winner is not None:
        winner, loser = (one, two) if clash.winner == clash.first else (two, one)
        return f"; {winner.policy_id} wins {step(inquiry, winner.policy_id, loser.policy_id)}", None, []
    level = inquiry.records[one.policy_id].level
    everybody = {inquiry.rule(i).policy_id for other in group.clashes for i in (other.first, other.second)}
    owners = sorted({inquiry.records[policy].policy.metadata.owner for policy in everybody})
    if one.policy_id == two.policy_id:
        return "", "no priority can solve this: make the conditions of the two exclude each other", owners
    return (
        f"; both are level {level.number} ({level.name}), so neither gives way",
        f"narrow one of them, or declare `overrides` with a `reason`; it is for {_named(owners)} to decide",
        owners,
    )


def _named(owners: list[str]) -> str:
    left = len(owners) - MOST_OWNERS
    return " and ".join([*owners[:MOST_OWNERS], *([f"{left} more"] if left > 0 else [])])


def step(inquiry: Inquiry, winner: str, loser: str) -> str:
    """By which step of the lattice *winner* wins."""
    mine, its = inquiry.records[winner].level, inquiry.records[loser].level
    if mine.number != its.number:
        return f"by priority: level {mine.number} ({mine.name}) over level {its.number} ({its.name})"
    return f"because it overrides {loser}"


def _period(inquiry: Inquiry, clash: Clash) -> str:
    """From the first day on which a case shows it: a rule starts, an invariant or a stronger rule ends."""
    one, two = inquiry.rule(clash.first), inquiry.rule(clash.second)
    start = max(one.start or 0, two.start or 0, clash.verdict.day or 0)
    ends = [end for end in (one.end, two.end) if end is not None]
    parts = []
    if start > inquiry.theory.at:
        parts.append(f"from {date.fromordinal(start).isoformat()}")
    if ends:
        parts.append(f"until {date.fromordinal(min(ends)).isoformat()}")
    return f" ({' '.join(parts)})" if parts else ""
