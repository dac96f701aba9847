"""Claims in small random worlds: each is judged as every completion of the case, decided one by one, says."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.claims.judge import Found, judge
from bot.claims.models import SEVERITY, Claim, Condition
from bot.claims.situation import Situation
from bot.index import BundleIndex
from bylaw.authored.vocabulary import Vocabulary
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.evaluate import Decision, Evaluator
from bylaw.logic.formula.ir import (
    And,
    Atom,
    ConditionalRule,
    Constraint,
    Effect,
    Facts,
    Formula,
    Not,
    Ruleset,
    Source,
    Value,
    atoms,
)
from tests.bylaw.logic.strategies import GRID, VARIABLES, formulas, rulesets

GIVEN = {"full": "refund", "credit": "refund", "reject": "refund", "fast": "shipping", "notify": None, "verify": None}
MUST_TELL = ("notify", "full")
FACTS = ("flag", "kind", "days", "open")
COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "in": lambda value, several: value in several,
    "between": lambda value, ends: ends[0] <= value <= ends[1],
}  # fmt: skip


@cache
def words() -> Vocabulary:
    """The words of every world. Not of this module: whoever reads the first vocabulary names what its models mean."""
    return Vocabulary.model_validate(
        {
            "schema_version": "1.0",
            "facts": {
                "flag": {"type": "boolean", "label": "it is flagged"},
                "open": {"type": "boolean"},
                "kind": {"type": "enum", "values": {value: [] for value in GRID["kind"]}},
                "days": {"type": "integer", "minimum": 0, "maximum": 4},
                "left": {"type": "integer", "minimum": 0, "maximum": 3},
            },
            "actions": {
                name: {"must_tell": name in MUST_TELL, **({"outcome": outcome} if outcome else {})}
                for name, outcome in GIVEN.items()
            },
            "outcomes": {"refund": {}, "shipping": {}},
        }
    )


@dataclass(frozen=True)
class World:
    """Rules with what is told of a case in them, and every case that is left."""

    ruleset: Ruleset
    facts: Facts
    bounds: Mapping[str, tuple[Atom, ...]]

    def cases(self, supposed: tuple[Condition, ...] = ()) -> list[Facts]:
        """The completions: what is supposed takes the place of what is told. An invariant that leaves none is mute."""
        instead = {one.fact for one in supposed}
        left = [
            case
            for case in full_cases()
            if all(case[name] == value for name, value in self.facts.items() if name not in instead)
            and all(truth(test, case) for name, tests in self.bounds.items() if name not in instead for test in tests)
            and all(meets(case, one) for one in supposed)
        ]
        existing = [case for case in left if all(truth(one.formula, case) for one in self.ruleset.constraints)]
        return existing or left

    def judged(self, bundle: BundleIndex, claims: list[Claim]) -> Found:
        index = BundleIndex(bundle.bundle.model_copy(update={"vocabulary": words(), "policies": {}}))
        index.__dict__["ruleset"] = self.ruleset
        case = Situation(index, Evaluator(self.ruleset), 1, self.facts, bounds=self.bounds)
        return judge("It is so.", claims, case, by="template")


def full_cases() -> Iterator[Facts]:
    for flag in GRID["flag"]:
        for kind in GRID["kind"]:
            for days in GRID["days"]:
                for is_open in GRID["open"]:
                    yield {"flag": flag, "kind": kind, "days": days, "open": is_open, "left": 1}  # told: 60 cases do


def meets(case: Facts, condition: Condition | Claim) -> bool:
    return COMPARED[condition.operator or "=="](case[condition.fact or ""], condition.value)


def says(ruleset: Ruleset, decision: Decision, case: Facts, action: str) -> str:
    """What the rules say of *action* in a full case that they decide so."""
    outcome = GIVEN[action]
    shut = {other for one, other in ruleset.excludes if one == action}

    def is_about(effect: Effect) -> bool:
        takes = any(name == outcome for name, _ in effect.takes)
        return takes or action in (effect.action, *effect.demands) or not shut.isdisjoint(effect.demands)

    about = {rule.rule_id for rule in ruleset.rules if is_about(rule.effect)}
    if any(about.issuperset(clash.rules) for clash in decision.conflicts):
        return "torn"
    taken = decision.outcomes[outcome].action if outcome else None
    if taken is not None:
        return "given" if taken == action else "denied"
    if action in decision.prohibited:
        return "denied"
    if action in (*decision.required, *decision.permitted):
        return "given"
    demanded = {*decision.required, *(result.action for result in decision.outcomes.values())}
    return "denied" if not shut.isdisjoint(demanded) or is_lifted(ruleset, case, action) else "silent"


def is_lifted(ruleset: Ruleset, case: Facts, action: str) -> bool:
    """Would a rule demand the action but for an exception that holds?"""
    duties = [rule for rule in ruleset.rules if rule.effect.kind in ("required", "outcome")]
    guards = [rule.guard for rule in duties if GIVEN[action] is None and action in rule.effect.demands]
    return any(
        isinstance(guard, And)
        and all(truth(item, case) for item in guard.items if not isinstance(item, Not))
        and any(truth(item.item, case) for item in guard.items if isinstance(item, Not))
        for guard in guards
    )


def status_of(claim: Claim, said: set[str]) -> str:
    wanted = "denied" if claim.kind == "denies" else "given"
    if said == {wanted}:
        return "valid"
    return "satisfiable" if wanted in said else "impossible" if said == {"torn"} else "invalid"


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    fact = draw(st.sampled_from(FACTS))
    values = st.sampled_from(GRID[fact])
    if fact == "days":
        op = draw(st.sampled_from(sorted(COMPARED)))
    else:
        op = draw(st.sampled_from(("==", "!=", "in")))
    several = sorted(draw(st.lists(values, min_size=2, max_size=2)))
    return Condition(fact=fact, operator=op, value=several if op in ("in", "between") else draw(values))  # type: ignore[arg-type]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    ruleset = draw(rulesets())
    always = (replace(rule, guard=And(())) if draw(st.integers(0, 2)) == 0 else rule for rule in ruleset.rules)
    ruleset = replace(ruleset, rules=tuple(always))  # some hold in any case: else there would hardly be a contradiction
    formula: Formula | None = draw(st.none() | formulas(leaves=2))
    if formula is not None:
        ruleset = replace(ruleset, constraints=(Constraint("C", "P9", formula, "never", Source("x.yaml")),))
    told: dict[str, Value] = {"left": 1}
    for fact in FACTS:
        if draw(st.booleans()):
            told[fact] = draw(st.sampled_from(GRID[fact]))
    bound = Atom("days", draw(st.sampled_from(("<", ">="))), draw(st.integers(1, 4)))
    is_bound = "days" not in told and draw(st.booleans())
    return World(ruleset, told, {"days": (bound,)} if is_bound else {})


@st.composite
def answers(draw: st.DrawFn) -> tuple[World, list[Claim]]:
    """A world, and claims of actions that its rules speak of."""
    world = draw(worlds())
    effects = [rule.effect for rule in world.ruleset.rules]
    spoken = sorted({action for effect in effects for action in (effect.action, *effect.demands)})
    claims = []
    for _ in range(draw(st.integers(1, 2))):
        kind, action = draw(st.sampled_from(("gives", "gives", "denies"))), draw(st.sampled_from(spoken))
        whens = draw(st.lists(conditions(), max_size=2))
        claims.append(Claim(kind=kind, quote="It is so.", action=action, when=tuple(whens)))
    return world, claims


@given(answers())
@settings(max_examples=400, deadline=None)
def test_a_claim_of_an_action_is_what_every_completion_says(
    repositories: dict[str, BundleIndex], answer: tuple[World, list[Claim]]
) -> None:
    world, claims = answer
    decided: dict[tuple[Value, ...], Decision] = {}
    evaluator = Evaluator(replace(world.ruleset, constraints=()))

    def decision(case: Facts) -> Decision:
        return decided.setdefault(tuple(case.values()), evaluator.decide(case, 1))

    def said(action: str, supposed: tuple[Condition, ...] = ()) -> set[str]:
        return {says(world.ruleset, decision(case), case, action) for case in world.cases(supposed)}

    found = world.judged(repositories["ferry"], claims)
    expected = [status_of(claim, said(claim.action or "", claim.when)) for claim in claims]
    assert [one.status for one in found.reading.claims] == expected
    assert [bool(one.why) for one in found.reading.claims] == [status != "valid" for status in expected]
    now = Evaluator(world.ruleset).decide(world.facts, 1)
    holding = {*now.required, *(result.action for result in now.outcomes.values())}
    told = {claim.action for claim in claims if claim.kind == "gives" and is_here(world, claim)}
    missing = [name for name in GIVEN if name in MUST_TELL and name in holding and said(name) == {"given"}]
    assert sorted(found.missing) == sorted(name for name in missing if name not in told)
    is_broken = any(truth(one.formula, world.facts) is False for one in world.ruleset.constraints)
    spoken = {claim.action for claim in claims}
    outcomes = {GIVEN[action or ""] for action in spoken}
    is_torn = any(
        outcomes.intersection(clash.outcomes) or (not clash.outcomes and clash.action in spoken)
        for clash in now.conflicts
    )
    assert any("contradict each other here" in said for said in found.objections) == is_torn
    verdicts = ["impossible"] * (is_broken or is_torn) + ["incomplete"] * bool(found.missing)
    verdicts += ["incomplete" if one == "satisfiable" else one for one in expected]
    assert found.verdict == max(verdicts, key=list(SEVERITY).index)
    assert found.is_action_wrong == ("invalid" in expected)


def is_here(world: World, claim: Claim) -> bool:
    """Does what is told leave each condition of the claim possible?"""
    free = replace(world, ruleset=replace(world.ruleset, constraints=()))
    return all(any(meets(case, one) for case in free.cases()) for one in claim.when)


@given(worlds(), conditions())
@settings(max_examples=150, deadline=None)
def test_a_fact_is_so_iff_all_that_is_told_says_it(
    repositories: dict[str, BundleIndex], world: World, claimed: Condition
) -> None:
    claim = Claim(kind="fact", quote="It is so.", **claimed.model_dump(include={"fact", "operator", "value"}))
    found = world.judged(repositories["ferry"], [claim]).reading.claims[0]
    free = replace(world, ruleset=replace(world.ruleset, constraints=()))
    held = {meets(case, claim) for case in free.cases()}
    is_told = claimed.fact in {*world.facts, *world.bounds}
    assert found.status == ("valid" if is_told and held == {True} else "invalid")
    assert ("otherwise" in found.why) == (is_told and held == {False})


@given(worlds(), st.lists(st.sampled_from(sorted(GIVEN)), max_size=2), st.integers(0, 3), st.sampled_from(FACTS))
@settings(max_examples=150, deadline=None)
def test_a_source_or_a_limit_is_that_of_a_rule_that_was_weighed(
    repositories: dict[str, BundleIndex], world: World, spoken: list[str], policy: int, fact: str
) -> None:
    rules, free = world.ruleset.rules, replace(world, ruleset=replace(world.ruleset, constraints=()))
    outcomes = {GIVEN[action] for action in spoken} - {None}
    about = {
        rule.policy_id
        for rule in rules
        if not {rule.effect.action, *rule.effect.demands}.isdisjoint(spoken)
        or not outcomes.isdisjoint(name for name, _ in rule.effect.takes)
    }
    about = about or {rule.policy_id for rule in rules}
    said = [Claim(kind="gives", quote="It is so.", action=action) for action in spoken]
    source = Claim(kind="source", quote="It is so.", policy_id=f"P{policy}")
    limits = [Claim(kind="limit", quote="It is so.", fact=fact, value=value) for value in GRID[fact]]
    found = world.judged(repositories["ferry"], [source, *limits, *said]).reading.claims

    def weighed(cases: list[Facts]) -> Iterator[ConditionalRule]:
        return (rule for rule in rules if rule.policy_id in about and any(truth(rule.guard, case) for case in cases))

    sources = {rule.policy_id for rule in weighed(free.cases())}
    assert found[0].status == ("valid" if source.policy_id in sources else "invalid")
    left = {name: tests for name, tests in world.bounds.items() if name != fact}
    unsaid = replace(free, facts={name: value for name, value in world.facts.items() if name != fact}, bounds=left)
    tests = {atom.value for rule in weighed(unsaid.cases()) for atom in atoms(rule.guard) if atom.var == fact}
    drawn = {value for test in tests for value in (test if isinstance(test, tuple) else (test,))}
    assert [one.status for one in found[1 : -len(said) or None]] == [
        "valid" if value in drawn else "invalid" for value in GRID[fact]
    ]


def test_a_contradiction_about_something_else_is_no_matter(repositories: dict[str, BundleIndex]) -> None:
    effects = Effect("required", "notify"), Effect("prohibited", "notify"), Effect("outcome", "full", "refund")
    rules = [ConditionalRule(f"R{n}", f"P{n}", "x", one, And(()), 3, Source("x.yaml")) for n, one in enumerate(effects)]
    world = World(Ruleset(VARIABLES, tuple(rules), outcomes=("refund",)), {}, {})
    for action, verdict in (("full", "valid"), ("notify", "impossible")):
        claim = Claim(kind="gives", quote="It is so.", action=action)
        found = world.judged(repositories["ferry"], [claim, Claim(kind="gives", quote="It is so.", action="full")])
        assert found.verdict == verdict
        assert any("contradict each other here" in said for said in found.objections) == (verdict == "impossible")
