"""Endpoints that are given one JSON body and the request: nothing else is looked for on the way to them.

What FastAPI can do beside that, for any endpoint, takes its time with each answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from email.message import Message
from functools import cached_property
from inspect import iscoroutinefunction
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from bot.delivery.http.errors import INTERNAL, told
from bot.delivery.http.wording import deprecation
from bylaw.canonical import is_sound

Answered = Callable[[Request], Coroutine[Any, Any, Response]]


class BodyRoute(APIRoute):
    """A route to an endpoint `(body, request)`; one that is not a coroutine runs in a thread."""

    def get_route_handler(self) -> Answered:
        """What answers a request."""
        assert self.body_field is not None and self.body_field.field_info.annotation is not None  # its model
        model, endpoint = TypeAdapter(self.body_field.field_info.annotation), self.endpoint
        is_coroutine = iscoroutinefunction(endpoint)

        async def answered(request: Request) -> Response:
            given = _given(request.headers.get("content-type", ""), await request.body())
            body = _fitted(model, given)
            found: Response = await (
                endpoint(body, request) if is_coroutine else run_in_threadpool(endpoint, body, request)
            )
            found.headers.update(deprecation(body, given))
            return found

        return answered


@dataclass(frozen=True)
class Direct:
    """An application that is asked at its own endpoints at once. The way to the others takes longer than a decision."""

    app: FastAPI

    @cached_property
    def _endpoints(self) -> Mapping[str, Answered]:
        """By path, where one route alone serves it."""
        served = Counter(getattr(route, "path", None) for route in self.app.routes)
        own = (route for route in self.app.routes if isinstance(route, BodyRoute) and served[route.path] == 1)
        return {route.path: route.get_route_handler() for route in own}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        is_posted = scope["type"] == "http" and scope["method"] == "POST"
        endpoint = self._endpoints.get(scope["path"]) if is_posted else None
        if endpoint is None:
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await endpoint(request)
        except Exception as error:
            response = told(request, error)
            await response(scope, receive, send)
            if response.status_code == INTERNAL:
                raise  # whoever serves it logs what that was
            return
        await response(scope, receive, send)


def install(app: FastAPI, path: str, endpoint: Callable[..., Any], answer: type[BaseModel]) -> None:
    """Let *endpoint* answer what is posted to *path*; its *answer* is published."""
    app.router.add_api_route(path, endpoint, methods=["POST"], response_model=answer, route_class_override=BodyRoute)


def _given(kind: str, raw: bytes) -> Any:
    """The JSON of the body, empty bytes where there is none. Raises HTTPException for what is not said to be JSON."""
    if raw and not _is_json(kind):
        raise HTTPException(422, "the body has to be JSON, sent with `Content-Type: application/json`")
    return parsed(raw) if raw else raw


def _fitted(model: TypeAdapter[Any], given: Any) -> Any:
    """The body as its model. Raises RequestValidationError for what does not fit."""
    try:
        return model.validate_python(given)
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from error


def parsed(raw: bytes) -> Any:
    """The JSON of a body. Raises HTTPException for what is none, cannot be kept, or says one thing twice (some read the
    first).
    """
    try:
        found = json.loads(raw, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        why = "the body says a thing twice" if isinstance(error, _Twice) else "the body is not JSON"
        raise HTTPException(400, why) from error
    if not is_sound(found):
        raise HTTPException(422, "the body holds characters that are not text, or is nested too deeply")
    return found


class _Twice(ValueError):
    """An object has one name twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Twice
    return found


def _is_json(kind: str) -> bool:
    if kind == "application/json":
        return True
    told = Message()
    told["content-type"] = kind
    subtype = told.get_content_subtype()
    return told.get_content_maintype() == "application" and (subtype == "json" or subtype.endswith("+json"))
