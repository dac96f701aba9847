"""What the organisation decided: decisions, the events behind them, the transitions between them (seed 002, section K).

People write one record a file. `Decisions` is all of them together as `ci.loading.decision_records` normalised them
and the bundle carries them. A key that is not in these models goes into `x-extra` and is published in the field
catalogue.
"""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, ValidationInfo, field_validator, model_validator

from bylaw.authored.confirmation import Confirmations
from bylaw.authored.moments import day_of
from bylaw.authored.record import Authored, misfit
from bylaw.authored.recorded import (
    Content,
    Contents,
    Day,
    Links,
    OptionalLink,
    People,
    Person,
    Recorded,
    Timestamp,
    Words,
    blank_is_none,
    clipped,
    named,
    slug_of,
    spelled,
)
from bylaw.canonical import fingerprint

__all__ = [
    "EDGES",
    "KINDS",
    "STATUS_WORDS",
    "Affects",
    "ConsideredOption",
    "Decision",
    "Decisions",
    "Event",
    "Kind",
    "Record",
    "Recorded",
    "Relation",
    "Status",
    "Transition",
    "clipped",
    "slug_of",
    "snapshot_etag",
    "spelled",
]

Kind = Literal["decision", "event", "transition"]
Relation = Literal["causal", "alternative", "chain_next"]
Status = Literal["proposed", "accepted", "rejected", "deprecated", "superseded", "retired", "deferred"]
Dating = Literal["record", "file_name", "first_commit", "nothing"]

# What registries of decisions call a status, and the status that it is here; what was written stays in `x-extra`.
STATUS_WORDS: Mapping[str, Status] = {
    "draft": "proposed",
    "pending": "proposed",
    "provisional": "proposed",
    "approved": "accepted",
    "active": "accepted",
    "adopted": "accepted",
    "decided": "accepted",
    "final": "accepted",
    "implementable": "accepted",
    "implemented": "accepted",
    "on hold": "deferred",
    "postponed": "deferred",
    "declined": "rejected",
    "replaced": "superseded",
    "obsolete": "deprecated",
    "partly superseded": "deprecated",
    "withdrawn": "retired",
}


_UNDATED = (None, "proposed", "deferred")  # None where the status itself does not fit


def _absent_is_nothing(value: object) -> bool:
    return not value


def _status_word(value: object) -> object:
    written = " ".join(value.casefold().split()) if isinstance(value, str) else value
    return STATUS_WORDS.get(written, written) if isinstance(written, str) else written


def _named_option(value: object) -> object:
    return {"option": value} if isinstance(value, str) else value


class ConsideredOption(Authored):
    """One of the options that were considered, and what was said for and against it."""

    option: Content
    description: Content | None = Field(None, exclude_if=_absent_is_nothing)
    pros: Contents = Field(default_factory=list, exclude_if=_absent_is_nothing)
    cons: Contents = Field(default_factory=list, exclude_if=_absent_is_nothing)
    neutral: Contents = Field(default_factory=list, exclude_if=_absent_is_nothing)
    chosen: StrictBool = Field(False, exclude_if=_absent_is_nothing)


class Affects(Authored):
    """What a decision governs: files (`services/payments/**`), policies, metrics and packages, by name."""

    path: Words = Field(default_factory=list, exclude_if=_absent_is_nothing)
    policy: Words = Field(default_factory=list, exclude_if=_absent_is_nothing)
    metric: Words = Field(default_factory=list, exclude_if=_absent_is_nothing)
    package: Words = Field(default_factory=list, exclude_if=_absent_is_nothing)

    def __bool__(self) -> bool:
        return bool(self.path or self.policy or self.metric or self.package)


class Decision(Recorded):
    """An option that was taken or turned down: why, when and by whom, what supported it and what came before.

    `decided_on` is the day it was where people decided, `timestamp` the same moment in UTC (seed 002); either gives
    the other, and `dated_by` says where they come from when nobody wrote them down. `decision_maker` is the first of
    the `deciders`. Left out, the status is `accepted`: the records of seed 002 have none.
    """

    ALIASES: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "option": ("title",),
        "rationale": ("why", "reasoning"),
        "timestamp": ("date", "decided_at"),
        "decision_maker": ("decider", "owner"),
    }

    option: Content = Field(validation_alias=named("option", *ALIASES["option"]))
    rationale: Content = Field(validation_alias=named("rationale", *ALIASES["rationale"]))
    status: Annotated[Status, BeforeValidator(_status_word)] = "accepted"
    dated_by: Dating = Field("record", exclude_if=lambda value: value == "record")
    decided_on: Annotated[Day | None, BeforeValidator(blank_is_none)] = None
    timestamp: Annotated[Timestamp | None, BeforeValidator(blank_is_none)] = Field(
        None, validation_alias=named("timestamp", *ALIASES["timestamp"]), validate_default=True
    )
    proposed_on: Day | None = Field(None, exclude_if=_absent_is_nothing)
    decision_maker: Annotated[Person | None, BeforeValidator(blank_is_none)] = Field(
        None, validation_alias=named("decision_maker", *ALIASES["decision_maker"])
    )
    deciders: People = Field(default_factory=list, exclude_if=_absent_is_nothing)
    consulted: People = Field(default_factory=list, exclude_if=_absent_is_nothing)
    informed: People = Field(default_factory=list, exclude_if=_absent_is_nothing)
    aliases: Words = Field(default_factory=list, exclude_if=_absent_is_nothing)
    number: Annotated[StrictInt, Field(ge=0, le=10**9)] | None = Field(None, exclude_if=lambda value: value is None)
    context: Content | None = Field(None, exclude_if=_absent_is_nothing)
    options: list[
        Annotated[ConsideredOption, BeforeValidator(_named_option, json_schema_input_type=ConsideredOption | Content)]
    ] = Field(default_factory=list, exclude_if=_absent_is_nothing)
    consequences: Contents = Field(default_factory=list, exclude_if=_absent_is_nothing)
    confirmation: Confirmations = Field(default_factory=list, exclude_if=_absent_is_nothing)
    reopen_if: Contents = Field(default_factory=list, exclude_if=_absent_is_nothing)
    review_by: Day | None = Field(None, exclude_if=_absent_is_nothing)
    affects: Affects = Field(default_factory=Affects, exclude_if=_absent_is_nothing)
    audience: Words = Field(default_factory=list, exclude_if=_absent_is_nothing)
    supported_by: Links = Field(default_factory=list)
    based_on: Links = Field(default_factory=list)
    transitions: Links = Field(default_factory=list)
    supersedes: Links = Field(default_factory=list, exclude_if=_absent_is_nothing)
    superseded_by: Links = Field(default_factory=list, exclude_if=_absent_is_nothing)
    amends: Links = Field(default_factory=list, exclude_if=_absent_is_nothing)
    amended_by: Links = Field(default_factory=list, exclude_if=_absent_is_nothing)

    @model_validator(mode="before")
    @classmethod
    def _say_once(cls, data: Any) -> Any:
        """The day from the moment and the moment from the day; the first decider from the others and back."""
        if not isinstance(data, dict):
            return data
        filled = dict(data)
        _keep_status(filled)
        _fill_days(filled, ("timestamp", *cls.ALIASES["timestamp"]))
        _fill_deciders(filled, ("decision_maker", *cls.ALIASES["decision_maker"]))
        return filled

    @property
    def stands(self) -> bool:
        """Does it hold? A proposal does not yet; what was rejected, superseded or retired does not any more."""
        return self.status == "accepted"

    @field_validator("timestamp")
    @classmethod
    def _has_a_day(cls, value: str | None, info: ValidationInfo) -> str | None:
        """What is only proposed has none yet, and a document that does not tell its day is marked so."""
        known = info.data
        is_told = (
            "decided_on" not in known or known.get("status") in _UNDATED
        )  # a field that does not fit says so itself
        if value is None and not is_told and known.get("dated_by") != "nothing":
            help = "write the day of the decision, like `decided_on: 2026-01-31`"
            raise misfit("the key `timestamp` is missing", help=help)
        return value

    def names_beside_id(self) -> Iterator[str]:
        """What it is called beside its id: its aliases, and `#4` for the number 4. Compare them by `spelled`."""
        yield from self.aliases
        if self.number is not None:
            yield f"#{self.number}"

    @property
    def day(self) -> date | None:
        """The day on which people decided, as they count days; None where nobody knows it."""
        return self.decided_on

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for name in ("based_on", "supersedes", "superseded_by", "amends", "amended_by"):
            if self.id in getattr(self, name):
                does = name.replace("_", " ")
                what = does if name in ("supersedes", "amends") else f"is {does}"
                place = name, getattr(self, name).index(self.id)
                raise misfit(
                    f"decision `{self.id}` {what} itself", *place, help="name the other decision, or take it out"
                )
        if self.timestamp and self.decided_on and abs(day_of(self.timestamp) - self.decided_on) > timedelta(days=1):
            message = f"`decided_on` is {self.decided_on}, and `timestamp` says {self.timestamp[:10]}"
            raise misfit(message, "decided_on", help="they tell one moment: delete one of them, or correct it")
        if self.proposed_on and self.decided_on and self.proposed_on > self.decided_on:
            message = f"it was proposed on {self.proposed_on}, after it was decided on {self.decided_on}"
            raise misfit(message, "proposed_on", help="correct one of the two days")
        return self


def _keep_status(filled: dict[str, Any]) -> None:
    """A status in the words of another registry stays readable in `x-extra`."""
    written, extra = filled.get("status"), filled.get("x-extra", filled.get("x_extra"))
    if _status_word(written) != written and isinstance(written, str) and isinstance(extra, dict | None):
        filled["x-extra"] = {"status": written, **(extra or {})}
        filled.pop("x_extra", None)


def _fill_days(filled: dict[str, Any], names: tuple[str, ...]) -> None:
    written = next((filled[name] for name in names if filled.get(name)), None)
    told, missing = (written, "decided_on") if written else (filled.get("decided_on"), "timestamp")
    if told and not (written and filled.get("decided_on")):
        try:
            filled[missing] = day_of(str(told)).isoformat()
        except ValueError:
            return  # the field itself says what is wrong with it


def _fill_deciders(filled: dict[str, Any], names: tuple[str, ...]) -> None:
    first = next((filled[name] for name in names if filled.get(name)), None)
    others = filled.get("deciders")
    listed = [others] if isinstance(others, str) else others or []
    if isinstance(first, str) and isinstance(listed, list):
        filled["deciders"] = [first, *(one for one in listed if one != first)]
    elif first is None and isinstance(listed, list) and listed and isinstance(listed[0], str):
        filled["decision_maker"] = listed[0]


class Event(Recorded):
    """Something that happened. Without `led_to` it waits for its decision, which is fine."""

    ALIASES: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "summary": ("title", "headline"),
        "description": ("details",),
        "timestamp": ("date", "occurred_at"),
    }

    summary: Annotated[Content | None, BeforeValidator(blank_is_none)] = Field(
        None, validation_alias=named("summary", *ALIASES["summary"])
    )
    description: Content | None = Field(None, validation_alias=named("description", *ALIASES["description"]))
    timestamp: Timestamp = Field(validation_alias=named("timestamp", *ALIASES["timestamp"]))
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
    reason: Content = Field(validation_alias=named("reason", *ALIASES["reason"]))
    timestamp: Annotated[Timestamp | None, BeforeValidator(blank_is_none)] = Field(
        None, validation_alias=named("timestamp", *ALIASES["timestamp"])
    )

    @model_validator(mode="after")
    def _leads_somewhere(self) -> Self:
        if self.timestamp is None and "derived_from" not in self.x_extra:
            raise misfit(f"transition `{self.id}` does not say when it was", help="add its `timestamp`")
        if self.from_ is not None and self.from_ == self.to:
            help = "name the event or decision that it leads to"
            raise misfit(f"transition `{self.id}` leads from `{self.from_}` to itself", "to", help=help)
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

    def named(self, name: str) -> Decision | None:
        """The decision of that id, alias or number; None where there is none, or more than one."""
        if name in self.decisions:
            return self.decisions[name]
        wanted = spelled(name)
        found = [
            one for one in self.decisions.values() if wanted in {spelled(other) for other in one.names_beside_id()}
        ]
        return found[0] if len(found) == 1 else None

    def record(self, id: str) -> Record | None:
        """The record of that id, whatever it is."""
        return self.decisions.get(id) or self.events.get(id) or self.transitions.get(id)
