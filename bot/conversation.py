"""What is said: an Actor asks a Question, a Reply comes back. Slack, HTTP and the terminal speak only these."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from bylaw.canonical import plain, spelled
from bylaw.errors import UsageError
from bylaw.language.periods import is_askable

CORRECTS = "corrects"  # of a reply's `meta`: the request whose answer the person says is wrong
PROPOSED = "proposed"  # of a reply's `meta`: the correction that its words were read as, for the person to confirm
MAX_TEXT = 8_000  # characters of a question

AnswerKind = Literal["policy", "data", "decision"]
ReplyKind = Literal["policy", "data", "decision", "refusal"]
ReplyStatus = Literal["answered", "needs_choice", "needs_fact", "pending", "recommended", "escalated", "refused"]
GIVEN: frozenset[ReplyStatus] = frozenset(("answered", "pending", "recommended"))  # what else is asked back, or refused


class Spoken(BaseModel):
    """A value that crosses a border: frozen, and strict about its keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Actor(Spoken):
    """Who asks. Rights come from `rules/roles.yaml` by `id`, never from the message."""

    id: str = "anonymous"
    type: Literal["human", "agent"] = "human"


class Question(Spoken):
    """One utterance. `asked_at` is timezone-aware; `session_id` ties follow-ups together."""

    text: str
    actor: Actor = Actor()
    asked_at: datetime
    session_id: str = "default"
    request_id: str
    options: dict[str, Any] = Field(default_factory=dict)


class Citation(Spoken):
    """Where an answer comes from. `path` is relative to the repository root; `commit` is null outside git."""

    id: str
    path: str | None = None
    line: int | None = None
    commit: str | None = None
    text: str | None = None


class Choice(Spoken):
    """One way to read the question; `value` is what to send back."""

    value: str
    label: str


class Ask(Spoken):
    """A fact that is missing, and the question that fetches it."""

    fact: str
    question: str
    choices: tuple[Choice, ...] = ()


class FormField(Spoken):
    """One field of a form: what it may be filled in with, and what was understood already."""

    name: Literal["metrics", "by", "filters", "values", "period", "compared_with", "grain", "date", "order", "limit"]
    label: str
    options: tuple[Choice, ...] = ()
    chosen: tuple[str, ...] = ()
    is_many: bool = False


class Form(Spoken):
    """A data question to be filled in, where its words were not read whole."""

    fields: tuple[FormField, ...]

    @property
    def has_choices(self) -> bool:
        """Is there anything to ask for?"""
        return any(one.options for one in self.fields if one.name in ("metrics", "by"))


class Binding(Spoken):
    """Which word of a data question was read as what (`kind`: metric, dimension, filter, time, entity)."""

    words: str
    kind: str
    name: str


class Interval(Spoken):
    """A half-open span of time in ISO dates: start included, end excluded."""

    start: str
    end: str
    label: str


class Factors(Spoken):
    """The four factors of the error likelihood, each from 0 to 1 (seed 004, 6.3)."""

    complexity: Decimal
    source_risk: Decimal
    novelty: Decimal
    ambiguity: Decimal


class RiskAssessment(Spoken):
    """How likely a data answer is wrong, what that would cost, and why it has its level.

    `stakes` are the values of the cost factors as stated or heard (`criticality: high`); `decision` is the level in
    the words of seed 004, appendix A.2. `source_signals` are those that the source risk was measured by.
    """

    error_likelihood: Decimal
    expected_cost: Decimal
    factors: Factors
    stakes: dict[str, str] = Field(default_factory=dict)
    decision: Literal["PROCEED", "NOTIFY", "CONFIRM", "RECOMMEND", "BLOCK"]
    rationale: str
    source_signals: tuple[str, ...] = ()
    caps: tuple[str, ...] = ()
    escalation_path: tuple[str, ...] = ()


class Acceptance(Spoken):
    """Does the answer wait to be accepted, and until when? Null minutes: until somebody handles it."""

    required: bool
    timeout_minutes: int | None = None


class Chart(Spoken):
    """A picture of the rows: a line over time, or bars by category. `x`, `y` and `series` name columns."""

    kind: Literal["line", "bars"]
    title: str
    x: str
    y: tuple[str, ...]
    series: str | None = None
    format: Literal["number", "integer", "currency", "percent"] = "number"
    unit: str | None = None


class Change(Spoken):
    """A fact that would have to be different: `before` is null where it is unknown; `test` is what would do."""

    fact: str
    before: Any
    after: Any
    test: str


class Different(Spoken):
    """The smallest change of facts that gives an outcome another action; not sure: a smaller one may be untried."""

    outcome: str
    action: str
    policy_id: str | None = None
    rule_id: str | None = None
    changes: tuple[Change, ...]
    is_sure: bool
    text: str


class Reply(Spoken):
    """One answer. Fields beyond `text` are filled per kind; what is null or empty was not part of this answer."""

    kind: ReplyKind
    status: ReplyStatus
    text: str
    request_id: str
    session_id: str
    bundle_etag: str
    commit: str | None = None
    citations: tuple[Citation, ...] = ()
    level: int | None = None
    choices: tuple[Choice, ...] = ()
    ask: Ask | None = None
    # data
    sql: str | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    interval: Interval | None = None
    bindings: tuple[Binding, ...] = ()
    caveats: tuple[str, ...] = ()
    data_until: str | None = None  # the newest moment that the rows behind the answer hold, ISO
    risk: RiskAssessment | None = None
    acceptance: Acceptance | None = None
    chart: Chart | None = None
    form: Form | None = None
    reading: dict[str, Any] | None = None  # what the words were read as, item by item, and what was left over
    # policy
    outcomes: dict[str, Any] = Field(default_factory=dict)
    facts: dict[str, Any] = Field(default_factory=dict)
    path: tuple[str, ...] = ()
    different: tuple[Different, ...] = ()
    # decision (fields of seed 002)
    intent: str | None = None
    evidence: dict[str, Any] | None = None
    answer: dict[str, Any] | None = None
    completeness_flags: dict[str, Any] | None = None
    meta: dict[str, Any] | None = None

    @property
    def offered(self) -> tuple[Choice, ...]:
        """What there is to choose from, in the order of its numbers: values of an asked fact come first."""
        return (*(self.ask.choices if self.ask else ()), *self.choices)


@dataclass(frozen=True)
class Turn:
    """What an answerer hands back: the reply, and the JSON state its kind carries to the next turn of the session.

    `artifacts` are kept under their fingerprint by name (plan, envelope, raw model output); `log` fills the query
    log (the column names of `bot.evidence.store.tables.querylog`). Both may stay empty. A turn that `is_aside` leaves
    the conversation as it was. `tells` are the people who have to hear that this was answered, or that a person has to.
    """

    reply: Reply
    state: dict[str, Any]
    artifacts: Mapping[str, Any] = field(default_factory=dict)
    log: Mapping[str, Any] = field(default_factory=dict)
    is_aside: bool = False
    tells: tuple[str, ...] = ()

    # worked out once for a turn that several requests are given

    @cached_property
    def spoken(self) -> Reply:
        """The reply as it is after a trip through JSON."""
        return spoken(self.reply)

    @cached_property
    def papers(self) -> Mapping[str, str]:
        """The artifacts as canonical JSON of what people read."""
        return {str(name): spelled(sayable(value)) for name, value in self.artifacts.items()}


_PLAIN = frozenset((str, int, bool, type(None)))  # nearly all that there is


def sayable(value: Any) -> Any:
    """*value* as the JSON people read: a decimal is a number when a number says it exactly, else a string."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is dict:
        return {str(key): item if type(item) in _PLAIN else sayable(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [item if type(item) in _PLAIN else sayable(item) for item in value]
    match value:
        case BaseModel():
            return sayable(value.model_dump(mode="python"))
        case Decimal():
            if not value.is_finite():
                return str(value)
            if value == value.to_integral_value():
                return int(value)
            number = float(value)
            return number if Decimal(repr(number)) == value else plain(value)
        case float():
            return value if value - value == 0 else None  # neither NaN nor an infinity has a JSON spelling
        case Mapping():
            return {str(key): sayable(item) for key, item in value.items()}
        case list() | tuple():
            return [sayable(item) for item in value]
        case bool() | int() | str() | None:
            return value
        case time() | timedelta() | UUID():
            return str(value)
        case _:
            return plain(value)


def spoken(reply: Reply) -> Reply:
    """*reply* as it is after a trip through JSON: what is stored, sent and shown again is this same value."""
    return Reply.model_validate(sayable(reply))


# what is sayable holds no circle
told_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode


def spoken_json(reply: Reply) -> str:
    """The one JSON document of *reply*, keys in the order of the model."""
    return told_json(sayable(reply))


def sayable_text(text: str, most: int = 1_000) -> str:
    """*text* as far as an error repeats it: what cannot be sent is replaced, what is endless is cut."""
    shown = text.encode("utf-8", "replace").decode()
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def moment(text: str) -> datetime:
    """The ISO date or time that *text* spells, in its own zone; without a zone it is UTC."""
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(
            f"`{text}` is not an ISO time", "write it like 2026-11-20 or 2026-11-20T09:30:00+01:00"
        ) from None
    try:
        read = read if read.tzinfo else read.replace(tzinfo=UTC)
        read.astimezone(UTC)
    except OverflowError:
        raise UsageError(f"`{text}` is not a time that a calendar has everywhere") from None
    if not is_askable(read):
        raise UsageError(f"`{text}` is too far away", "name a time of the years 1000 to 9000")
    return read
