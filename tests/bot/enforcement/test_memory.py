"""What goes on with a conversation, and what starts one."""

import json

from bot.enforcement.question.case.facts import Read, Reading
from bot.enforcement.question.memory import Memory, continued, load
from bot.enforcement.question.topic.recognise import Topic
from bot.index import BundleIndex
from tests.rows import each

REFUND = Topic(outcomes=("refund",), domains=("refund",))
DISCOUNT = Topic(outcomes=("discount",))
OLD = Memory({"has_receipt": True, "product_category": "electronics"}, asking="days_since_purchase", topic=REFUND)


def said(**facts: object) -> Reading:
    return Reading(tuple(Read(name, value, "", 0, 0) for name, value in facts.items()))  # type: ignore[arg-type]


@each(
    ("text", "topic", "reading", "is_kept"),
    [
        ("it was a shirt", Topic(), said(product_category="clothing"), True),
        ("can I get a refund?", REFUND, said(), True),
        ("and for a discount?", DISCOUNT, said(product_category="clothing"), True),
        ("what if it is a shirt, a refund?", REFUND, said(product_category="clothing"), True),
        ("do I get a refund for it with 2 items?", REFUND, said(item_count=2), True),
        ("do I get a refund for a shirt?", REFUND, said(product_category="clothing"), False),
        ("a refund for 2 items?", REFUND, said(item_count=2), False),
    ],
)
def test_a_new_case_starts_afresh_and_a_follow_up_goes_on(
    text: str, topic: Topic, reading: Reading, is_kept: bool
) -> None:
    memory = continued(OLD, text, topic, reading)
    assert memory.facts == (OLD.facts if is_kept else {})
    assert memory.topic == (topic if topic.is_named else REFUND)


def test_a_memory_survives_json(shop: BundleIndex) -> None:
    variables = shop.ruleset.variables
    facts = {"delivered_on": 739_557, "has_receipt": False, "days_since_purchase": 3}
    memory = Memory(facts, asking="item_count", declined=("channel",), topic=REFUND)
    assert load(json.loads(json.dumps(memory.dump(variables))), variables) == memory


def test_an_empty_state_remembers_nothing(shop: BundleIndex) -> None:
    assert load({}, shop.ruleset.variables) == Memory({})
