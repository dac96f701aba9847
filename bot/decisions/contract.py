"""The shapes of seed 002, sections F1 and I2: what is looked up, what an answer may rest on, what it says."""

from typing import Literal

from pydantic import ConfigDict, Field, JsonValue

from bot.conversation import Spoken

Document = dict[str, JsonValue]
Relation = Literal["superseded_by", "supersedes", "amended_by", "amends", "before", "after"]


class Shown(Spoken):
    """A part of an answer; in JSON it uses the authors' words (`from`) and leaves out what nobody wrote."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)

    def document(self) -> Document:
        """The JSON that people, models and fingerprints see."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Step(Shown):
    """One kind of edge to follow from the anchor."""

    rel: str
    type: Literal["decision", "event", "transition"]
    dir: Literal["in", "out"] | None = None


class Budget(Shown):
    """How large the evidence may grow before the least telling of it is dropped."""

    max_prompt_bytes: int
    selector_truncation_enabled: bool = True


class Plan(Shown):
    """The graph query of one question, without naming any store."""

    from_: str = Field(alias="from")
    k: int
    out: tuple[Step, ...]
    prompt_budget: Budget


class Considered(Shown):
    """An option that was considered, and what was said for and against it."""

    option: str
    is_chosen: bool | None = None
    pros: tuple[str, ...] = ()
    cons: tuple[str, ...] = ()


class Anchor(Shown):
    """The decision that was asked about. A `status` that is not there is `accepted`; `day` is there where the local
    day is not that of the timestamp, `dated_by` where nobody wrote it down. What stands last is there where asked for.
    """

    id: str
    option: str
    rationale: str
    timestamp: str | None = None
    day: str | None = None
    dated_by: str | None = None
    decision_maker: str | None = None
    tags: tuple[str, ...] = ()
    status: str | None = None
    written_status: str | None = None
    called: str | None = None
    proposed_on: str | None = None
    deciders: tuple[str, ...] | None = None
    consulted: tuple[str, ...] | None = None
    informed: tuple[str, ...] | None = None
    context: str | None = None
    options: tuple[Considered, ...] | None = None
    consequences: tuple[str, ...] | None = None
    confirmation: str | None = None
    reopen_if: tuple[str, ...] | None = None


class EvidenceEvent(Shown):
    """An event that led to the anchor. `led_to` names the anchor only, whatever else the event led to."""

    id: str
    summary: str
    timestamp: str
    day: str | None = None
    led_to: tuple[str, ...]
    snippet: str | None = None
    tags: tuple[str, ...] = ()


class EvidenceTransition(Shown):
    """How one decision led to another."""

    id: str
    from_: str | None = Field(None, alias="from")
    to: str | None = None
    reason: str
    timestamp: str | None = None
    day: str | None = None
    tags: tuple[str, ...] = ()


class Related(Shown):
    """Another decision that the answer names: what replaced or amended the anchor, or what a chain passes."""

    id: str
    relation: Relation
    option: str
    called: str | None = None
    status: str | None = None
    day: str | None = None


class Transitions(Shown):
    """What led to the anchor and what followed from it, oldest first."""

    preceding: tuple[EvidenceTransition, ...] = ()
    succeeding: tuple[EvidenceTransition, ...] = ()


class Evidence(Shown):
    """Everything an answer may cite. INVARIANT: `allowed_ids` are exactly the ids in here, each once."""

    anchor: Anchor
    events: tuple[EvidenceEvent, ...] = ()
    transitions: Transitions = Transitions()
    related: tuple[Related, ...] | None = None
    allowed_ids: tuple[str, ...]


class Listed(Shown):
    """Everything an answer about many records may cite, the oldest first. `total` counts those not shown as well."""

    decisions: tuple[Anchor, ...] = ()
    events: tuple[EvidenceEvent, ...] = ()
    total: int
    allowed_ids: tuple[str, ...]


class DecisionAnswer(Shown):
    """What is said, and the evidence it rests on. Lengths are the rules' concern (`bot.decisions.validate`)."""

    short_answer: str = Field(min_length=1)
    supporting_ids: tuple[str, ...] = Field(min_length=1)
    rationale_note: str | None = None
