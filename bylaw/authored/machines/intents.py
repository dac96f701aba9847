"""How questions about decisions are answered: `rules/intents.yaml`. A new intent is an entry there, no code."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from bylaw.authored.machines.amounts import Amount, Count, Positive, Share, sums_to_one
from bylaw.authored.record import Authored, AuthoredFile, Shortened, Word, misfit

Relation = Literal["LED_TO", "CAUSAL_PRECEDES", "CHAIN_NEXT", "ALTERNATIVE_TO", "BASED_ON"]
Mandatory = Literal["anchor", "preceding", "succeeding"]
Shown = Literal["deciders", "consulted", "informed", "context", "options", "consequences"]


class Edge(Authored):
    """One kind of neighbour that is evidence: the relation, its direction from the anchor, what lies at its end."""

    rel: Relation
    dir: Literal["in", "out"] | None = None
    type: Literal["decision", "event", "transition"]


class Intent(Authored):
    """One kind of decision question. `words` are how people ask it, with `{not}` at the end where a denial follows
    ("why {not}" is "why aren't we"); `template` answers it without a model.

    `shows` are the fields of the decision that the answer needs beyond its reasons; one that `lists` is about many.
    One that `yields` is meant only where the words of no other one are said.
    """

    words: Annotated[list[Word], Field(min_length=1)]
    k: Positive
    edges: list[Edge]
    mandatory: list[Mandatory]
    shows: list[Shown] = Field(default_factory=list)
    lists: Literal["decisions", "pending"] | None = None
    yields: bool = False
    template: Word
    answer_schema: Word
    prompt_id: Word
    policy_id: Word


class Talk(Authored):
    """Words with which people speak of any decision: they name none.

    `for_` and `against` also say which side the asker takes a decision to be on. `labels` stand before any
    number, `own_label` before one that has none of its own.
    """

    idle: list[Word]
    for_: list[Word] = Field(alias="for")
    against: list[Word]
    neither: list[Word]
    labels: list[Word]
    own_label: Word


class FieldWeights(Shortened):
    """How much a word tells by where it stands: in what a record is called, in its tags and options, in its text."""

    retired = frozenset({"option", "id", "tags", "decision_maker", "rationale"})

    title: Positive
    near: Positive
    body: Positive


class SearchRules(Shortened):
    """How records are searched and listed: BM25 over `fields`; `offered` choices where several may be meant."""

    retired = frozenset(
        {"k", "confidence_from", "margin", "told_in_title", "told_elsewhere", "light_word", "option_coverage"}
    )

    offered: Positive
    listed: Positive
    fields: FieldWeights
    k1: Amount  # how soon a word that stands more often stops telling more
    b: Share  # how far long records are held against it


class PromptRules(Shortened):
    """What a model may be shown and may say. Sizes in bytes of canonical JSON, lengths in characters."""

    retired = frozenset({"truncation_threshold_bytes"})

    max_prompt_bytes: Positive
    min_evidence_items: Positive
    max_tokens: Positive
    retries: Count
    forbidden_text: list[Word]


class Lengths(Authored):
    """Longest texts, in characters: of an answer, and of what ingest keeps of a record."""

    short_answer: Positive
    rationale_note: Positive
    rationale: Positive
    reason: Positive
    summary: Positive
    repaired_summary: Positive


class Selector(Authored):
    """What decides which evidence is dropped first when the prompt is too large."""

    recency: Share
    similarity: Share

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        sums_to_one({"recency": self.recency, "similarity": self.similarity}, "recency")
        return self


class Intents(Shortened, AuthoredFile):
    """`rules/intents.yaml`: the intents, and the limits that all of them share."""

    retired = frozenset({"timeouts_ms", "cache_seconds", "load_shedding", "artifacts", "use_model"})

    intents: Annotated[dict[Word, Intent], Field(min_length=1)]
    default_intent: Word
    yes_no_intent: Word | None = None  # of a question that names no other one, and that yes or no answers
    talk: Talk
    statuses: dict[Word, list[Word]]
    search: SearchRules
    prompt: PromptRules
    lengths: Lengths
    selector: Selector

    @model_validator(mode="after")
    def _has_its_default(self) -> Self:
        for key in ("default_intent", "yes_no_intent"):
            if (named := getattr(self, key)) is not None and named not in self.intents:
                raise misfit(f"`{named}` is not one of the `intents`", key)
        return self
