"""Which answer ends a call: the one to that very call, whatever else a client asks and a server says meanwhile."""

import json
from datetime import UTC, datetime

import pytest

from bot.gate.passage import Passage
from bylaw.gate.decision_point import MemoryDecisionPoint
from bylaw.gate.engine import Gate
from tests.gate.doors import DESK
from tests.gate.shop import REFUND
from tests.rows import each

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOST = {"confirmed": True}
OK = {"content": [{"type": "text", "text": "done"}]}
FAILED = {**OK, "isError": True}


class Talk:
    """A client and a server around a passage, message by message."""

    def __init__(self, gate):
        self.point = MemoryDecisionPoint(lambda: gate, clock=lambda: NOON)
        self.passage = Passage(self.point, lambda: gate, "bot", "s", HOST)

    def ask(self, method, asked, **params):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        return self.passage.asked(message if asked is None else {**message, "id": asked})

    def call(self, name, asked, **more):
        arguments = REFUND if name == "issue_refund" else {"customer_id": "c1"}
        return self.ask("tools/call", asked, name=name, arguments=arguments, **more)

    def answer(self, asked, result=OK, is_again=False, **more):
        message = {"jsonrpc": "2.0", "id": asked, **({"result": result} if result is not None else {}), **more}
        return self.passage.answered(message, is_again)

    def may_refund(self):
        """Does the identity count as verified? Nothing is left behind."""
        return self.call("issue_refund", "probe").onward is not None


@pytest.fixture
def talk(bundle):
    return Talk(Gate(bundle(DESK)))


OTHERS = [
    "ping",
    "tools/list",
    "resources/list",
    "prompts/get",
    "tasks/get",
    "logging/setLevel",
    "initialize",
    "nothing/x",
]


@each("method", [*OTHERS, "tools/call"])
def test_an_id_in_use_is_refused_for_every_method(bundle, method):
    talk = Talk(Gate(bundle(DESK)))
    assert talk.call("verify", 7).onward is not None
    turn = talk.call("sign_out", 7) if method == "tools/call" else talk.ask(method, 7)
    assert turn.onward is None and turn.back["error"]["message"] == "the id is in use" and turn.back["id"] == 7
    assert not talk.may_refund(), "the call waits for its own answer"
    talk.answer(7, FAILED)
    assert not talk.may_refund()


@each("method", OTHERS)
def test_what_is_asked_first_holds_its_id_against_a_call(bundle, method):
    talk = Talk(Gate(bundle(DESK)))
    assert talk.ask(method, 7).onward is not None
    assert talk.call("verify", 7).back["error"]["message"] == "the id is in use"
    assert talk.answer(7, {}) is not None and not talk.may_refund()
    assert talk.call("verify", 7).onward is not None, "it is free once it was answered"


def test_a_number_and_its_text_are_two(talk):
    assert talk.call("verify", 1).onward is not None and talk.ask("ping", "1").onward is not None
    assert talk.answer("1", {}) is not None and not talk.may_refund()
    assert talk.answer(1) is not None and talk.may_refund()


@each(
    "asked",
    [1.0, 1.5, True, None, [1], {}, 2**53, -(2**60), "", "a\n", "\ud800", "x" * 201, "bylaw-1", 10**5_000],
    ids=repr,
)
def test_an_id_that_readers_read_differently_is_none(bundle, asked):
    talk = Talk(Gate(bundle(DESK)))
    for turn in (
        talk.passage.asked({"id": asked, "method": "ping"}),
        talk.passage.asked({"id": asked, "method": "tools/call"}),
    ):
        assert turn.onward is None and turn.back["error"]["code"] == -32600


def test_two_lists_under_one_id_show_no_hidden_tool(talk):
    tools = {"tools": [{"name": "verify"}, {"name": "tell"}]}
    assert talk.ask("tools/list", 3).onward is not None and talk.ask("tools/list", 3).onward is None
    assert [one["name"] for one in talk.answer(3, tools)["result"]["tools"]] == ["verify"]
    assert talk.answer(3, tools) is None, "a second answer is one to nobody"
    assert [one["name"] for one in talk.answer(3, tools, is_again=True)["result"]["tools"]] == ["verify"]


def test_what_is_said_once_more_ends_nothing_and_shows_nothing_else(talk):
    tools = {"tools": [{"name": "verify"}, {"name": "tell"}]}
    talk.call("verify", 7)
    talk.answer(7)
    talk.call("sign_out", 8)
    talk.answer(8)
    talk.call("verify", 7)
    assert talk.answer(7, is_again=True) is not None and not talk.may_refund(), "it is the answer to another call"
    talk.ask("tools/list", 3)
    talk.answer(3, tools)
    talk.ask("ping", 3)
    talk.answer(3, {})
    assert "tell" not in json.dumps(talk.answer(3, tools, is_again=True))


def test_an_answer_that_comes_first_by_a_resumed_stream_is_the_answer(talk):
    talk.call("verify", 7)
    assert talk.answer(7, is_again=True) is not None and talk.may_refund(), "no client takes it away from its call"


@each("result", [[{"name": "tell"}], {"tools": {"tell": {}}}, "tell", None, {"items": [{"name": "tell"}]}], ids=str)
def test_a_list_that_cannot_be_read_is_not_shown(bundle, result):
    talk = Talk(Gate(bundle(DESK)))
    talk.ask("tools/list", 3)
    assert "tell" not in json.dumps(talk.answer(3, result))


NOBODY = [
    {"id": 8, "result": OK},
    {"id": "7", "result": OK},
    {"id": 7.0, "result": OK},
    {"id": True, "result": OK},
    {"id": None, "result": OK},
    {"result": OK},
    {"id": [7], "result": OK},
    {"id": "bylaw-x", "result": OK},
    {"id": 7, "method": "elicitation/create", "result": OK},  # the server's own id, which is the other direction
    {"method": "notifications/progress", "params": {"progressToken": 7}},
    {"method": "notifications/tasks/status", "params": {"taskId": "t", "status": "completed"}},
]


@each("message", NOBODY, ids=str)
def test_what_is_no_answer_to_the_call_ends_nothing(bundle, message):
    talk = Talk(Gate(bundle(DESK)))
    talk.call("verify", 7)
    told = talk.passage.answered({"jsonrpc": "2.0", **message})
    assert (told is not None) == ("method" in message) and not talk.may_refund()
    assert talk.answer(7) is not None and talk.may_refund()


UNREADABLE = [None, [], "ok", 1, {}, {"isError": False}, {**OK, "isError": "no"}, {**OK, "resultType": "later"}]


@each("result", UNREADABLE, ids=str)
def test_an_answer_that_nobody_can_read_leaves_the_call_open(bundle, result):
    talk = Talk(Gate(bundle(DESK)))
    talk.call("verify", 7)
    talk.answer(7, result)
    assert not talk.may_refund()
    (event,) = talk.point.ledger.line(("customer_id", "c1")).events
    assert event.ok is None and event.is_reserved(event.at + 59_000_000), "it may have been done"


def test_late_double_and_given_up_answers_end_nothing(talk):
    talk.call("verify", 7)
    assert [one["id"] for one in talk.passage.over("gone", 7)] == [7]
    assert talk.ask("ping", 7).back["error"]["message"] == "the id is in use", "what comes late is the answer to that"
    assert talk.call("verify", 8).onward is not None
    assert talk.answer(7) is None and not talk.may_refund()
    assert talk.answer(8, FAILED) is not None and talk.answer(8) is None and not talk.may_refund()


def test_what_is_cancelled_runs_to_its_end(talk):
    talk.call("verify", 7)
    assert talk.ask("notifications/cancelled", None, requestId=7).onward is None
    assert talk.ask("ping", 7).onward is None, "its id is in use"
    assert talk.answer(7) is not None and talk.may_refund()
    talk.ask("ping", 9)
    assert talk.ask("notifications/cancelled", None, requestId=9).onward is not None
    assert talk.call("verify", 9).onward is None, "nobody knows whether the server has answered it yet"


def test_a_call_that_waits_for_a_person_has_its_id_in_use(talk):
    talk.ask("initialize", 0, capabilities={"elicitation": {}})
    asked = talk.ask("tools/call", 5, name="hurry", arguments={"order_id": "1"})
    assert asked.question is not None and talk.ask("ping", 5).onward is None and talk.answer(5) is None
    said = {"jsonrpc": "2.0", "id": asked.back["id"], "result": {"action": "accept", "content": {"is_urgent": True}}}
    assert talk.passage.asked(said).onward["id"] == 5
    assert talk.ask("ping", 5).onward is None and talk.answer(5) is not None and talk.ask("ping", 5).onward is not None
    again = talk.ask("tools/call", 6, name="hurry", arguments={"order_id": "1"})
    assert "error" not in json.dumps(talk.passage.give_up(again.question).back["id"])
    assert talk.ask("ping", 6).onward is not None, "it was answered here"
    third = talk.ask("tools/call", 10, name="hurry", arguments={"order_id": "1"})
    assert talk.ask("notifications/cancelled", None, requestId=10).question == third.question
    assert talk.ask("ping", 10).onward is not None


def test_a_client_that_answers_nobody_is_heard_by_the_server_and_ends_nothing(talk):
    talk.call("verify", 7)
    assert talk.passage.asked({"jsonrpc": "2.0", "id": 7, "result": OK}).onward is not None
    assert talk.passage.asked({"jsonrpc": "2.0", "id": "bylaw-x", "result": OK}).onward is None
    assert not talk.may_refund()


def test_a_limit_is_not_passed_by_a_method_that_is_unknown(talk):
    talk.call("verify", 1)
    talk.answer(1)
    paid = 0
    for n in range(4):
        if talk.call("issue_refund", 100 + n).onward is not None:
            paid += 1
        talk.ask("nothing/x", 100 + n)
        talk.passage.answered({"jsonrpc": "2.0", "id": 900 + n, "error": {"code": -32601, "message": "no such method"}})
    assert paid == 1
