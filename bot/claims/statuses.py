"""What becomes of one claim: what all completions of the case, and of the conditions it states, take or deny.

The facts of the case are K; the conditions that an answer itself states are W and take the place of K's (so a rule that
is stated without a case is judged too). Nothing here reads English.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Literal

from bot.claims.bearing import Bearing
from bot.claims.conditions import BEYOND, atoms_of
from bot.claims.models import Claim, Status, drop_separators
from bot.claims.situation import Situation, entailment_of
from bylaw.hold.values import amount_of
from bylaw.language.figures import Measure, measure
from bylaw.language.units import unit_named
from bylaw.logic.boxes.boxes import Region, meet_regions, region
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.entailment import Ways, point_of
from bylaw.logic.formula.ir import Atom, ConditionalRule, Unproven, atoms

_SIZES = frozenset({"time", "mass", "length"})
_BOUNDING = frozenset({"<", "<=", ">", ">="})
_OF_RULES = frozenset({"limit", "outside", "source"})  # what an unproven rule may say
Outcome = tuple[Status, str, ConditionalRule | None]


class Statuses:
    """The claims of one answer in one case."""

    def __init__(self, case: Situation, claims: Sequence[Claim], bearing: Bearing | None) -> None:
        self.case, self.claims, self.bearing = case, claims, bearing
        self.vocabulary = case.index.vocabulary
        self.variables = case.evaluator.ruleset.variables
        self.entailment = entailment_of(case)

    @cached_property
    def is_covered(self) -> bool:
        """Is the question one that rules speak of? It is also where an answer is about declared actions."""
        return self.case.is_covered or any(claim.is_about_action for claim in self.claims)

    @cached_property
    def spoken(self) -> tuple[set[str], set[str]]:
        """The outcomes and the actions that are asked about or said."""
        outcomes, actions = {*self.case.outcomes}, {*self.case.actions}
        for claim in self.claims:
            if claim.is_about_action and claim.action is not None:
                name = self.vocabulary.canonical(claim.action)
                actions.add(name)
                outcomes.add(self.vocabulary.outcome_of(name) or "")
        return outcomes, actions

    @cached_property
    def unproven(self) -> tuple[Unproven, ...]:
        """The rules that cannot be read and may change what is asked or said."""
        return self.case.evaluator.unproven.about_any(*self.spoken, self.case.day)

    def status(self, i: int, claim: Claim) -> Outcome:
        """What becomes of claim *i*, why, and the rule that decides."""
        if problem := self._undeclared(claim):
            return "unread", problem, None
        found = self._by_kind(i, claim)
        if self.unproven and (claim.is_about_action or (found[0] == "invalid" and claim.kind in _OF_RULES)):
            name = self.vocabulary.canonical(claim.action) if claim.action is not None else None
            about = self.unproven if name is None else self.case.evaluator.unproven.about(name, self.case.day)
            if about:
                return "impossible", describe_unproven(about[0]), None
        return found

    def _by_kind(self, i: int, claim: Claim) -> Outcome:
        match claim.kind:
            case "courtesy" | "asks":
                return "valid", "", None
            case "outside":
                if self.is_covered:
                    return "invalid", "no rule says this", None
                return "uncovered", "no rule speaks of this", None
            case "source":
                return self._source(claim)
            case "fact":
                return self._fact(i, claim)
            case "limit":
                return self._limit(i, claim)
            case "figure":
                return self._figure(i, claim)
            case "gives" | "denies":
                return self._action(claim, self._cell(i, claim))

    def _undeclared(self, claim: Claim) -> str | None:
        """Which word of the claim no vocabulary declares, or why its value is none of the fact's."""
        if claim.action is not None and claim.is_about_action and claim.action not in self.vocabulary.actions:
            return f"`{claim.action}` is no declared action"
        if claim.kind == "asks":
            return None if claim.fact in self.variables else f"`{claim.fact}` is no declared fact"
        rows = [(when.fact, when.operator, when.value, when.unit) for when in claim.when]
        if claim.kind in ("fact", "limit") and claim.fact is not None:
            rows.append((claim.fact, claim.operator or "==", claim.value, claim.unit))  # type: ignore[arg-type]
        for fact, operator, value, unit in rows:
            if fact not in self.variables:
                return f"`{fact}` is no declared fact"
            tests = atoms_of(self.case.words, fact, operator, value, unit)
            if isinstance(tests, str) and not tests.startswith(BEYOND):
                return tests
        return None

    def region_of(self, atom: Atom) -> Region:
        return region(atom, self.variables[atom.var])

    def _cell(self, i: int, claim: Claim) -> Mapping[str, Region] | str:
        """The regions of K, and in their place those of W: the claim's conditions and the facts told beside them."""
        supposed: dict[str, Region] = {}
        for fact, operator, value, unit in self._conditions(i, claim):
            tests = atoms_of(self.case.words, fact, operator, value, unit)
            if isinstance(tests, str):
                return tests
            for one in tests:
                where = self.region_of(one)
                supposed[fact] = meet_regions(supposed[fact], where) if fact in supposed else where
            if not supposed[fact]:
                return f"no case has {self._label(fact)} so"
        for when in claim.when:
            known = self.case.known.get(when.fact)
            is_so = known is not None and bool(meet_regions(known, supposed[when.fact]))
            if not is_so and self.bearing is not None and self.bearing.gives_reason(i, when):
                said = "nobody told it" if known is None else "the case says otherwise"
                return f"{self._label(when.fact)}: {said}"
        return {**self.case.known, **supposed}

    def _conditions(self, i: int, claim: Claim) -> Iterator[tuple[str, str, object, str | None]]:
        yield from ((when.fact, when.operator, when.value, when.unit) for when in claim.when)
        if claim.when:
            named = {when.fact for when in claim.when}
            for k in self._beside(i):
                other = self.claims[k]
                if other.kind == "fact" and other.fact not in named and self._holds(other) is not True:
                    yield other.fact or "", other.operator or "==", other.value, other.unit

    def _beside(self, i: int) -> Iterator[int]:
        """The claims in the same sentence, by number."""
        if self.bearing is None:
            return
        mine = self.bearing.passages_of(i)
        yield from (k for k in range(len(self.claims)) if k != i and mine & self.bearing.passages_of(k))

    # ---- actions ----------------------------------------------------------------------------------------------------

    def _action(self, claim: Claim, cell: Mapping[str, Region] | str) -> Outcome:
        """Whether every completion gives (or denies) the action, none does, or some do."""
        action = self.vocabulary.canonical(claim.action or "")
        called = self.case.words.called(action)
        if isinstance(cell, str):
            return "invalid", cell, None
        wanted: Literal["given", "denied"] = "denied" if claim.kind == "denies" else "given"
        ways = self.entailment.ways(action, self.vocabulary.outcome_of(action), dict(cell.items()), wanted)
        rule = self._deciding(action, cell)
        if ways.all(wanted):
            return "valid", "", rule
        if ways.any(wanted) or not ways.is_complete:
            return "satisfiable", f"whether it is {called} depends on {self._depends(ways, wanted, cell)}", rule
        if ways.seen and set(ways.seen) == {"torn"}:
            return "impossible", f"the policies contradict each other about {called}, and none gives way", rule
        if claim.kind == "denies":
            why = "the rules give it here" if ways.any("given") else "no rule denies it here"
            return "invalid", f"{called}: {why}", rule
        why = "the rules deny it here" if ways.any("denied") else "no rule gives it here"
        return "invalid", f"{called}: {why}", rule

    def _depends(self, ways: Ways, wanted: str, cell: Mapping[str, Region]) -> str:
        """The facts that the first two completions that differ were told apart by."""
        named: dict[str, None] = {}
        for other in ways.seen.values():
            for key, where in other.items():
                for fact in [key] if isinstance(key, str) else ():
                    if cell.get(fact) != where:
                        named[self._label(fact)] = None
        shown = list(named)[-4:]
        return ", ".join(shown) if shown else "facts that are not known"

    def _deciding(self, action: str, cell: Mapping[str, Region]) -> ConditionalRule | None:
        """The rule to name: one that fires for sure and speaks of the action, else the strongest that may."""
        about = self.entailment.about(action, self.vocabulary.outcome_of(action))
        found_points = {fact: point_of(where, self.variables[fact]) for fact, where in cell.items()}
        points = {fact: value for fact, value in found_points.items() if value is not None}
        rules = self.case.evaluator.ruleset.rules
        found: list[tuple[tuple[int, int, int], ConditionalRule]] = []
        for i, rule in enumerate(rules):
            if not about.speaking >> i & 1:
                continue
            reading = truth(rule.guard, points)
            if reading is False:
                continue
            mine = action == rule.effect.action or action in rule.effect.demands
            found.append(((reading is not True, rule.level, not mine), rule))
        return min(found, key=lambda one: one[0])[1] if found else None

    # ---- facts, limits, figures, sources ----------------------------------------------------------------------------

    def _holds(self, claim: Claim) -> bool | None:
        """Is the case so? None where nobody told."""
        tests = atoms_of(self.case.words, claim.fact or "", claim.operator or "==", claim.value, claim.unit)
        known = self.case.known.get(claim.fact or "")
        if isinstance(tests, str):
            return False
        if known is None:
            return None
        within = [meet_regions(known, self.region_of(one)) for one in tests]
        return True if all(one == known for one in within) else None if all(within) else False

    def _fact(self, i: int, claim: Claim) -> Outcome:
        holds = self._holds(claim)
        if holds and not self._is_told_so(claim):
            return (
                "invalid",
                f"{self._label(claim.fact or '')}: nobody told that bound, and no rule draws its line there",
                None,
            )
        if holds:
            return "valid", "", None
        if any(self.claims[k].when and self.claims[k].kind in ("gives", "denies") for k in self._beside(i)):
            return "valid", "a condition of what the sentence states", None
        label = self._label(claim.fact or "")
        return "invalid", f"{label}: the case says otherwise" if holds is False else f"{label}: nobody told it", None

    def _is_told_so(self, claim: Claim) -> bool:
        """Is it a value, or a bound that was told or that some rule draws? "At least 10 days" may hold of 16 days, and
        says a line that nobody drew.
        """
        if claim.operator not in _BOUNDING:
            return True
        name = claim.fact or ""
        tests = atoms_of(self.case.words, name, "==", claim.value, claim.unit)
        told = {one.value for one in self.case.bounds.get(name, ())} | {self.case.facts.get(name)}
        drawn = self.entailment.lines.get(name, frozenset())
        return isinstance(tests, str) or all(one.value in told or one.value in drawn for one in tests)

    def _limit(self, i: int, claim: Claim) -> Outcome:
        """Some rule that was weighed tests that fact at that value."""
        fact = claim.fact or ""
        found = atoms_of(self.case.words, fact, "==", claim.value, claim.unit)
        if isinstance(found, str):
            return "invalid", f"{self._label(fact)}: {found}", None
        (drawn,) = found
        for rule in self._weighed(self._free(i, fact)):
            for test in atoms(rule.guard):
                values = test.value if isinstance(test.value, tuple) else (test.value,)
                if test.var == fact and drawn.value in values:
                    return "valid", "", rule
        return "invalid", f"no rule that matters here draws its line for {self._label(fact)} there", None

    def _free(self, i: int, fact: str) -> Mapping[str, Region]:
        """What is known or supposed in the sentence of claim *i*, but for *fact*."""
        cell: Mapping[str, Region] | str = self.case.known
        for k in self._beside(i):
            if self.claims[k].when:
                other = self._cell(k, self.claims[k])
                cell = other if not isinstance(other, str) else cell
                break
        assert not isinstance(cell, str)
        return {name: where for name, where in cell.items() if name != fact}

    def _figure(self, i: int, claim: Claim) -> Outcome:
        action = self.vocabulary.canonical(claim.action or "")
        amount = amount_of(drop_separators(claim.value))
        if not isinstance(amount, Fraction):
            return "invalid", f"`{claim.value}` is no number", None
        told = measure(amount, unit_named(claim.unit))
        allowed = [*self._allowed(action)]
        if not any(_equal(told, one) for one in allowed):
            return "invalid", f"this is no figure of {self.case.words.called(action)}", None
        if self.is_said_beside(i, claim):
            return "valid", "", None  # that claim says whether it holds
        return self._action(claim, self._cell(i, claim))

    def is_said_beside(self, i: int, claim: Claim) -> bool:
        """Does another claim of the sentence say whether the action of a figure holds, and where?"""
        others = (self.claims[k] for k in self._beside(i)) if claim.kind == "figure" else ()
        action = self.vocabulary.canonical(claim.action or "")
        return any(
            one.kind in ("gives", "denies") and self.vocabulary.canonical(one.action or "") == action for one in others
        )

    def _allowed(self, action: str) -> Iterator[Measure]:
        """The declared figures of an action, and whole multiples of those that count by a fact of the case."""
        for one, _, by in self.case.words.figures_of(action):
            yield one
            count = self.case.facts.get(by) if by else None
            if isinstance(count, int) and not isinstance(count, bool) and isinstance(one.amount, Fraction):
                yield Measure(one.kind, one.amount * count)

    def _source(self, claim: Claim) -> Outcome:
        for rule in self._weighed(self.case.known):
            if rule.policy_id == claim.policy_id:
                return "valid", "", rule
        known = claim.policy_id in self.case.words.policies
        return "invalid", f"{claim.policy_id} does not speak of this case" if known else "there is no such policy", None

    def _weighed(self, cell: Mapping[str, Region]) -> Iterator[ConditionalRule]:
        """The rules in force about what is asked or said that *cell* does not rule out."""
        for i, rule in self._about:
            if self.case.is_open(i, cell):
                yield rule

    @cached_property
    def _about(self) -> Sequence[tuple[int, ConditionalRule]]:
        rules = self.case.evaluator.ruleset.rules
        wanted = {*self.case.actions, *(self.vocabulary.canonical(c.action) for c in self.claims if c.action)}
        outcomes = {*self.case.outcomes, *(self.vocabulary.outcome_of(name) or "" for name in wanted)}
        policies = {
            rule.policy_id
            for rule in rules
            if rule.effect.action in wanted
            or wanted.intersection(rule.effect.demands)
            or outcomes.intersection(name for name, _ in rule.effect.takes)
        }
        found = [(i, rule) for i, rule in enumerate(rules) if rule.holds_on(self.case.day)]
        return [(i, rule) for i, rule in found if rule.policy_id in policies] if policies else found

    def _label(self, fact: str) -> str:
        told = self.vocabulary.facts.get(fact)
        return told.label if told and told.label else fact.replace("_", " ")


def describe_unproven(rule: Unproven) -> str:
    of = f" of {rule.policy_id}" if rule.policy_id else ""
    return f"a rule{of} that may change this cannot be read ({rule.path}:{rule.line})"


def _equal(one: Measure, other: Measure) -> bool:
    """Are two measures the same? One that is told without a unit is in the other's."""
    if one == other:
        return True
    if one.kind == "cents" and isinstance(one.amount, Fraction):
        return Measure(other.kind, one.amount / 100) == other and bool(other.kind) and str(other.kind).isupper()
    is_bare = one.kind is None and other.kind not in _SIZES
    is_counted = other.kind is None and not (
        one.kind in _SIZES or str(one.kind).isupper()
    )  # "two" of a label: "2 groups"
    return (is_bare or is_counted) and one.amount == other.amount
