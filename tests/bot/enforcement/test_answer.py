"""Policy conversations over the shop: rows of turns, and what holds for every reply."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.conversation import Actor, Question, Turn, spoken
from bot.enforcement.answer import answer
from bot.enforcement.enforce import enforce
from bot.enforcement.question import restrictive
from bot.index import BundleIndex
from bylaw.logic.formula.ir import Value, atoms
from tests.rows import each

CONVERSATIONS = yaml.safe_load(Path(__file__).with_name("conversations.yaml").read_text())


def say(text: str, state: dict[str, Any], shop: BundleIndex, actor: str = "anna") -> Turn:
    asked_at = datetime(2026, 11, 20, 9, tzinfo=UTC)
    question = Question(text=text, actor=Actor(id=actor), asked_at=asked_at, request_id="r1", session_id="s1")
    return answer(question, state, shop)


def hold(turn: Turn, expected: dict[str, Any]) -> None:
    reply = turn.reply
    assert reply.kind == expected.get("kind", reply.kind)
    assert reply.status == expected.get("status", reply.status)
    if "ask" in expected:
        assert reply.ask is not None
        assert reply.ask.fact == expected["ask"]
    if "choices" in expected:
        assert reply.ask is not None
        assert [choice.value for choice in reply.ask.choices] == expected["choices"]
    if "outcomes" in expected:
        assert {name: result["action"] for name, result in reply.outcomes.items()} == expected["outcomes"]
    declined = [fact for result in reply.outcomes.values() for fact in result.get("declined", ())]
    assert declined == expected.get("declined", [])
    assert len(reply.caveats) == bool(declined)
    if "facts" in expected:
        assert reply.facts == expected["facts"]
    if "path" in expected:
        assert list(reply.path) == expected["path"]
    if "rules" in expected:
        assert [citation.id for citation in reply.citations] == expected["rules"]
    for part in expected.get("text", ()):
        assert part in reply.text


@each("row", CONVERSATIONS, ids=lambda row: row["title"])
def test_a_conversation_goes_like_this(row: dict, shop: BundleIndex) -> None:
    state: dict[str, Any] = {}
    for expected in row["turns"]:
        turn = say(expected["say"], state, shop, row.get("as", "anna"))
        print(expected["say"], "→", turn.reply.text)
        hold(turn, expected)
        state = json.loads(json.dumps(turn.state))


def test_the_same_question_is_answered_anew_where_its_answer_depends_on_more(shop: BundleIndex) -> None:
    index = BundleIndex(shop.bundle)  # nobody asked it anything

    def told(text: str, day: int = 20, actor: str = "anna", state: Mapping[str, Any] | None = None) -> Turn:
        asked_at = datetime(2026, 11, day, 9, tzinfo=UTC)
        question = Question(text=text, actor=Actor(id=actor), asked_at=asked_at, request_id=f"{day}-{actor}")
        return answer(question, dict(state or {}), index)

    dated, shown = "I bought a TV 19 days ago. Can I get a refund?", "I have the receipt."
    first = told(dated)
    assert told(dated, actor="ben") is told(dated) is first  # whose it is comes later
    assert told(shown).reply.facts != told(shown, state=first.state).reply.facts != told(shown).reply.facts
    vault = [told("may I open the vault?", actor=actor).reply.status for actor in ("anna", "sam", "anna")]
    assert vault[0] == vault[2] != vault[1]


def test_what_is_asked_in_other_words_is_offered_and_picked(own: BundleIndex) -> None:
    turn = say("my phone cracked, does the customer have a right to get anything back?", {}, own)
    assert (turn.reply.status, turn.reply.ask, turn.reply.citations) == ("needs_choice", None, ())
    offered = {choice.label: choice.value for choice in turn.reply.choices}
    assert offered["what the customer gets back"] == "refund"
    picked = say("refund", turn.state, own)
    assert picked.reply.status == "needs_fact"
    assert picked.reply.facts == turn.reply.facts == {"product_category": "electronics"}
    assert say("online", picked.state, own).reply.facts == {**picked.reply.facts, "channel": "online"}


@pytest.mark.parametrize(
    ("text", "status", "ask", "lines"),
    [
        ("three vouchers on one order, ok?", "answered", None, []),
        ("can I return a gift card?", "needs_fact", "is_california_resident", []),
        ("can i pay in bitcoin", "needs_choice", None, ["Nothing in our rules speaks of “bitcoin”."]),
        # what is told and not used is said
        ("What does delivery cost? My order is $60. It was 3 metres long.", None, None, ["not used: 3 metres long."]),
        (
            "Can I return a TV after 30 bananas?",
            "needs_choice",
            None,
            ["Nobody here knows what “after”, “30” and “bananas” means for it."],
        ),
    ],
)
def test_a_question_is_taken_for_what_it_tells(
    text: str, status: str | None, ask: str | None, lines: list[str], own: BundleIndex
) -> None:
    reply = say(text, {}, own).reply
    assert status in (None, reply.status)
    assert ask is None or (reply.ask is not None and reply.ask.fact == ask)
    for line in lines:
        assert f"\n{line}" in f"\n{reply.text}"


def test_a_bare_yes_is_no_answer_where_only_a_prohibition_holds(own: BundleIndex) -> None:
    asked_at = datetime(2026, 11, 20, 9, tzinfo=UTC)
    question = Question(text="Can I use 3 vouchers on one order?", asked_at=asked_at, request_id="r1")
    found = enforce(question, "Sure, no problem.", own)
    assert found.action != "pass"


def test_a_citation_names_file_line_and_quote(shop: BundleIndex) -> None:
    reply = say("I bought a TV 20 days ago and lost the receipt. Can I get a refund?", {}, shop).reply
    (citation,) = reply.citations
    assert citation.id == "POL-REFUND-001"
    assert citation.path == "policies/refund/POL-REFUND-001.yaml"
    assert citation.text == "Items without receipt receive store credit only"
    assert citation.commit == shop.commit
    source = Path(__file__).with_name("shop") / citation.path
    assert "store_credit" in "".join(source.read_text().splitlines()[citation.line - 1 : citation.line + 1])


def test_the_rule_that_decides_is_named_with_its_outcome(shop: BundleIndex) -> None:
    reply = say("no receipt, bought 20 days ago, a TV: refund?", {}, shop).reply
    assert reply.outcomes["refund"]["policy_id"] == "POL-REFUND-001"
    assert shop.rule(reply.outcomes["refund"]["rule_id"]).effect.action == "store_credit"


def test_only_one_question_is_asked_at_a_time(shop: BundleIndex) -> None:
    reply = say("Can I get a refund?", {}, shop).reply
    assert reply.status == "needs_fact"
    assert reply.ask is not None
    assert reply.text.count("?") == 1


def test_what_a_bundle_no_longer_knows_is_forgotten(shop: BundleIndex) -> None:
    stale = {
        "facts": {"gone": 1, "has_receipt": "maybe", "days_since_purchase": 10},
        "asking": "gone",
        "declined": ["gone"],
    }
    turn = say("What do I get back?", stale, shop)
    assert turn.reply.facts == {"days_since_purchase": 10}


@pytest.mark.parametrize(
    "state",
    [
        {"facts": []},
        {"facts": None, "asking": 7, "declined": "has_receipt"},
        {"outcomes": [1, None], "domains": {}},
        {"facts": {"has_receipt": {"a": 1}}},
        {"asking": "has_receipt", "facts": {"days_since_purchase": -1}},
    ],
)
def test_a_state_of_another_shape_does_no_harm(state: dict[str, Any], shop: BundleIndex) -> None:
    assert say("Can I get a refund?", state, shop).reply.status == "needs_fact"


PIECES = (
    "Can I get a refund|yes|no|15|skip|I don't know|bought 20 days ago|a TV|a shirt|with the receipt|lost the receipt|"
    "VIP|2 items|discount|by air|weighs 30 kg|open the vault|more than 30|and|?|,|what if|delivery|$600|gift card|🎉|"
)


@given(turns=st.lists(st.lists(st.sampled_from(PIECES.split("|")), max_size=5).map(" ".join), min_size=1, max_size=5))
@settings(max_examples=150, deadline=None)
def test_whatever_is_said_the_reply_is_sound(turns: list[str], shop: BundleIndex) -> None:
    state: dict[str, Any] = {}
    for text in turns:
        turn = say(text, state, shop)
        reply = turn.reply
        assert spoken(reply) == reply
        assert reply.text.strip()
        assert reply.ask is not None or reply.status != "needs_fact"
        if reply.ask is not None and reply.status != "needs_fact":
            assert any("declined" in result for result in reply.outcomes.values())
        if reply.status == "answered":
            assert all(result["action"] for result in reply.outcomes.values())
        for name, value in reply.facts.items():
            shop.ruleset.variables[name].read(value)
        state = json.loads(json.dumps(turn.state))


@given(turns=st.lists(st.sampled_from(PIECES.split("|")), min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_what_is_answered_is_what_the_rules_decide(turns: list[str], shop: BundleIndex) -> None:
    state: dict[str, Any] = {}
    for text in turns:
        turn = say(text, state, shop)
        facts = {name: shop.ruleset.variables[name].read(value) for name, value in turn.reply.facts.items()}
        decision = shop.evaluator.decide(facts, datetime(2026, 11, 20, tzinfo=UTC).date().toordinal())
        for outcome, result in turn.reply.outcomes.items():
            if "declined" in result:
                assert decision.outcomes[outcome].action is None
                assert result["action"] == strictest(shop, outcome, facts, result["declined"])
            else:
                assert decision.outcomes[outcome].action == result["action"]
        state = turn.state


def strictest(shop: BundleIndex, outcome: str, facts: dict[str, Value], declined: list[str]) -> str:
    """The most restrictive action of all cases that go on from *facts*, by trying them."""
    rules = shop.ruleset.rules
    bounds = {atom.value for rule in rules for atom in atoms(rule.guard) if atom.var in declined}
    near = [bound + step for bound in bounds if type(bound) is int for step in (-1, 0, 1) if bound + step >= 0]
    values = {"boolean": [True, False], "integer": near, "decimal": near}
    ways = [values.get(shop.ruleset.variables[name].kind, shop.ruleset.variables[name].values) for name in declined]
    cases = ({**facts, **dict(zip(declined, way, strict=True))} for way in product(*ways))
    day = datetime(2026, 11, 20, tzinfo=UTC).date().toordinal()
    given = {shop.evaluator.decide(case, day).outcomes[outcome].action for case in cases}
    return next(action for action in shop.bundle.outcomes[outcome]["restrictive"] if action in given)


def test_what_is_most_restrictive_is_tried_only_so_often(shop: BundleIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no completion may be decided any more, a rule that may fire counts as one that does."""
    monkeypatch.setattr(restrictive, "_TRIALS", 0)
    found = restrictive.most_restrictive("refund", {"has_receipt": True}, 740_000, shop, shop.evaluator)
    assert found.action == "reject"


def test_a_bundle_that_does_not_say_what_is_restrictive_names_the_owners(shop: BundleIndex) -> None:
    told = {name: {} for name in shop.bundle.outcomes}
    silent = BundleIndex(shop.bundle.model_copy(update={"outcomes": told}))
    state = say("I bought a shirt 10 days ago. Can I get a refund?", {}, silent).state
    reply = say("I don't know", state, silent).reply
    assert (reply.status, reply.outcomes) == ("escalated", {})
    assert "has the receipt" in reply.text
    assert "Customer Service Dept." in reply.text


@pytest.mark.parametrize(
    ("piece", "size"),
    [
        *((piece, 10_000) for piece in ("refund ", "Can I ", "bought 20 days ago ", "?", "{value} ", "𝕽𝖊𝖋𝖚𝖓𝖉 ")),
        *(pytest.param(piece, 100_000, marks=pytest.mark.slow) for piece in ("bought 20 days ago ", "?")),
    ],
)
def test_a_hundred_kilobytes_get_an_answer(piece: str, size: int, shop: BundleIndex) -> None:
    assert say(piece * (size // len(piece)), {"asking": "has_receipt"}, shop).reply.text
