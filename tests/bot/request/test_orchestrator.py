"""A question in, a reply out, and everything about it kept first: once, in order, by however many processes."""

from __future__ import annotations

import signal
import subprocess
import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.conversation import MAX_TEXT, Actor, Reply
from bot.evidence.store.disk import Disk
from bot.evidence.store.engine import Store, StoreError
from bot.evidence.store.tables import audit, querylog, requests, sessions
from bot.lifecycle import State
from bot.request.orchestrator import handle
from bot.router import Answerer
from bylaw.audit.verify import verify
from bylaw.canonical import fingerprint
from bylaw.errors import UsageError
from tests.fakes import stored
from tests.fakes.forked import Forked
from tests.fakes.frame import ANSWERERS, ETAG, LEASE, NOON, answer_data, answer_policy, question, services


@pytest.fixture
def served(tmp_path):
    made = services(tmp_path)
    yield made
    made.store.close()


def standing(served, request_id="r1"):
    with served.store.reading() as connection:
        return requests.load(connection, request_id)


def chain(served):
    with served.store.reading() as connection:
        entries = list(audit.entries(connection))
    assert verify(entries).is_intact
    return [entry.body for entry in entries]


def log(served):
    with served.store.reading() as connection:
        return querylog.rows(connection)


def test_a_reply_is_kept_in_the_store_the_chain_the_log_and_on_the_shelf(served):
    said = handle(question(said="may I return it after 20 days"), served)
    kept = standing(served)
    assert kept.reply == said
    assert (said.request_id, said.session_id, said.bundle_etag, said.commit) == ("r1", "s1", ETAG, "abc1234")
    assert (kept.state, kept.kind, kept.failure) == (State.CLOSE, "policy", None)
    (entry,) = chain(served)
    assert entry["bundle_etag"] == ETAG
    assert entry["final_action"] == "needs_fact"
    assert entry["query"] == "may I return it after 20 days"
    assert entry["reply"] == fingerprint(said)
    assert entry["artifacts"] == kept.artifacts
    assert Reply.model_validate(served.artifacts.get(kept.artifacts["reply"])) == said
    assert served.artifacts.get(kept.artifacts["request"])["route"]["kind"] == "policy"
    assert [row["request_id"] for row in log(served)] == ["r1"]


def test_the_answerers_own_papers_and_measures_are_kept(served):
    handle(question(said="revenue by region"), served)
    assert served.artifacts.get(standing(served).artifacts["plan"]) == {"metric": "revenue", "by": "region"}
    (row,) = log(served)
    assert (row["matched_entities"], row["autonomy_level"], row["generated_sql"]) == (["orders"], 4, "SELECT 1")


def test_a_conversation_goes_on_in_a_fresh_process(tmp_path):
    turns = ["may I return it?", "20 days", "Yes"]
    replies = []
    for n, text in enumerate(turns):
        served = services(tmp_path, prefix=f"p{n}-")  # as after a restart: nothing but the store is left
        replies.append(handle(question(f"r{n}", text), served))
        served.store.close()
    assert [one.status for one in replies] == ["needs_fact", "needs_fact", "answered"]
    assert replies[-1].outcomes == {"refund": "full_refund"}
    assert replies[-1].facts == {"days": 20, "receipt": True}


def test_a_number_picks_the_offered_choice(served):
    for n, text in enumerate(["may I return it after 20 days", "2"]):
        said = handle(question(f"r{n}", text), served)
    assert said.outcomes == {"refund": "reject"}
    papers = served.artifacts.get(standing(served, "r1").artifacts["request"])
    assert (papers["question"]["text"], papers["read_as"]) == ("2", "false")


def test_what_two_kinds_answer_alike_is_asked_and_the_choice_answers_it(served):
    asked = handle(question("r1", "what is the refund revenue"), served)
    assert (asked.status, [choice.label for choice in asked.choices]) == (
        "needs_choice",
        ["what our policies say", "figures from our data"],
    )
    assert handle(question("r2", "2"), served).kind == "data"
    assert handle(question("r3", "policy: may I have a refund after 20 days", session_id="s2"), served).kind == "policy"


def test_a_filled_form_is_a_data_question_whatever_its_words(served):
    said = handle(question("r1", "may I return it, by region?", options={"form": {"metrics": ["revenue"]}}), served)
    assert said.kind == "data"


@pytest.mark.parametrize("form", [{"by": ["\0"]}, {"by": ["\ud800"]}, {"\0": 1}])
def test_a_form_that_is_no_text_is_refused_before_anything_is_kept(served, form):
    with pytest.raises(UsageError, match="not text"):
        handle(question("r1", "x", options={"form": form}), served)
    assert standing(served) is None


def test_a_follow_up_goes_to_the_kind_that_answered_last(served):
    handle(question("r1", "revenue by region"), served)
    assert handle(question("r2", "and only last year"), served).columns == ("region", "revenue")
    assert handle(question("r3", "why did we leave plasma?"), served).kind == "decision"
    assert handle(question("r4", "again revenue"), served).columns == (
        "region",
        "revenue",
    )  # each kind kept its own state


def test_two_people_in_one_session_do_not_answer_for_each_other(served):
    handle(question("r1", "may I return it?"), served)
    said = handle(question("r2", "20 days", actor=Actor(id="bob")), served)
    assert said.kind == "refusal"


def test_a_thank_you_is_no_refusal_and_leaves_the_conversation_as_it_was(served):
    first = handle(question(said="Can I get a refund?"), served)
    thanked = handle(question("r2", said="thanks"), served)
    assert (thanked.kind, thanked.status, thanked.text) == ("refusal", "answered", "You are welcome.")
    assert handle(question("r3", said="and now?"), served).kind == first.kind


def test_what_nobody_recognises_is_refused_with_what_can_be_asked(served):
    said = handle(question(said="sing me a song"), served)
    assert (said.kind, said.status) == ("refusal", "refused")
    assert "policies: refund" in said.text
    assert standing(served).state == State.REFUSED
    assert chain(served)[0]["final_action"] == "refused"


def test_a_refusal_does_not_end_a_conversation(served):
    handle(question("r1", "revenue by region"), served)
    handle(question("r2", "sing me a song"), served)
    assert handle(question("r3", "and again"), served).columns == ("region", "revenue")


# --- one request, one reply ------------------------------------------------------------------------------------------


def test_the_same_request_gets_the_stored_reply_and_nothing_happens_twice(served):
    first = handle(question(said="revenue"), served)
    later = replace(served, clock=lambda: NOON + timedelta(days=1), bundle_etag="sha256:other")
    assert handle(question(said="revenue", asked_at=NOON + timedelta(days=1)), later) == first
    assert len(chain(served)) == len(log(served)) == 1


def test_a_request_id_with_another_text_is_wrong_usage(served):
    handle(question(said="revenue"), served)
    with pytest.raises(UsageError, match="used for another question"):
        handle(question(said="revenue by region"), served)
    assert len(chain(served)) == 1


def test_two_who_ask_the_same_request_at_once_get_one_reply(tmp_path):
    called = []
    entered, go_on = threading.Event(), threading.Event()

    def slow(asked, state, index):
        called.append(asked.request_id)
        entered.set()
        assert go_on.wait(30)
        return answer_data(asked, state, index)

    slowed = (Answerer("data", lambda text, index: 1.0, slow),)
    one = services(tmp_path, prefix="one-", answerers=slowed)
    two = services(tmp_path, prefix="two-", answerers=slowed, pause=lambda seconds: go_on.set())
    replies = {}
    first = threading.Thread(target=lambda: replies.update(first=handle(question(said="revenue"), one)))
    first.start()
    assert entered.wait(30)
    replies["second"] = handle(question(said="revenue"), replace(two, wait_seconds=10_000))
    first.join()
    assert replies["first"] == replies["second"]
    assert called == ["r1"]
    assert len(chain(one)) == 1


def test_who_waits_too_long_is_told_so_and_may_ask_again(served):
    with served.store.writing() as connection:
        requests.claim(connection, question(said="revenue"), "somebody", NOON, LEASE)
    said = handle(question(said="revenue"), replace(served, wait_seconds=0.1))
    assert (said.kind, said.status) == ("refusal", "pending")
    after = replace(served, clock=lambda: NOON + LEASE + timedelta(seconds=1))
    assert handle(question(said="revenue"), after).status == "answered"
    assert standing(served).attempts == 2


def test_two_turns_of_one_session_at_once_both_count(tmp_path):
    """The slower one sees that the session moved on, and answers again from the state it then finds."""
    seen = []
    one = services(tmp_path, prefix="one-")

    def meddled(asked, state, index):
        seen.append(dict(state))
        if len(seen) == 1:
            handle(question("r2", "may I return it after 20 days"), one)
        return answer_policy(asked, state, index)

    two = services(tmp_path, prefix="two-", answerers=(Answerer("policy", lambda text, index: 1.0, meddled),))
    said = handle(question("r1", "true"), two)
    assert seen == [{}, {"facts": {"days": 20}}]
    assert said.outcomes == {"refund": "full_refund"}
    assert len(chain(one)) == 2


def test_a_session_that_never_holds_still_ends_in_words(tmp_path):
    one = services(tmp_path, prefix="one-")
    turn = iter(range(100))

    def meddled(asked, state, index):
        handle(question(f"other-{next(turn)}", "may I return it?"), one)
        return answer_policy(asked, state, index)

    two = services(tmp_path, prefix="two-", answerers=(Answerer("policy", lambda text, index: 1.0, meddled),))
    said = handle(question("r1", "20 days"), two)
    assert (said.kind, said.status) == ("refusal", "escalated")
    assert "at the same time" in said.text
    assert standing(one).state == State.ESCALATED


# --- what is only computed -------------------------------------------------------------------------------------------


def claiming(served):
    """The same services, but every answer is claimed first."""
    return replace(served, answerers=tuple(replace(one, only_computes=False) for one in served.answerers))


@pytest.mark.parametrize("text", ["may I return it after 20 days", "why did we leave plasma?", "sing me a song"])
def test_what_is_only_computed_leaves_what_a_claimed_request_leaves(tmp_path, text):
    left = []
    for name, as_served in (("at-once", lambda made: made), ("claimed", claiming)):
        (tmp_path / name).mkdir()
        served = as_served(services(tmp_path / name))
        said = handle(question(said=text), served)
        with served.store.reading() as connection:
            road = requests.steps(connection, "r1")
            row = connection.one("SELECT * FROM requests")
        rows = [*chain(served), *log(served), row]
        left.append((said, road, [{k: v for k, v in one.items() if k not in ("salt", "rows")} for one in rows]))
    assert left[0] == left[1]


def test_what_is_only_computed_writes_once(served, monkeypatch):
    durable = []
    writing = Store.writing
    monkeypatch.setattr(
        Store, "writing", lambda self, is_durable=True: durable.append(is_durable) or writing(self, is_durable)
    )
    handle(question("r1", "may I return it?"), served)
    assert durable == [True]
    handle(question("r2", "revenue"), served)
    assert durable == [True, False, True]


def test_a_reply_that_another_gave_is_not_given_again_before_it_is_on_the_disk(served, monkeypatch):
    waits = []
    given = handle(question("r1", "may I return it?"), served)
    monkeypatch.setattr(Disk, "wait", lambda disk: waits.append(disk))
    assert handle(question("r1", "may I return it?"), served) == given
    assert len(waits) == 1


def test_what_is_only_computed_waits_for_who_answers_the_same_request_already(served):
    asked = question(said="may I return it?")
    with served.store.writing() as connection:
        requests.claim(connection, asked, "somebody", NOON, LEASE)
    assert handle(asked, replace(served, wait_seconds=0.1)).status == "pending"
    assert chain(served) == []
    with pytest.raises(UsageError, match="used for another question"):
        handle(question(said="may I return it today?"), served)


def test_what_breaks_down_while_it_is_computed_is_recorded(served):
    def broken(asked, state, index):
        raise ZeroDivisionError("division by zero")

    seen = []
    policy = Answerer("policy", lambda *_: 1.0, broken, only_computes=True)
    with pytest.raises(ZeroDivisionError):
        broken_down = replace(served, answerers=(policy,), anchor=seen.append, bundle_artifact="b" * 64)
        handle(question(said="x"), broken_down)
    assert (standing(served).state, standing(served).failure) == (
        State.ESCALATED,
        "ZeroDivisionError: division by zero",
    )
    assert [(entry["event"], entry["artifacts"]) for entry in chain(served)] == [("failed", {"bundle": "b" * 64})]
    assert [tail.count for tail in seen] == [1]


# --- what goes wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "status", "words", "state"),
    [
        ("revenue margin", "refused", "did you mean `revenue`?", State.REFUSED),
        ("revenue drop table", "refused", "only SELECT", State.REFUSED),
        ("revenue offline", "escalated", "the warehouse does not answer", State.ESCALATED),
    ],
)
def test_an_error_of_an_answerer_becomes_a_kept_reply_that_says_so(served, text, status, words, state):
    said = handle(question(said=text), served)
    assert (said.kind, said.status) == ("data", status)
    assert words in said.text
    assert (standing(served).reply, standing(served).state) == (said, state)
    assert words in chain(served)[0]["error"]


def test_an_error_without_a_name_is_recorded_and_goes_on_to_the_caller(served):
    with pytest.raises(ZeroDivisionError):
        handle(question(said="revenue crash"), served)
    kept = standing(served)
    assert (kept.state, kept.reply, kept.failure) == (State.ESCALATED, None, "ZeroDivisionError: division by zero")
    assert [(entry["event"], entry["error"]) for entry in chain(served)] == [("failed", kept.failure)]


def test_a_question_that_broke_down_may_be_asked_again_but_not_for_ever(served):
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            handle(question(said="revenue crash"), served)
    said = handle(question(said="revenue crash"), served)
    assert (said.kind, said.status) == ("data", "escalated")
    assert "3 times" in said.text
    assert handle(question(said="revenue crash"), served) == said


def test_a_failed_turn_leaves_the_session_as_it_was(served):
    handle(question("r1", "may I return it?"), served)
    handle(question("r2", "revenue offline"), served)
    assert handle(question("r3", "20 days"), served).facts == {"days": 20}


def test_an_interrupted_attempt_frees_its_request(served):
    def interrupted(asked, state, index):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        handle(question(said="x"), replace(served, answerers=(Answerer("data", lambda *_: 1.0, interrupted),)))
    assert not standing(served).is_held(NOON)


def test_without_a_shelf_there_is_no_reply(served, tmp_path):
    class Full(Exception):
        pass

    class Shelf:
        def before(self, kept):
            raise Full

    with pytest.raises(Full):
        handle(question(said="revenue"), replace(served, artifacts=Shelf()))
    assert standing(served).reply is None
    assert log(served) == []


@pytest.mark.parametrize("text", ["may I return it?", "revenue"])
def test_when_the_audit_cannot_be_written_nothing_is_kept_and_nothing_is_said(served, text):
    with served.store.writing() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER no BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
    with pytest.raises(StoreError, match="disk full"):
        handle(question(said=text), served)
    kept = standing(served)
    assert kept is None or kept.reply is None
    assert log(served) == []
    with served.store.reading() as connection:
        assert sessions.load(connection, "s1", Actor(id="ana")).version == 0


def test_a_process_killed_in_the_middle_of_an_answer_loses_nothing(tmp_path):
    code = """
import sys, time
from pathlib import Path
from bot.request.orchestrator import handle
from bot.router import Answerer
from tests.fakes.frame import question, services
def stuck(asked, state, index):
    print("inside", flush=True)
    time.sleep(600)
handle(question(said="revenue"), services(Path(sys.argv[1]), answerers=(Answerer("data", lambda *_: 1.0, stuck),)))
"""
    victim = Forked("-c", code, tmp_path, stdout=subprocess.PIPE)
    assert victim.stdout.readline() == "inside\n"
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    served = services(tmp_path, prefix="after-", clock=lambda: NOON + LEASE + timedelta(seconds=1))
    kept = standing(served)
    assert (kept.state, kept.kind, kept.question.text, kept.reply) == (State.SCOPE, "data", "revenue", None)
    with served.store.reading() as connection:
        assert stored.unfinished(connection, served.clock()) == ["r1"]
    assert handle(kept.question, served).status == "answered"


def test_many_orchestrators_keep_one_chain(tmp_path):
    code = """
import sys
from pathlib import Path
from bot.request.orchestrator import handle
from tests.fakes.frame import question, services
who, served = sys.argv[2], services(Path(sys.argv[1]), prefix=sys.argv[2])
for n in range(10):
    handle(question(f"{who}-{n}", "revenue by region", session_id=f"{who}-{n % 2}"), served)
    handle(question(f"shared-{n}", "revenue", session_id="shared"), served)
"""
    started = [Forked("-c", code, tmp_path, f"p{n}") for n in range(3)]
    assert [one.wait() for one in started] == [0, 0, 0]
    served = services(tmp_path)
    bodies = chain(served)
    assert len(bodies) == 10 + 3 * 10
    assert len({body["request_id"] for body in bodies}) == len(bodies) == len(log(served))


# --- what is no question ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"said": "  \n"}, "empty"),
        ({"said": "x" * (MAX_TEXT + 1)}, f"at most {MAX_TEXT}"),
        ({"said": "nul \0 byte"}, "not text"),
        ({"said": "half a pair \ud83d"}, "not text"),
        ({"request_id": ""}, "request id"),
        ({"request_id": "x" * 129}, "request id"),
        ({"request_id": "a\nb"}, "request id"),
        ({"session_id": "\x1b[31m"}, "session id"),
        ({"session_id": "\ud83d"}, "session id"),
        ({"actor": Actor(id=" ")}, "user"),
        ({"asked_at": NOON.replace(tzinfo=None)}, "timezone"),
    ],
)
def test_what_could_not_be_kept_is_wrong_usage(served, wrong, words):
    with pytest.raises(UsageError, match=words):
        handle(question(**wrong), served)
    assert chain(served) == []


def test_an_unusual_text_is_a_question_like_any_other(served):
    said = handle(
        question(said="may I return it after 20 days\u202e \N{GRINNING FACE} ' OR 1=1; --\x1b[31m {{7*7}} %s"), served
    )
    assert said.status == "needs_fact"
    assert handle(question(said="true", request_id="r2"), served).outcomes == {"refund": "full_refund"}


def test_the_answerers_are_ordered():
    assert [one.kind for one in ANSWERERS] == ["decision", "data", "policy"]
