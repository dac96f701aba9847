"""A run that asks about a part finds, of that part, exactly what a run that asks about everything finds."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.formula.ir import Atom, ConditionalRule, Effect, Ruleset, Source, Variable
from ci import pipeline
from ci.loading.load import load
from ci.proofs import candidates
from ci.proofs.conflicts.conflict import clashes
from ci.proofs.focus import Focus, asked_rules
from ci.proofs.theory import Theory
from tests.benchmarks.generate import generate
from tests.ci.proofs import worlds

TESTS = Path(__file__).parents[2]


@given(worlds.worlds(timed=True), st.sets(st.sampled_from(("P0", "P1", "P2", "P3"))))
@settings(max_examples=60, deadline=None)
def test_a_part_has_the_clashes_in_which_one_of_the_two_is_asked_about(ruleset, policies):
    def told(clash):
        return clash.first, clash.second, clash.winner, clash.verdict.status

    everything = clashes(worlds.asked(ruleset)[0])
    part = clashes(worlds.asked(ruleset)[0], focus=Focus(frozenset(policies)))
    sides = [ruleset.rules[i].policy_id for i in range(len(ruleset.rules))]
    expected = [told(c) for c in everything if {sides[c.first], sides[c.second]} & policies]
    assert [told(clash) for clash in part] == expected


def test_nothing_in_focus_asks_nothing_and_no_focus_asks_everything():
    rules = tuple(
        ConditionalRule(f"R{n}", f"P{n}", "x", Effect("required", "go"), Atom("flag", "==", True), 4, Source("p.yaml"))
        for n in range(3)
    )
    ruleset = Ruleset({"flag": Variable("flag", "boolean")}, rules)
    assert list(asked_rules(ruleset, None)) == [0, 1, 2]
    assert list(asked_rules(ruleset, Focus())) == []
    assert list(asked_rules(ruleset, Focus(frozenset(("P2", "P7"))))) == [2]


def test_what_a_focus_does_not_touch_is_never_indexed(monkeypatch):
    """Ten outcomes, one of them asked about: nine indexes are never built."""
    rules = tuple(
        ConditionalRule(
            f"R{n:02d}",
            f"P{n:02d}",
            "x",
            Effect("outcome", f"act{n}", f"way{n // 2}"),
            Atom("days", ">", 1),
            4,
            Source("p.yaml"),
        )
        for n in range(20)
    )
    built = []
    index = candidates.Index
    monkeypatch.setattr(candidates, "Index", lambda boxes: built.append(len(boxes)) or index(boxes))
    ruleset = Ruleset({"days": Variable("days", "integer")}, rules, outcomes=tuple(f"way{n}" for n in range(10)))
    (clash,) = clashes(Theory(ruleset, 1, 1_000_000), focus=Focus(frozenset(("P06",))))
    assert ((clash.first, clash.second), built) == ((6, 7), [2])


# ---- whole checks ---------------------------------------------------------------------------------------------------

DAY = date(2026, 6, 1)
CLASHING = ("conflict", "resolved-conflict")  # grouped over what was asked: told by their pairs


def parts(workspace, count):
    """Everything that can be asked about, dealt out to *count* parts."""
    policies = sorted(file.policy.policy_id for file in workspace.policies)
    outcomes = sorted(workspace.vocabulary.outcomes)
    cases = [(entry.path, entry.index) for entry in workspace.cases]
    return [Focus(*(frozenset(all_[n::count]) for all_ in (policies, outcomes, cases))) for n in range(count)]


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    root = tmp_path_factory.mktemp("generated")
    generate(root, 60, "shared")
    return root


WORDS = """\
facts: {days: {type: integer, minimum: 0, maximum: 50}}
actions: {refund: {outcome: way}, reject: {outcome: way}}
outcomes: {way: {complete: true}}
"""
POLICY = """\
policy_id: POL-WAY-00{n}
conditions: [{{type: fact, parameter: days, operator: "{op}", value: {value}}}]
actions: [{{type: required, action: refund}}]
metadata: {{source: s, owner: o, domain: way}}
"""


@pytest.fixture(scope="module")
def alike(tmp_path_factory):
    """Five policies, of which the first two, and the other three, say the same in other words."""
    root = tmp_path_factory.mktemp("alike") / "policies"
    root.mkdir()
    (root / "vocabulary.yaml").write_text(WORDS)
    for n, (op, value) in enumerate([("<", 10), ("<=", 9), (">=", 10), (">", 9), (">=", 10)], 1):
        (root / f"POL-WAY-00{n}.yaml").write_text(POLICY.format(n=n, op=op, value=value))
    return root.parent


@pytest.fixture(scope="module", params=("company", "generated", "alike"))
def whole(request, generated, alike):
    roots = {"company": TESTS / "company", "generated": generated, "alike": alike}
    workspace = load(roots[request.param], DAY)
    return pipeline.check(workspace, DAY)


def test_of_rules_that_say_the_same_the_first_is_kept(alike):
    found = pipeline.check(load(alike, DAY), DAY).findings
    assert [f.policies[0] for f in found if f.id == "redundant-rule"] == ["POL-WAY-002", "POL-WAY-004", "POL-WAY-005"]


@pytest.mark.parametrize("count", [1, 2, 7])
def test_the_parts_of_a_check_add_up_to_the_whole(whole, count):
    runs = [pipeline.check(whole.workspace, DAY, focus=part) for part in parts(whole.workspace, count)]
    found = {finding for run in runs for finding in map(shown, run.proofs.findings) if finding[0] not in CLASHING}
    expected = [shown(finding) for finding in whole.proofs.findings if finding.id not in CLASHING]
    assert found == set(expected)
    assert len(found) == len(expected)
    pairs = {(clash.first, clash.second, clash.winner) for run in runs for clash in run.proofs.clashes}
    assert pairs == {(clash.first, clash.second, clash.winner) for clash in whole.proofs.clashes}


def shown(finding):
    return finding.id, finding.at, finding.message, finding.policies, finding.rules
