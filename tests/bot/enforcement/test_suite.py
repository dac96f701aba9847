"""The labelled suite: answers to cases of four companies' policies, and what the checks make of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
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
IDS = [f"{case['title']}: {case['query'][:40]}" for case in CASES]
NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
Companies = dict[str, BundleIndex]


JUDGED: dict[tuple[int, str], ComplianceDecision] = {}  # several tests ask the same of a verdict


def judged(case: dict, text: str, companies: Companies) -> ComplianceDecision:
    key = id(case), text
    if key not in JUDGED:
        index = companies[case.get("company", "own")]
        question = Question(text=case["query"], asked_at=NOW, request_id="r")
        JUDGED[key] = enforce(question, text, index, read_facts(case.get("facts", {}), index))
    return JUDGED[key]


def rows(case: dict, *labels: str) -> Iterator[tuple[str, str]]:
    """The answers of *case* that are labelled so, each with its label."""
    return ((label, text) for label in labels or LABELS for text in case.get(label, ()))


def told(found: ComplianceDecision, label: str) -> tuple[str, str, str, list[str]]:
    return label, found.llm_response, found.action, [broken.message for broken in found.violations]


def test_there_are_enough_rows_over_all_domains(companies: Companies) -> None:
    labels = [label for case in CASES for label, _ in rows(case)]
    assert len(labels) >= 1200
    assert set(labels) == set(LABELS)
    mine = [case for case in CASES if "company" not in case]
    reached = {judged(case, "Hello.", companies).domain for case in mine}
    assert reached >= {rule.domain for rule in companies["own"].ruleset.rules}
    assert {case.get("company", "own") for case in CASES} == set(companies)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_only_a_right_answer_passes(case: dict, companies: Companies) -> None:
    slips = []
    for label, text in rows(case):
        found = judged(case, text, companies)
        if label == "right":  # one that is terse where the edges are closer may be completed
            is_well = found.violations == () and found.action in ("pass", "auto_correct", "regenerate")
        else:
            is_well = found.violations != () and found.action in ("regenerate", "escalate") and found.delivered is None
        if not is_well:
            slips.append(told(found, label))
    assert slips == []


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_right_answer_to_who_said_everything_passes_however_short(case: dict, companies: Companies) -> None:
    for label, text in rows(case, "right"):
        found = judged(case, text, companies)
        coverage = next(check for check in found.checks if check.name == "coverage")
        assert found.action == "pass" or coverage.score == 0, (*told(found, label), coverage.detail)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_what_is_wrong_does_not_pass_behind_what_is_right(case: dict, companies: Companies) -> None:
    right = (text for _, text in rows(case, "right") if judged(case, text, companies).action == "pass")
    first = next(right, "Thank you.")
    slips = []
    for label, text in rows(case, "wrong action", "wrong number"):
        found = judged(case, f"{first} {text}", companies)
        if found.action == "pass" or found.delivered == found.llm_response:
            slips.append(told(found, label))
    assert slips == []


def test_precision_and_recall(companies: Companies, capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[str] = Counter()
    for case in CASES:
        for label, text in rows(case):
            found = judged(case, text, companies)
            is_held = bool(found.violations)
            counts["all"] += 1
            counts["held"] += is_held
            counts["held and wrong"] += is_held and label != "right"
            counts["wrong"] += label != "right"
            counts["wrong action passed"] += found.action == "pass" and label == "wrong action"
    precision, recall = counts["held and wrong"] / counts["held"], counts["held and wrong"] / counts["wrong"]
    with capsys.disabled():
        print(f"\n{counts['all']} labelled answers: precision {precision:.3f}, recall {recall:.3f}")
    assert counts["wrong action passed"] == 0
    assert min(precision, recall) >= 0.98
