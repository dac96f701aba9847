"""The decision point of a server: the same calls over HTTP, with the standard library alone."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from bylaw.authored.causes import causes_in
from bylaw.errors import BylawError, UsageError
from bylaw.gate.answer import GateAnswer, Reason
from bylaw.gate.bindings import Call
from bylaw.gate.decision_point import NothingOpen

SECONDS = 10.0


class RemoteDesk:
    """Asks a server. What it does not answer is not allowed: that is an error to the caller."""

    def __init__(self, url: str, token: str | None = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"`{url[:80]}` is no address of a server", "write it like http://127.0.0.1:8080")
        self._parts, self._token = parts, token

    def decide(self, call: Call) -> GateAnswer:
        body: dict[str, Any] = {"facts": dict(call.facts), "keys": dict(call.keys)}
        body |= {"tool": call.tool, "arguments": dict(call.arguments)} if call.tool else {"action": call.action}
        body |= {"actor": call.actor} if call.actor else {}
        if call.session is not None or call.session_facts:
            body["session"] = {"id": call.session, "facts": dict(call.session_facts)}
        body |= {"at": call.at.isoformat()} if call.at else {}
        body |= {"mode": call.mode} if call.mode else {}
        return _answer(self._post("/v2/decide", body))

    def ended(self, decision_id: str, ok: bool, output: Any = None) -> None:
        body = {"decision_id": decision_id, "ok": ok}
        self._post("/v2/events", body if output is None else {**body, "output": output})

    def tools(self, actor: str | None, session_facts: Mapping[str, Any]) -> Mapping[str, bool]:
        found = self._post("/v2/tools", {"actor": actor, "session": {"facts": dict(session_facts)}})
        return {str(name): bool(may) for name, may in found["tools"].items()}

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._parts.hostname or "", self._parts.port, timeout=SECONDS)
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            connection.request("POST", self._parts.path.rstrip("/") + path, json.dumps(body, default=str), headers)
            response = connection.getresponse()
            status, told = response.status, json.loads(response.read() or b"{}")
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise BylawError(f"the gate at `{self._parts.netloc}` does not answer: {error}") from error
        finally:
            connection.close()
        if status == 409:
            raise NothingOpen(str(body.get("decision_id")))
        if status != 200 or not isinstance(told, dict):
            message = told.get("error", {}).get("message", "") if isinstance(told, dict) else ""
            raise UsageError(f"the gate refuses the request ({status}): {message}")
        return told


def _reason(told: dict[str, Any]) -> Reason:
    causes = causes_in({"decided_by": told.get("decisions", ())})
    return Reason(told["text"], told["policy_id"], told["rule_id"], told["path"], told["line"], causes)


def _answer(told: dict[str, Any]) -> GateAnswer:
    """The answer as its document says it."""
    try:
        return GateAnswer(
            decision_id=told["decision_id"],
            ruling=told.get("would", told["decision"]),
            mode=told["mode"],
            etag=told["etag"],
            missing=tuple(told["missing"]),
            first=tuple(told["first"]),
            duties=tuple(told["duties"]),
            reasons=tuple(_reason(one) for one in told["reasons"]),
            not_taken=tuple(told.get("not_taken", ())),
            different=lambda: told["counterfactual"],
        )
    except (KeyError, TypeError) as error:
        raise BylawError("the server's answer is none that this version reads") from error
