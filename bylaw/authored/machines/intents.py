"""How questions about decisions are answered: `rules/intents.yaml`. A new intent is an entry there, no code."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from bylaw.authored.machines.amounts import Amount, Count, Positive, Share, sums_to_one
from bylaw.authored.record import Authored, AuthoredFile, Shortened, Word, misfit

Relation = Literal["LED_TO", "CAUSAL_PRECEDES", "CHAIN_NEXT", "ALTERNATIVE_TO", "BASED_ON"]
Mandatory = Literal["anchor", "preceding", "succeeding"]


class Edge(Authored):
    """One kind of neighbour that is evidence: the relation, its direction from the anchor, what lies at its end."""

    rel: Relation
    dir: Literal["in", "out"] | None = None
    type: Literal["decision", "event", "transition"]


class Intent(Authored):
    """One kind of decision question. `words` are how people ask it; `template` answers it without a model."""

    words: Annotated[list[Word], Field(min_length=1)]
    k: Positive
    edges: list[Edge]
    mandatory: list[Mandatory]
    template: Word
    answer_schema: Word
    prompt_id: Word
    policy_id: Word


class FieldWeights(Authored):
    """How much a word tells by the field of a decision in which it stands."""

    option: Positive
    id: Positive
    tags: Positive
    decision_maker: Positive
    rationale: Positive


class SearchRules(Authored):
    """How the anchor is found when no slug is given: BM25 over `fields`, and how much of the question a hit explains.

    A word of the question that stands in a hit's title counts `told_in_title` towards the confidence, elsewhere
    `told_elsewhere`. A missing verb that any decision may be told with is missed by `light_word` only.
    """

    k: Positive
    confidence_from: Share
    margin: Share  # a runner-up nearer than this makes the bot ask
    fields: FieldWeights
    told_in_title: Share
    told_elsewhere: Share
    light_word: Share
    option_coverage: Share  # of the confidence: how much of the option the question names; settles equal matches
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
    search: SearchRules
    prompt: PromptRules
    lengths: Lengths
    selector: Selector

    @model_validator(mode="after")
    def _has_its_default(self) -> Self:
        if self.default_intent not in self.intents:
            raise misfit(f"`{self.default_intent}` is not one of the `intents`", "default_intent")
        return self
