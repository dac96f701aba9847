"""An item: one thing that one stretch of a text says, as somebody proposes it, and what became of it when it was held.

Items are untrusted: a form, a caller, a model or the matcher proposes them. Keys that a kind does not have are refused
by name, so that a misspelt `operator` never passes for none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StringConstraints, ValidationError

from bylaw.errors import UsageError

TextKind = Literal["policy", "data", "decision", "answer", "correction", "document"]
Status = Literal["borne", "weak", "refused"]
By = Literal["template", "given", "model", "matcher", "both"]
# What makes an item weak decides whether it may be used and told (name, value, words) or never is (standing, altered).
Weakness = Literal["name", "value", "words", "standing", "altered"]

MOST_ITEMS = 300  # of one text
MOST_PLACES = 300  # of one number, before or behind the point: as many as a float has
Scalar = StrictBool | int | Decimal | float | str
MOST_NAMED = 255  # characters of a name: as many as an id of a record may have
MOST_QUOTED = 4_000  # characters of a quote
Word = Annotated[str, StringConstraints(min_length=1, max_length=MOST_NAMED)]
Quote = Annotated[str, StringConstraints(min_length=1, max_length=MOST_QUOTED)]
Operator = Annotated[
    Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in", "between", "contains", "is", "is not", "is null",
            "not null", "not contains", "starts with", "not starts with", "ends with", "not ends with", "is weekend",
            "not weekend", "same", "not same", "not <", "not <=", "not >", "not >=", "not between"],
    BeforeValidator(lambda given: "==" if given == "=" else given),
]  # fmt: skip

_VALUED = ("name", "operator", "value", "unit")
KINDS: Mapping[TextKind, Mapping[str, tuple[str, ...]]] = {
    "policy": {"asks": ("name", "mode"), "fact": _VALUED},
    "data": {
        "asks": ("name", "of", "unit"),
        "group": ("name", "unit", "value"),
        "filter": (*_VALUED, "any_of", "of"),
        "having": (*_VALUED, "of"),
        "time": ("name", "value"),
        "compare": ("name", "value"),
        "order": ("name", "value", "of"),
        "limit": ("name", "value", "unit", "of"),
        "over": ("name", "value"),
    },
    "decision": {"asks": ("name",), "anchor": ("name",), "filter": _VALUED},
    "answer": {
        "gives": ("action", "when"),
        "denies": ("action", "when"),
        "fact": ("fact", "operator", "value", "unit"),
        "limit": ("fact", "operator", "value", "unit"),
        "figure": ("action", "value", "unit"),
        "source": ("policy_id",),
        "asks": ("fact",),
        "outside": (),
        "courtesy": (),
    },
    "correction": {"object": ("name", "value"), "field": ("name", "value"), "value": ("name", "value")},
    "document": dict.fromkeys(("condition", "action", "exception", "modality", "figure"), (*_VALUED, "when")),
}
# What an item of a kind cannot be without; a form's item may lack the quote.
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "gives": ("action",), "denies": ("action",), "figure": ("value",), "limit": ("value",), "source": ("policy_id",),
    "asks": ("named",), "fact": ("named", "value"), "having": ("named",), "order": ("value",), "anchor": ("named",),
    "over": ("value",),
}  # fmt: skip
_LIMIT_OF_DATA = ("value",)
# Of a data question: what may stand in the place of what is missing.
_EITHER: Mapping[str, tuple[str, ...]] = {
    "group": ("named", "unit", "value"),
    "filter": ("named", "any_of"),
    "having": ("value", "of"),
}
_MOST_NESTED = 6  # items inside one another


class Item(BaseModel):
    """One thing that a text says. `quote` is verbatim and within one sentence; a form's item may go without one."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, allow_inf_nan=False)

    kind: Word
    quote: Quote | None = None
    name: Word | None = None
    operator: Operator | None = None
    value: Scalar | list[Scalar] | None = None
    unit: Word | None = None
    mode: Literal["case", "rules"] | None = None
    of: list[Item] = Field(default_factory=list, max_length=20)
    any_of: list[Item] = Field(default_factory=list, max_length=20)
    action: Word | None = None
    fact: Word | None = None
    policy_id: Word | None = None
    when: list[Item] = Field(default_factory=list, max_length=20)

    @property
    def named(self) -> str | None:
        """The declared name that the item is of, whatever the key is called that holds it."""
        return self.name or self.action or self.fact or self.policy_id

    @property
    def values(self) -> tuple[Scalar, ...]:
        """The value or values that it says; none where it has no value."""
        if self.value is None:
            return ()
        return tuple(self.value) if isinstance(self.value, list) else (self.value,)

    def written(self) -> dict[str, Any]:
        """The item as it was proposed: only the keys that were given."""
        return self.model_dump(mode="json", exclude_defaults=True)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Words of the text, by code points of the text as it was sent: `start` up to, not including, `end`."""

    text: str
    start: int
    end: int

    def written(self) -> dict[str, Any]:
        """As callers see it."""
        return {"text": self.text, "start": self.start, "end": self.end}


@dataclass(frozen=True, slots=True)
class HeldItem:
    """An item and what became of it: its place in `Seen` (None without a quote), and each way in which it is weak."""

    item: Item
    status: Status
    why: str = ""
    place: tuple[int, int] | None = None
    weaknesses: frozenset[Weakness] = frozenset()
    value: Scalar | list[Scalar] | None = None  # where the text says a value that the item left out

    def written(self) -> dict[str, Any]:
        """As callers see it."""
        found = {**self.item.written(), "status": self.status, "why": self.why}
        return found if self.value is None else {**found, "value": self.value}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says, as far as somebody proposed it and the text bears it."""

    by: By
    held: tuple[HeldItem, ...] = ()
    residue: tuple[Stretch, ...] = ()
    not_used: tuple[Stretch, ...] = ()
    unknown: tuple[Stretch, ...] = ()

    @property
    def items(self) -> tuple[HeldItem, ...]:
        """The items that were not refused."""
        return tuple(one for one in self.held if one.status != "refused")

    @property
    def refused(self) -> tuple[HeldItem, ...]:
        """The items that were."""
        return tuple(one for one in self.held if one.status == "refused")

    def written(self) -> dict[str, Any]:
        """As every reply carries it."""
        return {
            "by": self.by,
            "items": [one.written() for one in self.items],
            "refused": [one.written() for one in self.refused],
            "residue": [one.written() for one in self.residue],
            "not_used": [one.written() for one in self.not_used],
            "unknown": [one.written() for one in self.unknown],
        }


@dataclass(frozen=True, slots=True)
class Proposal:
    """What somebody proposes a text to say; `unknown` are stretches that no declared name means, verbatim."""

    items: tuple[Item, ...]
    unknown: tuple[str, ...] = ()
    misfits: tuple[HeldItem, ...] = field(default=())  # what was proposed and is no item


def parse_items(text: str, kind: TextKind) -> Proposal:
    """The items in a JSON text. Raises UsageError where it is not JSON, or no list of items."""
    try:
        given = json.loads(text, parse_float=parse_number)
    except (ValueError, RecursionError):
        raise UsageError("the items are not JSON", 'give a list, `[{"kind": …, "quote": …}]`') from None
    return read_items(given, kind)


def parse_number(text: str) -> Decimal:
    """A number of a JSON text, as it is written. Raises UsageError for one that takes hours to count with."""
    number = Decimal(text)
    if number and abs(number.adjusted()) > MOST_PLACES:
        raise UsageError(f"there is a number of more than {MOST_PLACES} places", "write a smaller one")
    return number


def read_items(given: Any, kind: TextKind) -> Proposal:
    """The items in a JSON value: a list, or a mapping with `items` and `unknown`. Raises UsageError."""
    unknown: Any = ()
    if isinstance(given, Mapping):
        extra = sorted(set(map(str, given)) - {"items", "unknown"})
        if extra:
            raise UsageError(f"`{extra[0]}` is no key of a proposal", "give `items`, and `unknown` beside them")
        given, unknown = given.get("items", ()), given.get("unknown", ())
    if not isinstance(given, list | tuple) or len(given) > MOST_ITEMS:
        raise UsageError(f"items are a list of at most {MOST_ITEMS}")
    if not isinstance(unknown, list | tuple) or not all(isinstance(one, str) for one in unknown):
        raise UsageError("`unknown` is a list of stretches of the text")
    return Proposal(tuple(_item(one, i, kind) for i, one in enumerate(given)), tuple(unknown))


def kind_of_items(given: Any, wished: TextKind | None) -> TextKind | None:
    """The kind of question that *given* are items of: the one *wished*, else the only one that they fit; None where
    they fit several. Raises UsageError where they fit none.
    """
    kinds: tuple[TextKind, ...] = ("data", "policy", "decision") if wished is None else (wished,)
    fitting: list[TextKind] = []
    problem: UsageError | None = None
    for kind in kinds:
        try:
            read_items(given, kind)
            fitting.append(kind)
        except UsageError as error:
            problem = problem or error
    if not fitting and problem is not None:
        raise problem
    return fitting[0] if len(fitting) == 1 else None


def _item(given: object, i: int, kind: TextKind) -> Item:
    try:
        item = Item.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        loc, said = first["loc"], first["msg"].removeprefix("Value error, ")
        if "value" in loc:  # one of several types: each complains for itself
            loc, said = loc[: loc.index("value") + 1], "it is text, a finite number, true or false, or a list of these"
        place = ".".join(map(str, ("items", i, *loc)))
        raise UsageError(f"`{place}` does not fit: {said}") from None
    if problem := misfit_of(item, kind):
        raise UsageError(f"`items.{i}`: {problem}")
    return item


def misfit_of(item: Item, kind: TextKind, depth: int = 0) -> str | None:
    """Why *item* is none of the items of a text of that kind; None where it is one."""
    kinds = KINDS[kind]
    if item.kind not in kinds:
        return f"`{item.kind}` is no kind of item of this text: {_listed(kinds)}"
    allowed = {"kind", "quote", *kinds[item.kind]}
    extra = sorted(key for key in item.model_fields_set if key not in allowed)
    if extra:
        return f"`{extra[0]}` is no key of `{item.kind}`: {_listed(kinds[item.kind])}"
    if kind in ("answer", "document") and item.quote is None:
        return f"`{item.kind}` has no quote"
    needed = _LIMIT_OF_DATA if (kind, item.kind) == ("data", "limit") else _NEEDED.get(item.kind, ())
    missing = [key for key in needed if getattr(item, key) is None]
    either = _EITHER.get(item.kind, ()) if kind == "data" else ()
    if either and all(getattr(item, key) in (None, []) for key in either):
        missing += either[:1]
    if missing:
        return f"`{item.kind}` needs `{'name' if missing[0] == 'named' else missing[0]}`"
    return _misfit_inside(item, depth) if kind == "data" else None


def _misfit_inside(item: Item, depth: int) -> str | None:
    """Why an item in `of` or `any_of` is none; None where all of them are."""
    inside = (*item.of, *item.any_of)
    if inside and depth >= _MOST_NESTED:
        return f"items are at most {_MOST_NESTED} deep"
    return next((found for one in inside if (found := misfit_of(one, "data", depth + 1)) is not None), None)


def _listed(keys: Iterable[str]) -> str:
    names: Sequence[str] = [f"`{key}`" for key in keys]
    return f"there are {', '.join(names)}" if names else "there are none"
