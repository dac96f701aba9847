"""The plain reader: it understands a sentence to its last word or leaves it, and nothing wrong becomes valid by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.claims.judge import Found, judge
from bot.claims.plain import read
from bot.enforcement.assemble import case_of
from bot.enforcement.judged.reading import situation
from bot.index import BundleIndex
from bot.request.cases import read_facts
from tests.bot.claims.conftest import HERE, lines
from tests.compiled import TODAY, index_of
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("plain.yaml").read_text())
READS = yaml.safe_load(Path(__file__).with_name("reads.yaml").read_text())
SUITE = yaml.safe_load((HERE.parent / "enforcement" / "suite.yaml").read_text())
WRONG = ("wrong action", "wrong number", "wrong reason", "promise", "pii", "unanswered")
Roots = dict[str, BundleIndex]
TICKET = {"fare_class": "flex", "hours_until_departure": 50, "is_cancelled_by_us": False, "bags": 4}


def found(index: BundleIndex, query: str, facts: dict[str, Any], response: str) -> Found:
    case = case_of(query, TODAY, {}, index, index.evaluator, read_facts(facts, index))
    told = situation(case, response)
    return judge(response, read(response, told), told, "plain")


def test_short_right_answers_are_mostly_valid_and_never_called_wrong(
    repositories: Roots, capsys: pytest.CaptureFixture[str]
) -> None:
    verdicts = [
        found(repositories[row["root"]], row["query"], row["facts"], text).verdict
        for row in ROWS
        for text in row["right"]
    ]
    assert set(verdicts) <= {"valid", "unread"}
    with capsys.disabled():
        print(f"\n{verdicts.count('valid')} of {len(verdicts)} short right answers are valid, the others unread")
    assert verdicts.count("valid") >= 0.45 * len(verdicts)  # what is asked in undeclared words is not known to be asked


@each("row", READS, ids=lambda row: row["text"])
def test_a_sentence_is_read_as_what_it_says_or_not_at_all(row: dict[str, Any], repositories: Roots) -> None:
    index, facts = repositories[row.get("root", "ferry")], row.get("facts", TICKET)
    case = case_of(row.get("query", "What holds?"), TODAY, {}, index, index.evaluator, read_facts(facts, index))
    read_as = [
        " ".join(
            str(part) for part in (one.kind, one.action or one.fact or one.policy_id, one.value) if part is not None
        )
        for one in read(row["text"], situation(case, row["text"]))
    ]
    assert read_as == row.get("claims", [])


@each("row", ROWS, ids=[row["query"][:40] for row in ROWS])
def test_no_wrong_answer_is_valid(row: dict[str, Any], repositories: Roots) -> None:
    for text in row["wrong"]:
        assert found(repositories[row["root"]], row["query"], row["facts"], text).verdict in ("invalid", "unread"), text


def test_no_wrong_answer_of_the_development_rows_is_valid(repositories: Roots) -> None:
    for row in lines("answers.jsonl"):
        if row["expected_verdict"] != "valid":
            read_as = found(repositories[row["root"]], row["query"], row["facts"], row["response"]).verdict
            assert read_as not in ("valid", "incomplete"), row["response"]


@pytest.mark.slow  # every run tries the same answers in tests/bot/enforcement/test_suite.py, with all the checks
def test_no_wrong_answer_of_the_labelled_suite_passes(repositories: Roots) -> None:
    roots = {
        "own": repositories["voltmark"],
        "rental": repositories["rental"],
        "shop": index_of(HERE.parent / "enforcement" / "shop"),
        "init": index_of(HERE.parents[2] / "ci" / "template"),
    }
    passed = [
        text
        for case in SUITE
        for label in WRONG
        for text in case.get(label, ())
        if found(roots[case.get("company", "own")], case["query"], case.get("facts", {}), text).verdict
        in ("valid", "incomplete")
    ]
    assert passed == []


@pytest.mark.parametrize("text", ["", "?" * 3000, "****** ~~ ~~ |", "No.", "Yes", "1 1 1", "POL-TICKETS-001 " * 50])
def test_what_says_nothing_is_unread(text: str, repositories: Roots) -> None:
    assert found(repositories["ferry"], "Flex ticket, please.", {"fare_class": "flex"}, text).verdict != "valid"


def test_an_answer_that_repeats_itself_is_read_once(repositories: Roots) -> None:
    told = ROWS[0]
    once = found(repositories["ferry"], told["query"], told["facts"], told["right"][0])
    often = found(repositories["ferry"], told["query"], told["facts"], " ".join([told["right"][0]] * 400))
    assert often.reading.claims == once.reading.claims


def test_the_clause_by_which_a_label_denies_its_action_is_a_denial(repositories: Roots) -> None:
    words = repositories["voltmark"].vocabulary
    denied = {name: one.label.denied for name, one in words.actions.items() if one.label and one.label.denied}
    read_as = {name: _claims(repositories["voltmark"], clause) for name, clause in denied.items()}
    understood = {name: claims for name, claims in read_as.items() if claims}
    assert understood == {name: [("denies", words.canonical(name))] for name in understood}
    assert len(understood) >= 0.9 * len(denied)


@each("text", ["never {}", "it is not so that {}", "{}, not", "{} today", "nobody says that {}"])
def test_a_denial_that_is_denied_or_bounded_is_unread(text: str, repositories: Roots) -> None:
    assert _claims(repositories["voltmark"], text.format("the order can no longer be cancelled")) == []


def _claims(index: BundleIndex, clause: str) -> list[tuple[str, str | None]]:
    case = case_of("What now?", TODAY, {}, index, index.evaluator, {})
    text = f"{clause[0].upper()}{clause[1:]}."
    return [(claim.kind, claim.action) for claim in read(text, situation(case, text))]
