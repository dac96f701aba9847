"""Which questions are about policies, and about which."""

import pytest

from bot.enforcement.question.topic.recognise import prepare, score, stems_of, topic, topics
from bot.enforcement.question.topic.stems import names_of_outcome
from bot.index import BundleIndex
from bylaw.authored.vocabulary import Vocabulary

POLICY = [
    "Can I get a refund?",
    "I bought a TV 20 days ago and lost the receipt. Can I get a refund?",
    "Am I allowed to disclose the social security number?",
    "May we send a parcel by air?",
    "Does a VIP with 2 items get a discount?",
    "What happens when a parcel weighs 30 kg?",
    "Must the identity be verified for a refund?",
    "can somebody get a refund for a laptop he opened",
]
NO_POLICY = [
    "net revenue by region last quarter",
    "top 5 products by revenue",
    "why did we leave plasma?",
    "who decided that?",
    "hello",
    "should I buy a house",
    "can I bring my kids",
    "what does a flight to London cost",
    "🎉",
    "",
    "?",
]


@pytest.mark.parametrize("text", POLICY)
def test_a_policy_question_scores_high(text: str, shop: BundleIndex) -> None:
    assert score(text, shop) >= 0.6


@pytest.mark.parametrize("text", NO_POLICY)
def test_anything_else_scores_low(text: str, shop: BundleIndex) -> None:
    """Below the edge, or as what asks for a rule that is not there."""
    assert score(text, shop) <= shop.rules.routing.policy.form


def test_what_was_paid_back_is_less_of_one_than_what_somebody_gets(shop: BundleIndex) -> None:
    assert score("how much did a VIP get refunded", shop) < 0.5 < score("how much does a VIP get refunded", shop)


def test_counting_refunds_is_less_of_a_policy_question_than_asking_for_one(shop: BundleIndex) -> None:
    assert score("How many refunds were there last month?", shop) < 0.3 < score("Do I get a refund?", shop)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Can I get a refund?", "refund"),
        ("bought a TV, no receipt", "refund"),
        ("May we ship a heavy parcel by air?", "shipping"),
        ("what does delivery cost", "shipping"),
        ("may I disclose personal data", "privacy"),
        ("which discount for 2 items", "discount"),
    ],
)
def test_the_words_of_a_domain_name_it(text: str, first: str, shop: BundleIndex) -> None:
    assert topic(text, shop).domains[:1] == (first,)


def test_without_a_known_word_there_is_no_domain(shop: BundleIndex) -> None:
    assert topic("the airspeed of an unladen swallow", shop).domains == ()
    assert topic("the airspeed of an unladen swallow", shop).confidence == 0.0


@pytest.mark.parametrize(
    ("text", "outcomes", "actions"),
    [
        ("do I get a refund", ("refund",), ()),
        ("do I get a full refund", ("refund",), ("full_refund",)),
        ("will my money come back", ("refund",), ("full_refund",)),
        ("store credit?", ("refund",), ("store_credit",)),
        ("no refund?", ("refund",), ("reject",)),
        ("a social security number", (), ("disclose_pii",)),
        ("disclosing personal data", (), ("disclose_pii",)),
        ("free delivery", ("delivery_fee",), ()),
    ],
)
def test_outcomes_and_actions_are_named_by_all_their_words(
    text: str, outcomes: tuple[str, ...], actions: tuple[str, ...], shop: BundleIndex
) -> None:
    found = topic(text, shop)
    assert set(outcomes) <= {*found.outcomes, *(name for name, _ in found.likely)}
    assert found.actions == actions


def test_words_of_one_stem_are_one_word() -> None:
    assert stems_of(["shipping", "ship", "ships"]) == frozenset(["ship"])
    assert stems_of(["cancelled", "cancellation", "cancel"]) == frozenset(["cancel"])
    assert stems_of(["calls", "call", "calling"]) == stems_of(["call"])
    assert stems_of(["the", "customer", "can"]) == frozenset()


def test_the_domains_are_what_can_be_asked_about(shop: BundleIndex) -> None:
    assert topics(shop) == ("discount", "privacy", "refund", "shipping", "vault")


def test_preparing_changes_no_answer(shop: BundleIndex) -> None:
    before = topic("Can I get a refund?", shop)
    prepare(shop)
    assert topic("Can I get a refund?", shop) == before


def test_classification_is_the_same_twice_and_in_any_case(shop: BundleIndex) -> None:
    for text in (*POLICY, *NO_POLICY):
        assert topic(text, shop) == topic(text.upper(), shop) == topic(f"  {text}\n", shop)


def called(index: BundleIndex, outcomes: dict[str, list[str]], actions: dict[str, list[str]]) -> BundleIndex:
    """The same with more phrases of outcomes and actions."""
    words = index.vocabulary
    more_outcomes = {name: words.outcomes[name].model_copy(update={"phrases": said}) for name, said in outcomes.items()}
    more_actions = {name: words.actions[name].model_copy(update={"phrases": said}) for name, said in actions.items()}
    update = {"outcomes": {**words.outcomes, **more_outcomes}, "actions": {**words.actions, **more_actions}}
    return BundleIndex(index.bundle.model_copy(update={"vocabulary": words.model_copy(update=update)}))


def test_the_phrases_of_an_outcome_name_it_and_none_of_its_actions(shop: BundleIndex) -> None:
    found = topic("What is paid for a broken toaster?", called(shop, {"refund": ["paid for a broken"]}, {}))
    assert (found.outcomes, found.actions) == (("refund",), ())


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("What does it cost me if I miss a delivery?", ("big_discount",)),
        ("What is the cost of a delivery?", ("small_discount",)),
        ("What does a delivery cost, and may I miss the show?", ("small_discount",)),
        ("Can I miss a morning delivery?", ("big_discount",)),  # no other phrase claims its words
    ],
)
def test_a_word_of_a_phrase_in_one_piece_belongs_to_none_in_pieces(
    text: str, named: tuple[str, ...], shop: BundleIndex
) -> None:
    index = called(shop, {}, {"small_discount": ["cost of a delivery"], "big_discount": ["miss a delivery"]})
    assert topic(text, index).actions == named


def test_a_single_word_that_is_declared_for_an_outcome_names_it_and_one_of_its_label_does_not() -> None:
    outcome = {"label": {"name": "what you get back"}, "phrases": ["overtime"]}
    vocabulary = Vocabulary.model_validate({"outcomes": {"extra_pay": outcome}})
    assert [sorted(name) for name in names_of_outcome("extra_pay", vocabulary)] == [["extra", "pay"], ["overtim"]]
