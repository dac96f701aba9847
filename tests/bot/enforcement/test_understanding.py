"""What a turn adds to the case, over the repository's own policies."""

from datetime import date

from bot.enforcement.question.memory import Memory
from bot.enforcement.question.topic.recognise import Topic
from bot.enforcement.question.understanding import understand
from bot.index import BundleIndex
from tests.rows import each


def after(text: str, memory: Memory, own: BundleIndex) -> Memory:
    return understand(text, date(2026, 11, 20), memory, own, own.evaluator)[0]


@each(
    ("text", "known", "expected"),
    [
        ("what about 60 dollars", {"order_total": 40}, {"order_total": 60}),
        ("sorry, it was 12 days", {"days_since_order": 20}, {"days_since_order": 12}),
        ("and if he slept?", {"has_call_consent": False}, {"has_call_consent": False}),
        ("and if not?", {"has_receipt": True, "is_student": True}, {"has_receipt": True, "is_student": True}),
        ("and if not?", {}, {}),
        ("and 40?", {"days_past_due": 10}, {"days_past_due": 40}),
        ("sorry, 6", {"failed_login_count": 4, "is_student": True}, {"failed_login_count": 6, "is_student": True}),
        ("and 40?", {"days_past_due": 10, "order_total": 20}, {"days_past_due": 10, "order_total": 20}),
        ("40 parrots", {"days_past_due": 10}, {"days_past_due": 10}),
    ],
)
def test_what_is_said_again_takes_the_place_of_what_was_said(
    text: str, known: dict, expected: dict, own: BundleIndex
) -> None:
    assert after(text, Memory(known, topic=Topic(domains=("refund",))), own).facts == expected


def test_a_word_of_what_was_asked_answers_it(own: BundleIndex) -> None:
    asking = Memory({"product_category": "gift_card"}, asking="is_california_resident")
    assert after("california", asking, own).facts["is_california_resident"] is True


def test_a_day_alone_belongs_to_nothing(own: BundleIndex) -> None:
    cancelling = Memory({}, asking="order_status", topic=Topic(outcomes=("cancellation",)))
    assert after("yesterday", cancelling, own).facts == {}


def test_an_action_is_named_by_the_words_of_an_amount_too(own: BundleIndex) -> None:
    found = after("refund 700 for a customer, can I approve it?", Memory({}), own)
    assert found.topic.actions == ("approve_refund",)
    assert after("an order of $30", Memory({}), own).topic.outcomes == ()
