"""An MCP client's messages on their way to a server, and the server's back: what is decided, hidden, asked, recorded.

Knows nothing of pipes and of HTTP. Tools that the actor may never call are not listed, every call is decided before the
server sees it, and how it ended is recorded; all other messages go through. A call that was let through runs to its
end: a client's word that it is cancelled stops nothing, or nobody would know what was done. Who acts, in which session
and with which facts is said by the host, never by a message.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from bot.gate.messages import INVALID, NO_PARAMS, OURS, Message, error, is_id, key_of, object_of
from bot.gate.open_requests import Kind, Opened, OpenRequests
from bot.gate.tasks import CANCEL, GET, RESULT, Ending, Following, ending_of, following, kept_longer
from bot.gate.waiting import Owner, Questions, Waiting
from bylaw.errors import BylawError
from bylaw.gate.answer import GateAnswer
from bylaw.gate.decision_point import HoldingPoint, call_of
from bylaw.gate.engine import Gate
from bylaw.gate.questions import Question, form, questions

MOST_NAME = 200
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"  # told with each request since protocol 2026
_FIELD = "bylaw"  # the name of our request among those that a client is to fulfil
_KINDS: Mapping[str, Kind] = {"tools/call": "call", "tools/list": "list", GET: "task", RESULT: "task"}

_beside = ThreadPoolExecutor(4, "gate-shadow")  # decides what shadow mode lets through in any case


@dataclass(frozen=True, slots=True)
class Turn:
    """What becomes of a client's message: what goes on to the server, what is said back.

    `question` names a call that waits: at first for the client's answer, then for what that led to.
    """

    onward: Message | None = None
    back: Message | None = None
    question: str | None = None


@dataclass
class Passage:
    """One client and one server. `session` and `facts` are the host's; without a session its history is unknown."""

    point: HoldingPoint
    gate: Callable[[], Gate]
    actor: str | None
    session: str | None
    facts: Mapping[str, Any]
    questions: Questions = field(default_factory=Questions)
    follow: Callable[[Following], None] = field(default=lambda task: None, repr=False)
    requests: OpenRequests = field(default_factory=OpenRequests)
    _can_be_asked: bool = False
    _tasks: list[Following] = field(default_factory=list)  # that have not ended
    _ours: dict[str, tuple[Following, str]] = field(default_factory=dict)  # what the proxy itself asks the server
    _turn: Lock = field(default_factory=Lock)

    @property
    def owner(self) -> Owner:
        """Whose questions these are."""
        return self.actor, self.session

    # ---- from the client --------------------------------------------------------------------------------------------

    def asked(self, message: Message) -> Turn:
        """What becomes of a *message* of the client."""
        method, is_request = message.get("method"), "id" in message
        if not (method is None or isinstance(method, str)) or (is_request and not is_id(message["id"])):
            return Turn(back=error(None, "this is no message", INVALID))
        if method is None:
            return self._told(message)
        if not is_request:
            return self._notified(message, method)
        if str(message["id"]).startswith(OURS):
            return Turn(back=error(message["id"], f"ids that begin with `{OURS}` are the gate's own", INVALID))
        if method == CANCEL:
            why = "a call that was let through runs to its end: nobody could tell what a cancelled one did"
            return Turn(back=error(message["id"], why, NO_PARAMS))
        problem = self.requests.open(key_of(message["id"]), _KINDS.get(method, "other"), message)
        if problem is not None:
            return Turn(back=error(message["id"], problem, INVALID))
        if method == "initialize":
            self._can_be_asked = _takes_forms(object_of(object_of(message.get("params")).get("capabilities")))
        return self._released(message, self._called(message)) if method == "tools/call" else Turn(onward=message)

    def _notified(self, message: Message, method: str) -> Turn:
        if method in ("tools/call", CANCEL):  # a call that nobody waits for has no answer: who would tell of a denial?
            return Turn()
        return self._cancelled(message) if method == "notifications/cancelled" else Turn(onward=message)

    def _released(self, message: Message, turn: Turn) -> Turn:
        """*turn*, and the id of a request that is answered here is free again."""
        if turn.onward is None and turn.question is None:
            self.requests.release(key_of(message["id"]))
        return turn

    def _called(self, message: Message) -> Turn:
        params = object_of(message.get("params"))
        name, arguments, kept = params.get("name"), params.get("arguments") or {}, kept_longer(params)
        is_name = isinstance(name, str) and 0 < len(name) <= MOST_NAME and name.isprintable()
        if not is_name or not isinstance(arguments, dict) or kept is None:
            return Turn(back=error(message["id"], "this is no call of a tool", INVALID))
        message, state = {**message, "params": kept}, params.get("requestState")
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
                self.requests.decide(key_of(message["id"]), _beside.submit(self.point.decide, call), message)
                return Turn(onward=message)
            answer = self.point.decide(call)
        except BylawError as problem:
            return Turn(back=error(message["id"], f"the gate does not answer: {problem.message}"))
        if answer.is_allowed:
            known: Future[GateAnswer] = Future()
            known.set_result(answer)
            self.requests.decide(key_of(message["id"]), known, message)
            return Turn(onward=message)
        asked = questions(self.gate(), params["name"], answer.missing) if answer.ruling == "ask" else ()
        return self._asks_back(message, asked, answer, may_ask)

    def _is_shadow(self, name: str) -> bool:
        tool = self.gate().reader.tools.get(name)
        return tool is not None and tool.mode == "shadow"

    # ---- what the person behind the client is asked -----------------------------------------------------------------

    def _asks_back(self, message: Message, asked: tuple[Question, ...], answer: GateAnswer, may_ask: bool) -> Turn:
        params = message["params"]
        denied = {"jsonrpc": "2.0", "id": message["id"], "result": _denied(params["name"], answer, asked)}
        told = object_of(params.get("_meta")).get(CAPABILITIES)
        can_be_asked = self._can_be_asked if told is None else _takes_forms(object_of(told))
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
        turn = self._released(waiting.call, self._resumed(waiting, waiting.call, object_of(message.get("result"))))
        return Turn(turn.onward, turn.back, asked)

    def give_up(self, question: str) -> Turn:
        """Nobody answers that question in time: the call that waited for it is denied."""
        waiting = self.questions.take(question, self.owner)
        if waiting is None:
            return Turn()
        return self._released(waiting.call, Turn(back=waiting.denied))

    def _retried(self, message: Message, state: str) -> Turn:
        """The client calls again with what it was asked for, as since protocol 2026."""
        waiting, params = self.questions.take(state, self.owner), message["params"]
        if waiting is None or _what(waiting.call) != _what(message):
            return Turn(back=error(message["id"], "nothing was asked under this state, or of another call", INVALID))
        ours = object_of(object_of(params.get("inputResponses")).get(_FIELD))
        rest = {name: value for name, value in params.items() if name not in ("inputResponses", "requestState")}
        return self._resumed(waiting, {**message, "params": rest}, ours)

    def _resumed(self, waiting: Waiting, message: Message, told: Message) -> Turn:
        said = {name: value for name, value in object_of(told.get("content")).items() if name in waiting.facts}
        if told.get("action") != "accept" or not said:
            return Turn(back={**waiting.denied, "id": message["id"]})
        return self._decided(message, said, may_ask=False)  # it is asked once

    def _cancelled(self, message: Message) -> Turn:
        asked = object_of(message.get("params")).get("requestId")
        if self.requests.is_call(key_of(asked)):
            return Turn()
        name = self.questions.of_call(asked, self.owner)
        if name is not None and self.questions.take(name, self.owner) is not None:
            self.requests.release(key_of(asked))
            return Turn(question=name)
        return Turn(onward=message)

    # ---- from the server --------------------------------------------------------------------------------------------

    def answered(self, message: Message, is_again: bool = False) -> Message | None:
        """What the client hears of a *message* of the server; None where it hears nothing.

        An answer to nobody, and a second answer to one request, go no further. *is_again*: the server may say once more
        what it said before, to a client that lost it; under an id that was answered before that ends nothing, whatever
        the id is used for now.
        """
        if message.get("method") is not None:
            return message
        if not is_id(message.get("id")):  # what is wrong with a message of which the server read no id
            return message if "error" in message and message.get("id") is None else None
        key = key_of(message["id"])
        if is_again and (kind := self.requests.answered_before(key)) is not None:
            return self._shown(message, kind)
        with self._turn:
            ours = self._ours.pop(key, None)
        if ours is not None:
            self._heard(ours[0], ours[1], message)
            return None
        found = self.requests.answered(key)
        if found is None:
            return None
        if found.answer is not None:
            self._call_answered(found, found.answer, message)
        elif found.kind == "task":
            self._task_answered(found.message, message)
        return self._shown(message, found.kind)

    def _shown(self, message: Message, kind: Kind) -> Message:
        """*message* without the tools that the actor may never call."""
        if kind != "list" or "error" in message:
            return message
        result = message.get("result")
        if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
            return error(message["id"], "the list of the server's tools cannot be read")
        may = self.point.tools(self.actor, self.facts)
        shown = [tool for tool in result["tools"] if isinstance(tool, dict) and may.get(str(tool.get("name")))]
        return {**message, "result": {**result, "tools": shown}}

    def _call_answered(self, opened: Opened, answer: Future[GateAnswer], message: Message) -> None:
        task = None if "error" in message else following(message, opened.message, answer)
        if task is not None:
            with self._turn:
                self._tasks.append(task)
            self._later(answer, lambda: self._extend(task))
            self.follow(task)
            return
        ending = Ending(False, None) if "error" in message else ending_of(message.get("result"))
        if ending is not None:
            self._ended(answer, ending)

    def over(self, why: str, only: object = None) -> list[Message]:
        """The server will answer no more of what is open, or not the *only* one: its calls have failed."""
        left = self.requests.give_up(None if only is None else key_of(only))
        for one in left.values():
            if one.answer is not None:
                self._ended(one.answer, Ending(False, None))
        return [error(json.loads(key), why) for key in left]

    # ---- tasks ------------------------------------------------------------------------------------------------------

    def next_of(self, task: Following) -> Message | None:
        """What the server is asked next about *task*; None once it has ended."""
        name = OURS + secrets.token_urlsafe(16)
        with self._turn:
            if task.is_over:
                return None
            self._ours = {key: one for key, one in self._ours.items() if one[0] is not task}  # never answered
            self._ours[key_of(name)] = task, task.method
        return {"jsonrpc": "2.0", "id": name, "method": task.method, "params": task.params()}

    def forget(self, task: Following) -> None:
        """Nobody asks about *task* any more; its call stays reserved as long as the server kept it."""
        with self._turn:
            task.is_over = True
            self._ours = {key: one for key, one in self._ours.items() if one[0] is not task}
            self._tasks = [one for one in self._tasks if one is not task]

    @property
    def is_busy(self) -> bool:
        """Is a call under way, or a task followed?"""
        return bool(self._tasks) or self.requests.has_calls

    def _task_answered(self, asked: Message, message: Message) -> None:
        """The client asked for a task, and hears of its end before its call ends by our own question."""
        task_id = object_of(asked.get("params")).get("taskId")
        for task in [one for one in self._tasks if one.task_id == task_id]:
            self._heard(task, str(asked["method"]), message)

    def _heard(self, task: Following, method: str, message: Message) -> None:
        with self._turn:
            ending = None if task.is_over else task.heard(method, message)
        if ending is not None:
            self.forget(task)
            self._ended(task.answer, ending)
        task.wake()

    def _extend(self, task: Following) -> None:
        with suppress(BylawError):  # it has ended already
            self.point.extend(task.answer.result().decision_id, task.seconds)

    # ---- recording --------------------------------------------------------------------------------------------------

    def _ended(self, answer: Future[GateAnswer], ending: Ending) -> None:
        self._later(answer, lambda: self._record(answer, ending))

    def _later(self, answer: Future[GateAnswer], work: Callable[[], None]) -> None:
        """Do *work* once the decision is known: what shadow mode lets through may be answered before."""
        if answer.done():
            work()
        else:
            _beside.submit(work)

    def _record(self, answer: Future[GateAnswer], ending: Ending) -> None:
        with suppress(BylawError):  # it counts as open for a minute then: no door opens by that
            self.point.ended(answer.result().decision_id, ending.ok, ending.output)


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
