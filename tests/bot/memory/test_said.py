"""A correction in free words is heard before anything else is, changes nothing yet, and is never a new question."""

from __future__ import annotations

import pytest

from bot.conversation import CORRECTS, Actor, Question
from bot.memory import offered, own
from bot.request.orchestrator import handle
from bot.router import objects
from bylaw.authored.context import Context
from bylaw.errors import UsageError
from tests.bot.memory.conftest import CONTEXT


@pytest.fixture
def talk(shop):
    shop.services = shop.services.under(shop.services.index.rules.autonomy)

    def say(text, user="ada", name=None):
        name = name or f"t{next(shop.numbers)}"
        asked = Question(text=text, actor=Actor(id=user), asked_at=shop.now, session_id="talk", request_id=name)
        return handle(asked, shop.services)

    return say


@pytest.mark.parametrize(
    "words",
    [
        "that's wrong, test accounts should be excluded",
        "wrong: revenue should be net of refunds",
        "That’s not right — stores count themselves",
        "not right, it should be weekly",
        "wrong",
        "No, wrong. Take the other date",
    ],
)
def test_it_names_the_answer_and_becomes_a_form_with_the_words_as_reason(shop, talk, words):
    talk("revenue", name="first")
    heard = talk(words, name="second")
    assert (heard.status, heard.meta, heard.sql) == ("needs_choice", {CORRECTS: "first"}, None)
    assert offered.meant("second", Actor(id="ada"), shop.services) == offered.Meant("first", words)
    assert shop.kept("ada") == ()
    assert talk("revenue").meta is None, "nothing has changed"


def test_only_behind_an_answer(talk):
    assert talk("that's wrong, test accounts should be excluded").meta is None


@pytest.mark.parametrize(
    "words", ["wrong item delivered", "revenue by channel", "incorrect addresses", "wrongly billed"]
)
def test_other_words_are_no_objection(shop, talk, words):
    talk("revenue")
    assert not objects(words, shop.services.lexicons.wrong)
    assert (talk(words).meta or {}).get(CORRECTS) is None


def test_somebody_elses_answer_is_not_meant(talk):
    talk("revenue")
    assert talk("wrong: it is net", user="bo").meta is None


def test_a_preference_in_words_shapes_ones_own_answers_until_it_is_forgotten(shop, talk):
    noted = talk("weekly by default")
    assert "noted your preference" in noted.text
    mine = shop.ask("ada", "revenue over time")
    assert "week" in mine.sql
    assert any("as you prefer" in note for note in mine.caveats)
    assert "week" not in (shop.ask("bo", "revenue over time").sql or "")
    assert own.remembered(Actor(id="ada"), shop.services)["preferences"] == {"grain": "week"}
    own.forget("grain", Actor(id="ada"), shop.services)
    assert "week" not in (shop.ask("ada", "revenue over time").sql or "")


def test_more_care_stands_for_its_author_alone(shop, talk):
    entities = {**CONTEXT["entities"], "orders": {**CONTEXT["entities"]["orders"], "domain": "finance"}}
    shop.serve(Context.model_validate({**CONTEXT, "entities": entities}))
    talk("always confirm financial data")
    assert own.remembered(Actor(id="ada"), shop.services)["preferences"] == {"care": ["confirm_finance"]}
    assert [shop.ask(user).level for user in ("ada", "bo")] == [3, 4]


def test_people_see_and_forget_what_is_theirs_and_nothing_else(shop):
    made = shop.correct("ada").correction
    assert own.remembered(Actor(id="bo"), shop.services)["corrections"] == []
    with pytest.raises(UsageError, match="nothing of yours"):
        own.forget(made.correction_id, Actor(id="bo"), shop.services)
    own.forget(made.correction_id, Actor(id="ada"), shop.services)
    assert "channel = 'online'" not in shop.ask("ada").sql
    assert made.correction_id not in own.in_words(own.remembered(Actor(id="ada"), shop.services))
