"""Is it asked what the rules are, or what holds in a case?"""

from bot.enforcement.question.intent import asks_open, is_general
from tests.rows import each

RULES = [
    "What is our refund policy?",
    "What's the policy on refunds?",
    "what are the rules for shipping batteries",
    "Explain the discount policy",
    "tell me about our refund rules",
    "refund policy",
    "What are the requirements for a VIP discount?",
    "When do we give a full refund?",
    "When can a customer get store credit?",
    "When is a refund approved automatically?",
    "Which customers get free shipping?",
    "Who gets store credit?",
    "Who is eligible for a refund?",
    "Who may approve a refund over 500 USD?",
    "How long do customers have to return something?",
    "How many days do I have to return an item?",
    "Under what conditions is a refund possible?",
    "In which cases do we refund?",
    "Is a receipt required for a refund?",
    "Do I need a receipt to get a refund?",
    "What do I need for a refund?",
    "How does the warranty work?",
]
CASES = [
    "Can I get a refund?",
    "I bought a TV 20 days ago. What do I get back?",
    "Is it allowed to ship batteries by air?",
    "May I disclose the name?",
    "yes",
    "10 days",
    "",
]
DATA = [
    "Who gets the most refunds?",
    "When did we approve refunds?",
    "when were the most orders placed",
    "what was the average order value",
    "How long did customers wait for a refund?",
    "which store had the most visitors",
    "refunds by month",
]


@each("text", RULES)
def test_these_ask_what_the_rules_are(text: str) -> None:
    assert is_general(text)


@each("text", [*CASES, *DATA])
def test_these_ask_about_a_case_or_about_what_happened(text: str) -> None:
    assert not is_general(text)


ASKED_OPEN = {
    "What does it cost?": True,
    "I want to cancel the lesson. What does it cost?": True,
    "How much is it, and when do I pay?": True,
    "Can I cancel the lesson?": False,
    "Can I cancel, and what does it cost?": False,
    "I want to cancel the lesson.": False,
}


@each("text", ASKED_OPEN)
def test_no_yes_answers_a_question_for_how_much_or_when(text: str) -> None:
    assert asks_open(text) is ASKED_OPEN[text]
