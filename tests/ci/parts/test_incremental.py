"""A check that starts from an earlier one finds what a check of everything finds, whatever has changed between."""

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from ci import pipeline
from ci.loading.commits.revision import Revision
from ci.loading.files import Content
from ci.loading.load import read
from ci.parts import snapshot
from ci.parts.incremental import remembered, updated
from ci.parts.inventory import Inventory
from tests.oracle import repositories as worlds

PHASES = (Phase.explicit, Phase.generate)  # to shrink two whole repositories takes longer than to read them
CASES = {"refund": ["full", "credit", None], "required": [[], ["notify"]], "prohibited": [[]]}


def inventory(files, at):
    found = {path: Content(path, json.dumps(data, default=float).encode()) for path, data in sorted(files.items())}
    return Inventory(Path("nowhere"), found, Revision(), at)


def whole(now):
    """The snapshot of a check of everything."""
    return remembered(now, pipeline.check(read(now.root, now.files.values(), now.shown, now.at), now.at))


def told(snap):
    return sorted(json.dumps(snapshot.finding_to_json(finding), sort_keys=True) for finding in snap.findings)


def assert_same(before, after):
    last, expected = whole(before), whole(after)
    found = updated(last, after)
    event("asked everything" if found is None else "from the last" if found is not last else "nothing changed")
    if found is None:
        return None
    assert told(found) == told(expected)
    assert found.cards == expected.cards
    assert found.statuses == expected.statuses
    assert found.clashing == expected.clashing
    assert {path: boxes for path, boxes in found.cases.items() if boxes} == dict(expected.cases)
    assert dict(found.files) == dict(expected.files)
    return found


@st.composite
def versions(draw):
    """Two versions of a repository: policies come, go and change; so do cases, and the day."""
    first = draw(worlds.repositories())
    facts, terms = sorted(first["vocabulary"]["facts"]), sorted(first["vocabulary"]["terms"])
    shared = {"policies/vocabulary.yaml": first["vocabulary"], "rules/priorities.yaml": worlds.PRIORITIES}
    pool = [policy for policy in first["policies"] if not policy.get("formal")]
    for number in range(len(first["policies"]) + 1, len(first["policies"]) + 1 + draw(st.integers(1, 4))):
        pool.append(draw(worlds.policies(facts, terms, number, [policy["policy_id"] for policy in pool])))
    others = {policy["policy_id"]: draw(worlds.policies(facts, terms, n, [])) for n, policy in enumerate(pool, 1)}
    sides = []
    for _ in range(2):
        files = dict(shared)
        for policy in pool:
            kept = draw(st.integers(0, 9))
            if kept < 7:
                files[f"policies/all/{policy['policy_id']}.yaml"] = policy
            elif kept == 8:  # the same file with other words in it
                other = {**others[policy["policy_id"]], "policy_id": policy["policy_id"]}
                files[f"policies/all/{policy['policy_id']}.yaml"] = other
        for name in draw(st.lists(st.sampled_from(("one", "two")), unique=True)):
            files[f"policies/{name}/cases.yaml"] = draw(st.lists(cases(facts), max_size=3))
        sides.append(inventory(files, draw(st.sampled_from((worlds.AT, worlds.AT, date(2026, 7, 1))))))
    return sides


@st.composite
def cases(draw, facts):
    given_ = draw(st.lists(st.sampled_from(facts), unique=True))
    values = {fact: draw(value(fact)) for fact in given_}
    expect = {
        key: draw(st.sampled_from(CASES[key])) for key in draw(st.lists(st.sampled_from(sorted(CASES)), unique=True))
    }
    return {"name": draw(st.sampled_from(("a case", "another"))), "facts": values, "expect": expect}


def value(fact):
    declared = worlds.FACTS[fact]
    match declared["type"]:
        case "boolean":
            return st.booleans()
        case "enum":
            return st.sampled_from(sorted(declared["values"]))
        case "date":
            return st.sampled_from(("2026-01-01", "2026-06-30"))
    return st.integers(0, 120)


def quietly(examples):
    checks = list(HealthCheck)
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=checks,
        phases=PHASES,
    )


@given(versions())
@quietly(80)
def test_a_change_finds_what_a_check_of_everything_finds(sides):
    assert_same(*sides)


@pytest.mark.longer
@given(versions())
@quietly(5000)
def test_many_more_changes_find_what_a_check_of_everything_finds(sides):
    assert_same(*sides)
