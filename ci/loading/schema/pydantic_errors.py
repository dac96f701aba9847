"""Pydantic's complaints with their route in what the author wrote.

Pydantic names a place in its own types (tags, branches of a union). A walk through the model's types and the data,
side by side, tells which steps lead into the data; complaints about a branch that was never meant are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel, Discriminator, Tag, ValidationError
from pydantic.fields import FieldInfo

from ci.findings import Route


@dataclass(frozen=True, slots=True)
class Slip:
    """One complaint, at its route in the data. `branches`: the unions passed, and whether that branch fits the data."""

    kind: str
    route: Route
    value: Any
    context: Mapping[str, Any]
    on_key: bool = False
    known: tuple[str, ...] = ()  # the keys that the mapping there may have
    branches: tuple[tuple[Route, bool], ...] = ()
    holds_words: bool = False  # the model takes a list of words here


def slips(error: ValidationError, model: type[BaseModel], data: Any) -> list[Slip]:
    """Every complaint of *error* with its route, without those about a branch of a union that was not meant."""
    found = [_slip(problem, model, data) for problem in error.errors(include_url=False)]
    meant = {place for slip in found for place, fits in slip.branches if fits}
    return [slip for slip in found if all(fits or place not in meant for place, fits in slip.branches)]


def _slip(problem: Mapping[str, Any], model: type[BaseModel], data: Any) -> Slip:
    walk = _Walk(model, data)
    for step in problem["loc"]:
        walk.take(step)
    context = problem.get("ctx", {})
    route = tuple(walk.route)
    if problem["type"] == "misfit":
        route = (*route, *context["route"])
    if problem["type"] == "union_tag_invalid" and isinstance(problem["input"], dict) and "type" in problem["input"]:
        route = (*route, "type")
    known = walk.fields_above if problem["type"] == "extra_forbidden" else ()
    is_about_key = walk.on_key or problem["type"] == "extra_forbidden"
    if problem["type"] == "missing":
        context = {**context, "key": str(problem["loc"][-1])}
    branches = tuple(walk.branches)
    return Slip(problem["type"], route, problem["input"], context, is_about_key, known, branches, walk.holds_words)


class _Walk:
    """Follows pydantic's location through the model's types and the data side by side."""

    def __init__(self, model: Any, data: Any) -> None:
        self._type: Any = model
        self._data = data
        self.route: list[str | int] = []
        self.on_key = False
        self.branches: list[tuple[Route, bool]] = []
        self.fields_above: tuple[str, ...] = ()

    @property
    def holds_words(self) -> bool:
        """Does the model take a list of single words where the walk stands?"""
        shape, member = _shape(self._type)
        return shape == "list" and _shape(member)[0] == "leaf"

    def take(self, step: str | int) -> None:
        """Use one step: it leads into the data, or only names a type."""
        if step == "[key]":
            self.on_key = True
            return
        shape, members = _shape(self._type)
        if shape == "tagged":
            self._type = next((member for tag, member in members if tag == step), None)
        elif shape == "union":
            self._type, kind = _branch(str(step), members)
            self.branches.append((tuple(self.route), _has_shape(self._data, kind)))
        else:
            self._enter(step, shape, members)

    def _enter(self, step: str | int, shape: str, members: Any) -> None:
        self.fields_above = tuple(members) if shape == "model" else ()
        if shape == "model":
            self._type = members.get(step)
        else:
            self._type = members if shape in ("list", "dict") else None
        is_key = isinstance(self._data, dict) and step in self._data
        is_item = isinstance(self._data, list) and isinstance(step, int) and 0 <= step < len(self._data)
        if is_key or is_item:
            self._data = self._data[step]
            self.route.append(step)


def _shape(annotation: Any) -> tuple[str, Any]:
    """What an annotation is to a walk: (model, its fields), (list or dict, what is inside), a union, or a leaf."""
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        if any(isinstance(item, Discriminator) for item in metadata):
            return "tagged", [(_tag(member), member) for member in get_args(inner)]
        return _shape(inner)
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        members = [member for member in inside if member is not type(None)]
        return _shape(members[0]) if len(members) == 1 else ("union", members)
    if origin in (list, tuple, set, frozenset):
        return "list", inside[0] if inside else None
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return "dict", inside[1]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "model", _fields(annotation)
    return "leaf", None


def _tag(member: Any) -> str | None:
    return next((item.tag for item in get_args(member)[1:] if isinstance(item, Tag)), None)


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    """Every key that *model* takes, under all its names, with its annotation."""
    model.model_rebuild()  # a model that only others have used may not know yet what its own annotations name
    return {name: _annotation(field) for key, field in model.model_fields.items() for name in _names(key, field)}


def _names(key: str, field: FieldInfo) -> Iterator[str]:
    match field.validation_alias or field.alias:
        case AliasChoices(choices=choices):
            yield from (choice for choice in choices if isinstance(choice, str))
        case str(alias):
            yield alias
        case _:
            yield key


def _annotation(field: FieldInfo) -> Any:
    """Pydantic keeps what stands around the type beside it; a discriminator belongs to it."""
    around = [item for item in field.metadata if isinstance(item, Discriminator)]
    return Annotated[field.annotation, around[0]] if around else field.annotation


def _branch(label: str, members: list[Any]) -> tuple[Any, str]:
    """The member of a union that pydantic's label means, and which shape of data it takes."""
    marks = {"list": "list[", "dict": "dict[", "tagged": "tagged-union"}
    at = {kind: label.index(mark) for kind, mark in marks.items() if mark in label}
    if at:
        kind = min(at, key=lambda kind: at[kind])  # the outermost: `dict[str,list[...]]` is a dict
        return next((member for member in members if _shape(member)[0] == kind), None), kind
    for member in members:
        shape, _ = _shape(member)
        if shape == "model" and label.endswith(_bare(member).__name__):
            return member, "dict"
    return None, "leaf"


def _bare(annotation: Any) -> Any:
    return _bare(get_args(annotation)[0]) if get_origin(annotation) is Annotated else annotation


def _has_shape(data: Any, kind: str) -> bool:
    if isinstance(data, list):
        return kind == "list"
    return kind in ("dict", "tagged") if isinstance(data, dict) else kind == "leaf"
