"""The labelled suite: answers to cases of four companies' policies, read by nobody but the plain reader.

A right answer may be unread; no wrong one is valid, alone or behind a right one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from bot.conversation import Question
from bot.enforcement.enforce import enforce
from bot.enforcement.judged.verdict import ComplianceDecision
from bot.index import BundleIndex
from bot.request.cases import read_facts
from tests.rows import each

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


@pytest.mark.slow
def test_there_are_enough_rows_over_all_domains(companies: Companies) -> None:
    labels = [label for case in CASES for label, _ in rows(case)]
    assert len(labels) >= 1200
    assert set(labels) == set(LABELS)
    mine = [case for case in CASES if "company" not in case]
    reached = {judged(case, "Hello.", companies).domain for case in mine}
    assert reached >= {rule.domain for rule in companies["own"].ruleset.rules}
    assert {case.get("company", "own") for case in CASES} == set(companies)


@each("case", CASES, ids=IDS, of=3)
def test_no_wrong_answer_is_valid(case: dict, companies: Companies) -> None:
    slips = []
    for label, text in rows(case, *LABELS[1:]):
        found = judged(case, text, companies)
        if found.verdict in ("valid", "incomplete") or found.delivered is not None:
            slips.append((label, text, found.verdict))
    assert slips == []


@pytest.mark.slow
@each("case", CASES, ids=IDS)
def test_what_is_wrong_is_not_valid_behind_what_is_right(case: dict, companies: Companies) -> None:
    right = (text for _, text in rows(case, "right") if judged(case, text, companies).verdict == "valid")
    first = next(right, "Thank you.")
    slips = []
    for label, text in rows(case, "wrong action", "wrong number"):
        found = judged(case, f"{first} {text}", companies)
        if found.verdict in ("valid", "incomplete"):
            slips.append((label, text, found.verdict))
    assert slips == []


@pytest.mark.slow
def test_how_many_are_understood(companies: Companies, capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[tuple[bool, str]] = Counter()
    for case in CASES:
        for label, text in rows(case):
            counts[label == "right", judged(case, text, companies).verdict] += 1
    right = {verdict: count for (is_right, verdict), count in sorted(counts.items()) if is_right}
    wrong = {verdict: count for (is_right, verdict), count in sorted(counts.items()) if not is_right}
    with capsys.disabled():
        print(f"\n{sum(right.values())} right answers: {right}; {sum(wrong.values())} wrong ones: {wrong}")
    assert right.get("invalid", 0) <= 0.01 * sum(right.values())
    assert right["valid"] + right["incomplete"] >= 0.1 * sum(right.values())
