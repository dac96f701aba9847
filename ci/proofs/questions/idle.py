"""Which declared overrides change nothing: against a stronger policy, or one that is never contradicted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from bylaw.logic.boxes.boxes import overlap
from ci.findings import Finding, Place
from ci.loading.derived.record import PolicyRecord
from ci.proofs.answers import Reply, of_policies
from ci.proofs.inquiry import Inquiry
from ci.proofs.theory import PROVEN, Theory, Verdict


def contradiction(theory: Theory, ones: Iterable[int], other: str) -> Verdict:
    """PROVEN iff, on no day, an existing case fires one of *ones* and a rule of *other* that contradicts it."""
    rules = theory.ruleset.rules
    unknown = None
    for i in ones:
        for j in theory.candidates.of(i):
            if rules[j].policy_id != other:
                continue
            verdict = _meeting(theory, i, j)
            if verdict.status == "COUNTEREXAMPLE":
                return verdict
            if verdict.status == "UNKNOWN":
                unknown = verdict
    return unknown or PROVEN


def _meeting(theory: Theory, i: int, j: int) -> Verdict:
    rules, boxes = theory.ruleset.rules, [theory.evaluator.boxes_of(k) for k in (i, j)]
    days = [day for day in theory.days([rules[i], rules[j]]) if rules[i].holds_on(day) and rules[j].holds_on(day)]
    for day in days:
        invariants = theory.invariants(day)
        if not invariants and boxes[0] is not None and boxes[1] is not None:
            exact = [[box for box in some if box.is_exact] for some in boxes if some is not None]
            if overlap(*exact) is not None:
                return Verdict("COUNTEREXAMPLE", day=day)
        answer = theory.reasoner.check([rules[i].guard, rules[j].guard, *invariants])
        if answer.status != "unsat":
            return Verdict("UNKNOWN" if answer.model is None else "COUNTEREXAMPLE", answer.model, day, answer.reason)
    return PROVEN


def idle_override(inquiry: Inquiry) -> Iterator[Reply]:
    """Every override has an effect."""
    ones: dict[str, list[int]] = defaultdict(list)
    for i, rule in enumerate(inquiry.theory.ruleset.rules):
        ones[rule.policy_id].append(i)
    for policy_id, record in inquiry.each_policy("looking for overrides without effect"):
        if not record.in_logic:
            continue
        about = of_policies(policy_id)  # not the other: who declares an override answers for it
        for n, other in enumerate(record.policy.overrides):
            target = inquiry.records.get(other)
            if target is None or not target.in_logic or other == policy_id:
                continue  # there is a finding for it, or it says nothing yet
            at = Place(record.path, ("overrides", n))
            if target.level.number < record.level.number:
                yield Reply(about, "PROVEN", (_against_the_stronger(record, target, at),))
                continue
            verdict = contradiction(inquiry.theory, ones[policy_id], other)
            told: tuple[Finding, ...] = ()
            if verdict.status == "UNKNOWN":
                what = f"whether `{policy_id}` and `{other}` ever contradict each other"
                told = (inquiry.unanswered(what, at, verdict, (policy_id, other)),)
            if verdict.status == "PROVEN":
                told = (_never_needed(policy_id, other, at),)
            yield Reply(about, verdict.status, told, verdict.reason)


def _never_needed(policy_id: str, other: str, at: Place) -> Finding:
    return Finding(
        "idle-override",
        f"policy `{policy_id}` overrides `{other}`, but no case makes the two contradict each other",
        at,
        policies=(policy_id, other),
        rules=(f"{policy_id} overrides {other}",),
        help="take the override out, or correct the conditions that keep the two apart",
        status="PROVEN",
    )


def _against_the_stronger(record: PolicyRecord, target: PolicyRecord, at: Place) -> Finding:
    policy_id, other = record.policy.policy_id, target.policy.policy_id
    return Finding(
        "idle-override",
        f"policy `{policy_id}` overrides `{other}` without effect: level {record.level.number} ({record.level.name}) "
        f"gives way to level {target.level.number} ({target.level.name}), whatever it declares",
        at,
        policies=(policy_id, other),
        rules=(f"{policy_id} overrides {other}",),
        help=f"write the case as an exception into `{other}`, or narrow that policy; it is level {target.level.number} "
        f"({target.level.reason}), `{policy_id}` is level {record.level.number} ({record.level.reason})",
        status="PROVEN",
    )
