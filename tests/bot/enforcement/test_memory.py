"""What a conversation carries from one turn to the next."""

import json

from bot.enforcement.question.memory import Memory, load
from bot.enforcement.question.topic import Topic
from bot.index import BundleIndex

REFUND = Topic(outcomes=("refund",), domains=("refund",))


def test_a_memory_survives_json(shop: BundleIndex) -> None:
    variables = shop.ruleset.variables
    facts = {"delivered_on": 739_557, "has_receipt": False, "days_since_purchase": 3}
    memory = Memory(facts, asking="item_count", declined=("channel",), topic=REFUND, offered=("refund",))
    assert load(json.loads(json.dumps(memory.dump(variables))), variables) == memory


def test_an_empty_state_remembers_nothing(shop: BundleIndex) -> None:
    assert load({}, shop.ruleset.variables) == Memory({})


def test_what_does_not_fit_any_more_is_forgotten(shop: BundleIndex) -> None:
    state = {"facts": {"gone": 1, "item_count": "many", "has_receipt": True}, "asking": "gone", "declined": ["gone"]}
    assert load(state, shop.ruleset.variables) == Memory({"has_receipt": True})
