"""The day that a question names is the day whose rules answer it; a number that a person is, is an age."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.conversation import Question, Turn
from bot.enforcement.answer import answer
from bot.enforcement.question.case.days import Days, told_days
from bot.enforcement.question.case.facts import read_text
from bot.enforcement.question.memory import Memory, load
from bot.enforcement.question.understanding import understand
from bot.index import BundleIndex
from bylaw.bundle import parse
from ci import pipeline
from tests.rows import each

HERE = Path(__file__)
NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
ROWS = yaml.safe_load(HERE.with_name("days.yaml").read_text())
AGES = yaml.safe_load(HERE.with_name("ages.yaml").read_text())


@pytest.fixture(scope="module")
def sauna() -> BundleIndex:
    return BundleIndex(parse(pipeline.bundle_text(pipeline.run(HERE.with_name("trades") / "sauna", None, NOW.date()))))


def said(turns: list[str], index: BundleIndex) -> Turn:
    state: dict[str, Any] = {}
    for text in turns:
        turn = answer(Question(text=text, asked_at=NOW, request_id="r"), state, index)
        state = dict(turn.state)
    return turn


@each("row", ROWS["told"], ids=lambda row: row["text"])
def test_the_days_that_a_question_names_are_read(row: dict, sauna: BundleIndex) -> None:
    memory, reading, _ = understand(row["text"], NOW.date(), Memory({}), sauna, sauna.evaluator)
    assert (memory.days and str(memory.days)) == row.get("days")
    assert list(reading.unused) == row.get("unused", [])


@each("row", ROWS["asked"], ids=lambda row: row["turns"][-1])
def test_the_rules_of_that_day_answer(row: dict, sauna: BundleIndex) -> None:
    text = said(row["turns"], sauna).reply.text
    assert all(part in text for part in row["has"]), text
    assert not any(part in text for part in row.get("not", ())), text


def test_more_changes_than_are_told_are_not_kept_quiet(sauna: BundleIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.enforcement.answer._MOST_CHANGES", 1)
    text = said(["Can I swim in the lake from 2 January 2027 to 30 January 2027?"], sauna).reply.text
    assert "From 2 January 2027:\nYes, it is allowed" in text
    assert "From 15 January 2027 on the rules change again" in text and "not allowed" not in text


def test_a_day_that_tells_a_fact_is_not_that_of_the_case(shop: BundleIndex) -> None:
    reads = read_text(
        "Is a TV bought on 3 May 2026 refunded?", shop.vocabulary, shop.ruleset.variables, NOW.date()
    ).reads
    assert [read.fact for read in reads if "3 May" in read.words] == ["days_since_purchase"]
    assert told_days("Is a TV bought on 3 May 2026 refunded?", NOW.date(), reads) is None


@each("days", [["2027-01-01"], ["soon", "later"], "2027-01-01", [1, 2], None])
def test_days_of_another_shape_are_forgotten(days: object) -> None:
    assert load({"facts": {}, "days": days}, {}).days is None


def test_days_are_kept_as_they_are() -> None:
    kept = Memory({}, days=Days(date(2027, 1, 1), date(2027, 2, 1)))
    assert load(kept.dump({}), {}).days == kept.days


@each("row", AGES, ids=lambda row: row["text"])
def test_a_number_that_a_person_is_is_an_age(row: dict, sauna: BundleIndex) -> None:
    reads = read_text(row["text"], sauna.vocabulary, sauna.ruleset.variables, NOW.date()).reads
    assert {read.fact: read.value for read in reads} == row["facts"]


def test_facts_that_fit_do_not_answer_what_names_nothing(sauna: BundleIndex) -> None:
    reply = said(["My husband is 40, can he sit with me?"], sauna).reply
    assert (reply.status, [one.value for one in reply.choices]) == ("needs_choice", ["entry", "something else"])
    assert reply.meta is not None and reply.meta["uncovered"] == {"words": ["sit"], "owners": ["Front Desk"]}
    assert (
        said(["My husband is 40, can he sit with me?", "entry"], sauna).reply.outcomes["entry"]["action"] == "come_in"
    )


def test_a_value_in_the_place_of_its_fact_names_the_action_and_is_told(sauna: BundleIndex) -> None:
    for text in ("Can I bring my dog?", "Can I bring my puppy?"):
        reply = said([text], sauna).reply
        assert (reply.status, reply.facts) == ("answered", {"animal": "dog"})
        assert "may not come along" in reply.text


def test_a_figure_that_no_fact_changes_is_told_without_a_question(sauna: BundleIndex) -> None:
    reply = said(["How much is the towel fee?"], sauna).reply
    assert (reply.status, reply.ask) == ("answered", None)
    assert "3 EUR" in reply.text and "POL-ENTRY-002" in reply.text


def test_an_unknown_word_is_shown_as_it_is_typed(sauna: BundleIndex) -> None:
    assert "nothing in them speaks of “Trampolines”." in said(["Are Trampolines there?"], sauna).reply.text
