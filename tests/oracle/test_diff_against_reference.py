"""What `diff` says of two random versions of a repository is what the reference finds case by case, no more or less."""

import json
import math
from datetime import date

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bylaw import bundle
from ci import diff, pipeline
from ci.report.changes import render_json
from tests.oracle import reference
from tests.oracle import repositories as worlds

MAX_CASES = 200
LISTS = ("required", "prohibited", "permitted")


@st.composite
def versions(draw):
    """A repository and what a pull request makes of it: a policy less, another level, or the action of another."""
    before = draw(worlds.repositories())
    policies = before["policies"]
    assume(not any("formal" in policy for policy in policies))  # of cases that exist on one side only nothing is said
    edited = draw(st.sampled_from(policies))
    others = [policy for policy in policies if policy is not edited]
    edit = draw(st.sampled_from(("gone", "level", "action")))
    if edit == "gone":
        assume(not any(edited["policy_id"] in other.get("overrides", ()) for other in others))
        return before, {**before, "policies": others}
    if edit == "level":
        law = [] if edited["metadata"].get("regulatory_linkage") else ["a law"]
        changed = {**edited, "metadata": {**edited["metadata"], "regulatory_linkage": law}}
    else:
        taken = draw(st.sampled_from([action["action"] for other in others for action in other["actions"]]))
        changed = {**edited, "actions": [{"type": "required", "action": taken}]}
    return before, {**before, "policies": [changed if policy is edited else policy for policy in policies]}


def expected(one, two):
    """Every change of any case on any day: which subject, from what, to what."""
    both = reference.Reference(one["vocabulary"], [*one["policies"], *two["policies"]], worlds.PRIORITIES)
    assume(math.prod(len(values) for values in both.grid.values()) <= MAX_CASES)
    sides = [reference.Reference(v["vocabulary"], v["policies"], worlds.PRIORITIES) for v in (one, two)]
    found = set()
    for day in both.days(worlds.AT):
        for case in both.cases():
            old, new = (side.known(case, day) for side in sides)
            for name in old["outcomes"]:
                found.add(("outcome", name, old["outcomes"][name][0], new["outcomes"][name][0]))
            for key in LISTS:
                found |= {(key, name, name in old[key], name in new[key]) for name in {*old[key], *new[key]}}
    return {change for change in found if change[2] != change[3]}


def told(one, two, day: date):
    """What `bylaw diff --json` prints of the two bundles."""
    runs = [worlds.Product(version).run for version in (one, two)]
    read = [bundle.parse(pipeline.bundle_text(run)) for run in runs]
    compared = diff.compared(diff.of_bundle("before", read[0]), diff.of_bundle("after", read[1]), day)
    return json.loads(render_json(compared))


def agree(pair):
    wanted = expected(*pair)
    found = told(*pair, worlds.AT)
    changes = {(c["kind"], c.get("outcome", c.get("action")), c["before"], c["after"]) for c in found["changes"]}
    assert changes <= wanted, "a change is invented"
    assert changes == wanted or found["unknown"], "a change is missed"
    assert found["nothing_else_changes"] == (not found["unknown"])


def quietly(examples):
    checks = list(HealthCheck)
    return settings(max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=checks)


@pytest.mark.slow
@given(versions())
@quietly(15)
def test_a_diff_misses_no_change_and_invents_none(pair):
    agree(pair)


@pytest.mark.longer
@given(versions())
@quietly(400)
def test_a_diff_misses_no_change_and_invents_none_many_times(pair):
    agree(pair)
