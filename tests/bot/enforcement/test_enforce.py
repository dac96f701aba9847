"""Whole verdicts: what is delivered, what is corrected, who is asked, and answers that arrive sentence by sentence."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from bot.claims.model import Read
from bot.claims.models import read_claims
from bot.conversation import Question, sayable
from bot.enforcement.enforce import Passed, enforce, stream
from bot.enforcement.judged.verdict import ComplianceDecision
from bot.index import BundleIndex
from tests.rows import each

QUERY = "I bought a TV for $90 20 days ago and lost the receipt. Can I get a refund?"
RIGHT = "You lost the receipt, so you get store credit."


def asked(text: str = QUERY) -> Question:
    return Question(text=text, asked_at=datetime(2026, 11, 20, 9, tzinfo=UTC), request_id="r")


def test_a_right_answer_with_its_reasons_passes_as_it_is(own: BundleIndex) -> None:
    found = enforce(asked(), RIGHT, own)
    assert (found.action, found.score, found.delivered) == ("pass", 1.0, RIGHT)
    assert found.audit_trail.applied_policies == ("POL-REFUND-001",)
    assert found.audit_trail.source_documents == ("Returns handbook, section 2",)
    assert found.audit_trail.decision_path.endswith("→ store_credit")


def test_a_wrong_answer_is_held_back_and_the_owner_named(own: BundleIndex) -> None:
    found = enforce(asked("I bought a TV 400 days ago for $600. Can I get a refund?"), "You get a full refund.", own)
    assert found.verdict == "invalid"
    assert found.action == "escalate"
    assert found.delivered is None
    assert found.escalation is not None
    assert found.escalation.owners == ("Customer Service Dept.",)
    assert found.escalation.case["days_since_purchase"] == 400


KNOWN = {"product_category": "electronics", "purchase_amount": 90, "days_since_purchase": 20, "has_receipt": False}


def test_what_nobody_could_read_is_not_delivered_and_said_word_by_word(own: BundleIndex) -> None:
    found = enforce(asked("I bought a TV 400 days ago for $90. Can I get a refund?"), "400 days, full refund", own)
    assert (found.verdict, found.reading.by, found.delivered) == ("unread", "plain", None)
    assert "400 days, full refund" in {one.quote for one in found.reading.unread}


def test_what_is_missing_is_appended_with_the_difference_kept(own: BundleIndex) -> None:
    question = asked("I bought a TV for $600 20 days ago and lost the receipt. Can I get a refund?")
    found = enforce(question, "You get store credit.", own)
    assert (found.verdict, found.action) == ("incomplete", "auto_correct")
    (change,) = found.audit_trail.auto_corrections
    assert change.original_fragment == "You get store credit."
    assert found.delivered == change.corrected_fragment
    assert found.delivered == "You get store credit.\nThe customer's identity has to be verified."
    assert "+The customer's identity has to be verified." in found.audit_trail.diff


def test_a_terse_answer_to_who_has_the_case_wrong_is_corrected(own: BundleIndex) -> None:
    mistaken = "I bought a TV for $90 10 days ago and have the receipt. Can I get a refund?"
    found = enforce(asked(mistaken), "You get store credit.", own, KNOWN)
    assert (found.verdict, found.action) == ("valid", "auto_correct")


@each("text", ["You get store credit.", "Store credit.", "store credit"])
def test_who_told_the_whole_case_needs_no_more_than_the_action(text: str, own: BundleIndex) -> None:
    found = enforce(asked(), text, own)
    assert (found.action, found.delivered) == ("pass", text)


@each("text", ["You get store credit.", "Store credit.", "store credit"])
def test_nor_does_who_asks_through_a_system_that_gives_the_case(text: str, own: BundleIndex) -> None:
    found = enforce(asked("Can I get a refund?"), text, own, KNOWN)
    assert (found.action, found.delivered) == ("pass", text)


def test_given_facts_count_more_than_those_of_the_question(own: BundleIndex) -> None:
    given = {"has_receipt": True, "days_since_purchase": 10, "channel": "in-store", "is_clearance": False}
    given |= {"customer_tier": "standard"}
    found = enforce(asked(), "You get a full refund.", own, given)
    assert found.violations == ()
    assert found.outcomes["refund"] == "full_refund"


def test_the_day_decides_which_rules_hold(own: BundleIndex) -> None:
    question = asked("Do we add the launch voucher? An electronics order of $400.")
    given = {"product_category": "electronics", "order_total": 400, "is_clearance": False}
    assert enforce(question, "Yes, we add the launch voucher.", own, given).violations == ()
    later = question.model_copy(update={"asked_at": datetime(2028, 1, 1, tzinfo=UTC)})
    assert enforce(later, "Yes, we add the launch voucher.", own, given).violations != ()


def test_the_same_answer_gets_the_same_verdict(own: BundleIndex) -> None:
    assert sayable(enforce(asked(), RIGHT, own)) == sayable(enforce(asked(), RIGHT, own))


@pytest.mark.parametrize(
    ("said", "left", "action"),
    [
        (["Without the receipt you get store credit."], 1, "pass"),
        (["Thanks for asking.", RIGHT, "Have a nice day!"], 3, "pass"),
        (["Thanks for asking.", "You get a full refund.", "Have a nice day."], 1, "escalate"),
        (["You get store credit.", "Her number is 123-45-6789.", "Bye."], 1, "escalate"),
        (["Hello.", "Bye."], 2, "regenerate"),
        ([], 0, "regenerate"),
    ],
)
def test_a_sentence_leaves_only_when_all_so_far_may(said: list[str], left: int, action: str, own: BundleIndex) -> None:
    *passed, last = stream(asked(), iter(said), own)
    assert passed == [Passed(sentence) for sentence in said[:left]]
    assert isinstance(last, ComplianceDecision)
    assert last.action == action


@pytest.mark.parametrize(
    ("claims", "left"),
    [
        ([{"kind": "gives", "quote": "Here comes store credit for you.", "action": "store_credit"}], 2),
        ([{"kind": "gives", "quote": "Here comes store credit for you.", "action": "full_refund"}], 0),
        (None, 0),  # the model said nothing, and the plain reader does not know these words
    ],
)
def test_what_a_model_reads_leaves_at_the_end_or_never(claims: list | None, left: int, own: BundleIndex) -> None:
    said = ["Here comes store credit for you.", "Have a nice day!"]

    class Reading:
        asked = 0

        def read(self, answer: str, case: object, own: object = ()) -> Read | None:
            self.asked += 1
            return None if claims is None else Read(read_claims(claims))

    reader = Reading()
    *passed, last = stream(asked(), iter(said), own, reader=reader)  # type: ignore[arg-type]
    assert passed == [Passed(sentence) for sentence in said[:left]]
    assert reader.asked == 1
    assert isinstance(last, ComplianceDecision) and (last.delivered is not None) is (left > 0)


def test_nothing_is_read_behind_a_sentence_that_stays(own: BundleIndex) -> None:
    pulled: list[str] = []

    def written() -> object:
        for sentence in ("You get a full refund.", "And a pony."):
            pulled.append(sentence)
            yield sentence

    *_, last = stream(asked(), written(), own)  # type: ignore[arg-type]  # a generator of sentences
    assert pulled == ["You get a full refund."]
    assert isinstance(last, ComplianceDecision)
    assert last.delivered is None


@pytest.mark.parametrize("text", ["refund " * 2_800, "You get store credit. " + "and so on " * 200, "not " * 5_000])
def test_a_sentence_that_nobody_reads_is_never_delivered(text: str, own: BundleIndex) -> None:
    started = time.process_time()
    found = enforce(asked(), text, own)
    assert time.process_time() - started < 5  # each word against each other took a minute
    assert (found.verdict, found.delivered) == ("unread", None)


@pytest.mark.slow
def test_a_long_answer_is_not_read_once_a_sentence(own: BundleIndex) -> None:
    said = ["You get store credit."] * 400
    started = time.process_time()
    *passed, last = stream(asked(), iter(said), own)
    assert time.process_time() - started < 15  # once a sentence takes a multiple
    assert passed == [Passed(sentence) for sentence in said]
    assert isinstance(last, ComplianceDecision) and last.action == "pass"
