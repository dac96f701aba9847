"""The one door between the wings: `compiled_policy_bundle.json`, its sections, its etag, and how it is read back.

Canonical JSON: same commit, same bytes. `read` refuses a bundle whole when its schema version is another, its etag
is wrong or a reference leads nowhere; whoever serves an older bundle keeps serving that one. A reader who is given
keys refuses what none of them signed. The signature lies inside, over the etag: one file is fetched and put in place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bylaw.authored.business import Business
from bylaw.authored.context import Context
from bylaw.authored.decisions import Decisions
from bylaw.authored.rules import Rules
from bylaw.authored.vocabulary import Vocabulary
from bylaw.canonical import canonical_json, fingerprint, plain
from bylaw.errors import BundleError
from bylaw.logic.codec import decode
from bylaw.logic.ir import ConditionalRule, Constraint, Effect, EffectKind, Ruleset, Source, Variable, exact
from bylaw.signature import Keys, require_signature, sign

SCHEMA_VERSION: Literal["1.0"] = "1.0"
FILE_NAME = "compiled_policy_bundle.json"


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
    """guard → effect. `conditions` is the guard as JSON (`bylaw.logic.codec`), `action` repeats the effect's."""

    rule_id: str
    policy_id: str
    conditions: dict[str, Any]
    action: str
    effect: BundleEffect
    metadata: RuleMetadata
    source: RuleSource


class BundleConstraint(Section):
    """An invariant over facts (`formula`), or a prohibition in the words of seed 001: `NOT(disclose_pii)`."""

    constraint_id: str
    policy_id: str
    constraint: str
    scope: str
    formula: dict[str, Any] | None = None
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
    etag: str = ""
    signature: str | None = Field(default=None, exclude_if=lambda value: value is None)


class CompiledPolicyBundle(Section):
    """All sections. `Ruleset` and the lookups a bot needs are built from it, never the other way round."""

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
    context: Context
    decisions: Decisions
    rules: Rules
    business: Business | None = Field(default=None, exclude_if=lambda value: value is None)
    bundle_metadata: BundleMetadata


def etag(document: Mapping[str, Any]) -> str:
    """sha256 over everything but the etag itself and the signature over it."""
    metadata = {key: value for key, value in document["bundle_metadata"].items() if key not in ("etag", "signature")}
    return f"sha256:{fingerprint({**document, 'bundle_metadata': metadata})}"


def dump(bundle: CompiledPolicyBundle, sign_key: str | None = None) -> str:
    """The bundle's one text, etag filled in, newline at the end; signed with *sign_key*, an Ed25519 key as PEM.

    The same bundle and key give the same bytes. Raises UsageError for a key that is none.
    """
    document = plain(bundle.model_dump(mode="python", by_alias=True))
    document["bundle_metadata"]["etag"] = etag(document)
    if sign_key is not None:
        document["bundle_metadata"]["signature"] = sign(document["bundle_metadata"]["etag"], sign_key)
    return canonical_json(document) + "\n"


def read(path: Path, keys: Keys = ()) -> CompiledPolicyBundle:
    """The bundle in *path*, signed by one of *keys* where there are any. Raises BundleError: why it is refused."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BundleError(f"there is no bundle at `{path}`", "compile one with `bylaw compile -o DIR`") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BundleError(f"the bundle `{path}` cannot be read: {error}") from None
    return parse(text, str(path), keys)


def parse(text: str, name: str = "the bundle", keys: Keys = ()) -> CompiledPolicyBundle:
    """The bundle that *text* spells, signed by one of *keys* where there are any. Raises BundleError."""
    try:
        document = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise BundleError(f"`{name}` is not a JSON document", "compile it again") from None
    if not isinstance(document, dict) or not isinstance(document.get("bundle_metadata"), dict):
        raise BundleError(f"`{name}` is not a compiled policy bundle", "compile it again")
    if document.get("schema_version") != SCHEMA_VERSION:
        found = document.get("schema_version")
        raise BundleError(f"`{name}` has the schema version `{found}`, this program reads `{SCHEMA_VERSION}`")
    if document["bundle_metadata"].get("etag") != etag(document):
        raise BundleError(f"`{name}` does not match its etag: it was changed or damaged", "compile it again")
    if keys:
        require_signature(document["bundle_metadata"], name, keys)
    try:
        bundle = CompiledPolicyBundle.model_validate_json(text)
        ruleset(bundle)
    except (ValidationError, ValueError, KeyError, TypeError) as error:
        raise BundleError(
            f"`{name}` has a reference or a section that does not fit: {_told(error)}",
            "compile it again: another version of bylaw may have made it",
        ) from None
    return bundle


def _told(error: Exception) -> str:
    """The first of what is wrong, on one line: of a section also where it is."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return " ".join(f"`{'.'.join(map(str, first['loc']))}`: {first['msg']}".split())
    return str(error).splitlines()[0]


# ---- the logic in a bundle ------------------------------------------------------------------------------------------

KINDS: Mapping[str, Literal["boolean", "integer", "decimal", "enum", "date"]] = {
    "bool": "boolean",
    "int": "integer",
    "float": "decimal",
    "enum": "enum",
    "date": "date",
}


def ruleset(bundle: CompiledPolicyBundle) -> Ruleset:
    """The rules in force, ready for the evaluator. Raises ValueError or KeyError for a broken reference."""
    variables = {name: _variable(name, declared) for name, declared in sorted(bundle.variables.items())}
    rules = tuple(_rule(rule, variables) for rule in bundle.conditional_rules)
    known = {rule.rule_id for rule in rules}
    if len(known) != len(rules):
        raise ValueError("two rules share an id")
    for path in bundle.compiled_paths:
        if path.rule_id not in known:
            raise ValueError(f"a path leads to the rule `{path.rule_id}`, which is not there")
    for rule in rules:
        if rule.effect.outcome is not None and rule.effect.outcome not in bundle.outcomes:
            raise ValueError(f"the rule `{rule.rule_id}` answers `{rule.effect.outcome}`, which is no outcome")
    pairs = list(bundle.vocabulary.excluded_pairs())
    return Ruleset(
        variables=variables,
        rules=rules,
        constraints=tuple(_constraint(c, variables) for c in bundle.constraints if c.formula is not None),
        overrides={policy: frozenset(others) for policy, others in bundle.overrides.items()},
        excludes=frozenset((*pairs, *((b, a) for a, b in pairs))),
        complete=tuple(sorted(name for name, o in bundle.outcomes.items() if o.get("complete"))),
        outcomes=tuple(sorted(bundle.outcomes)),
    )


def _variable(name: str, declared: BundleVariable) -> Variable:
    kind = KINDS[declared.type]
    open_ended = Variable(name, kind)
    low, high = (
        None if bound is None else int(open_ended.read(bound)) if kind == "date" else exact(bound)
        for bound in (declared.minimum, declared.maximum)
    )
    return Variable(name, kind, tuple(declared.values or ()), low, high, declared.unit)


def _day(text: str | None) -> int | None:
    return None if text is None else int(Variable("day", "date").read(text))


def _source(source: RuleSource) -> Source:
    return Source(source.path, source.line, source.source_text)


def _rule(rule: BundleRule, variables: Mapping[str, Variable]) -> ConditionalRule:
    effect = rule.effect
    return ConditionalRule(
        rule_id=rule.rule_id,
        policy_id=rule.policy_id,
        domain=rule.metadata.domain,
        effect=Effect(effect.kind, effect.action, effect.outcome, tuple(effect.implied), tuple(effect.implied_takes)),
        guard=decode(rule.conditions, variables),
        level=rule.metadata.priority_level,
        source=_source(rule.source),
        start=_day(rule.metadata.effective_date),
        end=_day(rule.metadata.expiry_date),
        origin=rule.metadata.origin,
        audience=tuple(rule.metadata.audience),
    )


def _constraint(constraint: BundleConstraint, variables: Mapping[str, Variable]) -> Constraint:
    return Constraint(
        constraint.constraint_id,
        constraint.policy_id,
        decode(constraint.formula, variables),
        constraint.constraint,
        _source(constraint.source),
        _day(constraint.effective_date),
        _day(constraint.expiry_date),
    )
