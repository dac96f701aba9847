"""The models of `rules/`: what they refuse and where they say so, and what they answer."""

import copy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from bylaw.authored.machines.autonomy import Autonomy
from bylaw.authored.machines.enforcement import Enforcement
from bylaw.authored.machines.intents import Intents
from bylaw.authored.machines.layers import Priorities
from bylaw.authored.machines.rules import RULE_FILES, Rules
from tests.rows import each

ROWS = yaml.safe_load((Path(__file__).parent / "rules.yaml").read_text(encoding="utf-8"))
DEFAULTS = Path(__file__).parents[3] / "ci" / "loading" / "defaults" / "rules"


def exactly(data: Any) -> Any:
    """YAML as our own loader reads it: numbers with a point are exact."""
    if isinstance(data, dict):
        return {str(key): exactly(value) for key, value in data.items()}
    if isinstance(data, list):
        return [exactly(item) for item in data]
    return Decimal(str(data)) if isinstance(data, float) else data


def default(name: str) -> Any:
    return exactly(yaml.safe_load((DEFAULTS / f"{name}.yaml").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules.model_validate({name: default(name) for name in RULE_FILES})


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_a_mistake_is_told_at_its_place(row: dict[str, Any]) -> None:
    data = copy.deepcopy(default(row["file"]))
    parent = data
    for step in row["route"][:-1]:
        parent = parent.setdefault(step, {}) if isinstance(parent, dict) else parent[step]
    text, times = row.get("repeat", ["", 0])
    parent[row["route"][-1]] = text * times if times else exactly(row["value"])
    with pytest.raises(ValidationError) as caught:
        RULE_FILES[row["file"]].model_validate(data)
    told = [(place(error), error["msg"]) for error in caught.value.errors()]
    assert any(where == row["at"] and row["says"].lower() in message.lower() for where, message in told), told


def place(error: Any) -> list[Any]:
    """Where an error says it is: the record's place, then the route inside the record."""
    return [*error["loc"], *(error.get("ctx") or {}).get("route", [])]


def test_every_file_has_a_row() -> None:
    assert {row["file"] for row in ROWS} == set(RULE_FILES)


@each("name", sorted(RULE_FILES))
def test_a_file_cannot_be_changed_once_read(name: str) -> None:
    model = RULE_FILES[name].model_validate(default(name))
    with pytest.raises(ValidationError):
        model.schema_version = "1.0"  # type: ignore[misc]  # that is the point


def test_the_container_has_an_attribute_for_every_file() -> None:
    assert set(Rules.model_fields) == set(RULE_FILES)
    for name, model in RULE_FILES.items():
        assert Rules.model_fields[name].annotation in (model, model | None)


# ---- autonomy: seed 004, sections 5.2 and 6.4 -------------------------------------------------------------------

LEVELS = [
    # likelihood, cost, level by the table of section 6.4 (cost is high from 0.5)
    ("0", "0", 5),
    ("0.29", "0.49", 5),
    ("0.29", "0.5", 4),
    ("0.3", "0.1", 4),
    ("0.3", "0.5", 3),
    ("0.499", "0.1", 4),
    ("0.5", "0.1", 3),
    ("0.5", "0.6", 2),
    ("0.699", "0.49", 3),
    ("0.7", "0.49", 2),
    ("0.7", "0.5", 1),
    ("1", "0", 2),
    ("1", "1", 1),
]


@each(("likelihood", "cost", "level"), LEVELS)
def test_likelihood_and_cost_give_the_seeds_level(rules: Rules, likelihood: str, cost: str, level: int) -> None:
    assert rules.autonomy.by_table(Decimal(likelihood), Decimal(cost)) == level


def test_review_is_mandatory_strictly_above_its_threshold(rules: Rules) -> None:
    assert not rules.autonomy.needs_review(Decimal("0.7"), Decimal("0.5")), "0.35 is not above 0.35"
    assert rules.autonomy.needs_review(Decimal("0.71"), Decimal("0.5"))
    assert rules.autonomy.needs_review(Decimal(1), Decimal(1))
    assert not rules.autonomy.needs_review(Decimal(1), Decimal("0.35"))


def test_a_standing_preference_is_one_of_the_preferences() -> None:
    data = default("autonomy")
    data["standing"] = {"ada": ["review_all", "flurb"]}
    with pytest.raises(ValidationError, match="flurb"):
        Autonomy.model_validate(data)
    data["standing"] = {"ada": ["review_all"]}
    assert Autonomy.model_validate(data).standing == {"ada": ["review_all"]}


TIMEOUTS = [(5, 24, "accept"), (4, 48, "accept"), (3, 72, "abandon"), (2, 7 * 24, "expire"), (1, None, "keep")]


@each(("level", "hours", "what"), TIMEOUTS)
def test_silence_means_what_the_seed_says(rules: Rules, level: int, hours: int | None, what: str) -> None:
    found = rules.autonomy.level(level)
    assert (found.timeout_hours, found.on_timeout) == (hours, what)


def test_only_levels_above_two_execute_and_only_above_three_need_no_word(rules: Rules) -> None:
    levels = {number: rules.autonomy.level(number) for number in range(1, 6)}
    assert [number for number, level in levels.items() if level.executes] == [3, 4, 5]
    assert [number for number, level in levels.items() if level.acceptance != ["explicit"]] == [4, 5]
    assert [number for number, level in levels.items() if level.notifies] == [4]


def test_triggers_are_the_seeds(rules: Rules) -> None:
    triggers = rules.autonomy.triggers
    assert (triggers.resource_intensity.scan_gb_above, triggers.resource_intensity.runtime_minutes_above) == (100, 10)
    assert triggers.resource_intensity.at_most == 3
    assert (triggers.cross_domain_joins.domains_from, triggers.cross_domain_joins.at_most) == (3, 4)
    assert (triggers.sensitive_tables.tags, triggers.sensitive_tables.at_most) == (["sensitive"], 4)
    assert triggers.rows_warn_above == 100_000_000


# ---- risk: seed 004, section 6 ----------------------------------------------------------------------------------


def test_the_bootstrap_weights_are_equal(rules: Rules) -> None:
    weights = rules.risk.factor_weights()
    assert set(weights) == {"complexity", "source_risk", "novelty", "ambiguity"}
    assert set(weights.values()) == {Decimal("0.25")}


def test_the_cost_of_anything_ordinary_is_low_and_of_a_board_meeting_high(rules: Rules) -> None:
    cost = rules.risk.cost
    ordinary = sum(factor.values[factor.default] for factor in cost.values())
    assert ordinary < rules.autonomy.high_cost_from
    assert ordinary - cost["criticality"].values["normal"] + cost["criticality"].values["high"] >= Decimal("0.5")
    assert "board meeting" in cost["criticality"].phrases["high"]


# ---- enforcement: seeds 000 and 001 -----------------------------------------------------------------------------


def test_the_seeds_weights_are_both_there_and_001_is_the_default(rules: Rules) -> None:
    assert rules.enforcement.weights_for(None) == {
        "pattern": Decimal("0.1"),
        "consistency": Decimal("0.55"),
        "judge": Decimal("0.25"),
        "coverage": Decimal("0.1"),
    }
    assert rules.enforcement.profiles["three_check"] == {
        "pattern": Decimal("0.2"),
        "consistency": Decimal("0.4"),
        "judge": Decimal("0.4"),
    }


def test_a_domain_may_differ_in_each_thing_alone(rules: Rules) -> None:
    data = default("enforcement")
    data["domains"] = {
        "refund": {"profile": "three_check"},
        "privacy": {"thresholds": {"pass_from": 1, "auto_correct_from": Decimal("0.9"), "regenerate_from": 0}},
        "safety": {"escalate_below": 1, "retries": {"auto_correct": 0, "regenerate": 0}},
        "shipping": {"escalate_below": 0},
    }
    enforcement = Enforcement.model_validate(data)
    assert set(enforcement.weights_for("refund")) == {"pattern", "consistency", "judge"}
    assert enforcement.thresholds_for("refund") == rules.enforcement.thresholds
    assert enforcement.thresholds_for("privacy").pass_from == 1
    assert enforcement.weights_for("privacy") == rules.enforcement.weights_for(None)
    assert enforcement.retries_for("safety").regenerate == 0
    assert enforcement.retries_for("refund").regenerate == 2
    assert [enforcement.escalate_below_for(name) for name in ("safety", "shipping", "refund", None)] == [
        1,
        0,
        Decimal("0.5"),
        Decimal("0.5"),
    ]


def test_the_edges_are_the_seeds(rules: Rules) -> None:
    edges = rules.enforcement.thresholds
    assert (edges.pass_from, edges.auto_correct_from, edges.regenerate_from) == (
        Decimal("0.95"),
        Decimal("0.85"),
        Decimal("0.7"),
    )


# ---- priorities: seed 000, stage 3 ------------------------------------------------------------------------------


@each(
    ("written", "level"),
    [
        (1, 1),
        (5, 5),
        (0, None),
        (6, None),
        ("regulatory", 1),
        ("Core Values", 2),
        (" company ", 3),
        ("department", 4),
        ("situational", 5),
        ("urgent", None),
        ("", None),
    ],
)
def test_a_declared_priority_is_a_number_or_a_word(rules: Rules, written: str | int, level: int | None) -> None:
    assert rules.priorities.level_of(written) == level


def test_names_and_numbers_of_levels_go_both_ways(rules: Rules) -> None:
    for name, number in rules.priorities.levels.items():
        assert rules.priorities.name_of(number) == name
        assert rules.priorities.level_of(name) == number


def test_the_rows_are_tried_in_the_settled_order(rules: Rules) -> None:
    priorities: Priorities = rules.priorities
    assert [priorities.levels[name] for name in priorities.order] == [1, 2, 5, 3, 4]


# ---- intents: seed 002 ------------------------------------------------------------------------------------------


def test_the_seeds_four_intents_are_there(rules: Rules) -> None:
    intents: Intents = rules.intents
    assert set(intents.intents) > {"why_decision", "who_decided", "when_decided", "chains"}
    why = intents.intents[intents.default_intent]
    assert (why.k, why.answer_schema, why.template) == (1, "WhyDecisionAnswer@1", "why_decision_v1")
    assert [(edge.rel, edge.dir, edge.type) for edge in why.edges] == [
        ("LED_TO", None, "event"),
        ("CAUSAL_PRECEDES", "in", "transition"),
        ("CAUSAL_PRECEDES", "out", "transition"),
    ]
    assert set(why.mandatory) == {"anchor", "preceding", "succeeding"}


def test_sizes_and_times_are_the_seeds(rules: Rules) -> None:
    intents = rules.intents
    prompt, lengths = intents.prompt, intents.lengths
    assert (prompt.max_prompt_bytes, prompt.min_evidence_items) == (8192, 1)
    assert (prompt.max_tokens, prompt.retries) == (256, 2)
    assert (lengths.short_answer, lengths.rationale_note, lengths.rationale) == (320, 280, 600)
    assert (lengths.reason, lengths.summary, lengths.repaired_summary) == (280, 120, 96)
