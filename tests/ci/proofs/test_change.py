"""What a change does, held against trying every case on both sides."""

import importlib.util
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.truth import truth
from ci.proofs.change import changes
from ci.proofs.influence import Subject
from ci.proofs.theory import Theory

_path = Path(__file__).parents[2] / "bylaw" / "logic" / "strategies.py"
_spec = importlib.util.spec_from_file_location("strategies", _path)
strategies = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(strategies)
ALL = list(strategies.cases())
SUBJECTS = [
    Subject("outcome", "refund"),
    Subject("outcome", "shipping"),
    *(Subject("required", name) for name in ("notify", "verify", "fast")),
    *(Subject("prohibited", name) for name in ("full", "notify", "fast")),
    Subject("permitted", "full"),
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
@settings(max_examples=400, deadline=None)
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
