"""A Slack on loopback as strict as the real one: its Web API, its socket, and the requests it sends to an app.

    with FakeSlack() as slack:
        ...                                    # a client at slack.api, with slack.bot_token
        slack.channel("C1", "UANA", "UBEN")    # who is in a channel; the bot is too
        slack.say("UANA", "C1", "<@UBYLAW> may I return it?")   # a mention, sent to the app over what is connected
        slack.posts("C1")                      # what the bot posted there, as people see it
        slack.click("UANA", post, "Yes")       # on a button of a post
        slack.submit("UANA", why="…")          # the form that a click opened

What an app sends is held against Block Kit's limits, the arguments and the scopes of each method (`slack.defects` says
what a real Slack would have refused or ignored). Events go over the socket where one is open, else to `request_url`
with a signature; an event that is not acknowledged in time is sent again, as often as Slack does.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx

from tests.fakes.slack import payloads
from tests.fakes.slack.methods import METHODS, Refused, World
from tests.fakes.slack.websocket import WebSocket, accepting

DEADLINE = 3.0  # seconds in which an app acknowledges
RETRIES = 3
USES = 5  # of an address that came with a click

LATE = 0.5  # seconds, for a client that has less patience

# the last three come after the effect: what was asked for is done, and nobody hears so
Fault = Literal["ratelimited", "unavailable", "cut_before", "late", "cut_after", "unavailable_after", "broken_after"]


@dataclass(frozen=True)
class Call:
    """One call of the Web API and how it ended; `error` is Slack's word, or the fault that hit it."""

    method: str
    arguments: Mapping[str, Any]
    error: str | None


@dataclass(frozen=True)
class Sent:
    """One attempt to deliver something to the app. Status None: no acknowledgement in time."""

    status: int | None
    body: str
    retry: int


@dataclass
class _Failing:
    kind: Fault
    left: int
    on: re.Pattern[str]


@dataclass
class _Window:
    """An address that came with a click, good for a few answers."""

    post: dict[str, Any]
    user: str
    left: int = USES


@dataclass
class _Open:
    """Envelopes on the sockets, and who waits for their acknowledgement."""

    sockets: list[WebSocket] = field(default_factory=list)
    acknowledged: dict[str, Any] = field(default_factory=dict)
    changed: threading.Condition = field(default_factory=threading.Condition)


class FakeSlack(World):
    """The server. Use it in a `with`."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.secret = "8f742231b10e8888abcd99yyyzzz85a5"
        self.request_url: str | None = None
        self.calls: list[Call] = []
        self.sent: list[Sent] = []
        self.retry_after = 1
        self._windows: dict[str, _Window] = {}
        self._failing: list[_Failing] = []
        self._refusing: dict[str, list[str]] = {}
        self._distorted: dict[str, dict[str, Any]] = {}
        self._open = _Open()
        self._envelopes = count(1)
        self._client = httpx.Client(timeout=DEADLINE, verify=False)  # loopback; building a context for TLS is slow

    def __enter__(self) -> FakeSlack:
        handler = type("Handler", (_Handler,), {"fake": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self.base = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.api = f"{self.base}/api/"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for socket in list(self._open.sockets):
            socket.close()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._client.close()

    # ---- what a test does ---------------------------------------------------------------------------------------

    def fail(self, kind: Fault, times: int = 1, on: str = "chat.*") -> None:
        """Let the next calls of the methods that *on* matches go wrong, before or (`…_after`) after their effect.

        `upload` is the sending of a file's bytes to the address that was given for it; that may come `late` as well.
        """
        self._failing.append(_Failing(kind, times, re.compile(on)))

    def break_down(self, kind: Fault = "unavailable", on: str = ".*") -> None:
        """From now on nothing that *on* matches works, until `mend`."""
        self.fail(kind, times=1_000_000, on=on)

    def mend(self) -> None:
        """Everything works again."""
        with self.lock:
            self._failing.clear()
            self._refusing.clear()

    def distort(self, method: str, answer: Mapping[str, Any]) -> None:
        """From now on *method* answers so."""
        self._distorted[method] = dict(answer)

    def refuse(self, method: str, word: str, times: int = 1) -> None:
        """Let the next calls of *method* be refused with *word*."""
        self._refusing[method] = [word] * times

    def say(self, user: str, channel: str, text: str, thread: str | None = None, **others: Any) -> str:
        """*user* says something; the app is sent what it subscribes to. The time that names the message."""
        ts = self.write(user, channel, text, thread or others.get("thread_ts"))
        if thread:
            others["thread_ts"] = thread
        for event in self.events(user, channel, text, ts, **others):
            self.send(event)
        return ts

    def write(self, user: str, channel: str, text: str, thread: str | None = None) -> str:
        """*user* says something that the app is not sent, as while nobody can reach it. The time that names it."""
        ts = self.next_ts()
        self.told(user, channel, text, ts, thread)
        return ts

    def click(self, user: str, post: Mapping[str, Any], label: str, **others: Any) -> Sent:
        """*user* clicks on the button or menu of *post* whose label or option it is (of a menu: the last option)."""
        offered = [*self.elements(post), *self.beside(post)]
        element = next(one for one in offered if label in self.labels(one))
        if element["type"] == "static_select":
            element = {**element, "options": [o for o in element["options"] if o["text"]["text"] == label]}
        return self.interact(payloads.click(element, user, dict(post), self.window(post, user), **others))

    def fill(self, post: Mapping[str, Any], label: str, *values: str) -> dict[str, Any]:
        """*post* with the field of that label filled in by whoever looks at it: options by their labels, or typed."""
        state = {name: dict(inner) for name, inner in (post.get("state") or payloads.standing(post["blocks"])).items()}
        block = next(one for one in post["blocks"] if one.get("label", {}).get("text") == label)
        element = block["element"]
        options = [one for one in element.get("options", ()) if one["text"]["text"] in values]
        match element["type"]:
            case "plain_text_input":
                told: dict[str, Any] = {"value": ", ".join(values)}
            case "static_select":
                told = {"selected_option": options[0] if options else None}
            case _:
                told = {"selected_options": options}
        assert element["type"] == "plain_text_input" or len(options) == len(values), "no such option"
        state[block["block_id"]] = {element["action_id"]: {"type": element["type"], **told}}
        return {**post, "state": state}

    def choose(self, user: str, label: str) -> Sent:
        """*user* chooses *label* in a menu of the form in front of them, which is told at once where it says so."""
        view = self.modal(user)
        block, option = next(
            (block, option)
            for block in view["blocks"]
            if block["type"] == "input" and block["element"]["type"] == "static_select"
            for option in block["element"]["options"]
            if option["text"]["text"] == label
        )
        picked = {"type": "static_select", "selected_option": option}
        view["state"]["values"].setdefault(block["block_id"], {})[block["element"]["action_id"]] = picked
        if not block.get("dispatch_action"):
            return Sent(200, "", 0)
        acted = {
            "action_id": block["element"]["action_id"],
            "block_id": block["block_id"],
            "action_ts": "1.1",
            **picked,
        }
        container = {"type": "view", "view_id": view["id"]}
        return self.interact(payloads.in_view("block_actions", view, user, container=container, actions=[acted]))

    def press(self, user: str, label: str) -> Sent:
        """*user* presses a button of the form in front of them."""
        view = self.modal(user)
        button = next(one for one in self.elements(view) if label in self.labels(one))
        acted = {"action_id": button["action_id"], "block_id": "b", "type": "button", "value": button["value"]}
        container = {"type": "view", "view_id": view["id"]}
        return self.interact(payloads.in_view("block_actions", view, user, container=container, actions=[acted]))

    def submit(self, user: str, **typed: str) -> dict[str, str]:
        """*user* types this into the fields of the form in front of them and sends it; what is said on its fields."""
        view = self.modal(user)
        values = view["state"]["values"]
        for block in view["blocks"]:
            if block["type"] == "input" and block["element"]["type"] == "plain_text_input":
                element = block["element"]
                said = typed.pop(block["block_id"], element.get("initial_value"))
                assert said or block.get("optional"), f"Slack asks for `{block['block_id']}` first"
                values[block["block_id"]] = {element["action_id"]: {"type": "plain_text_input", "value": said}}
        assert typed == {}, "no such field"
        sent = self.interact(payloads.in_view("view_submission", view, user, response_urls=[]))
        assert sent.status == 200
        return self._turned(user, json.loads(sent.body) if sent.body else {})

    def _turned(self, user: str, answer: Mapping[str, Any]) -> dict[str, str]:
        """What becomes of a form that was sent."""
        match answer.get("response_action"):
            case "errors":
                return dict(answer["errors"])
            case "update":
                self.show(user, answer["view"], is_on_top=False)
            case "push":
                self.show(user, answer["view"], is_on_top=True)
            case "clear":
                self.modals[user] = []
            case _:
                self.modals[user].pop()
        return {}

    def window(self, post: Mapping[str, Any], user: str) -> str:
        """An address for answers to a click on *post*."""
        name = f"w{len(self._windows) + 1}"
        self._windows[name] = _Window(dict(post), user)
        return f"{self.base}/actions/{name}"

    def send(self, payload: Mapping[str, Any], retries: int = RETRIES) -> list[Sent]:
        """Send an event until it is acknowledged, as often as Slack does; its pauses are left out."""
        tried = []
        for retry in range(retries + 1):
            tried.append(self.attempt(payload, retry))
            if tried[-1].status is not None and 200 <= tried[-1].status < 300:
                break
        return tried

    def attempt(self, payload: Mapping[str, Any], retry: int = 0) -> Sent:
        """Send an event once, as first attempt or as retry."""
        if self._open.sockets:
            return self._push("events_api", payload, retry)
        headers = {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": "http_timeout"} if retry else {}
        return self._post(json.dumps(payload), "application/json", retry, headers)

    def interact(self, payload: Mapping[str, Any]) -> Sent:
        """Send an interaction; Slack sends one once."""
        self.triggers[str(payload["trigger_id"])] = str(payload["user"]["id"]), time.monotonic()
        if self._open.sockets:
            return self._push("interactive", payload, 0)
        body = urlencode({"payload": json.dumps(payload)})
        return self._post(body, "application/x-www-form-urlencoded", 0, {})

    def disconnect(self, politely: bool = True) -> None:
        """End the newest socket: with a message before, or as a network does."""
        newest = self._open.sockets[-1]
        if politely:
            newest.send(json.dumps({"type": "disconnect", "reason": "refresh_requested", "debug_info": {}}))
        else:
            newest.close()

    def connected(self, times: int = 1, seconds: float = 20) -> None:
        """Wait until that many sockets were opened in all."""
        with self._open.changed:
            assert self._open.changed.wait_for(lambda: self.opened >= times and bool(self._open.sockets), seconds)

    # ---- what goes out ------------------------------------------------------------------------------------------

    def _post(self, body: str, content_type: str, retry: int, headers: Mapping[str, str]) -> Sent:
        assert self.request_url is not None, "no socket is open and no request_url is set"
        proof = payloads.signed(body, self.secret)
        try:
            done = self._client.post(
                self.request_url,
                content=body,
                headers={"Content-Type": content_type, **proof, **headers},
            )
            return self._note(Sent(done.status_code, done.text, retry))
        except httpx.TransportError:
            return self._note(Sent(None, "", retry))

    def _push(self, kind: str, payload: Mapping[str, Any], retry: int) -> Sent:
        name = f"envelope-{next(self._envelopes)}"
        sent: dict[str, Any] = {"envelope_id": name, "type": kind, "payload": payload}
        sent["accepts_response_payload"] = kind != "events_api"
        if kind == "events_api":
            sent.update(retry_attempt=retry, retry_reason="timeout" if retry else "")
        self._open.sockets[-1].send(json.dumps(sent))
        with self._open.changed:
            is_done = self._open.changed.wait_for(lambda: name in self._open.acknowledged, DEADLINE)
        answer = self._open.acknowledged.get(name)
        return self._note(Sent(200 if is_done else None, json.dumps(answer) if answer else "", retry))

    def _note(self, sent: Sent) -> Sent:
        self.sent.append(sent)
        return sent

    # ---- what comes in ------------------------------------------------------------------------------------------

    def called(self, method: str, arguments: dict[str, Any], token: str) -> tuple[int, dict[str, Any], bool]:
        """Carry out one call: status, answer, and whether the connection is cut instead of answering."""
        fault = self._fault(method)
        if fault == "cut_before":
            self.calls.append(Call(method, arguments, fault))
            return 0, {}, True
        if fault in ("ratelimited", "unavailable"):
            self.calls.append(Call(method, arguments, fault))
            return (429 if fault == "ratelimited" else 503), {"ok": False, "error": fault}, False
        try:
            if refusing := self._refusing.get(method):
                raise Refused(refusing.pop())
            answer = {"ok": True, **self.carry_out(method, arguments, token)}
            self.calls.append(Call(method, arguments, fault))
        except Refused as refused:
            self.calls.append(Call(method, arguments, refused.error))
            answer = {"ok": False, "error": refused.error, **refused.details}
        if fault == "unavailable_after":
            return 503, {"ok": False, "error": "service_unavailable"}, False
        if fault == "broken_after":
            return 200, {"ok": False, "error": "internal_error"}, False
        return 200, self._distorted.get(method, answer), fault == "cut_after"

    def _fault(self, method: str) -> Fault | None:
        with self.lock:
            for one in self._failing:
                if one.left and one.on.fullmatch(method):
                    one.left -= 1
                    return one.kind
        return None

    def uploaded(self, number: str, content: bytes) -> int | None:
        """Take the bytes of a file: the status, None when the connection is cut instead, late or at once."""
        fault = self._fault("upload")
        self.calls.append(Call("upload", {"file": number, "bytes": len(content)}, fault))
        if fault in ("ratelimited", "unavailable"):
            return 429 if fault == "ratelimited" else 503
        if fault == "late":
            time.sleep(LATE)
        status = self.receive(number, content) if fault in (None, "cut_after") else None
        return None if fault else status

    def answered(self, name: str, said: dict[str, Any]) -> int:
        """An answer to a click at its own address."""
        window = self._windows.get(name)
        with self.lock:
            if window is None or window.left == 0:
                return 404
            window.left -= 1
        self.calls.append(Call("response_url", said, None))
        return 200 if self.respond(window.post, window.user, said) else 500

    def listen(self, socket: WebSocket) -> None:
        """Serve one socket until it ends."""
        socket.send(json.dumps({"type": "hello", "num_connections": 1, "connection_info": {"app_id": payloads.APP}}))
        with self._open.changed:
            self._open.sockets.append(socket)
            self.opened += 1
            self._open.changed.notify_all()
        try:
            while (text := socket.receive()) is not None:
                said = json.loads(text)
                with self._open.changed:
                    self._open.acknowledged[said["envelope_id"]] = said.get("payload")
                    self._open.changed.notify_all()
        except OSError:
            pass
        finally:
            with self._open.changed:
                self._open.sockets.remove(socket)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that went away is no error of ours."""


class _Handler(BaseHTTPRequestHandler):
    fake: FakeSlack
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path != "/link" or not self.fake.redeem(dict(parse_qsl(parts.query)).get("ticket", "")):
            self._json(401, {"ok": False})
            return
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", accepting(self.headers["Sec-WebSocket-Key"]))
        self.end_headers()
        self.wfile.flush()
        self.fake.listen(WebSocket(self.connection, self.rfile))
        self.close_connection = True

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        where = self.path.strip("/").split("/")
        if where[0] == "upload":
            taken = self.fake.uploaded(where[2], sent)
            self._cut() if taken is None else self._json(taken, {})
            return
        body = sent.decode()
        if where[0] == "actions":
            status = self.fake.answered(where[1], json.loads(body))
            self._json(status, {"ok": status == 200})
            return
        is_json = self.headers.get("Content-Type", "").startswith("application/json")
        arguments = json.loads(body or "{}") if is_json else _form(body)
        token = self.headers.get("Authorization", "").removeprefix("Bearer ") or arguments.pop("token", "")
        status, answer, is_cut = self.fake.called(where[1], arguments, token)
        self._cut() if is_cut else self._json(status, answer)

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.close()

    def _json(self, status: int, answer: Mapping[str, Any]) -> None:
        said = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        if status == 429:
            self.send_header("Retry-After", str(self.fake.retry_after))
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)


def _form(body: str) -> dict[str, Any]:
    """A form, in which lists and objects stand as JSON."""
    found: dict[str, Any] = dict(parse_qsl(body, keep_blank_values=True))
    return {
        name: json.loads(value) if value[:1] in "[{" and name in _NESTED else value for name, value in found.items()
    }


_NESTED = ("blocks", "metadata", "attachments", "view", "files")

__all__ = ["METHODS", "FakeSlack", "Sent"]
