"""The verdict on an answer: the worst of what its claims are, what its text does not bear, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from bot.claims.bearing import Bearing, Gap
from bot.claims.conditions import atoms_of
from bot.claims.models import By, Claim, Judged, Reading, Status, Unread, Verdict, worst
from bot.claims.situation import Situation, holds
from bot.claims.statuses import Statuses, describe_unproven
from bylaw.logic.boxes.boxes import meet_regions
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.case import in_force
from bylaw.logic.formula.ir import ConditionalRule, Constraint, Unproven

_SERIOUS = frozenset({"gives", "denies", "outside"})


@dataclass(frozen=True)
class Found:
    """What became of an answer: the verdict, how it was read, and what to say of it."""

    verdict: Verdict
    reading: Reading
    objections: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()  # actions that must be told and are not
    is_action_wrong: bool = False
    rules: tuple[ConditionalRule, ...] = ()
    unproven: tuple[Unproven, ...] = ()  # rules that cannot be read and may change what is asked or said
    gaps: tuple[Gap, ...] = field(default=(), repr=False)


def judge(text: str, claims: Sequence[Claim], case: Situation, by: By = "given", is_twice: bool = False) -> Found:
    """The verdict on *text* with *claims*. *is_twice*: a second reader had the same claims, so weak ones hold."""
    bearing = None if by == "template" else case.bear(text, claims)
    gaps = tuple(gap for gap in (bearing.gaps if bearing is not None else ()) if not (is_twice and gap.is_weak))
    return _Judge(case, claims, bearing, gaps).found(by)


class _Judge:
    """One answer's claims in one case."""

    def __init__(self, case: Situation, claims: Sequence[Claim], bearing: Bearing | None, gaps: Sequence[Gap]) -> None:
        self.case, self.claims, self.bearing, self.gaps = case, claims, bearing, gaps
        self.vocabulary = case.index.vocabulary
        self.statuses = Statuses(case, claims, bearing)
        self.rules: dict[str, ConditionalRule] = {}

    def found(self, by: By) -> Found:
        judged = [self._judged(i, claim) for i, claim in enumerate(self.claims)]
        is_silent = all(c.kind in ("courtesy", "fact", "source") for c in self.claims)
        missing = self._untold()
        verdicts: list[Verdict] = [_VERDICTS[one.status] for one in judged]
        verdicts += _if(bool(self.gaps), "unread") + _if(is_silent or bool(missing), "incomplete")
        if by == "plain" and (is_silent or not self.case.is_covered or "satisfiable" in {o.status for o in judged}):
            verdicts.append("unread")  # who reads so little cannot tell silence from what was not understood
        broken = self._broken()
        torn = [*self._torn(), *map(describe_unproven, self.statuses.unproven)]
        verdicts += _if(bool(broken or torn), "impossible") + _if(bool(self.case.personal), "invalid")
        if not self.statuses.is_covered and all(one.status in ("valid", "uncovered", "unread") for one in judged):
            verdicts += _if(any(one.kind == "outside" for one in judged), "uncovered")
        for constraint in broken:
            self._name(constraint.policy_id)
        unread = tuple(Unread(quote=gap.quote, why=gap.why, start=gap.start, end=gap.end) for gap in self.gaps)
        wrong = [one for one in judged if one.status == "invalid"]
        said = [f"{one.why}: “{one.quote}”" for one in judged if one.status not in ("valid", "unread")]
        said += [f"{gap.why}: “{gap.quote}”" for gap in self.gaps]
        said += [f"it does not say: {self.case.words.called(name)}" for name in missing]
        said += ["it neither gives nor denies anything, states no limit and asks for nothing"] * is_silent
        said += [f"the facts of the case break “{one.said}” ({one.policy_id})" for one in broken]
        said += torn
        said += ["it holds personal data that nobody told"] * bool(self.case.personal)
        return Found(
            verdict=worst(verdicts),
            reading=Reading(by=by, claims=tuple(judged), unread=unread),
            objections=tuple(dict.fromkeys(said)),
            missing=missing,
            is_action_wrong=any(one.kind in _SERIOUS for one in wrong) or bool(self.case.personal),
            rules=tuple(self.rules.values()),
            unproven=self.statuses.unproven,
            gaps=tuple(self.gaps),
        )

    # ---- the case ---------------------------------------------------------------------------------------------------

    def _broken(self) -> list[Constraint]:
        """The invariants in force that the facts break."""
        found = [one for one in self.case.evaluator.ruleset.constraints if in_force(one, self.case.day)]
        return [one for one in found if truth(one.formula, self.case.facts) is False]

    def _torn(self) -> list[str]:
        """The unresolved contradictions of the case about what is asked or said."""
        outcomes, actions = self.statuses.spoken
        found = []
        for clash in self.case.decision.conflicts:
            if outcomes.intersection(clash.outcomes) or (not clash.outcomes and clash.action in actions):
                rules = [self.case.index.rule(rule_id) for rule_id in clash.rules]
                self.rules.update({rule.rule_id: rule for rule in rules})
                said = " and ".join(f"{r.policy_id} says {self.case.words.called(r.effect.action)}" for r in rules)
                found.append(f"the policies contradict each other here, and none gives way: {said}")
        return found

    def _untold(self) -> tuple[str, ...]:
        """The actions that must be told and hold in the case, and that no claim here gives in words that tell of it."""
        decision = self.case.decision
        given = {
            i: self.vocabulary.canonical(claim.action or "")
            for i, claim in enumerate(self.claims)
            if claim.kind in ("gives", "figure") and self._is_here(claim) and not self.statuses.is_said_beside(i, claim)
        }
        holding = {*self._owed(), *(r.action for r in decision.outcomes.values() if r.action)}
        brought = (self.vocabulary.implied(name) for name in given.values())  # also by what is but allowed
        holding.update(chain.from_iterable(brought))
        needed = [name for name, one in self.vocabulary.actions.items() if one.must_tell]
        needed = [name for name in dict.fromkeys(map(self.vocabulary.canonical, needed)) if name in holding]
        needed = [name for name in needed if holds(self.case, name)]
        told = {name for i, name in given.items() if self.bearing is None or self.bearing.tells(i, name)}
        return tuple(name for name in needed if name not in told)

    def _owed(self) -> Iterator[str]:
        """The duties of the case: what a rule requires, and what an action of an outcome that is asked brings along."""
        decision, asked = self.case.decision, {*self.case.outcomes}
        if not asked:
            yield from decision.required
        lost = {fired.rule_id for fired in decision.lost}
        for fired in decision.fired if asked else ():
            effect = self.case.index.rule(fired.rule_id).effect
            if fired.rule_id not in lost and (effect.kind == "required" or effect.outcome in asked):
                yield from (name for name in effect.demands if name in decision.required)

    def _is_here(self, claim: Claim) -> bool:
        """Does the case leave the conditions of *claim* possible?"""
        for when in claim.when:
            tests = atoms_of(self.case.words, when.fact, when.operator, when.value, when.unit)
            known = self.case.known.get(when.fact)
            if known is None or isinstance(tests, str):
                continue
            if not all(meet_regions(known, self.statuses.region_of(one)) for one in tests):
                return False
        return True

    def _judged(self, i: int, claim: Claim) -> Judged:
        gap = next((gap for gap in self.gaps if gap.claim == i), None)
        status, why, rule = ("unread", gap.why, None) if gap is not None else self.statuses.status(i, claim)
        if rule is not None:
            self.rules[rule.rule_id] = rule
        told = claim.model_dump(exclude={"policy_id"})
        policy = rule.policy_id if rule is not None else claim.policy_id
        source = {} if rule is None else {"path": rule.source.path, "line": rule.source.line}
        if status == "impossible" and rule is None and self.statuses.unproven:
            first = self.statuses.unproven[0]
            policy, source = first.policy_id, {"path": first.path, "line": first.line}
        return Judged.model_validate({**told, "status": status, "why": why, "policy_id": policy, **source})

    def _name(self, policy_id: str) -> None:
        for rule in self.case.evaluator.ruleset.rules:
            if rule.policy_id == policy_id:
                self.rules.setdefault(rule.rule_id, rule)
                return


_VERDICTS: Mapping[Status, Verdict] = {
    "valid": "valid",
    "satisfiable": "incomplete",
    "unread": "unread",
    "uncovered": "uncovered",
    "impossible": "impossible",
    "invalid": "invalid",
}


def _if(holds: bool, verdict: Verdict) -> list[Verdict]:
    return [verdict] if holds else []
