"""Which unknown facts matter: those whose value changes some result, by trying every completion, and no others."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes import diagram
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide import completions, linked_facts
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import (
    And,
    Arith,
    Atom,
    Compare,
    ConditionalRule,
    Const,
    Constraint,
    Effect,
    Not,
    Or,
    Ref,
    Ruleset,
    Source,
    Variable,
)
from tests.bylaw.logic.strategies import GRID, VARIABLES, cases, formulas, joined, rulesets

facts_known = st.fixed_dictionaries(
    {"kind": st.sampled_from(GRID["kind"])},
    optional={name: st.sampled_from(values) for name, values in GRID.items() if name != "kind"},
)


def told(decision):
    answers = tuple(result.action for result in decision.outcomes.values())
    return answers, decision.required, decision.prohibited, decision.permitted


def ends(ruleset, facts):
    """Every completion with what it gets."""
    evaluator = Evaluator(ruleset)
    full = [case for case in cases() if all(case[name] == value for name, value in facts.items())]
    return [(case, told(evaluator.decide(case, 1))) for case in full]


def turning(found, unknown):
    """The facts whose value alone changes a result somewhere."""
    seen = set()
    for name in unknown:
        by_rest = {}
        for case, end in found:
            by_rest.setdefault(tuple(case[other] for other in unknown if other != name), set()).add(end)
        if any(len(different) > 1 for different in by_rest.values()):
            seen.add(name)
    return seen


@given(rulesets(with_compare=True), facts_known, st.booleans())
@settings(max_examples=40, deadline=None)
def test_where_few_rules_are_open_exactly_the_facts_that_matter_are_missing(ruleset, facts, is_indexed):
    decision = Evaluator(ruleset, is_indexed).decide(facts, 1)
    found = ends(ruleset, facts)
    matter = turning(found, [name for name in GRID if name not in facts])
    assert matter <= set(decision.missing_facts)
    if {end for _, end in found} == {told(decision)}:
        assert not decision.missing_facts


@given(rulesets(with_compare=True, most=3), facts_known)
@settings(max_examples=40, deadline=None)
def test_nothing_is_named_that_cannot_matter(ruleset, facts):
    """Where something changes a result, only what does is named, room by room."""
    before, completions.FEW = completions.FEW, 64
    try:
        decision = Evaluator(ruleset).decide(facts, 1)
    finally:
        completions.FEW = before
    found = ends(ruleset, facts)
    rooms = Evaluator(ruleset).conflicts.rooms
    if len(set(rooms.values())) == 1 and (matter := turning(found, [name for name in GRID if name not in facts])):
        assert set(decision.missing_facts) == matter


@given(rulesets(), facts_known)
@settings(max_examples=40, deadline=None)
def test_where_many_rules_are_open_no_fact_that_matters_is_left_out(ruleset, facts):
    before, completions.FEW = completions.FEW, 0
    try:
        decision = Evaluator(ruleset, is_indexed=True).decide(facts, 1)
    finally:
        completions.FEW = before
    assert turning(ends(ruleset, facts), [name for name in GRID if name not in facts]) <= set(decision.missing_facts)


@given(rulesets(), facts_known)
@settings(max_examples=40, deadline=None)
def test_few_or_many_the_outcomes_are_the_same(ruleset, facts):
    exact = Evaluator(ruleset).decide(facts, 1)
    before = completions.FEW, diagram.MAX_STATES
    completions.FEW = 0
    try:
        searched = Evaluator(ruleset).decide(facts, 1)
    finally:
        completions.FEW, diagram.MAX_STATES = before
    assert exact.outcomes == searched.outcomes


@given(rulesets(with_compare=True, most=8), facts_known)
@settings(max_examples=300, deadline=None)
def test_an_index_changes_nothing_but_the_order_in_which_facts_are_asked(ruleset, facts):
    found = [Evaluator(ruleset, is_indexed).decide(facts, 1) for is_indexed in (False, True)]
    one, other = (
        replace(
            decision,
            missing_facts=tuple(sorted(decision.missing_facts)),
            undecided={outcome: sorted(names) for outcome, names in decision.undecided.items()},
        )
        for decision in found
    )
    assert one == other


@given(rulesets(with_compare=True, most=6), st.lists(facts_known, min_size=2, max_size=6), st.booleans())
@settings(max_examples=40, deadline=None)
def test_what_other_cases_left_behind_changes_nothing(ruleset, asked, is_indexed):
    kept = Evaluator(ruleset, is_indexed)
    for facts in asked:
        assert kept.decide(facts, 1) == Evaluator(ruleset, is_indexed).decide(facts, 1)


@given(rulesets(most=6), formulas(with_compare=True), st.lists(facts_known, min_size=2, max_size=6), st.booleans())
@settings(max_examples=40, deadline=None)
def test_what_other_cases_left_behind_changes_nothing_under_an_invariant(rules, formula, asked, is_indexed):
    bound = replace(rules, constraints=(Constraint("C", "P", formula, "", Source("x.yaml")),))
    kept = Evaluator(bound, is_indexed)
    for facts in asked:
        assert kept.decide(facts, 1) == Evaluator(bound, is_indexed).decide(facts, 1)


@given(rulesets(with_compare=True, most=8), st.none() | formulas(with_compare=True), st.lists(facts_known, min_size=1))
@settings(max_examples=100, deadline=None)
def test_what_was_looked_at_beforehand_changes_nothing(rules, formula, asked):
    constraints = () if formula is None else (Constraint("C", "P", formula, "", Source("x.yaml")),)
    found = replace(rules, constraints=constraints)
    prepared = Evaluator(found, is_indexed=True)
    prepared.prepare()
    for facts in asked:
        assert prepared.decide(facts, 1) == Evaluator(found, is_indexed=True).decide(facts, 1)


@given(rulesets(with_compare=True, most=8), st.lists(facts_known, min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_whether_facts_are_named_changes_nothing_else_now_or_later(ruleset, asked):
    kept = Evaluator(ruleset, is_indexed=True)
    for facts in asked:
        fresh = Evaluator(ruleset, is_indexed=True).decide(facts, 1)
        bare = replace(fresh, missing_facts=(), undecided=dict.fromkeys(fresh.undecided, ()))
        assert kept.decide(facts, 1, names_unknown=False) == bare
        assert kept.decide(facts, 1) == fresh
        assert kept.decide(facts, 1, names_unknown=False) == bare


@given(rulesets(most=8))
@settings(max_examples=40, deadline=None)
def test_a_small_room_has_no_state_that_was_not_looked_at_beforehand(rules):
    plain = [replace(rule, guard=Atom("flag", "==", True)) for rule in rules.rules]
    kept = Evaluator(replace(rules, rules=tuple(plain)), is_indexed=True)
    kept.prepare()
    before = len(kept._views)
    for flag in ({}, {"flag": True}, {"flag": False}):
        kept.decide({**flag, "days": 1}, 1)
    assert len(kept._views) == before > 0


ALONE = (
    *(Effect("required", action) for action in ("call", "pack", "ship")),
    Effect("required", "seal", implied=("wrap",)),  # with what excludes itself below
    Effect("permitted", "lend"),
    Effect("prohibited", "ship"),
    Effect("outcome", "full", "refund"),
)


@given(
    rulesets(with_compare=True, most=8),
    st.lists(st.sampled_from(ALONE), min_size=8, max_size=8),
    st.none() | formulas(),
    facts_known,
)
@settings(max_examples=100, deadline=None)
def test_a_rule_alone_is_read_as_its_diagram_says(rules, effects, invariant, facts):
    found = replace(
        rules,
        rules=tuple(replace(rule, effect=effect) for rule, effect in zip(rules.rules, effects, strict=False)),
        excludes=frozenset((("seal", "wrap"), ("wrap", "seal"))),
        constraints=() if invariant is None else (Constraint("C", "P", invariant, "", Source("x.yaml")),),
    )
    drawn = Evaluator(found, is_indexed=True)
    drawn.conflicts.lonely = 0
    assert Evaluator(found, is_indexed=True).decide(facts, 1) == drawn.decide(facts, 1)


# ---- facts against each other ---------------------------------------------------------------------------------------

TIED = {
    "flag": (True, False),
    "days": tuple(range(5)),
    "left": tuple(range(4)),
    "least": (1, 2, 3),
}
NUMBERS = ("days", "left", "least")
LEAST = Variable("least", "integer", minimum=1, maximum=3)
ABOUT_REFUNDS = (
    Effect("outcome", "full", "refund"),
    Effect("outcome", "credit", "refund"),
    Effect("prohibited", "full"),
    Effect("permitted", "full"),
)
tied_facts = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in TIED.items()})


@st.composite
def comparisons(draw):
    """Of two facts, of which one may be some more, or twice as much."""
    one, other = draw(st.permutations(NUMBERS))[:2]
    more = draw(st.sampled_from((0, 0, 0, 1, -1, 2)))
    left = Arith("*", Const(2), Ref(one)) if more == 2 else Arith("+", Ref(one), Const(more)) if more else Ref(one)
    return Compare(left, draw(st.sampled_from(("==", "!=", "<", "<=", ">", ">="))), Ref(other))


def tied_formulas(leaves):
    bound = st.builds(
        Atom, st.sampled_from(NUMBERS), st.sampled_from(("==", "!=", "<", "<=", ">", ">=")), st.integers(0, 4)
    )
    return joined(st.one_of(comparisons(), comparisons(), bound, st.just(Atom("flag", "==", True))), leaves)


@st.composite
def tied_rulesets(draw):
    """Rules of one room that compare facts, and sometimes an invariant that does."""
    rules = tuple(
        ConditionalRule(
            f"R{n}",
            f"P{n}",
            "x",
            draw(st.sampled_from(ABOUT_REFUNDS)),
            guard,
            draw(st.integers(2, 4)),
            Source("x.yaml"),
        )
        for n, guard in enumerate(draw(st.lists(tied_formulas(3), min_size=1, max_size=3)))
    )
    found = draw(st.lists(tied_formulas(2), max_size=1))
    invariants = tuple(Constraint(f"C{n}", "P", formula, "", Source("x.yaml")) for n, formula in enumerate(found))
    return Ruleset(VARIABLES | {"least": LEAST}, rules, invariants, outcomes=("refund",))


def tied_ends(ruleset, facts):
    """Every completion that exists with what it gets; all of them where none does."""
    full = [dict(zip(TIED, values, strict=True)) for values in product(*TIED.values())]
    full = [case for case in full if facts.items() <= case.items()]
    formulas = [constraint.formula for constraint in ruleset.constraints]
    there = [case for case in full if all(truth(formula, case) for formula in formulas)] or full
    plain, known = Evaluator(replace(ruleset, constraints=())), {}

    def end(case):
        fires = tuple(plain.firing(case, 1)[0])
        if fires not in known:
            known[fires] = told(plain.decide(case, 1))
        return known[fires]

    return [(case, end(case)) for case in there]


@given(tied_rulesets(), tied_facts, st.sampled_from((("FEW", completions, 0), ("MOST_POINTS", linked_facts, 5))))
@settings(max_examples=60, deadline=None)
def test_where_it_is_too_much_no_fact_that_matters_is_left_out_and_nothing_decided_early(ruleset, facts, bound):
    name, module, most = bound
    before = getattr(module, name)
    setattr(module, name, most)
    try:
        decision = Evaluator(ruleset).decide(facts, 1)
    finally:
        setattr(module, name, before)
    found = tied_ends(ruleset, facts)
    assert turning(found, [name for name in TIED if name not in facts]) <= set(decision.missing_facts)
    answers = {actions for _, (actions, *_) in found}
    assert decision.outcomes["refund"].action is None or answers == {(decision.outcomes["refund"].action,)}
    assert "refund" in decision.undecided or len(answers) == 1


@given(tied_rulesets(), st.lists(tied_facts, min_size=1, max_size=3), st.booleans())
@settings(max_examples=150, deadline=None)
def test_facts_against_each_other_are_read_as_all_their_values(ruleset, asked, is_indexed):
    kept = Evaluator(ruleset, is_indexed)
    for facts in asked:
        decision, unknown = kept.decide(facts, 1), [name for name in TIED if name not in facts]
        found = tied_ends(ruleset, facts)
        fires = kept.firing(facts, 1)[0]
        stood = tuple(replace(ruleset.rules[i], guard=And(())) for i in fires)
        now = told(Evaluator(replace(ruleset, rules=stood, constraints=())).decide({}, 1))
        if matter := turning(found, unknown):
            assert set(decision.missing_facts) == matter
        else:
            assert bool(decision.missing_facts) == ({end for _, end in found} != {now})
        known, _ = kept.answer(kept.standing(fires), "refund")
        answers = {actions for _, (actions, *_) in found}
        is_decided = answers == {(known,)}
        assert decision.outcomes["refund"].action == (known if is_decided else None)
        assert ("refund" in decision.undecided) == (not is_decided)
        if matter := turning([(case, actions) for case, (actions, *_) in found], unknown):
            assert set(decision.undecided["refund"]) == matter


# ---- rows -----------------------------------------------------------------------------------------------------------

FULL, CREDIT = Effect("outcome", "full", "refund"), Effect("outcome", "credit", "refund")
NOTIFY, CALL, PACK = (Effect("required", action) for action in ("notify", "call", "pack"))
FLAG, OPEN = Atom("flag", "==", True), Atom("open", "==", True)
SOON = Atom("days", "<=", 2)
EITHER_WAY = Or(  # always, though no two of these are one box
    (
        *(And((one, Not(other))) for one, other in ((FLAG, OPEN), (OPEN, SOON), (SOON, FLAG))),
        And((FLAG, OPEN, SOON)),
        And((Not(FLAG), Not(OPEN), Not(SOON))),
    )
)


SUMS = {name: Variable(name, "integer") for name in ("sum", "rest")}


def ruleset(*rules, constraints=()):
    made = tuple(
        ConditionalRule(f"R{n}", f"P{n}", "x", effect, guard, level, Source("x.yaml"))
        for n, (effect, guard, level) in enumerate(rules)
    )
    held = tuple(Constraint(f"C{n}", "P", formula, "", Source("x.yaml")) for n, formula in enumerate(constraints))
    return Ruleset(VARIABLES | SUMS, made, held, outcomes=("refund",))


ROWS = {
    "a fact that two guards share but cannot change anything": (
        ruleset((FULL, Or((And((FLAG, OPEN)), And((FLAG, Not(OPEN))))), 3)),
        {},
        ("flag",),
    ),
    "a rule that another of the same action contains": (
        ruleset((FULL, Atom("days", "<=", 3), 3), (FULL, And((Atom("days", "<=", 1), FLAG)), 3)),
        {},
        ("days",),
    ),
    "a weaker rule where the stronger fires wherever it does": (
        ruleset((FULL, FLAG, 2), (CREDIT, And((FLAG, OPEN)), 4)),
        {},
        ("flag",),
    ),
    "a duty that holds already": (ruleset((NOTIFY, And(()), 3), (NOTIFY, FLAG, 3)), {}, ()),
    "two ways to one action, of which one must hold": (ruleset((FULL, FLAG, 3), (FULL, Not(FLAG), 3)), {}, ("flag",)),
    "a fact that an invariant settles": (
        ruleset((FULL, And((FLAG, OPEN)), 3), constraints=(Or((Not(FLAG), OPEN)),)),
        {"flag": True},
        ("open",),
    ),
    "a completion that an invariant rules out": (
        ruleset((FULL, FLAG, 3), (CREDIT, And((FLAG, OPEN)), 2), constraints=(Not(And((FLAG, OPEN))),)),
        {"flag": True},
        (),
    ),
    "an invariant between facts of which no rule speaks": (
        ruleset(
            (FULL, Or((And((FLAG, OPEN)), And((FLAG, Not(OPEN))))), 3),
            constraints=(Compare(Ref("left"), "<=", Ref("days")),),
        ),
        {},
        ("flag",),
    ),
    "a rule alike to one that fires": (ruleset((FULL, FLAG, 3), (FULL, OPEN, 3)), {"flag": True}, ()),
    "a rule alike to one of two that contradict each other": (
        ruleset((FULL, FLAG, 3), (CREDIT, FLAG, 3), (CREDIT, OPEN, 3)),
        {"flag": True},
        (),
    ),
    "the fact that most rules wait for comes first": (
        ruleset((FULL, And((FLAG, Atom("days", "<=", 1))), 3), (CREDIT, And((OPEN, Atom("days", ">", 1))), 3)),
        {},
        ("days", "flag", "open"),
    ),
    "all that a rule alone waits for": (ruleset((NOTIFY, And((OPEN, FLAG)), 3)), {}, ("flag", "open")),
    "a fact of a rule alone that may have any value": (
        ruleset((NOTIFY, Or((And((FLAG, Atom("days", "<=", 2))), And((FLAG, Atom("days", ">=", 2))))), 3)),
        {},
        ("flag",),
    ),
    "a fact that a rule alone names, though every value will do": (
        ruleset((NOTIFY, And((FLAG, Atom("days", ">=", 0))), 3)),
        {"flag": True},
        ("days",),
    ),
    "a rule alone that holds whichever way some facts fall": (
        ruleset((NOTIFY, And((Atom("kind", "==", "tv"), EITHER_WAY)), 3)),
        {},
        ("kind",),
    ),
    "a duty of which another rule says more": (
        ruleset((NOTIFY, Atom("days", "<=", 3), 3), (NOTIFY, And((Atom("days", "<=", 1), FLAG)), 3)),
        {},
        ("days",),
    ),
    "a duty that a rule of another level holds already": (ruleset((NOTIFY, And(()), 3), (NOTIFY, FLAG, 2)), {}, ()),
    "two ways to one duty, of which one must hold": (ruleset((NOTIFY, FLAG, 3), (NOTIFY, Not(FLAG), 3)), {}, ("flag",)),
    "a rule that changes nothing waits as well": (
        ruleset((NOTIFY, And(()), 3), (NOTIFY, OPEN, 2), (CALL, FLAG, 3), (PACK, OPEN, 3)),
        {},
        ("open", "flag"),
    ),
    "a fact beyond the one that it is compared with": (
        ruleset((FULL, Compare(Ref("left"), ">", Ref("days")), 3), (FULL, Compare(Ref("left"), "<=", Ref("days")), 2)),
        {},
        ("days", "left"),
    ),
    "a comparison that ranges decide": (
        ruleset((FULL, FLAG, 3), (CREDIT, Compare(Ref("days"), ">", Arith("+", Ref("left"), Const(4))), 2)),
        {"flag": True},
        (),
    ),
    "a comparison with a known fact that decides it": (
        ruleset((FULL, FLAG, 3), (CREDIT, And((Compare(Ref("left"), ">", Ref("days")), OPEN)), 2)),
        {"flag": True, "days": 3},
        (),
    ),
    "comparisons in a circle": (
        ruleset((FULL, And((*(Compare(Ref(a), "<", Ref(b)) for a, b in (("sum", "rest"), ("rest", "sum"))), FLAG)), 3)),
        {},
        (),
    ),
    "a fact between two others": (
        ruleset(
            (FULL, And((Compare(Ref("days"), "<", Ref("sum")), Compare(Ref("sum"), "<", Ref("left")), OPEN)), 3),
            (NOTIFY, FLAG, 3),
        ),
        {"days": 2, "flag": True},
        (),
    ),
    "an invariant that settles a comparison": (
        ruleset(
            (FULL, FLAG, 3),
            (CREDIT, Compare(Ref("sum"), ">", Ref("rest")), 2),
            constraints=(Compare(Ref("sum"), "<=", Ref("rest")),),
        ),
        {"flag": True},
        (),
    ),
    "invariants that no case satisfies": (
        ruleset(
            (FULL, Compare(Ref("sum"), ">", Ref("rest")), 3),
            constraints=tuple(Compare(Ref("sum"), op, Ref("rest")) for op in ("<", ">")),
        ),
        {},
        ("rest", "sum"),
    ),
    "facts that are multiplied with each other are all asked for": (
        ruleset(
            (FULL, FLAG, 3),
            (CREDIT, And((Compare(Arith("*", Ref("sum"), Ref("rest")), ">", Const(3)), Atom("rest", "==", 0))), 2),
        ),
        {"flag": True},
        ("rest", "sum"),
    ),
    "a rule alone that an invariant silences": (
        ruleset((NOTIFY, And((FLAG, OPEN)), 3), (CALL, FLAG, 3), constraints=(Not(And((FLAG, OPEN))),)),
        {"flag": True},
        (),
    ),
}


MANY = Or(tuple(And((Atom("sum", "==", n), Atom("rest", "==", n))) for n in range(80)))
IN_A_ROW = {
    "a fact that guards name and boxes do not": (
        ruleset((FULL, Or((FLAG, And((FLAG, OPEN)))), 3), (FULL, Not(FLAG), 3)),
        [{}, {"open": True}],
        ("flag",),
    ),
    "a rule of more boxes than are looked at": (
        ruleset((FULL, FLAG, 3), (CREDIT, MANY, 2)),
        [{"sum": 90}, {}],
        ("flag", "rest", "sum"),
    ),
}


@pytest.mark.parametrize("title", IN_A_ROW)
@pytest.mark.parametrize("is_indexed", [False, True])
def test_the_cases_before_change_nothing(title, is_indexed):
    rules, asked, missing = IN_A_ROW[title]
    kept = Evaluator(rules, is_indexed)
    for facts in asked:
        decision = kept.decide(facts, 1)
        assert decision == Evaluator(rules, is_indexed).decide(facts, 1)
    assert decision.missing_facts == missing


@pytest.mark.parametrize("title", ROWS)
@pytest.mark.parametrize("is_indexed", [False, True])
def test_what_is_missing(title, is_indexed):
    rules, facts, missing = ROWS[title]
    assert Evaluator(rules, is_indexed).decide(facts, 1).missing_facts == missing
