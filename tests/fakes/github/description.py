"""GitHub's own description of its REST interface, as a judge: is this request, is this answer, what it describes?

`openapi.json` is cut from the npm package @octokit/openapi 23.0.2 (MIT): the operations that the fake answers and what
they refer to. OpenAPI 3.0 says `nullable` where JSON Schema says a type of `null`; `_as_json_schema` translates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

Json = dict[str, Any]
WIDE = ("path", "ref", "basehead", "branch")  # parameters that may hold slashes
MOMENT = "2026-11-20T12:00:00Z"
LABELS = "/repos/{owner}/{repo}/issues/{issue_number}/labels"


@dataclass(frozen=True)
class Operation:
    """One row of the description: a method on a path with its parameters filled in."""

    method: str
    template: str
    params: Mapping[str, str]
    spec: Json

    @property
    def key(self) -> tuple[str, str]:
        return self.method, self.template.removeprefix("/repos/{owner}/{repo}")


def match(method: str, path: str) -> Operation | None:
    """The operation that *method* on *path* is, None when GitHub (as far as it is described here) has no such thing."""
    for pattern, template, item in _paths():
        if (found := pattern.fullmatch(path)) and method.lower() in item:
            return Operation(method, template, found.groupdict(), item[method.lower()])
    return None


def request_problems(operation: Operation, query: Mapping[str, str], body: Any) -> list[Json]:
    """What of *query* and *body* is not as described, in the form in which GitHub lists it."""
    found = []
    for parameter in map(_deref, operation.spec.get("parameters", [])):
        if parameter["in"] == "query" and parameter["name"] in query:
            schema, value = _deref(parameter["schema"]), query[parameter["name"]]
            whole = schema.get("type") != "integer" or value.lstrip("-").isdigit()
            if not whole or value not in schema.get("enum", [value]):
                found.append({"code": "invalid", "field": parameter["name"], "message": f"{value!r} is not allowed"})
    content = operation.spec.get("requestBody", {}).get("content", {}).get("application/json")
    if content and (body is not None or operation.spec["requestBody"].get("required")):
        validator = _validator(operation.method, operation.template, 0)
        errors = sorted(validator.iter_errors({} if body is None else body), key=str)
        found += [{"code": "invalid", "field": error.json_path, "message": _told(error)} for error in errors]
    return found


def response_problem(operation: Operation, status: int, body: Any) -> str | None:
    """What of an answer is not as described; None when all of it is."""
    told = f"{operation.method} {operation.template} -> {status}"
    described = operation.spec["responses"].get(str(status))
    if described is None:
        # Refusals that every operation shares are not listed with each of them.
        return None if status in (400, 401, 403, 404, 409, 422) else f"{told}: no such status"
    if "application/json" not in _deref(described).get("content", {}):
        return None
    error = best_match(_validator(operation.method, operation.template, status).iter_errors(body))
    return None if error is None else f"{told}: {error.json_path} {error.message[:200]}"


def sample(name: str, base: str) -> Json:
    """The least that the schema *name* allows: what the fake says nothing about is filled from here."""
    return json.loads(_sample(name).replace("http://fake", base))


def _told(error: ValidationError) -> str:
    """What is wrong; without the value when it is long."""
    return error.message if len(error.message) <= 200 else f"does not match {error.validator} {error.validator_value}"


@cache
def _sample(name: str) -> str:
    return json.dumps(_least({"$ref": f"#/components/schemas/{name}"}, 0))


@cache
def _document() -> Json:
    document = json.loads(Path(__file__).with_name("openapi.json").read_text(encoding="utf-8"))
    # The prose of the description allows a bare list of names, its schema forgets it; PyGithub sends the bare list.
    for method in ("post", "put"):
        content = document["paths"][LABELS][method]["requestBody"]["content"]["application/json"]
        content["schema"] = {"anyOf": [content["schema"], {"type": "array", "items": {"type": "string"}}]}
    # It also knows no outdated comments and no comments on whole files, whose line GitHub sends as null.
    for name in ("pull-request-review-comment", "review-comment"):
        for field in ("line", "original_line", "position", "original_position"):
            document["components"]["schemas"][name]["properties"][field]["nullable"] = True
    return _as_json_schema(document)


@cache
def _paths() -> list[tuple[re.Pattern[str], str, Json]]:
    paths = sorted(_document()["paths"].items(), key=lambda row: (row[0].count("{"), -len(row[0])))
    return [(_pattern(template), template, item) for template, item in paths]


def _pattern(template: str) -> re.Pattern[str]:
    def group(found: re.Match[str]) -> str:
        return f"(?P<{found[1]}>{'.+' if found[1] in WIDE else '[^/]+'})"

    return re.compile(re.sub(r"\{(\w+)\}", group, template.replace(".", r"\.")))


def _as_json_schema(node: Any) -> Any:
    if isinstance(node, list):
        return [_as_json_schema(item) for item in node]
    if not isinstance(node, dict):
        return node
    plain = {key: _as_json_schema(value) for key, value in node.items()}
    if plain.pop("nullable", False) is True:
        if "enum" in plain and None not in plain["enum"]:
            plain["enum"] = [*plain["enum"], None]
        if isinstance(plain.get("type"), str):
            plain["type"] = [plain["type"], "null"]
        else:
            plain = {"anyOf": [plain, {"type": "null"}]}
    return plain


@cache
def _validator(method: str, template: str, status: int) -> Draft202012Validator:
    """For the body of a request (status 0) or of an answer."""
    spec = _document()["paths"][template][method.lower()]
    holder = spec["requestBody"] if status == 0 else _deref(spec["responses"][str(status)])
    schema = holder["content"]["application/json"]["schema"]
    return Draft202012Validator({**schema, "components": _document()["components"]})


def _deref(node: Any) -> Any:
    while isinstance(node, dict) and "$ref" in node:
        _, _, section, name = node["$ref"].split("/", 3)
        node = _document()["components"][section][name]
    return node


def _least(node: Any, depth: int) -> Any:
    """The smallest value that *node* describes. Null where it may be."""
    schema = _deref(node)
    if schema.get("default") is not None:
        return schema["default"]
    if "enum" in schema:
        return schema["enum"][0]
    if "allOf" in schema:
        parts = [_least(part, depth + 1) for part in schema["allOf"]]
        return {key: value for part in parts if isinstance(part, dict) for key, value in part.items()}
    for key in ("anyOf", "oneOf"):
        if key in schema:
            real = [option for option in schema[key] if _deref(option).get("type") != "null"]
            return None if depth and len(real) < len(schema[key]) else _least(real[0], depth + 1)
    kind = schema.get("type")
    if isinstance(kind, list) and depth:
        return None
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object" or "properties" in schema:
        wanted = [name for name in schema.get("required", []) if name in schema.get("properties", {})]
        return {name: _least(schema["properties"][name], depth + 1) for name in wanted} if depth < 7 else {}
    if kind == "array":
        return [_least(schema["items"], depth + 1)] * schema.get("minItems", 0)
    if kind == "string":
        formats = {"date-time": MOMENT, "uri": "http://fake/x", "uri-template": "http://fake/x", "email": "a@b.example"}
        return formats.get(schema.get("format"), "x" * max(1, schema.get("minLength", 1)))
    return {"integer": 1, "number": 1, "boolean": False}.get(kind, {})
