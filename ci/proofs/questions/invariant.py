"""What the invariants forbid: rules that fire in no existing case, cases that do not exist, and all of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import Atom, Constraint, Facts, Formula, ValueMisfit, names
from ci.findings import Finding, Place
from ci.loading.load import CaseEntry
from ci.proofs.answers import Concern, Reply, of_case, of_policies
from ci.proofs.grounds import listed, place_of
from ci.proofs.inquiry import Inquiry
from ci.proofs.nearby import Nearby
from ci.proofs.periods import spans, told
from ci.proofs.questions.dead import can_fire
from ci.proofs.theory import PROVEN, Theory, Verdict


def fires(nearby: Nearby, i: int, day: int) -> Verdict:
    """PROVEN iff no case that the invariants of *day* allow fires rule *i*."""
    theory = nearby.theory
    for box in theory.evaluator.boxes_of(i) or ():
        if nearby.case_in(i, box, day) is not None:
            return Verdict("COUNTEREXAMPLE", day=day)
    return _possible(theory, [theory.ruleset.rules[i].guard, *theory.invariants(day)], day)


def possible(theory: Theory, facts: Facts, day: int) -> Verdict:
    """PROVEN iff the invariants of *day* allow no case with these *facts*."""
    invariants = theory.invariants(day)
    readings = [truth(formula, facts) for formula in invariants]
    if False in readings:
        return PROVEN
    if all(readings):
        return Verdict("COUNTEREXAMPLE", facts, day)
    return _possible(theory, [*_pinned(facts, invariants), *invariants], day)


def _possible(theory: Theory, formulas: Sequence[Formula], day: int) -> Verdict:
    answer = theory.reasoner.check(formulas)
    if answer.status == "unsat":
        return PROVEN
    if answer.model is None:
        return Verdict("UNKNOWN", day=day, reason=answer.reason or "the solver gave up")
    return Verdict("COUNTEREXAMPLE", answer.model, day)


def _pinned(facts: Facts, invariants: Sequence[Formula]) -> list[Formula]:
    spoken = set[str]().union(*map(names, invariants))
    return [Atom(name, "==", value) for name, value in sorted(facts.items()) if name in spoken]


def core(theory: Theory, day: int, formulas: Sequence[Formula] = ()) -> tuple[Constraint, ...]:
    """The invariants of *day* that already exclude *formulas*, or one another; none of them spare."""
    constraints = theory.constraints(day)
    named: dict[str, Formula] = {str(n): constraint.formula for n, constraint in enumerate(constraints)}
    kept = theory.reasoner.core({**named, **{f"given {n}": formula for n, formula in enumerate(formulas)}})
    found = tuple(constraint for n, constraint in enumerate(constraints) if str(n) in kept)
    return found or tuple(constraints)  # where no core was found within the limits, all of them are one


# ---- findings -------------------------------------------------------------------------------------------------------


def violated_invariant(inquiry: Inquiry) -> Iterator[Reply]:
    """The invariants leave some case, let every rule fire that can, and hold in the cases of the tests."""
    theory = inquiry.theory
    if not theory.ruleset.constraints:
        return
    nearby = Nearby(theory)
    yield from _together(inquiry, nearby)
    for i in inquiry.each_rule("holding rules against the invariants"):
        yield from _silenced(inquiry, nearby, i)
    for entry in inquiry.each_case("holding cases against the invariants"):
        yield from _breaking(inquiry, nearby, entry)


def _together(inquiry: Inquiry, nearby: Nearby) -> Iterator[Reply]:
    """On every day some case satisfies all invariants."""
    theory = inquiry.theory
    days = theory.days([])
    impossible: dict[tuple[Constraint, ...], list[int]] = {}
    for day in days:
        base, constraints = nearby.base(day), theory.constraints(day)
        if base is None:
            impossible.setdefault(core(theory, day), []).append(day)
        elif constraints and any(inquiry.asks_of(constraint.policy_id) for constraint in constraints):
            yield _possibly(inquiry, base, constraints)
    for clashing, when in impossible.items():
        if any(inquiry.asks_of(constraint.policy_id) for constraint in clashing):
            yield Reply(_owners(clashing), "PROVEN", (_impossible(inquiry, clashing, days, when),))


def _owners(constraints: Iterable[Constraint]) -> tuple[Concern, ...]:
    return of_policies(*sorted({constraint.policy_id for constraint in constraints}))


def _possibly(inquiry: Inquiry, base: Facts | Verdict, constraints: Sequence[Constraint]) -> Reply:
    about, first = _owners(constraints), constraints[0]
    if not isinstance(base, Verdict):
        return Reply(about, "COUNTEREXAMPLE")
    at = place_of(inquiry, first.policy_id, first.constraint_id)
    unknown = inquiry.unanswered("whether the invariants leave any case", at, base, (first.policy_id,))
    return Reply(about, "UNKNOWN", (unknown,) if inquiry.asks_of(first.policy_id) else (), base.reason)


def _impossible(inquiry: Inquiry, clashing: Sequence[Constraint], days: Sequence[int], when: list[int]) -> Finding:
    policies = tuple(sorted({constraint.policy_id for constraint in clashing}))
    first, *others = clashing
    named = listed([f"`{constraint.constraint_id}`" for constraint in clashing])
    subject, verb = (
        (f"the invariants {named}", "exclude one another") if others else (f"the invariant {named}", "fails")
    )
    return Finding(
        "violated-invariant",
        f"{told(spans(days, [day in when for day in days]))}{subject} {verb}: no case satisfies "
        f"{'them all' if others else 'it'}, so nothing that the policies say would ever apply",
        place_of(inquiry, first.policy_id, first.constraint_id),
        policies=policies,
        rules=tuple(constraint.constraint_id for constraint in clashing),
        help="correct one of them: an invariant says what holds in every case",
        related=_places(inquiry, others),
        status="PROVEN",
    )


def _silenced(inquiry: Inquiry, nearby: Nearby, i: int) -> Iterator[Reply]:
    """A rule that can fire, but not together with the invariants in force."""
    theory, rule = inquiry.theory, inquiry.rule(i)
    alive = [day for day in theory.days([rule]) if rule.holds_on(day) and isinstance(nearby.base(day), Mapping)]
    verdicts = [fires(nearby, i, day) for day in alive]
    if not any(verdict.status in ("PROVEN", "UNKNOWN") for verdict in verdicts):
        yield Reply(of_policies(rule.policy_id), "COUNTEREXAMPLE")
        return
    if can_fire(theory, i).status != "COUNTEREXAMPLE":
        return  # dead in itself, which says it all, or already told as unknown
    unknown = next((verdict for verdict in verdicts if verdict.status == "UNKNOWN"), None)
    if unknown is not None:
        what = f"whether the invariants let the rule `{rule.rule_id}` fire"
        told = inquiry.unanswered(what, inquiry.place(i), unknown, (rule.policy_id,))
        yield Reply(of_policies(rule.policy_id), "UNKNOWN", (told,), unknown.reason)
    silent = [day for day, verdict in zip(alive, verdicts, strict=True) if verdict.status == "PROVEN"]
    if silent:
        yield Reply(of_policies(rule.policy_id), "PROVEN", (_silent(inquiry, i, alive, silent),))


def _silent(inquiry: Inquiry, i: int, alive: Sequence[int], silent: Sequence[int]) -> Finding:
    theory, rule = inquiry.theory, inquiry.rule(i)
    stretches = spans(alive, [day in silent for day in alive])
    forbidding = core(theory, silent[0], [rule.guard])
    named = listed([f"`{constraint.constraint_id}`" for constraint in forbidding])
    policies = sorted({constraint.policy_id for constraint in forbidding} - {rule.policy_id})
    return Finding(
        "violated-invariant",
        f"{told(stretches)}policy `{rule.policy_id}` has a rule for `{rule.effect.action}` that fires in no case "
        f"that can exist: {_invariants(len(forbidding))} {named} {'rules' if len(forbidding) == 1 else 'rule'} "
        "all of its cases out",
        inquiry.place(i),
        policies=(rule.policy_id, *policies),
        rules=(rule.rule_id, *(constraint.constraint_id for constraint in forbidding)),
        help="correct the rule's conditions, or the invariant",
        related=_places(inquiry, forbidding),
        status="PROVEN",
    )


def _breaking(inquiry: Inquiry, nearby: Nearby, entry: CaseEntry) -> Iterator[Reply]:
    """A case of `cases.yaml` that the invariants say does not exist."""
    theory = inquiry.theory
    try:
        facts = {name: theory.ruleset.variables[name].read(value) for name, value in entry.case.facts.items()}
    except (KeyError, ValueMisfit):
        return  # the lint of cases has a finding for it
    day = entry.case.at.toordinal() if entry.case.at else theory.at
    if not theory.constraints(day) or not isinstance(nearby.base(day), Mapping):
        return
    is_spoken_of = bool(_pinned(facts, theory.invariants(day)))
    verdict = possible(theory, facts, day) if is_spoken_of else Verdict("COUNTEREXAMPLE", facts, day)
    at = Place(entry.path, (entry.index, "facts"))
    told: tuple[Finding, ...] = ()
    if verdict.status == "UNKNOWN":
        told = (inquiry.unanswered(f"whether the case `{entry.case.name}` can exist", at, verdict, ()),)
    if verdict.status == "PROVEN":
        told = (_broken(inquiry, entry, facts, day, at),)
    yield Reply(of_case(entry.path, entry.index), verdict.status, told, verdict.reason)


def _broken(inquiry: Inquiry, entry: CaseEntry, facts: Facts, day: int, at: Place) -> Finding:
    theory = inquiry.theory
    broken = core(theory, day, _pinned(facts, theory.invariants(day)))
    named = listed([f"`{constraint.constraint_id}`" for constraint in broken])
    texts = "; ".join(constraint.said for constraint in broken)
    return Finding(
        "violated-invariant",
        f"the case `{entry.case.name}` breaks {_invariants(len(broken))} {named}: {texts}",
        at,
        policies=tuple(sorted({constraint.policy_id for constraint in broken})),
        rules=(entry.case.name, *(constraint.constraint_id for constraint in broken)),
        help="a case that breaks an invariant does not exist: correct its facts, or the invariant",
        related=_places(inquiry, broken),
        counterexample=inquiry.counterexample(Verdict("COUNTEREXAMPLE", facts, day)),
        status="COUNTEREXAMPLE",
    )


def _invariants(count: int) -> str:
    return "the invariant" if count == 1 else "the invariants"


def _places(inquiry: Inquiry, constraints: Sequence[Constraint]) -> tuple[tuple[Place, str], ...]:
    return tuple(
        (place_of(inquiry, c.policy_id, c.constraint_id), f"{c.policy_id} says `{c.text}`") for c in constraints
    )
