"""A case given as facts: read exactly, decided, and shown to machines and to people."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.index import BundleIndex
from bot.request.cases import as_json, as_text, read_facts
from bylaw.bundle import read
from bylaw.errors import UsageError
from tests.rows import each

DATA = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8"))
DAY = date(2026, 6, 1).toordinal()
KEYS = {
    *("outcomes", "required", "prohibited", "permitted", "fired", "lost", "conflicts", "missing_facts", "path"),
    *("undecided", "unproven"),
}


@pytest.fixture(scope="module")
def index(company: Any) -> BundleIndex:
    return BundleIndex(read(company.bundle))


def given(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts as the command reads them: no number is a float."""
    return {name: Decimal(str(value)) if isinstance(value, float) else value for name, value in facts.items()}


@each("row", DATA["shown"], ids=[row["title"] for row in DATA["shown"]])
def test_people_read_what_holds_and_why(row: dict[str, Any], index: BundleIndex) -> None:
    text = as_text(index.evaluator.decide(read_facts(given(row["facts"]), index), DAY), index)
    lines = text.splitlines()
    at = [lines.index(line) for line in row["lines"]]
    assert at == sorted(at)
    assert text == text.rstrip()


@each("row", DATA["refused"], ids=[row["title"] for row in DATA["refused"]])
def test_what_is_no_fact_is_refused_with_the_nearest(row: dict[str, Any], index: BundleIndex) -> None:
    with pytest.raises(UsageError) as refused:
        read_facts(given(row["facts"]), index)
    assert row["says"] in refused.value.message
    assert refused.value.help == row["help"]


@each("row", DATA["shown"], ids=[row["title"] for row in DATA["shown"]])
def test_machines_read_every_key_of_the_contract(row: dict[str, Any], index: BundleIndex) -> None:
    shown = as_json(index.evaluator.decide(read_facts(given(row["facts"]), index), DAY))
    assert set(shown) == KEYS
    assert json.loads(json.dumps(shown)) == shown
    assert set(shown["outcomes"]) == {"late_fee", "deposit"}
    rules = {rule.rule_id: rule for rule in index.ruleset.rules}
    for fired in (*shown["fired"], *shown["lost"]):
        assert rules[fired["rule_id"]].policy_id == fired["policy_id"]
        assert rules[fired["rule_id"]].effect.action == fired["action"]
    for outcome in shown["outcomes"].values():
        assert (outcome["action"] is None) == (outcome["rule_id"] is None) == (outcome["policy_id"] is None)


def test_where_no_policy_speaks_that_is_said(index: BundleIndex, company: Any) -> None:
    decision = index.evaluator.decide({}, date(1990, 1, 1).toordinal())
    assert "no policy speaks about this case as far as it is known" in as_text(decision, index)


def test_the_index_finds_rules_domains_and_owners(index: BundleIndex) -> None:
    assert set(index.rules_by_domain) == {"rental", "safety"}
    assert index.rule("R-RENTAL-001a").policy_id == "POL-RENTAL-001"
    assert index.owner("POL-RENTAL-002") == "Membership Team"
    assert index.owner("POL-NOBODY-001") == ""
    assert index.etag.startswith("sha256:")
    assert index.commit is None
    with pytest.raises(KeyError):
        index.rule("R-NOBODY")
