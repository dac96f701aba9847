"""Error likelihood, expected cost and levels against the seed's own figures."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from bot.analytics import risk
from bot.analytics.autonomy import decide, preference_phrases
from bot.analytics.risk import Assessment
from bylaw.authored.context import Context, Entity, VerifiedQuery
from bylaw.sql import Features
from bylaw.warehouses.port import Estimate

ROWS = yaml.safe_load(Path(__file__).with_name("risk.yaml").read_text(encoding="utf-8"))


def _entity(name="things", described=0, bare=0, owner=None, domain=None, tags=()):
    dimensions = [{"name": f"d{i}", "description": "said"} for i in range(described)]
    dimensions += [{"name": f"b{i}"} for i in range(bare)]
    base = {"schema": "s", "table": name}
    return Entity.model_validate(
        {
            "name": name, "base_table": base, "dimensions": dimensions, "owner": owner, "domain": domain,
            "tags": list(tags),
        }
    )  # fmt: skip


@pytest.fixture(scope="module")
def rules(index):
    return index.rules


@pytest.mark.parametrize("row", ROWS["complexity"], ids=lambda row: row["title"])
def test_complexity_is_the_seeds_formula(rules, row):
    features = Features(**{"joins": 0, "ctes": 0, "windows": 0, "subqueries": 0, "aggregations": 0, **row["features"]})
    assert risk.complexity(rules.risk, features) == pytest.approx(Decimal(str(row["score"])), abs=Decimal("0.0001"))


@pytest.mark.parametrize("row", ROWS["levels"], ids=lambda row: f"{row['likelihood']} × {row['cost']}")
def test_the_level_table_is_the_seeds(rules, row):
    assessment = Assessment(Decimal(str(row["likelihood"])), Decimal(str(row["cost"])), {"complexity": Decimal(0)})
    decision = decide(rules.autonomy, assessment, asked=[], touched=[], estimate=None, phrases=())
    assert decision.level == row["level"]


@pytest.mark.parametrize("row", ROWS["caps"], ids=lambda row: row["title"])
def test_a_trigger_only_ever_lowers_the_level(rules, row):
    assessment = Assessment(
        Decimal(str(row.get("likelihood", 0))), Decimal(0), {"complexity": Decimal(str(row.get("complexity", 0)))}
    )
    entities = [_entity(f"e{i}", domain=domain) for i, domain in enumerate(row.get("domains", ()))]
    touched = [*entities, _entity("tagged", tags=row.get("tags", ()))]
    estimate = Estimate(**row["estimate"]) if "estimate" in row else None
    decision = decide(
        rules.autonomy, assessment, asked=entities, touched=touched, estimate=estimate,
        phrases=row.get("phrases", ()), preferences=row.get("preferences", ()),
    )  # fmt: skip
    assert decision.level == row["level"]
    assert decision.halted == row.get("halted", False)
    assert bool(decision.reasons) == row.get("has_reason", row["level"] < 5)


@pytest.mark.parametrize("row", ROWS["costs"], ids=lambda row: str(row.get("stakes") or row.get("stated")))
def test_expected_cost_adds_what_is_at_stake(rules, row):
    assert risk.expected_cost(rules.risk, row.get("stakes", ()), row.get("stated", {})) == Decimal(str(row["cost"]))


def test_documentation_and_owner_lower_the_risk_of_a_source(rules):
    documented = risk.source_risk(rules.risk, [_entity(described=4, owner="Ada")])
    half = risk.source_risk(rules.risk, [_entity(described=2, bare=2, owner="Ada")])
    orphan = risk.source_risk(rules.risk, [_entity(described=2, bare=2)])
    assert documented < half < orphan
    assert documented == Decimal("0.375")  # what nobody measured counts as half known


def test_a_source_that_nobody_knows_is_half_known(rules):
    assert risk.source_risk(rules.risk, []) == Decimal("0.5")


def _verified(name, question, query=None):
    return VerifiedQuery.model_validate(
        {
            "name": name, "question": question, "verified_by": "ada", "verified_at": "2026-01-01",
            **({"query": query} if query else {"sql": "SELECT 1"}),
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "metrics", "groups", "expected"),
    [
        ("fees by city", ["fees"], ["readers.city"], 0),
        ("fees per town", ["fees"], ["readers.city"], 0),
        ("loans in {period}", [], [], 0),
        ("loans", [], [], 0),
        ("loans by genre", ["loans"], ["titles.genre"], 0.5),
        ("weather by sky", ["weather"], ["weather.sky"], 1),
        ("", [], [], 1),
    ],
)
def test_novelty_is_the_distance_to_the_nearest_verified_question(text, metrics, groups, expected):
    queries = [
        _verified("fees", "fees by city", {"metrics": ["fees"], "dimensions": ["readers.city"]}),
        _verified("loans", "loans {period}"),
    ]
    context = Context(verified_queries={query.name: query for query in queries})
    assert risk.novelty(context, text, metrics, groups) == Decimal(str(expected))


def test_without_verified_questions_everything_is_new():
    assert risk.novelty(Context(), "fees by city", ["fees"], []) == 1


def test_the_likelihood_is_the_weighted_sum_of_its_factors(rules):
    assessed = risk.assess(
        rules.risk,
        features=Features(2, 0, 0, 0, 1),
        entities=[_entity(described=1, owner="Ada")],
        novelty=Decimal(1),
        rivals=2,
        cost=Decimal(0),
    )
    factors = assessed.factors
    assert factors["novelty"] == 1
    assert factors["ambiguity"] == Decimal("0.4")
    assert assessed.likelihood == pytest.approx(sum(factors.values()) / 4, abs=Decimal("0.001"))
    assert 0 <= assessed.likelihood <= 1


def test_every_phrase_of_the_rules_is_known_to_the_reader(rules):
    assert "board meeting" in risk.stakes_phrases(rules.risk)
    assert "confirm first" in preference_phrases(rules.autonomy)
