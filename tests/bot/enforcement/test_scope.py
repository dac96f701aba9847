"""Which part of a decision a question is about."""

from datetime import date

from bot.enforcement.question.scope import Scope, scope_of
from bot.enforcement.question.topic import Topic
from bot.index import BundleIndex
from bylaw.logic.formula.ir import Value

DAY = date(2026, 11, 20).toordinal()


def scope(shop: BundleIndex, topic: Topic, **facts: Value) -> Scope:
    decision = shop.evaluator.decide(facts, DAY)
    return scope_of(topic, facts, shop, shop.evaluator, decision, DAY)


def test_a_named_outcome_is_the_scope(shop: BundleIndex) -> None:
    found = scope(shop, Topic(outcomes=("refund",)), product_category="clothing")
    assert found.outcomes == ("refund",)
    assert found.missing == ("has_receipt", "days_since_purchase")


def test_facts_alone_decide_nothing(shop: BundleIndex) -> None:
    found = scope(shop, Topic(), item_count=2)
    assert (found.outcomes, found.actions, found.missing) == ((), (), ())


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
