"""Policies → records: what a policy says, whose words fail it, and that no fault is told twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci.formalize.stage import formalize
from ci.loading.derived.record import PolicyRecord
from ci.loading.derived.variables import variables
from ci.loading.load import Workspace

DATA = yaml.safe_load(Path(__file__).with_name("stage.yaml").read_text(encoding="utf-8"))
HEAD = "policy_id: POL-REFUND-001\nmetadata: {source: s, owner: Anna, domain: refund}\n"
PATH = "policies/refund/POL-REFUND-001.yaml"


@pytest.fixture
def formalized(workspace_of: Callable[..., Workspace]) -> Callable[..., tuple[PolicyRecord, list[Any]]]:
    def run(policy: str, vocabulary: str | None = None) -> tuple[PolicyRecord, list[Any]]:
        workspace = workspace_of(DATA["base"], {PATH: HEAD + policy, "policies/refund/vocabulary.yaml": vocabulary})
        (record,), findings = formalize(workspace, variables(workspace.vocabulary))
        return record, findings

    return run


@pytest.mark.parametrize("row", DATA["rows"], ids=[row["title"] for row in DATA["rows"]])
def test_a_fault_of_the_vocabulary_is_told_once(row: dict[str, Any], formalized: Callable[..., Any]) -> None:
    record, findings = formalized(row["policy"], row.get("vocabulary"))
    assert [finding.id for finding in findings] == row.get("told", [])
    if "words" in row:
        assert [finding.detail["word"] for finding in findings] == row["words"]
    whole = "vocabulary" not in row and not row.get("told")
    assert record.status["formalization"] == ("complete" if whole else "failed")
    assert record.in_logic is whole


def test_a_record_carries_what_was_written_and_what_was_derived(formalized: Callable[..., Any]) -> None:
    record, _ = formalized(DATA["rows"][0]["policy"])
    assert record.raw["conditions"] == [{"type": "time_window", "value": 5}]
    formal = record.enriched["formal"]
    assert formal["formalization_type"] == "conditional"
    (rule,) = formal["logic_rules"]
    assert (rule["rule_id"], rule["consequent"], rule["antecedent"]) == (
        "R-REFUND-001a",
        "full_refund",
        "(days <= 5) ∧ (has_receipt = true)",
    )
    assert rule["z3_expr"] == "(and (<= days 5) has_receipt)"
    assert record.rules[0].source.line == 4


@pytest.mark.parametrize(
    ("count", "steps", "type"),
    [(2, 0, "conditional"), (3, 0, "both"), (3, 3, "procedural"), (4, 3, "both"), (0, 0, "conditional")],
)
def test_the_formalization_type_follows_the_number_of_conditions_and_steps(
    count: int, steps: int, type: str, formalized: Callable[..., Any]
) -> None:
    conditions = [f"{{id: c{i}, type: time_window, operator: '>', value: {i + 1}}}" for i in range(count)]
    record, findings = formalized(
        f"conditions: [{', '.join(conditions)}]\nsteps: [{', '.join(f'c{i}' for i in range(steps))}]\n"
        "actions: [{type: required, action: reject}]\n"
    )
    assert findings == []
    assert record.enriched["formal"]["formalization_type"] == type


WRITTEN = (
    "actions: [{{type: required, action: reject}}]\n"
    "formal:\n  logic_rules:\n    - {{rule_id: R1, consequent: {action}, {parts}}}\n"
)


@pytest.mark.parametrize(
    ("action", "parts", "told"),
    [
        ("full_refund", "antecedent: has_receipt == true", []),
        ("full_refund", "z3_expr: '(> days 5)'", []),
        ("full_refund", "antecedent: days > 5, z3_expr: '(>= days 6)'", []),
        ("full_refund", "antecedent: days > 5, z3_expr: '(>= days 5)'", ["invalid-expression"]),
        ("pay_twice", "antecedent: days > 5", ["unknown-action"]),
        ("full_refund", "antecedent: 'days >'", ["invalid-expression"]),
        ("full_refund", "antecedent: days > 5, z3_expr: '(> days'", ["invalid-expression"]),
    ],
)
def test_a_hand_written_rule_takes_the_place_of_the_derived_ones(
    action: str, parts: str, told: list[str], formalized: Callable[..., Any]
) -> None:
    record, findings = formalized(WRITTEN.format(action=action, parts=parts))
    assert [finding.id for finding in findings] == told
    assert [rule.rule_id for rule in record.rules] == ([] if told else ["R1"])
    assert not record.rules or record.rules[0].origin == "formal"


def test_an_antecedent_that_says_something_else_is_shown_with_a_case(formalized: Callable[..., Any]) -> None:
    _, (finding,) = formalized(
        WRITTEN.format(action="full_refund", parts="antecedent: days > 5, z3_expr: '(>= days 5)'")
    )
    assert "do not mean the same, for instance with" in finding.message
    assert "5" in finding.message


TANGLED = {
    "policies/vocabulary.yaml": DATA["base"]["policies/vocabulary.yaml"].replace(
        "  region:", "  a: {type: decimal}\n  b: {type: decimal}\n  c: {type: decimal}\n  region:"
    )
}


def test_an_antecedent_that_cannot_be_compared_is_an_open_question_not_a_wrong_expression(
    workspace_of: Callable[..., Workspace],
) -> None:
    parts = "antecedent: a*a*a + b*b*b == c*c*c + 42, z3_expr: '(= (+ (* a a a) (* b b b) (* c 7)) 42)'"
    files = {PATH: HEAD + WRITTEN.format(action="full_refund", parts=parts)}
    workspace = workspace_of(DATA["base"], TANGLED, files, {"rules/ci.yaml": "proofs: {rlimit: 1}\n"})
    (record,), (finding,) = formalize(workspace, variables(workspace.vocabulary))
    assert finding.id == "unknown-answer"
    assert "could not be compared: the limit of 1 steps" in finding.message
    assert finding.help is not None and "rules/ci.yaml" in finding.help
    assert record.status["formalization"] == "failed"
