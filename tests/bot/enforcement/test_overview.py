"""What the rules say, with what they need to hold."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given

from bot.conversation import Question
from bot.enforcement.answer import answer
from bot.enforcement.writing.overview import MOST_RULES, Overview, lines_of, necessary
from bot.enforcement.writing.write import Words
from bot.index import BundleIndex
from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import TRUE, And, Atom, ConditionalRule, Formula, Not, Or, Value
from tests.bylaw.logic.strategies import cases, formulas
from tests.compiled import index_of
from tests.rows import each


@given(formulas(with_compare=True))
def test_what_is_said_to_be_needed_holds_in_every_case_of_the_rule(formula: Formula) -> None:
    parts = necessary(formula)
    for case in cases():
        if truth(formula, case):
            assert all(truth(part, case) for part in parts)


def lines(shop: BundleIndex, *rules: ConditionalRule, **facts: Value) -> list[str]:
    return lines_of(Words(shop.vocabulary), Overview("this", rules), facts, shop.ruleset.variables)


def rule_of(shop: BundleIndex, action: str) -> ConditionalRule:
    return next(rule for rule in shop.ruleset.rules if rule.effect.action == action)


def test_a_rule_names_what_it_needs_and_what_is_known_no_more(shop: BundleIndex) -> None:
    rule = rule_of(shop, "store_credit")
    quote = "“Items without receipt receive store credit only” (POL-REFUND-001)"
    kinds = "kind of product is electronics, clothing or other"
    assert lines(shop, rule)[1:] == [f"- store credit, when {kinds} and does not have the receipt: {quote}"]
    assert lines(shop, rule, has_receipt=False)[1:] == [f"- store credit, when {kinds}: {quote}"]


RECEIPT = Atom("has_receipt", "==", True)
TANGLE = Or(
    tuple(
        And((Atom("item_count", "==", n), Atom("days_since_purchase", "==", n), Atom("purchase_amount", "==", n)))
        for n in range(1, 6)
    )
)


@pytest.mark.parametrize(
    ("guard", "said"),
    [
        (TRUE, ": “"),
        (RECEIPT, ", when has the receipt: “"),
        (
            Not(And((RECEIPT, Atom("item_count", ">", 2)))),
            ", when does not have the receipt or number of items is at most 2: “",
        ),
        (Not(Or((TANGLE, RECEIPT))), ", otherwise: “"),
        (And((RECEIPT, Not(TANGLE))), ", only if has the receipt: “"),
    ],
)
def test_it_is_said_exactly_when_where_that_is_short(shop: BundleIndex, guard: Formula, said: str) -> None:
    (line,) = lines(shop, replace(rule_of(shop, "store_credit"), guard=guard))[1:]
    assert line.startswith(f"- store credit{said}")


def test_a_rule_without_a_sentence_is_said_in_words_of_ours(shop: BundleIndex) -> None:
    for rule in shop.ruleset.rules:
        (line,) = lines(shop, replace(rule, source=replace(rule.source, text=None)))[1:]
        assert Words(shop.vocabulary).action(rule.effect.action) in line
        assert line.endswith(f"({rule.policy_id})")


@pytest.mark.parametrize(
    ("count", "more"),
    [
        (MOST_RULES, []),
        (MOST_RULES + 1, ["- and 1 more rule, in P-12"]),
        (MOST_RULES + 6, ["- and 6 more rules, in P-12, P-13, P-14, P-15, P-16 and P-17"]),
        (MOST_RULES + 900, ["- and 900 more rules, in P-12, P-13, P-14, P-15, P-16 and 895 other policies"]),
    ],
)
def test_no_more_is_told_than_people_read(shop: BundleIndex, count: int, more: list[str]) -> None:
    rules = [replace(shop.ruleset.rules[0], policy_id=f"P-{n}") for n in range(count)]
    assert lines(shop, *rules)[1 + MOST_RULES :] == more


FERRY = Path(__file__).parents[1] / "claims" / "ferry"
ASKED = {
    "What are the rules for the fare?": ("What the policies say about which fare is due:", "age"),
    "How high may a vehicle be?": ("Nothing in our rules speaks of “high”.", None),
    "What happens if the ferry is late?": ("Nothing in our rules speaks of “ferry”.", None),
    "How do I become a club member?": (
        "Our rules do not cover this: nothing in them speaks of “become”",
        None,
    ),
}


@pytest.fixture(scope="module")
def ferry() -> BundleIndex:
    return index_of(FERRY)


@each("text", ASKED)
def test_who_asks_for_a_limit_or_a_thing_hears_the_rules_about_it(text: str, ferry: BundleIndex) -> None:
    starts, fact = ASKED[text]
    reply = answer(Question(text=text, asked_at=datetime(2026, 11, 20, tzinfo=UTC), request_id="r"), {}, ferry).reply
    assert reply.text.startswith(starts), reply.text
    assert (reply.ask and reply.ask.fact) == fact


def test_the_rules_that_test_a_fact_are_told_where_it_is_asked_for(ferry: BundleIndex) -> None:
    items = [{"kind": "asks", "name": "vehicle_height", "mode": "rules", "quote": "How high may a vehicle be"}]
    now = datetime(2026, 11, 20, tzinfo=UTC)
    asked = Question(text="How high may a vehicle be?", asked_at=now, request_id="r", options={"items": items})
    reply = answer(asked, {}, ferry).reply
    assert reply.text.startswith("What the policies say about height of the vehicle:"), reply.text
