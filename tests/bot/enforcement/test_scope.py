"""Which part of a decision a question is about."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.conversation import Question
from bot.enforcement.answer import answer
from bot.enforcement.question.topic.recognise import Topic
from bot.enforcement.question.topic.scope import Scope, scope_of
from bot.index import BundleIndex
from bylaw.logic.formula.ir import Value
from tests.compiled import index_of

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
DAY = NOW.date().toordinal()


def scope(shop: BundleIndex, topic: Topic, **facts: Value) -> Scope:
    decision = shop.evaluator.decide(facts, DAY)
    return scope_of(topic, facts, facts, shop, shop.evaluator, decision, DAY)


def test_a_named_outcome_is_the_scope(shop: BundleIndex) -> None:
    found = scope(shop, Topic(outcomes=("refund",)), product_category="clothing")
    assert found.outcomes == ("refund",)
    assert found.missing == ("has_receipt", "days_since_purchase")


def test_facts_alone_decide_nothing_and_what_they_fit_is_offered(shop: BundleIndex, own: BundleIndex) -> None:
    found = scope(shop, Topic(), item_count=2)
    assert (found.outcomes, found.missing, found.choices, found.is_offer) == ((), (), ("discount",), True)
    assert scope(shop, Topic()).choices == ()
    told = scope(own, Topic(), product_category="electronics")
    assert (told.outcomes, told.missing) == ((), ())
    assert {"refund", "discount"} <= set(told.choices)


def test_of_what_words_speak_far_more_than_of_what_they_name_is_asked_or_offered(shop: BundleIndex) -> None:
    topic = Topic(outcomes=("refund",), likely=(("discount", 4.0), ("refund", 1.0)))
    assert scope(shop, topic, item_count=2).outcomes == ("discount",)
    assert scope(shop, topic, days_since_purchase=3).outcomes == ("refund",)
    untold = scope(shop, topic)
    assert (untold.outcomes, untold.choices, untold.is_offer) == ((), ("discount", "refund"), True)
    near = Topic(outcomes=("refund",), likely=(("discount", 4.0), ("refund", 3.0)))
    assert scope(shop, near).outcomes == ("refund",)


def test_words_that_speak_of_one_put_it_first_and_decide_nothing(own: BundleIndex) -> None:
    tie = Topic(likely=(("refund", 2.0), ("discount", 1.9)))
    assert scope(own, tie, product_category="electronics").choices == ("discount", "refund")
    ahead = Topic(likely=(("refund", 2.0), ("discount", 0.5)))
    found = scope(own, ahead, product_category="electronics")
    assert (found.outcomes, found.choices) == ((), ("refund", "discount"))


def test_in_a_named_area_facts_and_words_find_what_is_meant(own: BundleIndex) -> None:
    found = scope(own, Topic(areas=("refund",)), product_category="electronics")
    assert (found.outcomes, found.is_offer) == (("refund",), False)


def test_what_is_told_of_something_else_than_what_is_named_is_asked_about(own: BundleIndex) -> None:
    found = scope(own, Topic(outcomes=("cancellation",)), plan_request="cancel")
    assert found.outcomes == ()
    assert found.choices[0] == "cancellation" and len(found.choices) > 1


def test_an_outcome_that_no_rule_answers_is_no_scope(shop: BundleIndex) -> None:
    assert scope(shop, Topic(outcomes=("no_such_outcome",))).outcomes == ()


def test_duties_belong_to_the_domains_of_the_answer(shop: BundleIndex) -> None:
    facts: dict[str, Value] = {"product_category": "clothing", "has_receipt": True, "days_since_purchase": 3}
    found = scope(shop, Topic(outcomes=("refund",)), purchase_amount=300, **facts)
    assert [(kind, action) for kind, action, _ in found.duties] == [("required", "verify_identity")]
    elsewhere = scope(shop, Topic(outcomes=("delivery_fee",)), purchase_amount=300, parcel_weight=30)
    assert [(kind, action) for kind, action, _ in elsewhere.duties] == [("prohibited", "ship_by_air")]


def test_a_named_action_is_spoken_of_open_or_silent(shop: BundleIndex) -> None:
    by_air = Topic(actions=("ship_by_air",))
    assert scope(shop, by_air).missing == ("parcel_weight",)
    assert [(kind, action) for kind, action, _ in scope(shop, by_air, parcel_weight=30).duties] == [
        ("prohibited", "ship_by_air")
    ]
    light = scope(shop, by_air, parcel_weight=3)
    assert (light.silent, light.missing, light.duties) == (("ship_by_air",), (), ())


def test_several_things_that_have_to_be_done_are_no_question_which(own: BundleIndex) -> None:
    found = scope(own, Topic(domains=("privacy",), areas=("privacy",)), privacy_request="erasure")
    assert (found.outcomes, found.choices) == ((), ())
    assert "erase_data" in found.actions and "identity_verified" in found.missing


COWORKING = Path(__file__).with_name("trades") / "coworking"


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("What happens if I lost my key card?", "answered", ["block the key card", "charge 25 euros"]),
        ("What happens if the room is booked for 3 hours?", "answered", ["15 euros an hour"]),
        ("What happens if the room is booked for an hour?", "needs_fact", []),  # the plan decides
        ("I lost my key card, how are you?", "needs_choice", []),  # it asks for nothing that follows
        ("How long may a room be booked?", "answered", ["two hours"]),
        ("For how many hours may a room be booked?", "answered", ["two hours"]),
        ("At what number of guests is it too many?", "answered", ["at most three guests"]),
    ],
)
def test_who_asks_what_follows_hears_what_the_told_facts_alone_decide(text: str, status: str, said: list[str]) -> None:
    reply = answer(Question(text=text, asked_at=NOW, request_id="r"), {}, index_of(COWORKING)).reply
    assert reply.status == status
    assert all(one in reply.text for one in said), reply.text
