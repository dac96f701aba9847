"""What the organisation decided: decisions, the events behind them, the transitions between them (seed 002, section K).

People write one record a file. `Decisions` is all of them together as `ci.loading.decision_records` normalised them
and the bundle carries them. A key that is not in these models goes into `x-extra` and is published in the field
catalogue.
"""

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    model_validator,
)

from bylaw.authored.record import Authored, AuthoredFile, Word, misfit
from bylaw.canonical import canonical_json, fingerprint, plain

Kind = Literal["decision", "event", "transition"]
Relation = Literal["causal", "alternative", "chain_next"]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{2,}[a-z0-9]$", max_length=255)]

_EXAMPLE = "2012-04-30T09:00:00Z"


def slug_of(text: str, joint: str = "-") -> str:
    """*text* as an id is spelt: NFKC, lower case, every other run of characters one *joint*."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = "".join(char if char.isalnum() or char in "_-" else " " for char in folded).split()
    return re.sub(r"([_-])[_-]+", r"\1", joint.join(words)).strip("_-")


def clipped(text: str, bound: int) -> str:
    """*text* in at most *bound* characters, cut between words where that keeps at least half of it."""
    if len(text) <= bound:
        return text
    cut = text[: bound - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space >= bound // 2 else cut).rstrip(" ,;:-–—") + "…"


def _moment(text: str) -> datetime:
    """The point in time that *text* says; without an offset it is UTC."""
    parsed = datetime.fromisoformat(text.strip())
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _utc(value: object) -> object:
    """ISO-8601 in UTC, whole seconds, always with `Z`: such texts sort as the moments do."""
    if not isinstance(value, str):
        raise ValueError(f"should be a time like {_EXAMPLE}")
    try:
        moment = _moment(value).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"`{clipped(value, 60)}` is not a time like {_EXAMPLE}") from None
    return moment.replace(tzinfo=None, microsecond=0).isoformat() + "Z"


def _says_something(text: str) -> str:
    """White space and invisible characters alone are a stub that defeats every later comparison."""
    if all(unicodedata.category(char)[0] in "ZC" for char in text):
        raise ValueError("should say something: it is empty or only white space")
    return text


def _has_a_slug(tag: str) -> str:
    if not slug_of(tag, "_"):
        raise ValueError(f"the tag `{clipped(tag, 60)}` has no letters or digits")
    return tag


def _blank_is_none(value: object) -> object:
    return None if value in ("", []) or (isinstance(value, str) and not value.strip()) else value


def _json_only(value: object) -> object:
    try:
        value = plain({} if value is None else value)
        canonical_json(value).encode()
    except (TypeError, UnicodeEncodeError, ValueError) as problem:
        raise ValueError(f"should be plain data: {problem}") from None
    return value


def _absent_is_empty(value: object) -> object:
    return [] if value is None else value


Timestamp = Annotated[str, BeforeValidator(_utc)]
Content = Annotated[str, StringConstraints(max_length=20_000), AfterValidator(_says_something)]
Extra = Annotated[dict[str, JsonValue], BeforeValidator(_json_only)]
Tag = Annotated[Word, AfterValidator(_has_a_slug)]
Person = Annotated[Word, AfterValidator(_says_something)]
Links = Annotated[list[Word], BeforeValidator(_absent_is_empty)]
OptionalLink = Annotated[Word | None, BeforeValidator(_blank_is_none)]


def _named(core: str, *aliases: str) -> AliasChoices:
    return AliasChoices(core, *aliases)


def _offer_aliases(schema: dict[str, Any], model: "type[Recorded]") -> None:
    """Editors accept the other names too: each is a property, and one name of a required field must be there."""
    properties, required = schema["properties"], schema.get("required", [])
    for core, aliases in sorted(model.ALIASES.items()):
        properties.update(dict.fromkeys(aliases, properties[core]))
        if core in required:
            names = (core, *aliases)
            schema.setdefault("allOf", []).append({"anyOf": [{"required": [name]} for name in names]})
    schema["required"] = [name for name in required if name not in model.ALIASES]


class Recorded(AuthoredFile):
    """What the three records share. `ALIASES`: core name → the other names people use for it."""

    # serialize_by_alias: the bundle says `from` and `x-extra`, the words people wrote.
    model_config = ConfigDict(serialize_by_alias=True, json_schema_extra=_offer_aliases)
    ALIASES: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    id: Slug
    tags: Annotated[list[Tag], BeforeValidator(_absent_is_empty)] = Field(default_factory=list)
    x_extra: Extra = Field(default_factory=dict, alias="x-extra")

    @model_validator(mode="before")
    @classmethod
    def _keep_originals(cls, data: Any) -> Any:
        """What was written under another name, or in another time zone, stays readable in `x-extra`."""
        extra = data.get("x-extra", data.get("x_extra", {})) if isinstance(data, dict) else None
        if not isinstance(extra, dict):
            return data
        originals = {alias: data[alias] for names in cls.ALIASES.values() for alias in names if alias in data}
        for name in ("timestamp", *cls.ALIASES.get("timestamp", ())):
            if zone := _foreign_zone(data.get(name)):
                originals["source_tz"] = zone
        if not originals:
            return data
        return {**{key: value for key, value in data.items() if key != "x_extra"}, "x-extra": {**originals, **extra}}


def _foreign_zone(value: object) -> str | None:
    """The offset of a timestamp that is not in UTC, like `+02:00`."""
    if not isinstance(value, str):
        return None
    try:
        moment = _moment(value)
    except ValueError:
        return None
    return moment.replace(microsecond=0).isoformat()[19:] if moment.utcoffset() else None


class Decision(Recorded):
    """An option that was taken: why, when and by whom, what supported it and which decisions came before."""

    ALIASES: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "option": ("title",),
        "rationale": ("why", "reasoning"),
        "timestamp": ("date", "decided_at"),
        "decision_maker": ("decider", "owner"),
    }

    option: Content = Field(validation_alias=_named("option", *ALIASES["option"]))
    rationale: Content = Field(validation_alias=_named("rationale", *ALIASES["rationale"]))
    timestamp: Timestamp = Field(validation_alias=_named("timestamp", *ALIASES["timestamp"]))
    decision_maker: Annotated[Person | None, BeforeValidator(_blank_is_none)] = Field(
        None, validation_alias=_named("decision_maker", *ALIASES["decision_maker"])
    )
    supported_by: Links = Field(default_factory=list)
    based_on: Links = Field(default_factory=list)
    transitions: Links = Field(default_factory=list)

    @model_validator(mode="after")
    def _is_not_its_own_reason(self) -> Self:
        if self.id in self.based_on:
            message = f"decision `{self.id}` is based on itself"
            raise misfit(message, "based_on", self.based_on.index(self.id))
        return self


class Event(Recorded):
    """Something that happened. Without `led_to` it waits for its decision, which is fine."""

    ALIASES: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "summary": ("title", "headline"),
        "description": ("details",),
        "timestamp": ("date", "occurred_at"),
    }

    summary: Annotated[Content | None, BeforeValidator(_blank_is_none)] = Field(
        None, validation_alias=_named("summary", *ALIASES["summary"])
    )
    description: Content | None = Field(None, validation_alias=_named("description", *ALIASES["description"]))
    timestamp: Timestamp = Field(validation_alias=_named("timestamp", *ALIASES["timestamp"]))
    led_to: Links = Field(default_factory=list)
    snippet: Content | None = None

    @model_validator(mode="after")
    def _tells_what_happened(self) -> Self:
        if self.description is None and self.summary in (None, self.id):
            message = f"event `{self.id}` does not say what happened: give it a `summary` or a `description`"
            raise misfit(message, "id" if self.summary is None else "summary")
        return self


class Transition(Recorded):
    """How one decision led to another. An end that is not known yet may be left out."""

    ALIASES: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "reason": ("why", "rationale", "reasoning"),
        "timestamp": ("date",),
    }

    from_: OptionalLink = Field(None, alias="from")
    to: OptionalLink = None
    relation: Relation
    reason: Content = Field(validation_alias=_named("reason", *ALIASES["reason"]))
    timestamp: Timestamp = Field(validation_alias=_named("timestamp", *ALIASES["timestamp"]))

    @model_validator(mode="after")
    def _leads_somewhere(self) -> Self:
        if self.from_ is not None and self.from_ == self.to:
            raise misfit(f"transition `{self.id}` leads from `{self.from_}` to itself", "to")
        return self


Record = Decision | Event | Transition
# What a transition is called as an edge of the graph (seed 002, B2).
EDGES: Mapping[Relation, str] = {
    "causal": "CAUSAL_PRECEDES",
    "alternative": "ALTERNATIVE_TO",
    "chain_next": "CHAIN_NEXT",
}
KINDS: Mapping[Kind, type[Recorded]] = {"decision": Decision, "event": Event, "transition": Transition}


def snapshot_etag(
    decisions: Mapping[str, Decision], events: Mapping[str, Event], transitions: Mapping[str, Transition]
) -> str:
    """The name of exactly this content: no clock, no file names."""
    return "sha256:" + fingerprint({"decisions": decisions, "events": events, "transitions": transitions})


class Decisions(Authored):
    """Every record by id, normalised: links resolve and point both ways, texts are bounded, times are UTC.

    `field_catalogue`: semantic name → the names it is found under. `relation_catalogue`: edge → its directions as a
    decision sees them. `sources`: id → the file that says it, relative to the repository root.
    """

    decisions: dict[str, Decision] = Field(default_factory=dict)
    events: dict[str, Event] = Field(default_factory=dict)
    transitions: dict[str, Transition] = Field(default_factory=dict)
    field_catalogue: dict[str, list[str]] = Field(default_factory=dict)
    relation_catalogue: dict[str, list[str]] = Field(default_factory=dict)
    sources: dict[str, str] = Field(default_factory=dict)
    snapshot_etag: str = snapshot_etag({}, {}, {})

    def record(self, id: str) -> Record | None:
        """The record of that id, whatever it is."""
        return self.decisions.get(id) or self.events.get(id) or self.transitions.get(id)
