"""The product and the reference say the same about random repositories: about cases, and about the whole set."""

import math
import random
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ci.findings import SEVERITIES
from tests.oracle import reference
from tests.oracle import repositories as worlds

MAX_CASES = 2_000
LOGIC = ("conflict", "resolved-conflict", "gap", "dead-rule", "unreachable-exception")


def product_facts(vocabulary, case):
    """A case of the reference as people give it: numbers in the fact's unit, dates ISO."""
    given = {}
    for fact, value in case.items():
        kind = vocabulary["facts"][fact]["type"]
        if kind == "date":
            given[fact] = date.fromordinal(int(value)).isoformat()
        elif kind in ("integer", "decimal"):
            given[fact] = int(value) if value.denominator == 1 else Decimal(value.numerator) / value.denominator
        else:
            given[fact] = value
    return given


def small(repository):
    asked = reference.Reference(repository["vocabulary"], repository["policies"], worlds.PRIORITIES)
    assume(math.prod(len(values) for values in asked.grid.values()) <= MAX_CASES)
    return asked


def agree_on_cases(repository, asked, product, seed):
    pick = random.Random(seed)
    everything = list(asked.cases())
    for _ in range(14):
        full = pick.choice(everything)
        kept = pick.choice((len(full), len(full), len(full) - 1, len(full) - 2, pick.randint(0, len(full))))
        case = {fact: full[fact] for fact in sorted(pick.sample(sorted(full), max(kept, 0)))}
        day = date.fromisoformat(pick.choice(("2026-06-15", *worlds.DAYS)))
        expected = asked.decide(case, day)
        found = product.decide(product_facts(repository["vocabulary"], case), day)
        where = f"{case} on {day}:\n expected {expected}\n found {found}"
        for name, (action, speakers) in expected["outcomes"].items():
            given = found["outcomes"][name]
            assert given["action"] == action, where
            assert given["action"] is None or given["policy_id"] in speakers, where
        for key in ("required", "prohibited", "permitted"):
            assert found[key] == expected[key], where
        for key in ("fired", "lost"):
            assert sorted((item["policy_id"], item["action"]) for item in found[key]) == expected[key], where
        assert sorted({tuple(item["policies"]) for item in found["conflicts"]}) == expected["conflicts"], where
        missing = set(found["missing_facts"])
        assert expected["must_miss"] <= missing <= expected["may_miss"], where


def agree_on_findings(asked, product):
    expected = asked.findings(worlds.AT)
    found = {id_: set() for id_ in LOGIC}
    for conflict in product.run.proofs.contradictions.conflicts:  # findings may tell several pairs at once
        id_ = "conflict" if conflict["resolution"]["method"] == "manual" else "resolved-conflict"
        found[id_].add(tuple(sorted({conflict["policy_a"]["id"], conflict["policy_b"]["id"]})))
    for finding in product.run.findings:
        if finding.id == "gap":
            found["gap"].add(finding.at.route[1])
        elif finding.id in ("conflict", "resolved-conflict"):
            assert finding.policies in found[finding.id]
        elif finding.id in ("dead-rule", "unreachable-exception"):
            actions = {rule.rule_id: rule.effect.action for rule in product.run.ruleset.rules}
            found[finding.id].add((finding.policies[0], actions.get(finding.rules[0], "none")))
    for id_ in ("conflict", "resolved-conflict", "gap"):
        assert found[id_] == expected[id_], f"{id_}: expected {expected[id_]}, found {found[id_]}"
    told = {finding.id for finding in product.run.findings}
    assert all((id_ in told) == bool(found[id_]) for id_ in LOGIC), told
    for id_ in ("dead-rule", "unreachable-exception"):
        # by its guard alone, or also where exceptions always take its place: the sentence allows both readings
        assert expected[id_] <= found[id_] <= expected[f"{id_}?"], f"{id_}: {expected[id_]}, found {found[id_]}"


WRONG = {id_ for id_, severity in SEVERITIES.items() if severity == "error"} - {*LOGIC, "violated-invariant"}


def compare(repository, seed):
    asked = small(repository)
    product = worlds.Product(repository)
    wrong = [(f.id, f.message) for f in product.run.findings if f.id in WRONG]
    assert not wrong, wrong
    agree_on_cases(repository, asked, product, seed)
    agree_on_findings(asked, product)


def quietly(examples):
    checks = list(HealthCheck)
    return settings(max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=checks)


@given(worlds.repositories(), st.integers(0, 2**16))
@quietly(300)
def test_product_and_reference_agree(repository, seed):
    compare(repository, seed)


@pytest.mark.longer
@given(worlds.repositories(), st.integers(2**16, 2**20))
@quietly(3000)
def test_product_and_reference_agree_on_many_more(repository, seed):
    compare(repository, seed)
