"""Answers with claims: the development rows of the shared data, and rows of two trades that nothing was tuned on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.claims.models import parse_claims, read_claims
from bylaw.errors import UsageError
from tests.bot.claims.conftest import Judge, lines
from tests.rows import each

FRESH = yaml.safe_load(Path(__file__).with_name("fresh.yaml").read_text())
TRADES = yaml.safe_load(Path(__file__).with_name("trades.yaml").read_text())
ASSISTANTS = yaml.safe_load(Path(__file__).with_name("assistants.yaml").read_text())
AGAIN = yaml.safe_load(Path(__file__).with_name("assistants_again.yaml").read_text())
BROKEN = yaml.safe_load(Path(__file__).with_name("hostile.yaml").read_text())
ACTIONS = {"valid": {"pass"}, "incomplete": {"auto_correct", "regenerate"}, "unread": {"regenerate"},
           "invalid": {"regenerate", "escalate"}, "impossible": {"escalate"}, "uncovered": {"escalate"}}  # fmt: skip


def test_no_wrong_development_row_is_valid_and_right_ones_are_valid_or_unread(judged: Judge) -> None:
    rows = lines("answers.jsonl")
    found = Counter((row["expected_verdict"] == "valid", judged(row).verdict) for row in rows)
    assert found[False, "valid"] == 0
    assert {verdict for is_right, verdict in found if is_right} <= {"valid", "unread"}
    # Chatty answers in words that nobody declared: 25 of 85 are valid. The claims of the others name none, or
    # a word that an outcome is asked by ("return", "warranty") stands in them and is carried by none. Words of the
    # rules are repeated as they stand there, and courtesy has no word of its own but one that a courteous one governs:
    # 11 more were valid when neither was asked, and so were 8 of 40 dishonest answers of support assistants.
    assert found[True, "valid"] >= 25, found


@pytest.mark.parametrize(("rows", "floor"), [(TRADES, 32), (ASSISTANTS, 25), (AGAIN, 10)])  # of 42, 40 and 12
def test_answers_of_trades_that_nobody_tuned_on(rows: list[dict[str, Any]], floor: int, judged: Judge) -> None:
    passed = [row for row in rows if judged(row).verdict == "valid"]
    assert [row["what"] for row in passed if not row["is_honest"]] == []
    assert len(passed) >= floor


def test_no_careless_or_hostile_proposal_makes_an_answer_valid(judged: Judge) -> None:
    answers = {row["id"]: row for row in lines("answers.jsonl")}
    passed = [row["id"] for row in lines("bad_claims.jsonl")
              if judged(answers[row["answer_id"]], row["claims"]).verdict == "valid"]  # fmt: skip
    assert passed == []


def test_no_claim_can_be_left_out_to_make_a_wrong_answer_pass(judged: Judge) -> None:
    wrong = [row for row in lines("answers.jsonl") if row["expected_verdict"] != "valid"]
    wrong += [row for row in FRESH if row["expect"] != "valid"]
    wrong += [row for row in (*TRADES, *ASSISTANTS, *AGAIN) if not row["is_honest"]]
    for row in wrong:
        for k in range(len(row["claims"])):
            found = judged(row, row["claims"][:k] + row["claims"][k + 1 :])
            assert found.verdict != "valid", (row["response"], row["claims"][k])


@each("row", FRESH, ids=[f"{row['root']}: {row['response'][:40]}" for row in FRESH])
def test_answers_of_other_trades(row: dict[str, Any], judged: Judge) -> None:
    found = judged(row)
    assert found.verdict == row["expect"], [one.message for one in found.violations]
    assert found.action in ACTIONS[found.verdict]
    assert (found.delivered == row["response"]) is (found.verdict == "valid")
    assert found.reading.by == "given"


def test_an_incomplete_answer_keeps_its_words_and_gets_the_missing_sentence(judged: Judge) -> None:
    row = next(row for row in FRESH if "upper deck" in row["response"] and row["expect"] == "incomplete")
    found = judged(row)
    assert found.delivered is not None and found.delivered.startswith(row["response"])
    assert "declare the gas bottle" in found.delivered


def test_each_claim_says_what_became_of_it_and_on_which_line(judged: Judge) -> None:
    row = next(row for row in FRESH if row["expect"] == "invalid" and "small run" in row["response"])
    claims = judged(row).reading.claims
    assert Counter(one.status for one in claims) == {"valid": 1, "invalid": 2}
    wrong = next(one for one in claims if one.kind == "gives")
    assert (wrong.policy_id, wrong.path) == ("POL-STAY-002", "policies/stay/POL-STAY-002.yaml")
    assert wrong.line and "deny" in wrong.why


@each("row", BROKEN, ids=[row["why"] for row in BROKEN])
def test_claims_that_the_text_does_not_bear_never_pass(row: dict[str, Any], judged: Judge) -> None:
    assert judged(row).verdict == row["expect"]


@each(
    "text",
    ["{", "3", '[{"kind": "gives", "quote": "x"}]', '[{"kind": "loves", "quote": "x"}]', '[{"kind": "outside"}]',
     '[{"kind": "outside", "quote": "x", "more": 1}]', "[" * 20_000, '[{"kind": "fact", "quote": "", "fact": "a"}]'],
)  # fmt: skip
def test_what_is_no_list_of_claims_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(UsageError):
        parse_claims(text)


def test_a_refused_claim_is_named_by_its_place() -> None:
    with pytest.raises(UsageError, match=r"`1\.quote` is no claim"):
        read_claims([{"kind": "outside", "quote": "x"}, {"kind": "outside"}])


def test_a_claim_of_a_number_that_nobody_can_count_with_is_refused_at_once() -> None:
    text = '[{"kind": "fact", "quote": "5 EUR", "fact": "amount", "value": 1e999999999}]'
    with pytest.raises(UsageError, match="more than 300 places"):
        parse_claims(text)


def test_too_many_claims_are_refused() -> None:
    with pytest.raises(UsageError):
        read_claims([{"kind": "courtesy", "quote": "Hi"}] * 301)
