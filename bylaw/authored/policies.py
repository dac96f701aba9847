"""A policy as people write it (seed 000, stage 1), and the cases that test it."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import (
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from bylaw.authored.conditions import Condition
from bylaw.authored.history import Period
from bylaw.authored.record import Advised, Authored, AuthoredFile, Day, Number, Scalar, Text, Word, misfit

PolicyId = Annotated[str, StringConstraints(pattern=r"^POL-(IMP-)?[A-Z][A-Z0-9_-]*-\d{3,}$", max_length=100)]
ActionType = Literal["required", "prohibited", "permitted", "fallback", "conditional", "discovered_pattern"]
Origin = Literal["explicit", "implicit"]
StageStatus = Literal["pending", "complete", "failed"]
Score = Annotated[Number, Field(ge=0, le=1)]
Sentence = Annotated[Text, StringConstraints(pattern=r"\S")]
_ABSENT: Any = object()  # of a policy that says nothing of its actions

_ID = re.compile(r"^POL-(?P<implicit>IMP-)?(?P<domain>[A-Z][A-Z0-9_-]*)-\d{3,}$")


class PolicyAction(Authored):
    """What the policy demands, forbids or allows, and what it requires for that.

    `source` is where the rule stands in what the policy was made from: a row of a table, its cells.
    """

    type: ActionType
    action: Word
    requires: list[Word] = Field(default_factory=list)
    when: list[Condition] = Field(default_factory=list)
    source_text: Text | None = None
    source: Word | None = Field(default=None, exclude_if=lambda value: value is None)

    @property
    def takes_all(self) -> bool:
        """Does it need all conditions of its policy? One that says `requires` needs what it names, be it nothing."""
        return "requires" not in self.model_fields_set and self.type != "fallback"

    @model_validator(mode="after")
    def _when_belongs_to_conditional(self) -> Self:
        if self.type == "conditional" and not self.when:
            raise Advised("a conditional action says `when`", "add `when: [conditions]`, or make it `required`")
        if self.type != "conditional" and self.when:
            said = f"`when` belongs to conditional actions, this one is {self.type}"
            raise Advised(said, "write `type: conditional`, or put the conditions into `conditions`")
        return self


class PolicyException(Authored):
    """A case the policy does not mean. One that is meant for people alone says so with `text_only`."""

    description: Text | None = None
    source_text: Text | None = None
    text_only: list[Sentence] = Field(default_factory=list)
    conditions: list[Condition] = Field(default_factory=list)
    action: Word | None = None
    type: ActionType | None = None
    replaces: list[Word] = Field(default_factory=list)
    exceptions: "list[PolicyException]" = Field(default_factory=list)

    @property
    def has_force(self) -> bool:
        """Does it change any case, or is it text for people only?"""
        return bool(self.conditions) and self.action is not None

    @property
    def sentences(self) -> Iterator[str]:
        """What it says that no logic knows, and what its own exceptions say so."""
        if not self.has_force:
            yield from self.text_only or filter(None, (self.source_text or self.description,))
        for exception in self.exceptions:
            yield from exception.sentences

    @model_validator(mode="after")
    def _is_text_or_logic(self) -> Self:
        if self.text_only and (self.conditions or self.action):
            raise Advised(
                "an exception with `text_only` changes no case, and this one has `conditions` or an `action`",
                "keep `conditions` and `action`, or `text_only`; a remark goes into `description`",
            )
        return self


class Discovery(Authored):
    """Where an implicit policy was found, and whether a person has confirmed it."""

    confidence: Score | None = None
    support: StrictInt | None = None
    source_log: Word | None = None
    human_validated: StrictBool = False


class Metadata(Authored):
    """Whose policy it is, since when, and what it follows from."""

    source: Text
    owner: Text
    domain: Word
    effective_date: Day | None = None
    expiry_date: Day | None = None
    regulatory_linkage: list[Word] = Field(default_factory=list)
    priority: StrictInt | Word | None = None
    decision: Word | None = Field(None, exclude_if=lambda value: value is None)
    tags: list[Word] = Field(default_factory=list)

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Self:
        if self.effective_date and self.expiry_date and self.expiry_date < self.effective_date:
            raise misfit(
                "`expiry_date` lies before `effective_date`", "expiry_date", help="the first day comes before the last"
            )
        return self


class LogicRule(Authored):
    """A hand-written rule. `z3_expr` is one Boolean SMT-LIB term over declared facts; it holds over `antecedent`."""

    rule_id: Word
    antecedent: Text | None = None
    consequent: Word
    type: ActionType = "required"
    z3_expr: Text | None = None

    @model_validator(mode="after")
    def _says_when(self) -> Self:
        if self.antecedent is None and self.z3_expr is None:
            raise ValueError("a rule needs an `antecedent` or a `z3_expr`")
        return self


class FormalConstraint(Authored):
    """An invariant: a comparison over facts that every case satisfies."""

    constraint_id: Word
    type: Word = "invariant"
    expression: Text | None = None
    z3_expr: Text | None = None
    natural_language: Text | None = None

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if self.expression is None and self.z3_expr is None:
            raise ValueError("a constraint needs an `expression` or a `z3_expr`")
        return self


class GraphNode(Authored):
    """A question of a hand-written decision graph and where its two answers lead.

    `test` is what a graph that was derived asks at the node, as the bundle spells it.
    """

    type: Literal["condition"] = "condition"
    true: Word
    false: Word
    test: dict[str, Any] | None = Field(default=None, exclude_if=lambda value: value is None)


class DecisionGraph(Authored):
    """A hand-written decision graph: every edge leads to a node or a terminal.

    One that is `truncated` was derived and too large to draw: its rules stand in a row, and are no graph to hold to.
    """

    root: Word
    nodes: dict[Word, GraphNode]
    terminals: list[Word]
    truncated: StrictBool = Field(default=False, exclude_if=lambda value: not value)


class Formal(Authored):
    """Logic written by hand. Each key replaces only its own derivation."""

    formalization_type: Literal["conditional", "procedural", "both"] | None = None
    logic_rules: list[LogicRule] | None = None
    constraints: list[FormalConstraint] = Field(default_factory=list)
    decision_graph: DecisionGraph | None = None


class DraftedRule(Authored):
    """A rule that is proposed: `consequent` is an action, `antecedent` when it holds."""

    rule_id: Word
    antecedent: Text
    consequent: Word
    type: ActionType = "required"


class DraftedRules(Authored):
    """All rules that are proposed for a policy."""

    logic_rules: list[DraftedRule]


class FormalDraft(AuthoredFile):
    """Rules that a loop proposes for a policy, in a file beside it. Nothing rests on them until people take them over.

    `quotes` are the words of the policy that each rule rests on, `assumptions` what rests on none.
    """

    policy_id: PolicyId
    draft: StrictBool
    proposed_by: Text | None = None
    formal: DraftedRules
    quotes: dict[Word, Text] = Field(default_factory=dict)
    assumptions: list[Text] = Field(default_factory=list)

    @field_validator("draft")
    @classmethod
    def _is_one(cls, draft: bool) -> bool:
        if not draft:
            raise Advised("what lies in this file is a draft", "copy `formal:` into the policy, and delete the file")
        return draft


class LayerScores(Authored):
    """Scores in [0, 1] that an author fixes; absent ones come from the rubric."""

    stability: Score | None = None
    criticality: Score | None = None
    context_dependence: Score | None = None
    strictness: Score | None = None


class ProcessingStatus(Authored):
    """How far a record has come (seed 000). The stages write it anew; what a file says of it changes nothing."""

    extraction: StageStatus | None = None
    formalization: StageStatus | None = None
    conflict_detection: StageStatus | None = None
    layer_assignment: StageStatus | None = None


class Policy(AuthoredFile):
    """One policy, one file. A `draft` is checked like every other policy, and never compiled.

    `conflicts` and `layer_assignment` are what stages added to a record that was compiled; they are worked out anew.
    """

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["actions"]}, {"required": ["text_only"]}]})

    policy_id: PolicyId
    draft: StrictBool = Field(default=False, exclude_if=lambda value: not value)
    origin: Origin | None = None
    processing_status: ProcessingStatus = Field(default_factory=ProcessingStatus)
    discovery: Discovery | None = None
    scope: dict[Word, Annotated[list[Word], Field(min_length=1)]] = Field(default_factory=dict)
    conditions: list[Condition] = Field(default_factory=list)
    text_only: list[Sentence] = Field(default_factory=list)
    actions: list[PolicyAction] = Field(default_factory=lambda: _ABSENT, validate_default=True)
    exceptions: "list[PolicyException]" = Field(default_factory=list)
    steps: list[Word] = Field(default_factory=list)
    overrides: list[PolicyId] = Field(default_factory=list)
    reason: Text | None = None
    audience: list[Word] = Field(default_factory=list)
    layer_scores: LayerScores | None = None
    formal: Formal | None = None
    conflicts: list[dict[str, Any]] = Field(default_factory=list, exclude=True)
    layer_assignment: dict[str, Any] = Field(default_factory=dict, exclude=True)
    metadata: Metadata

    @field_validator("actions", mode="before")
    @classmethod
    def _is_there(cls, actions: Any, given: ValidationInfo) -> Any:
        if actions is not _ABSENT:
            return actions
        if given.data.get("text_only"):
            return []
        help = "add `actions: …`, or `text_only: [its sentences]` for a rule that no logic shall check"
        raise PydanticCustomError("missing", "the key is missing", {"help": help})

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        named = _ID.match(self.policy_id)
        if named and named["domain"] != self.metadata.domain.upper():
            raise misfit(
                f"the domain in the id `{self.policy_id}` is not `{self.metadata.domain.upper()}`, "
                f"its metadata.domain in capitals",
                "policy_id",
                help="correct `policy_id` and the name of the file, or `domain`",
            )
        if self.origin not in (None, self.stems_from):
            raise misfit(f"the id `{self.policy_id}` does not fit the origin `{self.origin}`", "origin")
        if self.overrides and not (self.reason and self.reason.strip()):
            raise misfit(
                "`overrides` needs a `reason`",
                "overrides",
                help="add `reason: why it goes before`, for the next reader",
            )
        return self

    @property
    def stems_from(self) -> Origin:
        """Documents or decision logs: the id says it where `origin` is left out."""
        return "implicit" if self.policy_id.startswith("POL-IMP-") else "explicit"

    @property
    def is_active(self) -> bool:
        """Implicit policies hold only once a person has validated them."""
        if self.stems_from == "explicit":
            return True
        return self.discovery is not None and self.discovery.human_validated

    @property
    def has_logic(self) -> bool:
        """Does it say anything that decides a case, or which cases there are?"""
        by_hand = self.formal is not None and bool(self.formal.logic_rules or self.formal.constraints)
        return bool(self.actions) or by_hand or any(exception.has_force for exception in self.exceptions)

    @property
    def is_temporary(self) -> bool:
        """Has it an end, or is it tagged so? (seed 000, level 5)"""
        return self.metadata.expiry_date is not None or "temporary" in {tag.lower() for tag in self.metadata.tags}

    @property
    def has_owner(self) -> bool:
        """Is somebody named? Empty and `TBD` are nobody."""
        return self.metadata.owner.strip().upper() not in ("", "TBD")


class PastEvent(Authored):
    """Something that happened `ago`. What else it says are keys, facts as the call had them, and the `actor`."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True, defer_build=True)

    action: Word
    ago: Period
    ok: StrictBool = True

    @property
    def said(self) -> dict[str, Any]:
        """The keys and values."""
        return dict(self.model_extra or {})


class Case(Authored):
    """A policy test: in a case with these facts, this is what holds. Facts left out are unknown, not false.

    With `history` the facts of history that are left out are computed from it.
    """

    name: Word
    facts: dict[Word, Scalar]
    expect: dict[Word, Any]
    at: Day | None = None
    policies: list[PolicyId] = Field(default_factory=list)
    history: list[PastEvent] | None = None
    keys: dict[Word, Scalar] = Field(default_factory=dict)
    actor: Word | None = None
