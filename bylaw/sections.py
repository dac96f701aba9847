"""The sections of the compiled bundle as models. How they fit together is for `bylaw.references` to say."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bylaw.authored.vocabulary import Vocabulary
from bylaw.logic.formula.ir import EffectKind

SCHEMA_VERSION: Literal["1.0"] = "1.0"


class Section(BaseModel):
    """A part of the bundle."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class BundleVariable(Section):
    """A fact as seed 001 names it (`bool|int|float|enum`, and `date`); bounds are decimal strings or ISO dates."""

    type: Literal["bool", "int", "float", "enum", "date"]
    values: list[str] | None = None
    minimum: str | None = None
    maximum: str | None = None
    unit: str | None = None


class RuleSource(Section):
    """Where a rule was written: path relative to the root, line from 1, the quoted sentence."""

    policy_id: str
    path: str
    line: int
    source_text: str | None = None


class BundleEffect(Section):
    """What the rule does to its action; `implied_takes` are [outcome, action]."""

    kind: EffectKind
    action: str
    outcome: str | None = None
    implied: list[str] = Field(default_factory=list)
    implied_takes: list[tuple[str, str]] = Field(default_factory=list)


class RuleMetadata(Section):
    """What a reader needs of the rule's policy. Dates are inclusive ISO days."""

    domain: str
    owner: str
    priority_level: int
    effective_date: str | None = None
    expiry_date: str | None = None
    audience: list[str] = Field(default_factory=list)
    origin: Literal["action", "exception", "formal"] = "action"


class BundleRule(Section):
    """guard → effect. `conditions`: the guard as JSON (`bylaw.logic.formula.codec`); `action` repeats the effect's."""

    rule_id: str
    policy_id: str
    conditions: dict[str, Any]
    action: str
    effect: BundleEffect
    metadata: RuleMetadata
    source: RuleSource


class BundleConstraint(Section):
    """An invariant over facts (`formula`), or a prohibition in the words of seed 001: `NOT(disclose_pii)`.

    A prohibition holds where its `conditions` do, as the rule of the same id says; one without them holds always.
    """

    constraint_id: str
    policy_id: str
    constraint: str
    scope: str
    formula: dict[str, Any] | None = None
    conditions: dict[str, Any] | None = None
    effective_date: str | None = None
    expiry_date: str | None = None
    source: RuleSource


class PathStep(Section):
    """The tests that a path makes on one fact."""

    var: str
    tests: list[dict[str, Any]]


class CompiledPath(Section):
    """One way to reach an action: a box of a rule's guard, facts in question order."""

    policy_id: str
    rule_id: str
    path: list[PathStep]
    leaf_action: str


class Dominance(Section):
    """Where these policies contradict each other, one of them holds (`enforce`)."""

    when: dict[str, list[str]]
    then: dict[str, Any]


class Escalation(Section):
    """A contradiction that nobody wins: its owners must decide."""

    conflict_type: str
    policies: list[str]
    owners_to_notify: list[str]


class SchemaVersion(Section):
    """Which columns an entity was written for: fingerprints of those it declares, and of those a warehouse had.

    `columns` are the names of the latter, in small letters; None where nobody has looked.
    """

    declared: str
    measured: str | None = None
    columns: list[str] | None = None


class BundleUnproven(Section):
    """A rule, or a file of them, that could not be read (LOGIC, "What cannot be read"), and what it speaks of.

    `actions` and `outcomes` are the words that it may change, `beside` actions that no rule names which can be read;
    `everything`: nobody knows which, so all of them.
    `finding` is the id of what is wrong and `reason` its sentence. Dates are inclusive ISO days.
    """

    policy_id: str | None = None
    path: str
    line: int
    actions: list[str]
    outcomes: list[str]
    finding: str
    reason: str
    owner: str = ""
    domain: str | None = None
    effective_date: str | None = None
    expiry_date: str | None = None
    audience: list[str] = Field(default_factory=list)
    everything: bool = False
    beside: list[str] = Field(default_factory=list)


class BundleUnread(Section):
    """A file of `context/` that could not be read, or not all of it.

    `touches` are the entities and metrics that no question is answered about without it; null: nobody knows which, so
    none is. `words` are what it would have been called by. A decision record, a glossary term, a guide and a verified
    query are only left out: they touch nothing.
    """

    kind: str
    name: str
    path: str
    line: int
    reason: str
    touches: list[str] | None = Field(default_factory=list)
    words: list[str] = Field(default_factory=list)


class BundleMetadata(Section):
    """Counts, the commit (null outside git, `-dirty` appended on a dirty tree), and the etag over all the rest.

    `signature` is over the etag and so no part of it: a bundle has one etag, whoever signs it. Where nobody
    has signed it is left out, and the etag is the sha256 of all else that is there.
    """

    policy_count: int
    active_policy_count: int
    rule_count: int
    constraint_count: int
    path_count: int
    source_commit: str | None
    commit_date: str | None
    committed_at: str | None = None
    schema_versions: dict[str, SchemaVersion] = Field(default_factory=dict)  # of the entities
    unproven: list[BundleUnproven] = Field(default_factory=list, exclude_if=lambda value: not value)
    unread: list[BundleUnread] = Field(default_factory=list, exclude_if=lambda value: not value)
    etag: str = ""
    signature: str | None = Field(default=None, exclude_if=lambda value: value is None)


class BundleLogic(Section):
    """The sections that say what is decided. `Ruleset` is built from them, never the other way round."""

    schema_version: Literal["1.0"] = SCHEMA_VERSION
    variables: dict[str, BundleVariable]
    conditional_rules: list[BundleRule]
    constraints: list[BundleConstraint]
    decision_nodes: list[str]
    compiled_paths: list[CompiledPath]
    dominance_rules: list[Dominance]
    escalations: list[Escalation]
    priority_lattice: dict[str, int]
    vocabulary: Vocabulary
    outcomes: dict[str, Annotated[dict[str, Any], Field()]]
    graphs: dict[str, dict[str, Any]]
    layers: dict[str, dict[str, Any]]
    conflicts: list[dict[str, Any]]
    overrides: dict[str, list[str]] = Field(default_factory=dict)
    policies: dict[str, dict[str, Any]] = Field(default_factory=dict)
    bundle_metadata: BundleMetadata
