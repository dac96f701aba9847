"""A language model's server on loopback, as strict as the real ones: keys, models, shapes of requests, and faults.

It speaks OpenAI chat completions (also as Azure spells them), Anthropic messages and Bedrock converse. A test says
what the model answers, or how the next requests go wrong:

    with FakeLLM(says=lambda call: '{"text": "yes"}') as fake:
        ...                                  # a client at fake.openai, fake.anthropic, fake.azure or fake.bedrock
        fake.fail("slow", times=1)
        assert [call.prompt for call in fake.calls] == [...]
        assert fake.defects == []            # requests that the real servers would not have understood
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

KEY = "sk-loopback-0123456789abcdef"
MODEL = "gpt-4o-mini"
CLAUDE = "claude-sonnet-4-6"
NOVA = "amazon.nova-lite-v1:0"

Fault = Literal["slow", "trickle", "garbage", "not_json", "cut_before", "cut_after", "limit", "down", "huge", "empty"]


class _Wire(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _OpenAIMessage(_Wire):
    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[dict[str, Any]]


class OpenAIRequest(_Wire):
    """What `POST /chat/completions` takes; a key that is not here is an error, as it is there."""

    model: str
    messages: list[_OpenAIMessage] = Field(min_length=1)
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    response_format: dict[str, Any] | None = None
    stream: Literal[False] = False
    seed: int | None = None
    n: int | None = None


class _AnthropicMessage(_Wire):
    role: Literal["user", "assistant"]
    content: str | list[dict[str, Any]]


class AnthropicRequest(_Wire):
    """What `POST /v1/messages` takes."""

    model: str
    messages: list[_AnthropicMessage] = Field(min_length=1)
    max_tokens: int = Field(ge=1)
    system: str | list[dict[str, Any]] | None = None
    temperature: float | None = Field(default=None, ge=0, le=1)
    stream: Literal[False] = False
    output_config: dict[str, Any] | None = None


class BedrockRequest(_Wire):
    """What `POST /model/ID/converse` takes."""

    messages: list[_AnthropicMessage] = Field(min_length=1)
    system: list[dict[str, Any]] = Field(default_factory=list)
    inference: dict[str, Any] = Field(alias="inferenceConfig")
    output: dict[str, Any] | None = Field(default=None, alias="outputConfig")


@dataclass(frozen=True)
class Call:
    """One request that a model got to see: the system's words, the user's words, and all of it."""

    api: Literal["openai", "anthropic", "bedrock"]
    model: str
    system: str
    prompt: str
    body: dict[str, Any] = field(repr=False)

    @property
    def temperature(self) -> float | None:
        """As asked for."""
        return self.body.get("inferenceConfig", self.body).get("temperature")


class Refused(Exception):
    """An error as the server words it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class FakeLLM:
    """The server. Use it in a `with`."""

    def __init__(self, says: str | Callable[[Call], str] = "{}", key: str = KEY) -> None:
        self.says = says
        self.key = key
        self.calls: list[Call] = []
        self.requests: list[str] = []
        self.defects: list[str] = []
        self._failing: list[Fault] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def __enter__(self) -> FakeLLM:
        handler = type("Handler", (_Handler,), {"fake": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self.base = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.openai, self.anthropic = f"{self.base}/v1", self.base
        self.azure = self.bedrock = self.base
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def fail(self, kind: Fault, times: int = 1) -> None:
        """Let the next *times* requests go wrong.

        `slow`: no answer until the server closes; `trickle`: a byte now and then, for ever; `garbage`: the model says
        words that are no JSON; `not_json`: the server does; `empty`: the model says nothing; `cut_before`, `cut_after`:
        the connection ends before the answer or in the middle of it; `limit` 429; `down` 503; `huge`: 64 MiB.
        """
        with self._lock:
            self._failing += [kind] * times

    def mend(self) -> None:
        """No more faults."""
        with self._lock:
            self._failing.clear()

    def take_fault(self) -> Fault | None:
        with self._lock:
            return self._failing.pop(0) if self._failing else None

    def wait(self, seconds: float) -> bool:
        """Let *seconds* pass; True when the server closes meanwhile."""
        return self._closing.wait(seconds)

    def answer(self, call: Call) -> str:
        with self._lock:
            self.calls.append(call)
        return self.says if isinstance(self.says, str) else self.says(call)


def _text(content: Any) -> str:
    """The words in the content of a message, in whichever of the two forms."""
    if content is None:
        return ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def read_openai(fake: FakeLLM, path: str, headers: Any, body: Any) -> Call:
    """A request to OpenAI, or to Azure in either of its spellings."""
    given = headers.get("api-key") or headers.get("Authorization", "").removeprefix("Bearer ")
    if given != fake.key:
        raise Refused(401, f"Incorrect API key provided: {given}. It is not {fake.key}.")
    request = OpenAIRequest.model_validate(body)
    if request.model != MODEL:
        raise Refused(404, f"The model `{request.model}` does not exist")
    said = {role: [_text(m.content) for m in request.messages if m.role == role] for role in ("system", "user")}
    return Call("openai", request.model, "\n".join(said["system"]), "\n".join(said["user"]), body)


def read_anthropic(fake: FakeLLM, path: str, headers: Any, body: Any) -> Call:
    """A request to Anthropic."""
    given = headers.get("x-api-key") or headers.get("Authorization", "").removeprefix("Bearer ")
    if given != fake.key:
        raise Refused(401, f"invalid x-api-key {given}")
    if not headers.get("anthropic-version"):
        raise Refused(400, "anthropic-version: header is required")
    request = AnthropicRequest.model_validate(body)
    if request.model != CLAUDE:
        raise Refused(404, f"model: {request.model}")
    if request.messages[0].role != "user":
        raise Refused(400, "messages: first message must use the user role")
    prompt = "\n".join(_text(message.content) for message in request.messages)
    return Call("anthropic", request.model, _text(request.system), prompt, body)


def read_bedrock(fake: FakeLLM, path: str, headers: Any, body: Any) -> Call:
    """A request to Bedrock, signed (the signature's form is looked at, not its value) or with a bearer key."""
    allowed = headers.get("Authorization", "")
    if allowed != f"Bearer {fake.key}" and not allowed.startswith("AWS4-HMAC-SHA256 Credential="):
        raise Refused(403, f"The security token included in the request is invalid: {allowed}")
    request = BedrockRequest.model_validate(body)
    model = path.split("/")[2].replace("%3A", ":")
    if model != NOVA:
        raise Refused(404, f"Could not resolve the foundation model from {model}")
    prompt = "\n".join(_text(message.content) for message in request.messages)
    return Call("bedrock", model, _text(request.system), prompt, body)


def say_openai(call: Call, text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    named = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": call.model}
    return {**named, "choices": [choice], "usage": usage}


def say_anthropic(call: Call, text: str) -> dict[str, Any]:
    named = {"id": "msg_1", "type": "message", "role": "assistant", "model": call.model}
    content = [{"type": "text", "text": text}] if text else []
    usage = {"input_tokens": 10, "output_tokens": 5}
    return {**named, "content": content, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}


def say_bedrock(call: Call, text: str) -> dict[str, Any]:
    usage = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}
    message = {"role": "assistant", "content": [{"text": text}]}
    return {"output": {"message": message}, "stopReason": "end_turn", "usage": usage, "metrics": {"latencyMs": 1}}


ROADS = (
    (re.compile(r"/v1/chat/completions|/openai/(?:v1|deployments/[^/]+)/chat/completions"), read_openai, say_openai),
    (re.compile(r"/v1/messages"), read_anthropic, say_anthropic),
    (re.compile(r"/model/[^/]+/converse"), read_bedrock, say_bedrock),
)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up in the middle is what the tests are about."""


class _Handler(BaseHTTPRequestHandler):
    fake: FakeLLM
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Tests print what they need."""

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self.path.partition("?")[0]
        self.fake.requests.append(f"POST {path}")
        fault = self.fake.take_fault()
        if self._goes_wrong(fault):
            return
        found = next(((read, say) for pattern, read, say in ROADS if pattern.fullmatch(path)), None)
        try:
            if found is None:
                raise Refused(404, f"Invalid URL (POST {path})")
            read, say = found
            call = read(self.fake, path, self.headers, json.loads(data))
        except (Refused, ValidationError, ValueError) as refused:
            status = refused.status if isinstance(refused, Refused) else 400
            if status == 400 or found is None:
                self.fake.defects.append(f"{path}: {refused}")
            self._send(status, {"error": {"type": "invalid_request_error", "message": str(refused), "code": None}})
            return
        text = {"garbage": "I would rather talk about the weather.", "empty": ""}.get(fault or "")
        answer = json.dumps(say(call, self.fake.answer(call) if text is None else text)).encode()
        if fault == "cut_after":
            self._head(200, len(answer))
            self.wfile.write(answer[: len(answer) // 2])
            self._cut()
        else:
            self._head(200, len(answer))
            self.wfile.write(answer)

    def _goes_wrong(self, fault: Fault | None) -> bool:
        """Carry out a fault that needs no reading of the request; whether there was one."""
        match fault:
            case "slow":
                self.fake.wait(30)
                self._cut()
            case "trickle":
                self._head(200, 1_000_000)
                while not self.fake.wait(0.05):
                    self.wfile.write(b" ")
                    self.wfile.flush()
            case "not_json":
                self._head(200, 26)
                self.wfile.write(b"<html>It works!</html>    ")
            case "cut_before":
                self._cut()
            case "limit":
                self._send(429, {"error": {"type": "rate_limit_error", "message": "slow down"}}, {"Retry-After": "1"})
            case "down":
                self._send(503, {"error": {"type": "overloaded_error", "message": "back soon"}})
            case "huge":
                self._head(200, 64 * 1024 * 1024)
                for _ in range(1024):
                    self.wfile.write(b"[" * 65_536)
            case _:
                return False
        return True

    def _send(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self._head(status, len(data), headers)
        self.wfile.write(data)

    def _head(self, status: int, length: int, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)
