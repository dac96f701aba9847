"""Scores and layers by the seed's table, and what the rubric sees in a policy."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from bylaw.authored.machines.layers import LAYERS, SCORES, LayerRules
from bylaw.authored.policies import Policy
from ci.loading.derived.layers import LayerInput, assign, default_assignment, describe
from ci.loading.rules import load_defaults, merge
from tests.rows import each

ROWS = yaml.safe_load((Path(__file__).parent / "layers.yaml").read_text(encoding="utf-8"))
RULES = LayerRules.model_validate(load_defaults()["layers"])


def exactly(scores: dict[str, Any]) -> dict[Any, Decimal]:
    return {name: Decimal(str(value)) for name, value in scores.items()}


def policy(**keys: Any) -> Policy:
    base: dict[str, Any] = {
        "policy_id": "POL-REFUND-001",
        "actions": [{"type": "required", "action": "full_refund"}],
        "metadata": {"source": "handbook", "owner": "Customer Service Dept.", "domain": "refund"},
    }
    return Policy.model_validate({**base, **keys})


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_a_policy_lands_in_its_layers(row: dict[str, Any]) -> None:
    about = row["given"]
    found = assign(
        LayerInput(
            priority_level=about["level"],
            action_types=frozenset(about.get("actions", ())),
            condition_count=about.get("conditions", 0),
            is_temporary=about.get("temporary", False),
            has_exception=about.get("exception", False),
            authored=exactly(about.get("authored", {})),
        ),
        RULES,
    )
    assert list(found.assigned_layers) == row["layers"]
    assert found.primary_layer == row["primary"]
    if "scores" in row:
        assert found.scores == exactly(row["scores"])


shares = st.decimals(min_value=0, max_value=1, places=2)


@given(
    level=st.integers(1, 5),
    actions=st.frozensets(
        st.sampled_from(["required", "prohibited", "permitted", "fallback", "conditional", "discovered_pattern"])
    ),
    conditions=st.integers(0, 200),
    temporary=st.booleans(),
    exception=st.booleans(),
    authored=st.dictionaries(st.sampled_from(SCORES), shares),
)
def test_every_policy_has_a_primary_layer_and_scores_in_range(
    level: int, actions: Any, conditions: int, temporary: bool, exception: bool, authored: Any
) -> None:
    found = assign(LayerInput(level, actions, conditions, temporary, exception, authored), RULES)
    assert found.primary_layer in found.assigned_layers
    assert list(found.assigned_layers) == [layer for layer in LAYERS if layer in found.assigned_layers]
    assert set(found.scores) == set(SCORES)
    assert all(0 <= value <= 1 for value in found.scores.values())
    assert {name: found.scores[name] for name in authored} == authored
    if found.scores["criticality"] >= Decimal("0.8"):
        assert len(found.assigned_layers) >= 2, "defence in depth"
        assert "guardrail" in found.assigned_layers


def test_a_failed_stage_means_the_default_layer() -> None:
    found = default_assignment(RULES)
    assert found.to_json() == {"scores": {}, "assigned_layers": ["rag"], "primary_layer": "rag"}


def test_the_default_layer_and_the_depth_come_from_the_rules() -> None:
    changed = LayerRules.model_validate(
        merge(
            load_defaults()["layers"],
            {
                "default_layer": "system_prompt",
                "defense_in_depth": {"criticality_from": Decimal("0.3"), "adds": ["fine_tuning", "rag"]},
            },
        )
    )
    assert default_assignment(changed).primary_layer == "system_prompt"
    low = {"stability": 0, "criticality": 0.3, "context_dependence": 0.5, "strictness": 0.9}
    assert assign(LayerInput(4, authored=exactly(low)), changed).assigned_layers == ("fine_tuning", "rag")


def test_the_enriched_key_has_the_seeds_shape() -> None:
    written = assign(LayerInput(1, frozenset({"required", "fallback"}), 2), RULES).to_json()
    assert list(written) == ["scores", "assigned_layers", "primary_layer"]
    assert list(written["scores"]) == ["stability", "criticality", "context_dependence", "strictness"]


def test_single_tests_are_counted_through_every_branch() -> None:
    receipt = {"type": "boolean_flag", "parameter": "has_receipt", "value": True}
    window = {"type": "time_window", "value": 30, "unit": "days"}
    nested = {"any_of": [receipt, [window, {"not": receipt}], {"all_of": [window, window]}]}
    assert describe(policy(conditions=[receipt, nested]), 4).condition_count == 6


def test_a_list_under_not_counts_each_test() -> None:
    receipt = {"type": "boolean_flag", "parameter": "has_receipt", "value": True}
    assert describe(policy(conditions=[{"not": [receipt, receipt]}]), 4).condition_count == 2


def test_the_conditions_of_a_conditional_action_count() -> None:
    window = {"type": "time_window", "value": 30, "unit": "days"}
    found = describe(policy(actions=[{"type": "conditional", "action": "escalate", "when": [window]}]), 4)
    assert (found.condition_count, found.action_types) == (1, frozenset({"conditional"}))


def test_an_exception_counts_once_it_has_force() -> None:
    text_only = {"description": "electronics are different"}
    forceful = {"conditions": [{"type": "customer_tier", "value": "VIP"}], "action": "full_refund"}
    assert not describe(policy(exceptions=[text_only]), 4).has_exception
    assert describe(policy(exceptions=[text_only, forceful]), 4).has_exception


def test_an_end_or_a_tag_makes_a_policy_temporary() -> None:
    metadata = {"source": "handbook", "owner": "Marketing", "domain": "refund"}
    assert not describe(policy(metadata=metadata), 4).is_temporary
    assert describe(policy(metadata={**metadata, "expiry_date": "2027-01-31"}), 5).is_temporary
    assert describe(policy(metadata={**metadata, "tags": ["Temporary"]}), 5).is_temporary


def test_authored_scores_are_taken_over_and_absent_ones_are_not() -> None:
    found = describe(policy(layer_scores={"criticality": Decimal("0.9"), "strictness": 0}), 2)
    assert found.authored == {"criticality": Decimal("0.9"), "strictness": Decimal(0)}
    assert describe(policy(), 2).authored == {}
