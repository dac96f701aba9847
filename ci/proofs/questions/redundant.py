"""Which rules change nothing: they fire and sometimes win, and without them every case gets exactly what it gets now.

A rule that matters on a later day is not redundant, so the last day is asked first. Of exact duplicates the first is
taken for the original.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bylaw.errors import WitnessMismatch
from bylaw.logic.boxes.boxes import Box, TooManyBoxes, uncovered
from bylaw.logic.formula.ir import Effect, Facts, negate
from ci.findings import Finding
from ci.proofs.answers import Concern, Reply, of_policies
from ci.proofs.grounds import listed, resting_on, seen_with
from ci.proofs.inquiry import Inquiry, says
from ci.proofs.nearby import Nearby, items
from ci.proofs.periods import Span, told
from ci.proofs.questions.joint import at_odds
from ci.proofs.questions.reach import TRIES, escape
from ci.proofs.standing import NOTHING, Core, Duel, Referee, rules_of
from ci.proofs.theory import PROVEN, Theory, Verdict


@dataclass(frozen=True, slots=True)
class Spare:
    """Whether a rule is redundant. PROVEN: from the beginning of `stretch` on; COUNTEREXAMPLE: a case that needs it.

    The case of a redundant rule is one in which it has its way.
    """

    verdict: Verdict
    stretch: Span = (None, None)
    core: Core = NOTHING


def redundant(nearby: Nearby, referee: Referee, i: int) -> Spare:
    """PROVEN iff, from some day on, rule *i* wins in some existing case and no existing case gets less without it."""
    theory = nearby.theory
    rule = theory.ruleset.rules[i]
    alive = [day for day in nearby.all_days if rule.holds_on(day)]
    if not alive or at_odds(rule.effect, theory.ruleset.excludes) is not None:
        return Spare(Verdict("COUNTEREXAMPLE"))  # what contradicts itself never has its way
    needed = _at_once(nearby, i, alive[-1], alone=True)
    if needed is not None:
        return Spare(needed)
    # The neighbours' days are enough from here on, and far fewer.
    near = nearby.meeting(i, None) if len(alive) > 1 else ()
    days = [day for day in theory.days([theory.ruleset.rules[k] for k in near]) if rule.holds_on(day)] or alive
    winning = _winning(nearby, referee, i, days)
    if winning.status == "COUNTEREXAMPLE":
        last = matters(nearby, referee, i, alive[-1])
        if last.status != "PROVEN":
            return Spare(last)
        since = _since(nearby, referee, i, days)
        if winning.day not in days[since:]:
            winning = _winning(nearby, referee, i, days[since:])
    if winning.status != "COUNTEREXAMPLE" or winning.day is None:
        return Spare(winning if winning.status == "UNKNOWN" else Verdict("COUNTEREXAMPLE"))
    core = _why(nearby, referee, i, winning.day)
    return Spare(Verdict("PROVEN", winning.facts, winning.day), (days[since] if since else None, None), core)


def _since(nearby: Nearby, referee: Referee, i: int, days: Sequence[int]) -> int:
    """The first of *days* from which on rule *i* changes nothing, given that it changes nothing on the last."""
    since = len(days) - 1
    while since > 0 and matters(nearby, referee, i, days[since - 1]).status == "PROVEN":
        since -= 1
    return since


def _winning(nearby: Nearby, referee: Referee, i: int, days: Sequence[int]) -> Verdict:
    """COUNTEREXAMPLE: a case, on the first such day, in which rule *i* has its way undisputed."""
    theory = nearby.theory
    for day in days:
        duel = Duel(nearby, referee, i, day, nearby.meeting(i, day))
        disputing = [k for k in duel.rivals(i) if not theory.rivals.beats(i, k)]
        free = duel.outside(disputing)
        if free.model is not None:
            return Verdict("COUNTEREXAMPLE", free.model, day)
        if free.status == "unsat" and not any(map(theory.stronger, disputing)):
            continue  # whoever disputes it stands wherever he fires
        against = [negate(duel.stands(k)) for k in duel.rivals(i)]
        answer = duel.ask(*duel.definitions(), duel.stands(i), *against)
        if answer.model is not None:
            case = duel.case(answer.model)
            if not nearby.holds(i, case, day):
                raise WitnessMismatch(f"the plain reading does not confirm the case {case}", "please report it")
            return Verdict("COUNTEREXAMPLE", case, day)
        if answer.status == "unknown":
            return Verdict("UNKNOWN", day=day, reason=answer.reason or "the solver gave up")
    return PROVEN


def matters(nearby: Nearby, referee: Referee, i: int, day: int) -> Verdict:
    """PROVEN iff no existing case gets anything else on *day* without rule *i*; else such a case."""
    return (
        _at_once(nearby, i, day)
        or _uncrowded(nearby, referee, i, day)
        or _replaced(nearby, i, day)
        or _really(nearby, referee, i, day)
    )


def _at_once(nearby: Nearby, i: int, day: int, alone: bool = False) -> Verdict | None:
    """A case that needs rule *i*, as far as a few guesses find one; only where it is *alone* if that is all."""
    base = nearby.base(day)
    if isinstance(base, Verdict):
        return base
    if base is None:
        return None
    for case, is_alone in _guesses(nearby, i, day):
        if is_alone or (not alone and nearby.differs(i, case, day)):
            return Verdict("COUNTEREXAMPLE", case, day)
    return None


def _uncrowded(nearby: Nearby, referee: Referee, i: int, day: int) -> Verdict | None:
    """A case that needs rule *i*, as far as it is found in its guard away from all who crowd it."""
    around = nearby.meeting(i, day)
    free = Duel(nearby, referee, i, day, around).outside(_crowding(nearby, i, around)).model
    return Verdict("COUNTEREXAMPLE", free, day) if free is not None and nearby.differs(i, free, day) else None


def _replaced(nearby: Nearby, i: int, day: int) -> Verdict | None:
    """PROVEN where, in each case in which rule *i* fires, another rule of the same effect and rank fires as well."""
    theory = nearby.theory
    rules, mine = theory.ruleset.rules, theory.evaluator.boxes_of(i)
    alike = [k for k in nearby.meeting(i, day) if k != i and rules[k].effect == rules[i].effect]
    its = [box for k in alike if _rank_alike(theory, i, k) for box in theory.evaluator.boxes_of(k) or ()]
    covers = [box for box in its if box.is_exact]
    try:
        is_covered = mine is not None and all(
            uncovered(Box(box.regions), covers, theory.ruleset.variables, theory.guard_pieces) is None for box in mine
        )
    except TooManyBoxes:
        return None
    return Verdict("PROVEN", day=day) if is_covered else None


def _rank_alike(theory: Theory, i: int, k: int) -> bool:
    """Do the two surely beat, and give way to, the same rules, whoever these are?"""
    one, other = theory.ruleset.rules[i], theory.ruleset.rules[k]
    if one.level != other.level or one.policy_id == other.policy_id:
        return one.level == other.level
    involved = {name for policy, others in theory.ruleset.overrides.items() for name in (policy, *others)}
    return not involved & {one.policy_id, other.policy_id}


def _really(nearby: Nearby, referee: Referee, i: int, day: int) -> Verdict:
    """The same by the solver, over everybody who stands or falls with it."""
    duel = Duel(nearby, referee, i, day, nearby.meeting(i, day))
    if len(duel.around) > nearby.theory.neighbours:
        reason = f"over {nearby.theory.neighbours} rules speak where one does"
        return Verdict("SKIPPED", day=day, reason=reason)
    answer = duel.ask(*duel.definitions(), *duel.definitions("spared"), duel.difference())
    if answer.model is not None:
        case = duel.case(answer.model)
        if not nearby.differs(i, case, day):
            raise WitnessMismatch(f"the plain reading does not confirm the solver's case {case}", "please report it")
        return Verdict("COUNTEREXAMPLE", case, day)
    if answer.status == "unknown":
        return Verdict("UNKNOWN", day=day, reason=answer.reason or "the solver gave up")
    return PROVEN


def _guesses(nearby: Nearby, i: int, day: int) -> Iterator[tuple[Facts, bool]]:
    """Existing cases that fire rule *i*; is it alone there: nobody fires who says the same or does not give way?"""
    theory = nearby.theory
    rules = theory.ruleset.rules
    mine = items(rules[i].effect)[0]
    agrees = len({item[2] for item in items(rules[i].effect) if item[:2] == mine[:2]}) == 1 or mine[0] != "outcome"
    for box in theory.evaluator.boxes_of(i) or ():
        covers: list[Box] = []
        piece: Box | None = box
        for _ in range(TRIES):
            case = None if piece is None else nearby.case_in(i, piece, day)
            if case is None:
                break
            crowding = _crowding(nearby, i, nearby.around(i, case, day))
            piece = escape(theory, box, covers, crowding)
            if not crowding or piece is None:
                yield case, not crowding and agrees
                break


def _crowding(nearby: Nearby, i: int, near: Sequence[int]) -> set[int]:
    """Those of *near* who say the same as rule *i*, or contradict it and do not give way."""
    theory = nearby.theory
    mine = items(theory.ruleset.rules[i].effect)[0]
    same = {k for k in near if k != i and mine in items(theory.ruleset.rules[k].effect)}
    return same | {k for k in theory.rivals.among(i, set(near)) if not theory.rivals.beats(i, k)}


def _why(nearby: Nearby, referee: Referee, i: int, day: int) -> Core:
    """Who says the same wherever rule *i* would win, and which invariants it takes."""
    theory = nearby.theory
    duel = Duel(nearby, referee, i, day, nearby.meeting(i, day))
    mine = set(items(theory.ruleset.rules[i].effect))
    same = {k for k in duel.around if k != i and mine & set(items(theory.ruleset.rules[k].effect))}
    covers = {str(k): negate(theory.ruleset.rules[k].guard) for k in sorted({*same, *duel.stronger(i)})}
    covering = duel.core([], covers)
    names = tuple(name for name in covering.names if int(name) in same)
    if not theory.constraints(day):
        return Core(names)
    whole = duel.core([*duel.definitions(), *duel.definitions("spared"), duel.difference()], {})
    return Core(names, whole.invariants)


# ---- duplicates -----------------------------------------------------------------------------------------------------


def originals(nearby: Nearby, found: Mapping[int, Spare]) -> set[int]:
    """The redundant rules of which later redundant ones are exact duplicates."""
    theory = nearby.theory
    alike: dict[Effect, list[int]] = defaultdict(list)
    for i in sorted(found):
        alike[theory.ruleset.rules[i].effect].append(i)
    kept: set[int] = set()
    for effect in sorted(alike, key=lambda effect: alike[effect]):
        classes: list[int] = []
        for i in alike[effect]:
            first = next((j for j in classes if _same_guard(nearby, i, j)), None)
            if first is None:
                classes.append(i)
            else:
                kept.add(first)
    return kept


def _same_guard(nearby: Nearby, i: int, j: int) -> bool:
    one, two = (nearby.theory.ruleset.rules[k].guard for k in (i, j))
    return one == two or nearby.theory.reasoner.equivalent(one, two).status == "unsat"


def _duplicates_beside(
    inquiry: Inquiry, nearby: Nearby, referee: Referee, found: Mapping[int, Spare]
) -> dict[int, Spare]:
    """The redundant rules out of focus that say the same as one of *found* where that has its way."""
    theory, beside = inquiry.theory, dict[int, Spare]()
    for i, spare in found.items():
        effect = inquiry.rule(i).effect
        for j in nearby.around(i, spare.verdict.facts or {}, None):
            other = inquiry.rule(j)
            if other.effect != effect or inquiry.asks_of(other.policy_id) or j in beside:
                continue
            its = redundant(nearby, referee, j)
            if its.verdict.status == "PROVEN" and seen_with(theory, j, rules_of(its.core)):
                beside[j] = its
    return beside


# ---- findings -------------------------------------------------------------------------------------------------------


def redundant_rule(inquiry: Inquiry) -> Iterator[Reply]:
    """Every rule changes something."""
    nearby, referee = Nearby(inquiry.theory), Referee(inquiry.theory)
    spares: dict[int, Spare] = {}
    for i in inquiry.each_rule("looking for rules that change nothing"):
        spare = redundant(nearby, referee, i)
        if spare.verdict.status == "PROVEN":
            spares[i] = spare  # what is told of one depends on the others
        else:
            told_ = tuple(_open(inquiry, i, spare.verdict))
            yield Reply(_policy(inquiry, i), spare.verdict.status, told_, spare.verdict.reason)
    found = {i: spare for i, spare in spares.items() if seen_with(inquiry.theory, i, rules_of(spare.core))}
    beside = _duplicates_beside(inquiry, nearby, referee, found)
    kept = originals(nearby, {**found, **beside})
    for i, spare in spares.items():
        told_ = (_finding(inquiry, i, spare),) if i in found and i not in kept else ()
        yield Reply(_policy(inquiry, i), "PROVEN", told_)


def _policy(inquiry: Inquiry, i: int) -> tuple[Concern, ...]:
    return of_policies(inquiry.rule(i).policy_id)


def _open(inquiry: Inquiry, i: int, verdict: Verdict) -> Iterator[Finding]:
    """SKIPPED is no finding: nothing was asked that could have failed, and the rule is simply not called redundant."""
    if verdict.status == "UNKNOWN":
        rule = inquiry.rule(i)
        what = f"whether the rule `{rule.rule_id}` changes anything"
        yield inquiry.unanswered(what, inquiry.place(i), verdict, (rule.policy_id,))


def _finding(inquiry: Inquiry, i: int, spare: Spare) -> Finding:
    rule = inquiry.rule(i)
    others = [(k, inquiry.rule(k)) for k in rules_of(spare.core)]
    policies = sorted({other.policy_id for _, other in others})
    who = f": wherever it wins, {listed(policies)} already {_says(len(policies))} so" if policies else ""
    return Finding(
        "redundant-rule",
        f"{told([spare.stretch])}policy `{rule.policy_id}` has a rule for `{rule.effect.action}` that changes nothing"
        f"{who}{resting_on(spare.core)}",
        inquiry.place(i),
        policies=(rule.policy_id, *(name for name in policies if name != rule.policy_id)),
        rules=(rule.rule_id,),
        help=_next_step(inquiry, rule.policy_id),
        related=tuple((inquiry.place(k), f"{other.policy_id} {says(other)}") for k, other in others),
        status="PROVEN",
    )


def _next_step(inquiry: Inquiry, policy_id: str) -> str:
    """What to do: with an override that a stronger policy does not heed, that is why the rule changes nothing."""
    mine = inquiry.records[policy_id]
    named = (inquiry.records.get(other) for other in mine.policy.overrides)
    stronger = sorted(one.policy.policy_id for one in named if one and one.level.number < mine.level.number)
    if not stronger:
        return "take the rule out, or one of those that say the same: then look again, for each holds the other up"
    return (
        f"it overrides {listed(stronger)}, of a stronger level, which does not give way: "
        "write the case there as an exception, or take the rule out"
    )


def _says(count: int) -> str:
    return "says" if count == 1 else "say"
