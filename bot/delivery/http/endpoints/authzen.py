"""OpenID AuthZEN Authorization API 1.0: the same decisions for whoever speaks it. `ask` and `escalate` are `false`.

`action.name` is a bound tool, or an action. A tool's bindings read `subject.id`, `resource.properties.owner`,
`context.x` and the like by their path, and properties and context by their bare names where these are told apart. The
subject is the actor: the enforcement point that asks vouches for it. Where enforcement points are named, everybody
else asks for themselves alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response

from bot.conversation import told_json
from bot.delivery.http import bodies
from bot.gate.decision_point import StoreDecisionPoint
from bylaw.errors import UsageError
from bylaw.gate.answer import GateAnswer
from bylaw.gate.bindings import Call
from bylaw.gate.decision_point import call_of

SEMANTICS = ("execute_all", "deny_on_first_deny", "permit_on_first_permit")
MOST_EVALUATIONS = 500
ENTITIES = ("subject", "action", "resource", "context")
_OWN = ("session", "keys", "at")  # of the context: what is about the call and no argument of it


class NotTheirSubject(UsageError):
    """Somebody who is no enforcement point asks for another subject."""

    def __init__(self) -> None:
        super().__init__("the subject is somebody else, and this token belongs to no enforcement point")


class Malformed(ValueError):
    """The request is none that the API knows."""


def install(
    app: FastAPI, point: StoreDecisionPoint, enforcement_points: frozenset[str] | None, address: str | None = None
) -> None:
    """Add the endpoints to *app*, which stand at *address*, by default at the one that is listened to.

    *enforcement_points* may ask for others; None: whoever has a token.
    """

    async def one(asked: Any, request: Request) -> dict[str, Any]:
        user, meant = request.state.user, call(asked, point.gate().reader.tools)
        if enforcement_points is not None and user not in enforcement_points and user != meant.actor:
            raise NotTheirSubject
        return result(await point.answering(meant, user))

    async def each(body: Mapping[str, Any], asked: list[Any], request: Request) -> list[dict[str, Any]]:
        semantic = _semantic(body)
        found: list[dict[str, Any]] = []
        defaults = {name: body[name] for name in ENTITIES if name in body}
        for item in asked:
            if not isinstance(item, dict):
                found.append(failure(400, "an evaluation is an object"))
            else:
                try:
                    found.append(await one({**defaults, **item}, request))
                except (Malformed, UsageError) as error:
                    found.append(failure(*_refusal(error)))
            if semantic == "deny_on_first_deny" and not found[-1]["decision"]:
                found[-1]["context"].setdefault("reason", semantic)
                break
            if semantic == "permit_on_first_permit" and found[-1]["decision"]:
                break
        return found

    @app.post("/access/v1/evaluation")
    async def evaluation(request: Request) -> Response:
        """May the subject take the action on the resource?"""
        return _told(await _kept(one(await _body(request), request)))

    @app.post("/access/v1/evaluations")
    async def evaluations(request: Request) -> Response:
        """The same for several at once."""
        body = await _body(request)
        asked = body.get("evaluations")
        if asked is None or asked == []:
            return _told(await _kept(one(body, request)))
        if not isinstance(asked, list) or len(asked) > MOST_EVALUATIONS:
            raise HTTPException(400, f"`evaluations` is a list of at most {MOST_EVALUATIONS}")
        return _told({"evaluations": await _kept(each(body, asked, request))})

    @app.get("/.well-known/authzen-configuration")
    def configuration(request: Request) -> Response:
        """Where the endpoints are."""
        base = address or _bound(request)
        return _told(
            {
                "policy_decision_point": base,
                "access_evaluation_endpoint": f"{base}/access/v1/evaluation",
                "access_evaluations_endpoint": f"{base}/access/v1/evaluations",
            }
        )


def _bound(request: Request) -> str:
    """The address that the request came in by. What it calls the host is whatever somebody wrote there."""
    host, port = request.scope.get("server") or ("127.0.0.1", None)
    named = f"[{host}]" if ":" in host else host
    return f"http://{named}" if port is None else f"http://{named}:{port}"


def result(answer: GateAnswer) -> dict[str, Any]:
    """The answer as the API says it: everything but yes or no stands in its context."""
    context = answer.as_json()
    if not answer.is_allowed:
        context["reason"] = answer.why
    return {"decision": answer.is_allowed, "context": context}


def failure(status: int, message: str) -> dict[str, Any]:
    """What an evaluation that could not be made says."""
    return {"decision": False, "context": {"error": {"status": status, "message": message}}}


def call(asked: Any, tools: Mapping[str, Any]) -> Call:
    """The call that an evaluation is about. Raises Malformed or UsageError."""
    subject, action, resource = (_entity(asked, name) for name in ("subject", "action", "resource"))
    context = asked.get("context", {})
    if not isinstance(context, dict):
        raise Malformed("`context` is an object")
    for entity, fields in ((subject, ("type", "id")), (action, ("name",)), (resource, ("type", "id"))):
        for field in fields:
            if not isinstance(entity.get(field), str) or not entity[field]:
                raise Malformed(f"`{field}` is missing, or no text")
    name = action["name"]
    if len(name) > 200:
        raise Malformed("the name of the action is too long")
    given = {key: value for key, value in context.items() if key not in _OWN}
    common = {"session": context.get("session"), "actor": subject["id"], "at": context.get("at")}
    if common["at"] is not None and not isinstance(common["at"], str):
        raise Malformed("`context.at` is a time as text")
    bare = dict(_bare(given, _properties(resource), _properties(action)))
    if name not in tools:
        facts = dict(_bare(bare, _properties(subject)))
        keys = {**_keys(resource), **_keys(subject), **_object(context.get("keys", {}), "context.keys")}
        if name.isidentifier():
            return call_of(action=name, facts=facts, keys=keys, **common)
    arguments = {**bare, "subject": subject, "action": action, "resource": resource, "context": given}
    return call_of(tool=name, arguments=arguments, **common)


def _entity(asked: Any, name: str) -> dict[str, Any]:
    found = asked.get(name) if isinstance(asked, dict) else None
    if not isinstance(found, dict):
        raise Malformed(f"`{name}` is missing, or no object")
    _properties(found)
    return found


def _properties(entity: Mapping[str, Any]) -> dict[str, Any]:
    return _object(entity.get("properties", {}), "properties")


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Malformed(f"`{name}` is an object")
    return value


def _bare(*sources: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What *sources* say by its bare name; where two say different things, neither is believed."""
    said: dict[str, Any] = {}
    torn = set()
    for source in sources:
        for name, value in source.items():
            if said.setdefault(name, value) != value:
                torn.add(name)
    yield from ((name, value) for name, value in said.items() if name not in torn)


def _keys(entity: Mapping[str, Any]) -> dict[str, str]:
    return {entity["type"]: entity["id"], f"{entity['type']}_id": entity["id"]}


def _semantic(body: Mapping[str, Any]) -> str:
    options = body.get("options", {})
    semantic = options.get("evaluations_semantic", SEMANTICS[0]) if isinstance(options, dict) else None
    if semantic not in SEMANTICS:
        raise Malformed(f"`options.evaluations_semantic` is one of {', '.join(SEMANTICS)}")
    return str(semantic)


async def _body(request: Request) -> dict[str, Any]:
    found = bodies.parsed(await request.body())
    if not isinstance(found, dict):
        raise HTTPException(400, "the body is a JSON object")
    return found


async def _kept(work: Any) -> Any:
    try:
        return await work
    except (Malformed, UsageError) as error:
        raise HTTPException(*_refusal(error)) from None


def _refusal(error: Malformed | UsageError) -> tuple[int, str]:
    """Its status, and what is said of it."""
    return 403 if isinstance(error, NotTheirSubject) else 400, str(getattr(error, "message", error))[:300]


def _told(document: Any) -> Response:
    return Response(told_json(document), media_type="application/json")
