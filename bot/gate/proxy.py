"""`bylaw guard --mcp -- COMMAND`: an MCP server behind the gate, over standard input and output, message by message.

Tools that the actor may never call are not listed, every call is decided before the server sees it, and how it ended is
recorded. All other messages go through, spelled anew: nobody reads two things into one line. Who acts, in which
session and with which facts is said by the host that starts the proxy.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import IO, Any

from bylaw.errors import BylawError
from bylaw.gate.answer import Answer
from bylaw.gate.desk import Desk, call_of

INVALID, INTERNAL = -32600, -32603
_Id = str  # the JSON of a request's id: 1 and "1" are two


@dataclass
class Proxy:
    """One client and one server. `session` and `facts` are the host's."""

    desk: Desk
    actor: str
    session: str
    facts: Mapping[str, Any]
    to_client: IO[str]
    to_server: IO[str]
    _lists: set[_Id] = field(default_factory=set)
    _calls: dict[_Id, str] = field(default_factory=dict)
    _turn: Lock = field(default_factory=Lock)
    _saying: Lock = field(default_factory=Lock)  # one for each direction: a full pipe holds nobody else up
    _asking: Lock = field(default_factory=Lock)

    def from_client(self, lines: Iterable[str]) -> None:
        """Take what the client says, until it ends."""
        for line in lines:
            message = _read(line)
            if message is None:
                self._say({"jsonrpc": "2.0", "id": None, "error": {"code": INVALID, "message": "one message a line"}})
            elif message.get("method") == "tools/call":
                self._called(message)
            else:
                if message.get("method") == "tools/list" and "id" in message:
                    self._lists.add(json.dumps(message["id"]))
                self._forward(message)

    def from_server(self, lines: Iterable[str]) -> None:
        """Take what the server says, until it ends; what was still open then has failed."""
        for line in lines:
            message = _read(line)
            if message is not None:
                self._say(self._answered(message))
        with self._turn:
            left = dict(self._calls)
            self._calls.clear()
        for asked, decision_id in left.items():
            self._ended(decision_id, False, None)
            self._say(_error(json.loads(asked), "the server ended before it answered"))

    def _called(self, message: Mapping[str, Any]) -> None:
        if "id" not in message:
            return  # a call that nobody waits for has no answer, and nobody could tell that it was denied
        asked, params = json.dumps(message["id"]), message.get("params")
        name = params.get("name") if isinstance(params, dict) else None
        arguments = params.get("arguments") or {} if isinstance(params, dict) else None
        if not isinstance(name, str) or not isinstance(arguments, dict) or not name or asked in self._calls:
            self._say(_error(message["id"], "this is no call of a tool, or its id is in use", INVALID))
            return
        session = {"id": self.session, "facts": dict(self.facts)}
        try:
            answer = self.desk.decide(call_of(tool=name, arguments=arguments, session=session, actor=self.actor))
        except BylawError as error:
            self._say(_error(message["id"], f"the gate does not answer: {error.message}"))
            return
        if not answer.is_allowed:
            self._say({"jsonrpc": "2.0", "id": message["id"], "result": _denied(name, answer)})
            return
        with self._turn:
            self._calls[asked] = answer.decision_id
        self._forward(message)

    def _answered(self, message: dict[str, Any]) -> dict[str, Any]:
        if "method" in message or "id" not in message:
            return message
        asked, result = json.dumps(message["id"]), message.get("result")
        with self._turn:
            decision_id = self._calls.pop(asked, None)
        if decision_id is not None:
            is_error = "error" in message or (isinstance(result, dict) and result.get("isError") is True)
            self._ended(decision_id, not is_error, result)
        elif asked in self._lists:
            self._lists.discard(asked)
            if isinstance(result, dict) and isinstance(result.get("tools"), list):
                may = self.desk.tools(self.actor, self.facts)
                shown = [tool for tool in result["tools"] if isinstance(tool, dict) and may.get(str(tool.get("name")))]
                return {**message, "result": {**result, "tools": shown}}
        return message

    def _ended(self, decision_id: str, ok: bool, output: Any) -> None:
        with suppress(BylawError):  # it counts as open for a minute then: no door opens by that
            self.desk.ended(decision_id, ok, output)

    def _say(self, message: Mapping[str, Any]) -> None:
        _write(self.to_client, message, self._saying)

    def _forward(self, message: Mapping[str, Any]) -> None:
        with suppress(BrokenPipeError, ValueError):  # the server is gone: its end is told by the other thread
            _write(self.to_server, message, self._asking)


def run(
    command: Sequence[str],
    desk: Desk,
    actor: str,
    session: str,
    facts: Mapping[str, Any],
    ours: tuple[IO[str], IO[str]],
) -> int:
    """Start *command* and stand between it and the client at *ours* (its input and output); the server's exit code."""
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    assert server.stdin is not None and server.stdout is not None
    proxy = Proxy(desk, actor, session, facts, ours[1], server.stdin)

    def listen() -> None:
        proxy.from_client(ours[0])
        with suppress(OSError):
            proxy.to_server.close()

    Thread(target=listen, name="client", daemon=True).start()
    try:
        proxy.from_server(server.stdout)
    finally:
        with suppress(OSError):
            server.stdin.close()
        server.terminate()
    return server.wait()


def _denied(name: str, answer: Answer) -> dict[str, Any]:
    text = json.dumps({"not_done": name, **answer.as_json()}, ensure_ascii=False)
    said = f"{answer.decision}: {answer.why}"
    content = [{"type": "text", "text": said}, {"type": "text", "text": text}]
    return {"content": content, "isError": True, "resultType": "complete"}  # the last: since protocol 2026


def _error(asked: Any, message: str, code: int = INTERNAL) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": asked, "error": {"code": code, "message": message}}


def _read(line: str) -> dict[str, Any] | None:
    """One message; None for what is none, a batch among it."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _write(place: IO[str], message: Mapping[str, Any], turn: Lock) -> None:
    text = json.dumps(message, ensure_ascii=True)
    with turn:
        place.write(text + "\n")
        place.flush()
