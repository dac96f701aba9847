"""Error likelihood, expected cost and levels against the seed's own figures."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from bot.analytics.plan import risk
from bot.analytics.plan.autonomy import Circumstances, acceptance, authorize
from bot.analytics.plan.execution import plan_of
from bot.analytics.plan.interfaces import AuthRequest, RequestActor, RequestedAction, RequestRisk
from bot.analytics.plan.risk import Candidate
from bot.conversation import Actor, Factors
from bylaw.authored.context import Context, Entity, VerifiedQuery
from bylaw.sql.gate import Features
from bylaw.warehouses.port import Estimate
from tests.rows import each

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


@each("row", ROWS["complexity"], ids=lambda row: row["title"])
def test_complexity_is_the_seeds_formula(rules, row):
    features = Features(**{"joins": 0, "ctes": 0, "windows": 0, "subqueries": 0, "aggregations": 0, **row["features"]})
    assert risk.complexity(rules.risk, features) == pytest.approx(Decimal(str(row["score"])), abs=Decimal("0.0001"))


def _asked(likelihood, cost, preferences=(), user="ada"):
    return AuthRequest(
        actor=RequestActor(id=user, risk_tolerance=tuple(preferences)),
        action=RequestedAction(),
        risk=RequestRisk(error_likelihood=Decimal(str(likelihood)), expected_cost=Decimal(str(cost))),
    )


@each("row", ROWS["levels"], ids=lambda row: f"{row['likelihood']} × {row['cost']}")
def test_the_level_table_is_the_seeds(rules, row):
    response = authorize(rules.autonomy, _asked(row["likelihood"], row["cost"]), Circumstances())
    assert response.autonomy_level == row["level"]
    assert response.decision == row["decision"]
    assert f"level {row['level']}" in response.rationale
    assert response.caps == ()


@each("row", ROWS["caps"], ids=lambda row: row["title"])
def test_a_trigger_only_ever_lowers_the_level(rules, row):
    autonomy = rules.autonomy.model_copy(update={"standing": {"careful": ["review_all", "confirm_finance"]}})
    entities = [_entity(f"e{i}", domain=domain) for i, domain in enumerate(row.get("domains", ()))]
    around = Circumstances(
        asked=entities,
        touched=[*entities, _entity("tagged", tags=row.get("tags", ()))],
        complexity=Decimal(str(row.get("complexity", 0))),
        plan=plan_of(Estimate(**row["estimate"])) if "estimate" in row else None,
        phrases=row.get("phrases", ()),
        override=row.get("override"),
    )
    asked = _asked(row.get("likelihood", 0), row.get("cost", 0), row.get("preferences", ()), row.get("user", "ada"))
    response = authorize(autonomy, asked, around)
    assert response.autonomy_level == row["level"]
    assert bool(response.halts) is row.get("halts", False)
    assert bool(response.caps) == row.get("has_reason", row["level"] < 5)
    assert all(cap in response.rationale for cap in response.caps)
    assert any(row.get("reason", "") in cap for cap in (*response.caps, ""))
    assert row.get("told") in (None, *response.warnings)


def test_review_is_mandatory_above_its_threshold_whatever_the_table_says(rules):
    rows = [rules.autonomy.table[0].model_copy(update={"high_cost": 5})]
    lenient = rules.autonomy.model_copy(update={"table": rows})
    assert authorize(lenient, _asked("0.7", "0.5"), Circumstances()).autonomy_level == 5
    capped = authorize(lenient, _asked("0.71", "0.5"), Circumstances(phrases=["just do it"]))
    assert (capped.autonomy_level, capped.decision) == (3, "CONFIRM")
    assert "mandatory" in capped.caps[0]


def test_what_does_not_run_says_who_can_take_over(rules):
    around = Circumstances(
        asked=[_entity("a", owner="Ben"), _entity("b")],
        touched=[_entity("c", owner="Ada"), _entity("d", owner="Ben")],
        stewards=["grace"],
    )
    assert authorize(rules.autonomy, _asked(1, 1), around).escalation_path == (
        Actor(id="Ben"), Actor(id="Ada"), Actor(id="grace"),
    )  # fmt: skip
    assert authorize(rules.autonomy, _asked(0, 0), around).escalation_path == ()


@each(
    ("level", "required", "minutes"),
    [(5, False, 1_440), (4, False, 2_880), (3, True, 4_320), (2, True, 10_080), (1, True, None)],
)
def test_acceptance_and_timeouts_are_the_seeds(rules, level, required, minutes):
    found = acceptance(rules.autonomy, level)
    assert (found.required, found.timeout_minutes) == (required, minutes)


@each("row", ROWS["costs"], ids=lambda row: str(row.get("stakes") or row.get("stated")))
def test_expected_cost_adds_what_is_at_stake(rules, row):
    stakes = risk.stakes_of(rules.risk, row.get("stakes", ()), row.get("stated", {}))
    assert risk.expected_cost(rules.risk, stakes) == Decimal(str(row["cost"]))
    assert set(stakes) == set(rules.risk.cost)
    assert row.get("values", {}).items() <= stakes.items()


@each("row", ROWS["ambiguity"], ids=lambda row: row["title"])
def test_ambiguity_is_the_seeds_formula(rules, row):
    found = [Candidate(f"m{i}", Decimal(str(fits)), meaning) for i, (fits, meaning) in enumerate(row["candidates"])]
    logprobs = [Decimal(str(one)) for one in row.get("logprobs", ())]
    score = risk.ambiguity(rules.risk.ambiguity, found, row.get("rivals", 0), logprobs or None)
    assert score == pytest.approx(Decimal(str(row["score"])), abs=Decimal("0.0001"))


def test_candidates_are_the_metrics_that_share_words(index):
    context = index.bundle.context
    found = {one.name: one.relevance for one in risk.candidates(context, ["net revenue"])}
    assert found["net_revenue"] == 1
    assert all(fits < 1 for name, fits in found.items() if name != "net_revenue")
    assert risk.candidates(context, []) == ()
    assert risk.retrieval_conflict(index.rules.risk.ambiguity, risk.candidates(context, ["net revenue"])) == 0


def test_data_that_is_too_old_makes_its_source_riskier(rules):
    entity = _entity(described=4, owner="Ada")
    fresh = risk.source_risk(rules.risk, [entity], {"freshness_score": {"things": Decimal(1)}})
    unknown = risk.source_risk(rules.risk, [entity])
    stale = risk.source_risk(rules.risk, [entity], {"freshness_score": {"things": Decimal(0)}})
    assert fresh < unknown < stale
    assert stale - fresh == Decimal("0.25")  # one of four signals


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


@each(
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
    factors = risk.factors_of(
        rules.risk,
        features=Features(2, 0, 0, 0, 1),
        source=Decimal("0.375"),
        novelty=Decimal(1),
        ambiguity=Decimal("0.4"),
    )
    assert factors == Factors(
        complexity=Decimal("0.2167"), source_risk=Decimal("0.375"), novelty=Decimal(1), ambiguity=Decimal("0.4")
    )
    assert risk.likelihood(rules.risk, factors) == sum(dict(factors).values()) / 4
    every = Factors(complexity=1, source_risk=1, novelty=1, ambiguity=1)
    assert risk.likelihood(rules.risk, every) == 1


def test_every_phrase_of_the_rules_is_known_to_the_reader(rules):
    assert "board meeting" in rules.risk.stakes_phrases()
    assert {"confirm first", "just do it"} <= set(rules.autonomy.preference_phrases())
