"""What a change does, held against trying every case on both sides."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import Constraint, Source, Variable, names
from bylaw.logic.solver.smt import Reasoner
from ci.proofs.theory import Theory
from ci.proofs.versions.change import changes
from ci.proofs.versions.influence import Subject
from tests.bylaw.logic import strategies

ALL = list(strategies.cases())
SUBJECTS = [
    Subject("outcome", "refund"),
    Subject("outcome", "shipping"),
    *(Subject("required", name) for name in ("notify", "verify", "fast")),
    *(Subject("prohibited", name) for name in ("full", "notify", "fast")),
    *(Subject("permitted", name) for name in ("full", "verify")),
]


def theory(ruleset, at=1):
    return Theory(ruleset, at, rlimit=5_000_000)


def held(decision, subject):
    if subject.kind == "outcome":
        return decision.outcomes[subject.name].action
    return subject.name in getattr(decision, subject.kind)


@st.composite
def versions(draw, with_compare=True):
    """Two versions: some rules are dropped, added, or get another guard, effect, level or override."""
    before = draw(strategies.rulesets(with_compare))
    other = draw(strategies.rulesets(with_compare))
    rules = []
    for k, rule in enumerate(before.rules):
        what = draw(st.sampled_from(("keep", "keep", "keep", "drop", "guard", "effect", "level", "rename")))
        donor = other.rules[k % len(other.rules)]
        if what == "guard":
            rule = replace(rule, guard=donor.guard)
        elif what == "effect":
            rule = replace(rule, effect=donor.effect)
        elif what == "level":
            rules = [replace(r, level=donor.level) if r.policy_id == rule.policy_id else r for r in rules]
            rule = replace(rule, level=donor.level)
        elif what == "rename":
            rule = replace(rule, rule_id=f"{rule.rule_id}b")
        if what != "drop":
            rules.append(rule)
    if draw(st.booleans()):
        rules.append(replace(other.rules[0], rule_id="R9"))
    levels = {rule.policy_id: rule.level for rule in rules}
    after = replace(
        before,
        rules=tuple(replace(rule, level=levels[rule.policy_id]) for rule in sorted(rules, key=lambda r: r.rule_id)),
        overrides=draw(st.sampled_from((before.overrides, before.overrides, other.overrides))),
        excludes=draw(st.sampled_from((before.excludes, before.excludes, other.excludes))),
    )
    return before, after


@given(versions())
@settings(max_examples=80, deadline=None)
def test_a_case_changes_exactly_where_a_region_says_so(pair):
    one, two = map(theory, pair)
    found = changes(one, two)
    assert not found.unknown
    for case in ALL:
        before, after = one.evaluator.decide(case, 1), two.evaluator.decide(case, 1)
        for subject in SUBJECTS:
            inside = [c for c in found.changes if c.subject == subject and truth(c.where, case)]
            told = [(c.before, c.after) for c in inside]
            really = (held(before, subject), held(after, subject))
            assert told == ([] if really[0] == really[1] else [really])
    for change in found.changes:
        sides = [held(side.evaluator.decide(change.facts, 1), change.subject) for side in (one, two)]
        assert sides == [change.before, change.after]


# ---- over time, under invariants ------------------------------------------------------------------------------------


def in_force(ruleset, day):
    return [
        c.formula
        for c in ruleset.constraints
        if (c.start is None or c.start <= day) and (c.end is None or day <= c.end)
    ]


@st.composite
def dated(draw):
    """Two versions with periods on their policies and an invariant that one or both of them declare."""
    before, after = draw(versions())
    days = st.one_of(st.none(), st.integers(0, 5))
    periods = {policy: (draw(days), draw(days)) for policy in ("P0", "P1", "P2", "P3")}
    later = {**periods, "P0": (draw(days), draw(days))}
    formula = draw(strategies.formulas(True, leaves=3))
    invariant = Constraint("C1", "P0", formula, "given", Source("x.yaml"), draw(days), draw(days))
    return tuple(
        replace(
            side,
            rules=tuple(replace(rule, start=on[rule.policy_id][0], end=on[rule.policy_id][1]) for rule in side.rules),
            constraints=draw(st.sampled_from(((), (invariant,)))),
        )
        for side, on in ((before, periods), (after, later))
    )


@given(dated())
@settings(max_examples=30, deadline=None)
def test_a_change_holds_from_its_first_day_until_its_last(pair):
    one, two = map(theory, pair)
    # With invariants the solver has a process of its own, whose start would take most of the time here.
    found = changes(one, two, solver=Reasoner(strategies.VARIABLES, rlimit=5_000_000))
    assert not found.unknown
    for day in range(1, 8):
        axioms = [*in_force(pair[0], day), *in_force(pair[1], day)]
        for case in ALL[::7]:
            if not all(truth(axiom, case) for axiom in axioms):
                continue
            before, after = one.evaluator.decide(case, day), two.evaluator.decide(case, day)
            for subject in SUBJECTS:
                told = [
                    (c.before, c.after)
                    for c in found.changes
                    if c.subject == subject and c.day <= day <= (c.until or day) and truth(c.where, case)
                ]
                really = (held(before, subject), held(after, subject))
                assert told == ([] if really[0] == really[1] else [really])
    for change in found.changes:
        sides = [held(side.evaluator.decide(change.facts, change.day), change.subject) for side in (one, two)]
        assert sides == [change.before, change.after]
        axioms = [*in_force(pair[0], change.day), *in_force(pair[1], change.day)]
        meant = [case for case in ALL if all(case[name] == value for name, value in change.facts.items())]
        assert any(all(truth(axiom, case) for axiom in axioms) for case in meant)


# ---- other words ----------------------------------------------------------------------------------------------------

OLD = {**strategies.VARIABLES, "kind": Variable("kind", "enum", ("tv", "shirt"))}
NEW = {
    "flag": Variable("flag", "boolean"),
    "kind": Variable("kind", "enum", ("tv", "shirt", "book")),
    "days": Variable("days", "integer", minimum=0, maximum=4),
    "left": Variable("left", "integer", minimum=1, maximum=3),
}


def spoken(ruleset, variables):
    """The version with these words: rules that speak of others are gone."""

    def fits(rule):
        values = {value for value in ("tv", "shirt", "book") if value in repr(rule.guard)}
        return names(rule.guard) <= variables.keys() and values <= set(variables["kind"].values)

    return replace(ruleset, variables=variables, rules=tuple(rule for rule in ruleset.rules if fits(rule)))


@given(versions(), st.booleans())
@settings(max_examples=80, deadline=None)
def test_cases_are_compared_on_the_words_both_sides_share(pair, is_reversed):
    sides = [spoken(pair[0], OLD), spoken(pair[1], NEW)]
    one, two = map(theory, reversed(sides) if is_reversed else sides)
    found = changes(one, two)
    shared = [case for case in ALL if case["kind"] != "book" and case["left"] >= 1 and case["open"]]
    for case in shared:
        case = {name: value for name, value in case.items() if name != "open"}
        before, after = one.evaluator.decide(case, 1), two.evaluator.decide(case, 1)
        for subject in SUBJECTS:
            told = [(c.before, c.after) for c in found.changes if c.subject == subject and truth(c.where, case)]
            really = (held(before, subject), held(after, subject))
            assert told == ([] if really[0] == really[1] else [really])
    for change in found.changes:
        assert "open" not in change.facts
        sides = [held(side.evaluator.decide(change.facts, 1), change.subject) for side in (one, two)]
        assert sides == [change.before, change.after]
    words = {(word.what, word.name) for word in found.shared.words}
    assert words == {("fact", "open"), ("value", "kind"), ("domain", "left")}
