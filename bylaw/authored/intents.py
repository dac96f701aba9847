"""How questions about decisions are answered: `rules/intents.yaml`. A new intent is an entry there, no code."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, model_validator

from bylaw.authored.amounts import Amount, Count, Positive, Share, sums_to_one
from bylaw.authored.record import Authored, AuthoredFile, Word, misfit

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


class PromptRules(Authored):
    """What a model may be shown and may say. Sizes in bytes of canonical JSON, lengths in characters."""

    max_prompt_bytes: Positive
    truncation_threshold_bytes: Positive
    min_evidence_items: Positive
    max_tokens: Positive
    retries: Count
    forbidden_text: list[Word]

    @model_validator(mode="after")
    def _truncates_before_the_limit(self) -> PromptRules:
        if self.truncation_threshold_bytes > self.max_prompt_bytes:
            raise misfit("truncation starts at or below `max_prompt_bytes`", "truncation_threshold_bytes")
        return self


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
    def _adds_up(self) -> Selector:
        sums_to_one({"recency": self.recency, "similarity": self.similarity}, "recency")
        return self


class StageTimeouts(Authored):
    """Milliseconds a stage may take; the model's include its retries."""

    search: Positive
    expand: Positive
    enrich: Positive
    llm: Positive
    validation: Positive
    http_backoff: Positive


class CacheSeconds(Authored):
    """How long a result is kept. A new snapshot empties evidence whatever its age."""

    resolver: Amount
    evidence: Amount
    llm: Amount


class LoadShedding(Authored):
    """From this many waiting requests on, or this slow, answers come from the templater."""

    waiting_from: Positive
    p95_ms_above: Positive


class Artifacts(Authored):
    """How long what a request read and wrote is kept, and who may see it."""

    retention_days: Positive
    visibility: Literal["private", "org", "public"]


class Intents(AuthoredFile):
    """`rules/intents.yaml`: the intents, and the limits that all of them share."""

    intents: Annotated[dict[Word, Intent], Field(min_length=1)]
    default_intent: Word
    search: SearchRules
    prompt: PromptRules
    lengths: Lengths
    selector: Selector
    timeouts_ms: StageTimeouts
    cache_seconds: CacheSeconds
    load_shedding: LoadShedding
    artifacts: Artifacts
    use_model: StrictBool = True

    @model_validator(mode="after")
    def _has_its_default(self) -> Intents:
        if self.default_intent not in self.intents:
            raise misfit(f"`{self.default_intent}` is not one of the `intents`", "default_intent")
        return self
