"""A model writes, the checks read: what is delivered is right whatever it says, and marked when it is not its."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.conversation import Actor, Question, Turn, spoken
from bot.enforcement.answer import answer
from bot.index import BundleIndex
from bot.operate import trace
from bylaw.canonical import fingerprint
from bylaw.llm.guarded import Guard
from bylaw.llm.port import Prompt
from bylaw.llm.recorded import Replayed
from tests.bot.enforcement.models import Author, fails, obedient
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("author.yaml").read_text(encoding="utf-8"))
TV = "I bought a TV 20 days ago and lost the receipt. Can I get a refund?"


def say(text: str, shop: BundleIndex, llm: Any = None, state: dict[str, Any] | None = None) -> Turn:
    """One question; *llm* is a model, or none."""
    asked = Question(
        text=text,
        actor=Actor(id="anna"),
        asked_at=datetime(2026, 11, 20, 12, tzinfo=UTC),
        session_id="s",
        request_id="r",
    )
    return answer(asked, state or {}, shop, None if llm is None else Guard(llm, lambda: 0.0))


def line_of(said: Any) -> Callable[[Prompt], Any]:
    """A turn of a row as what a model does."""
    match said:
        case "obedient":
            return obedient
        case {"fails": reason}:
            return fails(reason)
        case {"raw": text}:
            return lambda _: text
        case {"long": length}:
            return lambda prompt: {**obedient(prompt), "text": "a" * length}
        case _:
            return lambda prompt: {**obedient(prompt), **said}


@each("row", ROWS, ids=lambda row: row["title"])
def test_what_is_delivered(row, shop):
    model = Author([line_of(said) for said in row["says"]])
    if "reads" in row:
        model.claims = {"claims": row["reads"]}
    question = row.get("ask", TV)
    turn, plain = say(question, shop, model), say(question, shop)
    reply = turn.reply
    assert reply.status == "answered"
    assert reply.outcomes["refund"]["action"] == "store_credit"
    assert reply.citations == plain.reply.citations
    assert spoken(reply) == reply
    if "asked" in row:
        assert len(model.prompts) == row["asked"]
    if "held" in row:
        assert len(model.held) == row["held"]
    assert reply.meta is not None
    if row["by"] == "plain" or (row["by"] == "either" and reply.meta["fallback_used"]):
        because = row.get("because", "did not pass the checks")
        assert reply.meta["fallback_used"] is True and because in reply.meta["fallback_reason"]
        first, *rest, mark = reply.text.splitlines()
        assert [first, *rest] == plain.reply.text.splitlines()
        assert mark.startswith("(In plain words:") and because in mark
    else:
        assert reply.meta == {"author": "test:author", "fallback_used": False}
        assert reply.text.splitlines()[0] != plain.reply.text.splitlines()[0]
        assert "I read: " in reply.text


@given(
    text=st.text(max_size=300)
    | st.sampled_from(["You get a full refund.", "No refund.", "Store credit.", "store credit and full refund"]),
    actions=st.lists(st.sampled_from(["store_credit", "full_refund", "reject", "x"]), max_size=2),
    policies=st.lists(st.sampled_from(["POL-REFUND-001", "POL-DISCOUNT-001", ""]), max_size=2),
)
@settings(max_examples=60)
def test_whatever_a_model_says_the_answer_is_the_rules(text, actions, policies, shop):
    said = {"text": text, "actions": actions, "policies": policies}
    reply = say(TV, shop, Author([lambda _: said])).reply
    assert reply.status == "answered"
    assert "a full refund" not in reply.text.partition("I read:")[0]
    assert "store credit" in reply.text.lower()


def test_without_a_model_nothing_is_marked(shop):
    reply = say(TV, shop).reply
    assert reply.meta is None
    assert "(In plain words" not in reply.text


@pytest.mark.parametrize("text", ["Can I get a refund?", "Can I open the vault?", "How tall is the tower?"])
def test_what_is_not_decided_is_never_put_to_a_model(text, shop):
    model = Author()
    assert say(text, shop, model).reply == say(text, shop).reply
    assert model.prompts == model.judged == []


def test_a_fallback_is_logged_without_the_question(shop, caplog):
    caplog.set_level(logging.WARNING)
    say(TV, shop, Author([fails("late")]))
    (record,) = [record for record in caplog.records if record.getMessage() == "the plain writer answers"]
    told = json.dumps(record.__dict__["meta"])
    assert "did not answer in time" in told and "TV" not in told


def test_personal_data_is_hidden_from_the_model(shop):
    model = Author()
    said = "I am jane.doe@private.example, 123-45-6789. " + TV
    say(said, shop, model)
    shown = " ".join(prompt.user + prompt.system for prompt in [*model.prompts, *model.judged])
    assert "20 days ago" in shown
    assert "jane.doe" not in shown and "123-45-6789" not in shown


def test_what_was_wrong_is_told_in_the_next_attempt(shop):
    model = Author([line_of({"text": "A voucher.", "actions": ["voucher"], "policies": ["POL-X-1"]}), obedient])
    say(TV, shop, model)
    first, second = model.prompts
    assert "NOT ACCEPTED" not in first.user
    told = second.user.partition("NOT ACCEPTED:\n")[2].partition("\n\nQUESTION")[0].splitlines()
    assert [json.loads(line) for line in told] == [
        "State also: store_credit.",
        "DO NOT state: voucher.",
        "Cite only, and at least one of: POL-REFUND-001.",
    ]


@pytest.mark.parametrize(
    ("marks", "by"),
    [
        ({"accuracy": 1, "action": 1, "constraints": 1, "tone": 1, "completeness": 1}, "test:author"),
        ({"accuracy": 0, "action": 0, "constraints": 0, "tone": 0, "completeness": 0}, "plain writer"),
        ({"accuracy": 2, "action": 1, "constraints": 1, "tone": 1, "completeness": 1}, "test:author"),  # no verdict
        ("I think it is fine.", "test:author"),  # no verdict: its weight goes to the other checks
    ],
)
def test_the_judge_is_one_check_among_others(marks, by, shop):
    model = Author(marks=marks)
    reply = say(TV, shop, model).reply
    assert reply.meta is not None and reply.meta["author"] == by
    assert len(model.judged) >= 1


def test_the_verdict_that_is_kept_is_the_one_that_decided(shop):
    marks = dict.fromkeys(("accuracy", "action", "constraints", "tone", "completeness"), 0.875)
    turn = say(TV, shop, Author(marks=marks))
    assert turn.reply.meta is not None and turn.reply.meta["author"] == "test:author"
    kept, attempt = turn.artifacts["verdict"], turn.artifacts["attempt_1"]
    (judged,) = [check for check in kept["checks"] if check["name"] == "judge"]
    assert (judged["score"], kept["action"]) == (0.875, "pass")
    assert kept["score"] == attempt["score"] == turn.log["compliance_score"]
    assert 0.95 <= kept["score"] < 1
    told = list(trace._verdict(json.loads(json.dumps(kept))))
    assert told[0] == f"  verdict    {kept['verdict']}, pass with score {kept['score']}"
    assert "  check      judge: 0.875" in told


def test_words_of_our_own_are_kept_with_their_own_verdict(shop):
    turn = say(TV, shop, Author([fails("late")]))
    assert [check["score"] for check in turn.artifacts["verdict"]["checks"] if check["name"] == "judge"] in ([], [None])
    assert turn.artifacts["verdict"]["score"] == turn.log["compliance_score"]


def test_a_judge_cannot_save_a_wrong_answer(shop):
    wrong = line_of({"text": "You get a full refund (POL-REFUND-001)."})
    reply = say(TV, shop, Author([wrong])).reply
    assert reply.meta is not None and reply.meta["author"] == "plain writer"


def test_every_prompt_and_completion_is_kept_and_an_answer_can_be_made_again_from_them(shop):
    model = Author([line_of({"text": "A voucher.", "actions": ["voucher"]}), obedient])
    turn = say(TV, shop, model)
    papers = [value for name, value in sorted(turn.artifacts.items()) if name.startswith("model_")]
    asked = {prompt.fingerprint for prompt in [*model.read, *model.prompts, *model.held, *model.judged]}
    assert {paper["fingerprint"] for paper in papers} == asked
    assert all(fingerprint(paper["prompt"]) == paper["fingerprint"] for paper in papers)
    kept = json.loads(json.dumps(papers))
    again = say(TV, shop, Replayed.of(kept))
    assert again.reply.text == turn.reply.text
    assert "attempt_1" in turn.artifacts


def test_a_fallback_can_be_made_again_from_what_is_kept(shop):
    turn = say(TV, shop, Author([fails("unreachable")]))
    papers = [value for name, value in sorted(turn.artifacts.items()) if name.startswith("model_")]
    assert say(TV, shop, Replayed.of(papers)).reply.text == turn.reply.text


def test_one_deadline_covers_all_attempts(shop):
    """Each attempt takes four of the ten seconds that the rules give: there is no fourth."""
    now = [0.0]

    def slow(prompt: Prompt) -> Any:
        now[0] += 4
        return {**obedient(prompt), "policies": []}

    model = Author([slow])
    asked = Question(
        text=TV, actor=Actor(id="anna"), asked_at=datetime(2026, 11, 20, 12, tzinfo=UTC), session_id="s", request_id="r"
    )
    reply = answer(asked, {}, shop, Guard(model, lambda: now[0])).reply
    assert reply.meta is not None and reply.meta["fallback_used"] is True
    assert now[0] <= 12
