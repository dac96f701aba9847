"""The shapes of seed 002, sections F1 and I2: what is looked up, what an answer may rest on, what it says."""

from typing import Literal

from pydantic import ConfigDict, Field, JsonValue

from bot.conversation import Spoken

Document = dict[str, JsonValue]


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


class Anchor(Shown):
    """The decision that was asked about."""

    id: str
    option: str
    rationale: str
    timestamp: str | None = None
    decision_maker: str | None = None
    tags: tuple[str, ...] = ()


class EvidenceEvent(Shown):
    """An event that led to the anchor. `led_to` names the anchor only, whatever else the event led to."""

    id: str
    summary: str
    timestamp: str
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
    tags: tuple[str, ...] = ()


class Transitions(Shown):
    """What led to the anchor and what followed from it, oldest first."""

    preceding: tuple[EvidenceTransition, ...] = ()
    succeeding: tuple[EvidenceTransition, ...] = ()


class Evidence(Shown):
    """Everything an answer may cite. INVARIANT: `allowed_ids` are exactly the ids in here, each once."""

    anchor: Anchor
    events: tuple[EvidenceEvent, ...] = ()
    transitions: Transitions = Transitions()
    allowed_ids: tuple[str, ...]


class DecisionAnswer(Shown):
    """What is said, and the evidence it rests on. Lengths are the rules' concern (`bot.decisions.validate`)."""

    short_answer: str = Field(min_length=1)
    supporting_ids: tuple[str, ...] = Field(min_length=1)
    rationale_note: str | None = None
