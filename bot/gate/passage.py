"""An MCP client's messages on their way to a server, and the server's back: what is decided, hidden, asked, recorded.

Knows nothing of pipes and of HTTP. Tools that the actor may never call are not listed, every call is decided before the
server sees it, and how it ended is recorded; all other messages go through. A call that was let through runs to its
end: a client's word that it is cancelled stops nothing, or nobody would know what was done. Who acts, in which session
and with which facts is said by the host, never by a message.
"""

from __future__ import annotations

import json
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple

from bylaw.errors import BylawError
from bylaw.gate.answer import GateAnswer
from bylaw.gate.decision_point import DecisionPoint, call_of
from bylaw.gate.engine import Gate
from bylaw.gate.questions import Question, form, questions

Message = dict[str, Any]

INVALID, INTERNAL = -32600, -32603
MOST_QUESTIONS = 1_000  # that wait for an answer; beyond them the oldest is dropped
MOST_NAME = 200
OURS = "bylaw-"  # how the ids of our own requests to a client begin
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"  # told with each request since protocol 2026
_FIELD = "bylaw"  # the name of our request among those that a client is to fulfil

_beside = ThreadPoolExecutor(4, "gate-shadow")  # decides what shadow mode lets through in any case


@dataclass(frozen=True, slots=True)
class Turn:
    """What becomes of a client's message: what goes on to the server, what is said back.

    `question` names a call that waits: at first for the client's answer, then for what that led to.
    """

    onward: Message | None = None
    back: Message | None = None
    question: str | None = None


Owner = tuple[str | None, str | None]  # an actor and a session


class Waiting(NamedTuple):
    """A call that waits for an answer of the person behind the client; *is_held*: its request is not answered yet."""

    call: Message
    facts: frozenset[str]
    denied: Message
    owner: Owner
    is_held: bool


@dataclass
class Questions:
    """The questions that wait, each under a name that nobody can guess and that holds once."""

    _open: OrderedDict[str, Waiting] = field(default_factory=OrderedDict)
    _turn: Lock = field(default_factory=Lock)

    def add(self, waiting: Waiting) -> str:
        """The name of one more."""
        name = OURS + secrets.token_urlsafe(16)
        with self._turn:
            self._open[name] = waiting
            if len(self._open) > MOST_QUESTIONS:
                self._open.popitem(last=False)
        return name

    def take(self, name: str, owner: Owner) -> Waiting | None:
        """The one of that name, no longer open; None where its *owner* has none."""
        with self._turn:
            found = self._open.get(name)
            return self._open.pop(name) if found is not None and found.owner == owner else None

    def of_call(self, asked: object, owner: Owner) -> str | None:
        """The question that holds up the call of that id."""
        with self._turn:
            mine = ((name, one) for name, one in self._open.items() if one.is_held and one.owner == owner)
            return next((name for name, one in mine if _key(one.call["id"]) == _key(asked)), None)


@dataclass
class Passage:
    """One client and one server. `session` and `facts` are the host's; without a session its history is unknown."""

    point: DecisionPoint
    gate: Callable[[], Gate]
    actor: str | None
    session: str | None
    facts: Mapping[str, Any]
    questions: Questions = field(default_factory=Questions)
    _can_be_asked: bool = False
    _lists: set[str] = field(default_factory=set)
    _calls: dict[str, Future[GateAnswer]] = field(default_factory=dict)
    _turn: Lock = field(default_factory=Lock)

    @property
    def owner(self) -> Owner:
        """Whose questions these are."""
        return self.actor, self.session

    # ---- from the client --------------------------------------------------------------------------------------------

    def asked(self, message: Message) -> Turn:
        """What becomes of a *message* of the client."""
        method, is_request = message.get("method"), "id" in message
        if not (method is None or isinstance(method, str)) or (is_request and not _is_id(message["id"])):
            return Turn(back=error(None, "this is no message", INVALID))
        if method is None:
            return self._told(message)
        match method:
            case "tools/call":
                # a call that nobody waits for has no answer, and nobody could tell that it was denied
                return self._called(message) if is_request else Turn()
            case "tools/list" if is_request:
                with self._turn:
                    self._lists.add(_key(message["id"]))
            case "initialize":
                self._can_be_asked = _takes_forms(_object(_object(message.get("params")).get("capabilities")))
            case "notifications/cancelled":
                return self._cancelled(message)
        return Turn(onward=message)

    def _called(self, message: Message) -> Turn:
        params = _object(message.get("params"))
        name, arguments = params.get("name"), params.get("arguments") or {}
        is_name = isinstance(name, str) and 0 < len(name) <= MOST_NAME and name.isprintable()
        if not (is_name and isinstance(arguments, dict)):
            return Turn(back=error(message["id"], "this is no call of a tool", INVALID))
        with self._turn:
            if _key(message["id"]) in self._calls or self.questions.of_call(message["id"], self.owner):
                return Turn(back=error(message["id"], "the id is in use", INVALID))
        state = params.get("requestState")
        if isinstance(state, str) and state.startswith(OURS):
            return self._retried(message, state)
        return self._decided(message, {})

    def _decided(self, message: Message, facts: Mapping[str, Any], may_ask: bool = True) -> Turn:
        params = message["params"]
        try:
            call = call_of(
                tool=params["name"],
                arguments=params.get("arguments") or {},
                facts=facts,
                session={"id": self.session, "facts": dict(self.facts)},
                actor=self.actor,
            )
            if self._is_shadow(params["name"]):  # whatever it will say, the call is made: nobody waits for it
                self._let_through(message, _beside.submit(self.point.decide, call))
                return Turn(onward=message)
            answer = self.point.decide(call)
        except BylawError as problem:
            return Turn(back=error(message["id"], f"the gate does not answer: {problem.message}"))
        if answer.is_allowed:
            known: Future[GateAnswer] = Future()
            known.set_result(answer)
            self._let_through(message, known)
            return Turn(onward=message)
        asked = questions(self.gate(), params["name"], answer.missing) if answer.ruling == "ask" else ()
        return self._asks_back(message, asked, answer, may_ask)

    def _is_shadow(self, name: str) -> bool:
        tool = self.gate().reader.tools.get(name)
        return tool is not None and tool.mode == "shadow"

    def _let_through(self, message: Message, answer: Future[GateAnswer]) -> None:
        with self._turn:
            self._calls[_key(message["id"])] = answer

    # ---- what the person behind the client is asked -----------------------------------------------------------------

    def _asks_back(self, message: Message, asked: tuple[Question, ...], answer: GateAnswer, may_ask: bool) -> Turn:
        params = message["params"]
        denied = {"jsonrpc": "2.0", "id": message["id"], "result": _denied(params["name"], answer, asked)}
        told = _object(params.get("_meta")).get(CAPABILITIES)
        can_be_asked = self._can_be_asked if told is None else _takes_forms(_object(told))
        open_ = [one for one in asked if one.form is not None]
        if not (open_ and can_be_asked and may_ask):
            return Turn(back=denied)
        names = frozenset(one.fact for one in open_)
        name = self.questions.add(Waiting(message, names, denied, self.owner, is_held=told is None))
        text = f"To decide `{params['name']}`: {' '.join(one.text for one in open_)}"
        request = {"mode": "form", "message": text, "requestedSchema": form(open_)}
        if told is None:
            back = {"jsonrpc": "2.0", "id": name, "method": "elicitation/create", "params": request}
            return Turn(back=back, question=name)
        fulfil = {_FIELD: {"method": "elicitation/create", "params": request}}
        result = {"resultType": "input_required", "inputRequests": fulfil, "requestState": name}
        return Turn(back={"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _told(self, message: Message) -> Turn:
        """The client answers a request: the server's, or one of ours."""
        asked = message.get("id")
        if not (isinstance(asked, str) and asked.startswith(OURS)):
            return Turn(onward=message)
        waiting = self.questions.take(asked, self.owner)
        if waiting is None:
            return Turn()
        turn = self._resumed(waiting, waiting.call, _object(message.get("result")))
        return Turn(turn.onward, turn.back, asked)

    def _retried(self, message: Message, state: str) -> Turn:
        """The client calls again with what it was asked for, as since protocol 2026."""
        waiting, params = self.questions.take(state, self.owner), message["params"]
        if waiting is None or _what(waiting.call) != _what(message):
            return Turn(back=error(message["id"], "nothing was asked under this state, or of another call", INVALID))
        ours = _object(_object(params.get("inputResponses")).get(_FIELD))
        rest = {name: value for name, value in params.items() if name not in ("inputResponses", "requestState")}
        return self._resumed(waiting, {**message, "params": rest}, ours)

    def _resumed(self, waiting: Waiting, message: Message, told: Message) -> Turn:
        said = {name: value for name, value in _object(told.get("content")).items() if name in waiting.facts}
        if told.get("action") != "accept" or not said:
            return Turn(back={**waiting.denied, "id": message["id"]})
        return self._decided(message, said, may_ask=False)  # it is asked once

    def _cancelled(self, message: Message) -> Turn:
        asked = _object(message.get("params")).get("requestId")
        with self._turn:
            if _key(asked) in self._calls:
                return Turn()
        name = self.questions.of_call(asked, self.owner)
        if name is not None and self.questions.take(name, self.owner) is not None:
            return Turn(question=name)
        return Turn(onward=message)

    # ---- from the server --------------------------------------------------------------------------------------------

    def answered(self, message: Message) -> Message:
        """What the client hears of a *message* of the server."""
        if "method" in message or "id" not in message:
            return message
        asked, result = _key(message["id"]), message.get("result")
        with self._turn:
            answer, is_list = self._calls.pop(asked, None), asked in self._lists
            self._lists.discard(asked)
        if answer is not None:
            found = _object(result)
            is_done = "error" not in message and found.get("isError") is not True
            self._ended(answer, is_done and found.get("resultType") != "input_required", result)
        elif is_list and isinstance(result, dict) and isinstance(result.get("tools"), list):
            may = self.point.tools(self.actor, self.facts)
            shown = [tool for tool in result["tools"] if isinstance(tool, dict) and may.get(str(tool.get("name")))]
            return {**message, "result": {**result, "tools": shown}}
        return message

    def is_open(self, asked: object) -> bool:
        """Does the call of that id wait for the server?"""
        with self._turn:
            return _key(asked) in self._calls

    def over(self, why: str, only: object = None) -> list[Message]:
        """The server will say no more of the calls that are open, or of the *only* one: they have failed."""
        with self._turn:
            left = {key: one for key, one in self._calls.items() if only is None or key == _key(only)}
            for key in left:
                del self._calls[key]
        for answer in left.values():
            self._ended(answer, False, None)
        return [error(json.loads(key), why) for key in left]

    def _ended(self, answer: Future[GateAnswer], ok: bool, output: Any) -> None:
        if answer.done():
            self._record(answer, ok, output)
        else:
            _beside.submit(self._record, answer, ok, output)

    def _record(self, answer: Future[GateAnswer], ok: bool, output: Any) -> None:
        with suppress(BylawError):  # it counts as open for a minute then: no door opens by that
            self.point.ended(answer.result().decision_id, ok, output)


def error(asked: Any, message: str, code: int = INTERNAL) -> Message:
    """The answer to a request that goes no further."""
    return {"jsonrpc": "2.0", "id": asked, "error": {"code": code, "message": message}}


def read(text: str | bytes) -> Message | None:
    """One message; None for what is none, a batch among it."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def spelled(message: Mapping[str, Any]) -> str:
    """*message* spelled anew: nobody reads two things into one text."""
    return json.dumps(message, ensure_ascii=True)


def _denied(name: str, answer: GateAnswer, asked: tuple[Question, ...]) -> Message:
    said = f"{answer.decision}: {answer.why}"
    text = json.dumps(answer.as_refusal(name), ensure_ascii=False)
    content = [{"type": "text", "text": said}, {"type": "text", "text": text}]
    if asked:
        content.append({"type": "text", "text": " ".join(one.text for one in asked)})
    return {"content": content, "isError": True, "resultType": "complete"}  # the last: since protocol 2026


def _takes_forms(capabilities: Mapping[str, Any]) -> bool:
    """Does the client put questions to a person? A bare `{}` is what forms were called before there was another way."""
    said = capabilities.get("elicitation")
    return isinstance(said, dict) and (not said or "form" in said)


def _what(message: Message) -> str:
    params = message["params"]
    return json.dumps([params["name"], params.get("arguments") or {}], sort_keys=True)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _key(asked: object) -> str:
    """The JSON of a request's id: 1 and "1" are two."""
    return json.dumps(asked)
