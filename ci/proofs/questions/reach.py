"""Which rules fire and always lose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bylaw.errors import WitnessMismatch
from bylaw.logic.boxes.boxes import Box, TooManyBoxes, uncovered
from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import Facts, conj, names, negate
from ci.findings import Finding
from ci.proofs.answers import Reply, of_policies
from ci.proofs.grounds import listed, resting_on, seen_with
from ci.proofs.inquiry import Inquiry, says
from ci.proofs.nearby import Nearby
from ci.proofs.periods import Span, spans, told
from ci.proofs.standing import NOTHING, Core, Duel, Referee, rules_of
from ci.proofs.theory import PROVEN, Theory, Verdict

PIECES = 500  # of a guard looked at before the solver is asked
TRIES = 8  # cases guessed in a guard before the solver is asked

Fate = Literal["wins", "loses", "silent", "unknown"]


@dataclass(frozen=True, slots=True)
class Losing:
    """A rule that fires and always loses on some days: a case, who removes its effect there, and what that rests on.

    `verdict` is PROVEN (it loses), COUNTEREXAMPLE (on every day on which it fires it also wins) or UNKNOWN.
    """

    verdict: Verdict
    stretches: tuple[Span, ...] = ()
    core: Core = NOTHING


def never_wins(nearby: Nearby, referee: Referee, i: int) -> Losing:
    """PROVEN iff on some day existing cases fire rule *i*, and in each of them its effect is removed."""
    theory = nearby.theory
    rules = theory.ruleset.rules
    if not theory.stronger(i) or _wins_always(nearby, i):
        return Losing(Verdict("COUNTEREXAMPLE"))
    days = [day for day in theory.days([rules[k] for k in theory.deciding(i)]) if rules[i].holds_on(day)]
    fates: list[tuple[Fate, Verdict]] = []
    for day in days:
        last = fates[-1][1].facts if fates and fates[-1][0] == "wins" else None
        fates.append(fate(nearby, referee, i, day, last))
    unknown = next((verdict for found, verdict in fates if found == "unknown"), None)
    if unknown is not None:
        return Losing(unknown)
    losing = [k for k, (found, _) in enumerate(fates) if found == "loses"]
    if not losing:
        return Losing(Verdict("COUNTEREXAMPLE"))
    day = days[losing[0]]
    stretches = spans(days, [found == "loses" for found, _ in fates])
    core = _why(nearby, referee, i, day)
    facts = _shorter(theory, i, fates[losing[0]][1].facts or {}, day)
    return Losing(Verdict("PROVEN", facts, day), tuple(stretches), core)


def _wins_always(nearby: Nearby, i: int) -> bool:
    """Is there an easy case that exists on all days, and in which nobody could ever remove the effect?"""
    theory = nearby.theory
    days = theory.days([])
    return any(
        not removers and all(theory.exists(case, day) for day in days)
        for case, removers in _guesses(nearby, i, theory.at, theory.stronger(i))
    )


def fate(nearby: Nearby, referee: Referee, i: int, day: int, hint: Facts | None = None) -> tuple[Fate, Verdict]:
    """What becomes of rule *i* on *day*: a case in which it wins, else one in which it fires, else silence.

    *hint* is a full case that fires it, worth trying first.
    """
    theory = nearby.theory
    base = nearby.base(day)
    if base is None:
        return "silent", PROVEN
    if isinstance(base, Verdict):
        return "unknown", base
    if hint is not None and theory.exists(hint, day) and nearby.stands(i, hint, day):
        return "wins", Verdict("COUNTEREXAMPLE", hint, day)
    fires, stronger = None, [k for k in theory.stronger(i) if _in_force(theory, k, day)]
    for case, removers in _guesses(nearby, i, day, stronger):
        fires = fires or case
        if not removers or nearby.stands(i, case, day):
            return "wins", Verdict("COUNTEREXAMPLE", case, day)
    duel = _duel(nearby, referee, i, day)
    free = duel.outside(stronger).model
    if free is not None:
        return "wins", Verdict("COUNTEREXAMPLE", free, day)
    answer = duel.ask(*duel.definitions(), duel.stands(i))
    if answer.model is not None:
        case = duel.case(answer.model)
        if not nearby.stands(i, case, day):
            raise WitnessMismatch(f"the plain reading does not confirm the solver's case {case}", "please report it")
        return "wins", Verdict("COUNTEREXAMPLE", case, day)
    if answer.status == "unsat" and fires is None:
        answer = duel.ask()
        fires = None if answer.model is None else duel.case(answer.model)
    if answer.status == "unknown":
        return "unknown", Verdict("UNKNOWN", day=day, reason=answer.reason or "the solver gave up")
    return ("silent", PROVEN) if fires is None else ("loses", Verdict("PROVEN", fires, day))


def _in_force(theory: Theory, k: int, day: int) -> bool:
    return theory.ruleset.rules[k].holds_on(day)


def _duel(nearby: Nearby, referee: Referee, i: int, day: int) -> Duel:
    around = [k for k in nearby.theory.deciding(i) if _in_force(nearby.theory, k, day)]
    return Duel(nearby, referee, i, day, around)


def _guesses(nearby: Nearby, i: int, day: int, stronger: Sequence[int]) -> Iterator[tuple[Facts, set[int]]]:
    """Existing cases that fire rule *i*, and who of *stronger* fires there; each outside the guards of those before."""
    theory = nearby.theory
    for box in theory.evaluator.boxes_of(i) or ():
        covers: list[Box] = []
        piece: Box | None = box
        for _ in range(TRIES):
            case = None if piece is None else nearby.case_in(i, piece, day)
            if case is None:
                break
            removers = {k for k in stronger if truth(theory.ruleset.rules[k].guard, case) is True}
            yield case, removers
            piece = escape(theory, box, covers, removers)


def escape(theory: Theory, box: Box, covers: list[Box], others: set[int]) -> Box | None:
    """A piece of *box* where none of *others*, nor any of *covers*, fires; they join *covers*. None: no easy one."""
    new = [one for k in sorted(others) for one in theory.evaluator.boxes_of(k) or () if one.is_exact]
    if not new:
        return None
    covers += new
    try:
        return uncovered(box, covers, theory.ruleset.variables, PIECES)
    except TooManyBoxes:
        return None


def _shorter(theory: Theory, i: int, case: Facts, day: int) -> Facts:
    """The case with the facts that show rule *i* firing and somebody removing its effect."""
    firing = theory.standing(case, day, theory.deciding(i)).fires

    def loses(facts: Facts) -> bool:
        standing = theory.standing(facts, day, firing)
        return i in standing.fires and i not in standing.stands

    spoken = names(conj(theory.ruleset.rules[k].guard for k in firing))
    return theory.fewest({name: value for name, value in case.items() if name in spoken}, loses)


def _why(nearby: Nearby, referee: Referee, i: int, day: int) -> Core:
    """Whose effect removes that of rule *i*, and which invariants it takes."""
    duel = _duel(nearby, referee, i, day)
    removers = {str(k): negate(duel.removes(k, i)) for k in duel.stronger(i)}
    return duel.core(duel.definitions(), removers)


# ---- findings -------------------------------------------------------------------------------------------------------


def never_wins_rule(inquiry: Inquiry) -> Iterator[Reply]:
    """Every rule that fires has its way in some case, on every day."""
    nearby, referee = Nearby(inquiry.theory), Referee(inquiry.theory)
    for i in inquiry.each_rule("looking for rules that never win"):
        found = never_wins(nearby, referee, i)
        about = of_policies(inquiry.rule(i).policy_id)
        yield Reply(about, found.verdict.status, tuple(_findings(inquiry, i, found)), found.verdict.reason)


def _findings(inquiry: Inquiry, i: int, found: Losing) -> Iterator[Finding]:
    rule = inquiry.rule(i)
    if found.verdict.status == "UNKNOWN":
        what = f"whether the rule `{rule.rule_id}` ever wins"
        yield inquiry.unanswered(what, inquiry.place(i), found.verdict, (rule.policy_id,))
    if found.verdict.status != "PROVEN" or not seen_with(inquiry.theory, i, rules_of(found.core)):
        return
    winners = [(k, inquiry.rule(k)) for k in rules_of(found.core)]
    policies = sorted({other.policy_id for _, other in winners})
    case = inquiry.counterexample(found.verdict) or {"words": "every case"}
    yield Finding(
        "never-wins",
        f"{told(found.stretches)}policy `{rule.policy_id}` has a rule for `{rule.effect.action}` that never wins: "
        f"wherever it fires, {listed(policies)} {'has' if len(policies) < 2 else 'have'} precedence, for instance "
        f"{case['words']}{resting_on(found.core)}",
        inquiry.place(i),
        policies=(rule.policy_id, *(name for name in policies if name != rule.policy_id)),
        rules=(rule.rule_id,),
        help="take the rule out, or widen its conditions to cases that are its own",
        related=tuple((inquiry.place(k), f"{other.policy_id} {says(other)}") for k, other in winners),
        counterexample=found.verdict.facts and case,
        status="PROVEN",
    )
