"""What could not be delivered is shown to whom it is for and to stewards, with what to do; a person ends it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.conversation import Actor
from bot.evidence.store.connection import insert_new
from bot.evidence.store.tables import audit, deliveries
from bot.request import undelivered
from bot.request.backoff import FIRST, MOST, wait_after
from bot.request.refusals import REFUSALS, refusal
from bot.request.substitutes import hand_on
from bylaw.audit.verify import verify
from bylaw.errors import UsageError
from tests.bot.evidence.store.conftest import store_url  # noqa: F401  # the same on both databases
from tests.fakes import stored
from tests.fakes.frame import LEASE, NOON
from tests.fakes.levels import ROLES, RULES, Index, level_services

ANA, BEN, GRACE = Actor(id="ana"), Actor(id="ben"), Actor(id="grace")


@pytest.fixture
def served(store_url, tmp_path):  # noqa: F811
    made = level_services(tmp_path, store_url)
    yield made
    made.store.close()


def fail(served, word="user_not_found", person="ana", about="r1", event="handled", cause="refused"):
    """A notice that Slack did not take; its name."""
    with served.store.writing() as connection:
        deliveries.notify(connection, person, about, event, "It is 41 %.", NOON)
        (name,) = [name for name, letter in deliveries.notices(connection, NOON) if letter["to"] == person]
        held = deliveries.claim(connection, name, "a", NOON, LEASE)
        if cause == "refused":
            deliveries.block(connection, held, NOON, word)
        else:
            deliveries.postpone(connection, held, NOON + timedelta(hours=1), word, cause)
    return name


def seen(served, actor):
    return undelivered.list_undelivered(actor, served)


def test_who_it_is_for_reads_it_a_steward_sees_it_and_nobody_else(served):
    name = fail(served)
    (own,), (steward,) = seen(served, ANA), seen(served, GRACE)
    assert (own.delivery_id, own.text, steward.text) == (name, "It is 41 %.", None)
    assert "Slack id" in steward.advice and steward.is_blocked
    assert seen(served, BEN) == []


@pytest.mark.parametrize("do", ["retry", "close"])
@pytest.mark.parametrize("name", ["this", "another"])
def test_to_the_wrong_person_there_is_no_such_delivery(served, do, name):
    known = fail(served)
    named = known if name == "this" else "notice:none"
    work = {"retry": lambda: undelivered.retry(named, BEN, served)}
    work["close"] = lambda: undelivered.close(named, "no", BEN, served)
    with pytest.raises(UsageError, match="no delivery"):
        work[do]()
    assert len(seen(served, ANA)) == 1


def test_a_person_has_it_sent_again_and_it_is_recorded(served):
    name = fail(served)
    undelivered.retry(name, GRACE, served)
    with served.store.reading() as connection:
        assert [found for found, _ in deliveries.notices(connection, NOON)] == [name]
        entries = list(audit.entries(connection))
    assert verify(entries).is_intact
    assert [(one.body["event"], one.body["delivery"]) for one in entries] == [("delivery retried", name)]


def test_a_person_ends_it_and_says_why(served):
    name = fail(served)
    with pytest.raises(UsageError, match="reason"):
        undelivered.close(name, "  ", ANA, served)
    undelivered.close(name, "told her on the phone", GRACE, served)
    assert seen(served, ANA) == []
    with served.store.reading() as connection:
        row = stored.delivery(connection, name)
        assert (row["outcome"], row["closed_by"], row["failure"]) == ("closed", "grace", "user_not_found")
        assert deliveries.notices(connection, NOON) == []
    with pytest.raises(UsageError, match="does not wait any more"):
        undelivered.retry(name, GRACE, served)


def test_what_is_being_sent_right_now_is_neither_retried_nor_closed(served):
    name = fail(served)
    undelivered.retry(name, GRACE, served)
    with served.store.writing() as connection:
        held = deliveries.claim(connection, name, "b", NOON, LEASE)
    for work in (lambda: undelivered.retry(name, ANA, served), lambda: undelivered.close(name, "no", ANA, served)):
        with pytest.raises(UsageError, match="being sent right now"):
            work()
    with served.store.writing() as connection:
        assert deliveries.close(connection, held, NOON, {"ts": "1"})


def test_what_waits_for_time_says_when(served):
    fail(served, "TimeoutError: timed out", cause="outage")
    (one,) = seen(served, ANA)
    assert (one.next_at, one.is_blocked) == (NOON + timedelta(hours=1), False)
    assert undelivered.retry_all(ANA, served) == 0
    undelivered.retry(one.delivery_id, ANA, served)
    with served.store.reading() as connection:
        assert len(deliveries.notices(connection, NOON)) == 1


def test_all_that_waits_for_a_person_is_sent_again_at_once(served):
    for n in range(3):
        fail(served, person="ana", about=f"r{n}")
    fail(served, person="ben", about="r9")
    assert (undelivered.retry_all(ANA, served), undelivered.retry_all(GRACE, served)) == (3, 1)


def test_what_slack_could_not_tell_the_terminal_does(served):
    fail(served)
    fail(served, "TimeoutError", about="r2", cause="outage")
    with served.store.writing() as connection:
        assert {one["about"] for one in deliveries.told(connection, "ana", NOON)} == {"r1", "r2"}
        assert deliveries.told(connection, "ana", NOON) == []
    assert seen(served, GRACE) == []


def test_what_holds_no_longer_is_told_nobody(served):
    name = fail(served, person="ben", event="assigned to ben at noon")
    other = fail(served, person="ben", event="handled")
    with served.store.writing() as connection:
        assert deliveries.supersede(connection, "r1", "assigned", NOON) == 1
        assert stored.delivery(connection, name)["outcome"] == "superseded"
    assert [one.delivery_id for one in seen(served, BEN)] == [other]


def stewards(*people, channel=None):
    roles = {**ROLES, "users": {**ROLES["users"], **{name: ["boss"] for name in people}}, "steward_channel": channel}
    return Index(type(RULES)(autonomy=RULES.autonomy, roles=type(RULES.roles).model_validate(roles)))


def recipients(served, event="candidate"):
    with served.store.reading() as connection:
        return [
            (one.recipient, bool(one.letter.get("is_channel"))) for one in deliveries.copies(connection, "r1", event)
        ]


@pytest.mark.parametrize(
    ("others", "channel", "ends"),
    [
        (["hal", "zoe"], "C0STEWARDS", ("hal", False)),
        ([], "C0STEWARDS", ("C0STEWARDS", True)),
        ([], None, None),
    ],
)
def test_a_steward_whom_slack_does_not_know_is_stood_in_for(served, others, channel, ends):
    given = replace(served, index=stewards(*others, channel=channel))
    name = fail(given, person="grace", event="candidate")
    hand_on(name, given)
    hand_on(name, given)
    assert recipients(given) == [("grace", False), *([ends] if ends else [])]


def test_a_notice_that_is_for_one_person_alone_is_told_nobody_else(served):
    given = replace(served, index=stewards("hal", channel="C0STEWARDS"))
    name = fail(given, person="ana", event="handled")
    assert hand_on(name, given) is None
    assert recipients(given, "handled") == [("ana", False)]


def test_waits_double_up_to_hours_and_are_spread():
    whole = [wait_after(n, 1.0) for n in range(1, 15)]
    assert (whole[0], whole[1], whole[-1]) == (FIRST, FIRST * 2, MOST)
    assert [wait_after(n, 0.0) for n in range(1, 15)] == [one / 2 for one in whole]
    assert wait_after(10_000, 1.0) == MOST
    assert wait_after(9, 0.0, timedelta(seconds=7)) == timedelta(seconds=7)


def test_every_refusal_says_what_to_do():
    assert all(one.advice for one in REFUSALS.values())
    assert refusal("what_nobody_knows").cause == "refused"


ODD = {
    "nobody": {},
    "of other keys": {"text": "hello"},
    "a list": [1],
    "numbers for names": {"user": 7, "text": 8, "to": 9, "about": 1, "event": 2},
    "nulls": {"user": None, "text": None, "to": None, "about": None, "event": None},
}


@pytest.mark.parametrize("kind", ["message", "notice"])
@pytest.mark.parametrize("letter", ODD.values(), ids=ODD)
def test_a_row_of_any_shape_is_shown_to_stewards_and_can_be_ended(served, kind, letter):
    row = {"delivery_id": "odd", "letter": letter, "attempts": 0, "created_at": NOON - timedelta(days=1), "kind": kind}
    fail(served)
    with served.store.writing() as connection:
        assert insert_new(connection, "deliveries", row)
    (odd, whole) = seen(served, GRACE)
    assert (odd.recipient, odd.text, whole.recipient) == (None, None, "ana")
    assert odd.document()["for"] is None
    assert [one.delivery_id for one in seen(served, ANA)] == [whole.delivery_id]
    assert seen(served, Actor()) == []
    undelivered.retry("odd", GRACE, served)
    undelivered.close("odd", "nobody knows what it was", GRACE, served)
    assert [one.delivery_id for one in seen(served, GRACE)] == [whole.delivery_id]
