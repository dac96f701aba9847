"""The first trip stage by stage: what still runs when a stage fails, and which findings are told."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from ci import pipeline
from ci.loading.load import Workspace

DAY = date(2026, 6, 15)
FILES = {
    "policies/vocabulary.yaml": """\
facts: {days: {type: integer, unit: days, minimum: 0}, is_gift: {type: boolean}}
actions: {full_refund: {outcome: refund}, reject: {outcome: refund}}
outcomes: {refund: {}}
""",
    "policies/refund/POL-REFUND-001.yaml": """\
policy_id: POL-REFUND-001
conditions: [{type: fact, parameter: days, operator: "<=", value: 30}]
actions: [{type: required, action: full_refund}]
metadata: {source: s, owner: Anna, domain: refund}
""",
    "policies/refund/POL-REFUND-002.yaml": """\
policy_id: POL-REFUND-002
conditions: [{type: boolean_flag, parameter: is_gift, value: true}]
actions: [{type: required, action: reject}]
metadata: {source: s, owner: Ben, domain: refund, priority: 1}
""",
    "policies/refund/POL-IMP-REFUND-001.yaml": """\
policy_id: POL-IMP-REFUND-001
actions: [{type: discovered_pattern, action: reject}]
metadata: {source: log, owner: TBD, domain: refund}
""",
}
BROKEN = {"policies/refund/POL-REFUND-001.yaml": FILES["policies/refund/POL-REFUND-001.yaml"].replace("days,", "dys,")}

HARD_WORDS = """\
facts: {a: {type: decimal}, b: {type: decimal}, c: {type: decimal}}
actions: {go: {outcome: way}, stop: {outcome: way}}
outcomes: {way: {}}
"""
HARD = """\
policy_id: POL-WAY-00{n}
actions: [{{type: required, action: {do}}}]
metadata: {{source: s, owner: o, domain: way}}
formal:
  logic_rules: [{{rule_id: R{n}, consequent: {do}, antecedent: a * a * a + b * b * b == {n} + c * c * c}}]
"""


def statuses(done: pipeline.Run) -> dict[str, tuple[str, ...]]:
    return {record.policy.policy_id: tuple(record.status.values()) for record in done.proofs.records}


def test_every_stage_completes_for_a_policy_that_holds(workspace_of: Callable[..., Workspace]) -> None:
    done = pipeline.check(workspace_of(FILES), DAY)
    assert statuses(done) == {
        "POL-IMP-REFUND-001": ("complete", "complete", "pending", "complete"),
        "POL-REFUND-001": ("complete",) * 4,
        "POL-REFUND-002": ("complete",) * 4,
    }
    assert {finding.id for finding in done.findings} == {
        *("conflict", "inactive-policy", "missing-owner", "priority-mismatch"),
    }


def test_a_policy_that_fails_one_stage_still_gets_its_layer(workspace_of: Callable[..., Workspace]) -> None:
    done = pipeline.check(workspace_of(FILES, BROKEN), DAY)
    assert statuses(done)["POL-REFUND-001"] == ("complete", "failed", "pending", "complete")
    assert statuses(done)["POL-REFUND-002"] == ("complete",) * 4
    record = next(record for record in done.proofs.records if record.policy.policy_id == "POL-REFUND-001")
    assert record.enriched["layer_assignment"]["primary_layer"] == done.workspace.rules.layers.default_layer
    assert "formal" not in record.enriched
    assert [rule.policy_id for rule in done.ruleset.rules] == ["POL-REFUND-002"]
    assert done.failed
    assert done.lost == ()
    assert [(one.policy_id, one.finding) for one in done.in_doubt] == [("POL-REFUND-001", "unknown-fact")]


def test_a_question_that_is_cut_short_fails_its_stage_and_the_check(workspace_of: Callable[..., Workspace]) -> None:
    """Products of facts are beyond boxes; a budget of nothing lets Z3 say nothing."""
    done = pipeline.check(
        workspace_of(
            {
                "policies/vocabulary.yaml": HARD_WORDS,
                "policies/way/POL-WAY-001.yaml": HARD.format(n=1, do="go"),
                "policies/way/POL-WAY-002.yaml": HARD.format(n=2, do="stop"),
                "rules/ci.yaml": "proofs: {rlimit: 1000, timeout_ms: 1}\n",
            }
        ),
        DAY,
    )
    unknown = [finding for finding in done.findings if finding.id == "unknown-answer"]
    assert unknown
    assert {finding.severity for finding in unknown} == {"error"}
    assert {finding.status for finding in unknown} == {"UNKNOWN"}
    assert done.failed


@pytest.mark.parametrize(
    ("severities", "failed", "told"),
    [
        ("{}", True, "error"),
        ("{conflict: warning}", False, "warning"),
        ('{conflict: "off"}', False, None),
        ("{missing-owner: error, conflict: notice}", True, "notice"),
    ],
)
def test_a_repository_grades_its_own_findings(
    severities: str, failed: bool, told: str | None, workspace_of: Callable[..., Workspace]
) -> None:
    done = pipeline.check(workspace_of(FILES, {"rules/ci.yaml": f"severities: {severities}\n"}), DAY)
    assert done.failed is failed
    graded: dict[str, Any] = {finding.id: finding.severity for finding in done.findings}
    assert graded.get("conflict") == told


def test_errors_come_first_and_the_order_is_always_the_same(workspace_of: Callable[..., Workspace]) -> None:
    done = pipeline.check(workspace_of(FILES, BROKEN), DAY)
    ranks = [("error", "warning", "notice").index(finding.severity) for finding in done.findings]
    assert ranks == sorted(ranks)
    again = pipeline.check(workspace_of(dict(reversed({**FILES, **BROKEN}.items()))), DAY)
    assert again.findings == done.findings


def test_progress_is_heard_while_conflicts_are_looked_for(workspace_of: Callable[..., Workspace]) -> None:
    heard: list[tuple[str, int, int]] = []
    pipeline.check(workspace_of(FILES), DAY, lambda what, done, of: heard.append((what, done, of)))
    assert heard
    assert all(0 <= done <= of for _, done, of in heard)


def test_a_day_given_is_the_day_asked_for(workspace_of: Callable[..., Workspace]) -> None:
    root = workspace_of(FILES).root
    assert pipeline.run(root, DAY, date(2027, 1, 1)).at == DAY
    assert pipeline.run(root, None, date(2027, 1, 1)).at == date(2027, 1, 1)
