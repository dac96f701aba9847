"""The labelled suite: answers to cases of the repository's own policies, and what the checks make of each."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from bot.cases import read_facts
from bot.conversation import Question
from bot.enforcement.enforce import enforce
from bot.enforcement.verdict import ComplianceDecision
from bot.index import BundleIndex

LABELS = ("right", "wrong action", "wrong number", "wrong reason", "promise", "pii", "unanswered")
CASES = yaml.safe_load(Path(__file__).with_name("suite.yaml").read_text())
ROWS = [(case, label, text) for case in CASES for label in LABELS for text in case.get(label, ())]


JUDGED: dict[tuple[int, str], ComplianceDecision] = {}  # several tests ask the same of a verdict


def judged(case: dict, text: str, own: BundleIndex) -> ComplianceDecision:
    question = Question(text=case["query"], asked_at=datetime(2026, 11, 20, 9, tzinfo=UTC), request_id="r")
    key = id(case), text
    if key not in JUDGED:
        JUDGED[key] = enforce(question, text, own, read_facts(case.get("facts", {}), own))
    return JUDGED[key]


def test_there_are_enough_rows_over_all_domains(own: BundleIndex) -> None:
    assert len(ROWS) >= 520
    assert {label for _, label, _ in ROWS} == set(LABELS)
    reached = {judged(case, "Hello.", own).domain for case in CASES}
    assert reached >= {rule.domain for rule in own.ruleset.rules}


@pytest.mark.parametrize(
    ("case", "label", "text"), ROWS, ids=[f"{case['title']}: {label}: {text[:50]}" for case, label, text in ROWS]
)
def test_only_a_right_answer_passes(case: dict, label: str, text: str, own: BundleIndex) -> None:
    found = judged(case, text, own)
    print(found.action, [broken.message for broken in found.violations])
    if label == "right":
        assert found.violations == ()
        assert found.action in ("pass", "auto_correct", "regenerate")  # terse where the edges are closer
    else:
        assert found.violations != ()
        assert found.action in ("regenerate", "escalate")
        assert found.delivered is None


RIGHT = [row for row in ROWS if row[1] == "right"]


@pytest.mark.parametrize(("case", "label", "text"), RIGHT, ids=[f"{case['title']}: {text}" for case, _, text in RIGHT])
def test_a_right_answer_to_who_said_everything_passes_however_short(
    case: dict, label: str, text: str, own: BundleIndex
) -> None:
    found = judged(case, text, own)
    coverage = next(check for check in found.checks if check.name == "coverage")
    assert found.action == "pass" or coverage.score == 0, coverage.detail


WRONG = [row for row in ROWS if row[1] in ("wrong action", "wrong number")]


@pytest.mark.parametrize(
    ("case", "label", "text"), WRONG, ids=[f"{case['title']}: {label}: {text[:50]}" for case, label, text in WRONG]
)
def test_what_is_wrong_does_not_pass_behind_what_is_right(case: dict, label: str, text: str, own: BundleIndex) -> None:
    right = next((said for said in case.get("right", ()) if judged(case, said, own).action == "pass"), "Thank you.")
    found = judged(case, f"{right} {text}", own)
    assert found.action != "pass", right
    assert found.delivered != found.llm_response


def test_precision_and_recall(own: BundleIndex, capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[str] = Counter()
    for case, label, text in ROWS:
        found = judged(case, text, own)
        is_held = bool(found.violations)
        counts["held"] += is_held
        counts["held and wrong"] += is_held and label != "right"
        counts["wrong"] += label != "right"
        counts["wrong action passed"] += found.action == "pass" and label == "wrong action"
    precision, recall = counts["held and wrong"] / counts["held"], counts["held and wrong"] / counts["wrong"]
    with capsys.disabled():
        print(f"\n{len(ROWS)} labelled answers: precision {precision:.3f}, recall {recall:.3f}")
    assert counts["wrong action passed"] == 0
    assert min(precision, recall) >= 0.98
