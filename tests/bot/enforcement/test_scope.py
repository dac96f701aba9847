"""Which part of a decision a question is about."""

from datetime import date

from bot.enforcement.recognise import Topic
from bot.enforcement.scope import Scope, scope_of
from bot.index import BundleIndex
from bylaw.logic.ir import Value

DAY = date(2026, 11, 20).toordinal()


def scope(shop: BundleIndex, topic: Topic, **facts: Value) -> Scope:
    decision = shop.evaluator.decide(facts, DAY)
    return scope_of(topic, set(facts), facts, shop, shop.evaluator, decision, DAY)


def test_a_named_outcome_is_the_scope(shop: BundleIndex) -> None:
    found = scope(shop, Topic(outcomes=("refund",)), product_category="clothing")
    assert found.outcomes == ("refund",)
    assert found.missing == ("has_receipt", "days_since_purchase")


def test_without_a_name_the_mentioned_facts_say_it(shop: BundleIndex) -> None:
    assert scope(shop, Topic(), parcel_weight=30).outcomes == ("delivery_fee",)
    assert scope(shop, Topic(), customer_tier="VIP").outcomes == ("discount",)
    assert scope(shop, Topic()).outcomes == ()


def test_the_likeliest_domain_comes_before_the_facts(shop: BundleIndex) -> None:
    found = scope(shop, Topic(domains=("shipping",)), customer_tier="VIP")
    assert found.outcomes[0] == "delivery_fee"


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


def test_what_the_facts_settle_asks_for_no_outcome_of_other_rules(own: BundleIndex) -> None:
    found = scope(own, Topic(domains=("safety",)), has_safety_hazard=True, product_category="electronics")
    assert (found.outcomes, found.missing) == ((), ())
    assert [action for _, action, _ in found.duties] == ["advise_stop_use", "escalate", "notify_owner"]
    harmless = scope(own, Topic(domains=("safety",)), has_safety_hazard=False, product_category="electronics")
    assert harmless.duties == () and harmless.outcomes


def test_what_follows_from_the_facts_alone_holds_for_the_two_likeliest_domains(own: BundleIndex) -> None:
    vouchers = {"voucher_count": 2}
    near = scope(own, Topic(domains=("shipping", "discount")), **vouchers)
    assert [action for _, action, _ in near.duties] == ["stack_vouchers"]
    assert scope(own, Topic(domains=("shipping", "refund", "discount")), **vouchers).duties == ()


def test_rules_of_a_domain_without_outcomes_ask_for_what_they_test(own: BundleIndex) -> None:
    found = scope(own, Topic(domains=("privacy",)), privacy_request="erasure")
    assert (found.outcomes, found.duties, found.missing[:1]) == ((), (), ("identity_verified",))
    assert scope(own, Topic(domains=("privacy",)), privacy_request="nothing").missing == ()
