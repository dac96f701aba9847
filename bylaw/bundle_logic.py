"""What every reader of a bundle needs: its text, held against its etag and its signature, and the logic in it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import from_json

from bylaw.authored.vocabulary import Vocabulary
from bylaw.canonical import spelled
from bylaw.collection import no_collection
from bylaw.errors import BundleError
from bylaw.logic.formula.codec import decode
from bylaw.logic.formula.ir import ConditionalRule, Constraint, Effect, Ruleset, Source, Unproven, Variable, exact
from bylaw.sections import (
    SCHEMA_VERSION,
    BundleConstraint,
    BundleLogic,
    BundleRule,
    BundleUnproven,
    BundleVariable,
    RuleSource,
)
from bylaw.signature import Keys, require_signature


@no_collection()
def read_logic(path: Path, keys: Keys = ()) -> BundleLogic:
    """Like `bylaw.bundle.read`, but only the sections that say what is decided, and not how they fit together.

    For a bundle that was compiled here: all of it was validated when it was written, and its seal, by a key that is
    this user's alone, was just held against its bytes. Who can forge that can change this program as well.
    """
    document = document_of(text_of(path), str(path), keys)
    found = {name: document[name] for name in BundleLogic.model_fields if name in document}
    try:
        return BundleLogic.model_validate(found)
    except (ValidationError, RecursionError) as error:
        raise misfit(str(path), error) from None


def text_of(path: Path) -> str:
    """The text of the bundle in *path*. Raises BundleError."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BundleError(f"there is no bundle at `{path}`", "compile one with `bylaw compile -o DIR`") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BundleError(f"the bundle `{path}` cannot be read: {error}") from None


def document_of(text: str, name: str, keys: Keys = ()) -> dict[str, Any]:
    """The JSON object that *text* spells, of its etag, signed by one of *keys* where there are any."""
    document, said = _document(text, name)
    if document["bundle_metadata"].get("etag") != said:
        raise BundleError(f"`{name}` does not match its etag: it was changed or damaged", "compile it again")
    if keys:
        require_signature(document["bundle_metadata"], name, keys)
    return document


def misfit(name: str, error: Exception) -> BundleError:
    """Why the bundle *name* is refused whose sections are not what they should be."""
    return BundleError(
        f"`{name}` has a reference or a section that does not fit: {_told(error)}",
        "compile it again: another version of bylaw may have made it",
    )


def _document(text: str, name: str) -> tuple[dict[str, Any], str]:
    """The JSON object of a bundle of this schema version, and the etag that it should have. Raises BundleError."""
    try:
        document = from_json(text, allow_inf_nan=False)
    except ValueError:
        raise BundleError(f"`{name}` is not a JSON document", "compile it again") from None
    if not isinstance(document, dict) or not isinstance(document.get("bundle_metadata"), dict):
        raise BundleError(f"`{name}` is not a compiled policy bundle", "compile it again")
    if document.get("schema_version") != SCHEMA_VERSION:
        found = document.get("schema_version")
        raise BundleError(f"`{name}` has the schema version `{found}`, this program reads `{SCHEMA_VERSION}`")
    try:
        pieces = {key: spelled(value) for key, value in document.items()}
    except (ValueError, RecursionError):
        raise BundleError(f"`{name}` holds what no canonical JSON spells", "compile it again") from None
    # Canonical text holds no key twice; only other text has to be read again to know.
    if joined(pieces) != text.rstrip("\n") and (key := _said_twice(text)) is not None:
        raise BundleError(f"`{name}` has the key `{key}` twice in one object", "compile it again")
    return document, digest({**pieces, "bundle_metadata": spelled(unstamped(document["bundle_metadata"]))})


def joined(pieces: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{spelled(key)}:{pieces[key]}" for key in sorted(pieces)) + "}"


def digest(pieces: Mapping[str, str]) -> str:
    return f"sha256:{hashlib.sha256(joined(pieces).encode()).hexdigest()}"


def unstamped(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata without the etag itself and the signature over it."""
    return {key: value for key, value in metadata.items() if key not in ("etag", "signature")}


def _said_twice(text: str) -> str | None:
    """The first key that stands twice in one object of *text*."""
    found: list[str] = []

    def take(pairs: list[tuple[str, Any]]) -> None:
        found.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)

    json.loads(text, object_pairs_hook=take)
    return found[0] if found else None


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


def ruleset(bundle: BundleLogic) -> Ruleset:
    """The rules in force, ready for the evaluator. Raises ValueError or KeyError for a broken reference."""
    variables = {name: _variable(name, declared) for name, declared in sorted(bundle.variables.items())}
    rules = tuple([_rule(rule, variables) for rule in bundle.conditional_rules])
    pairs = list(bundle.vocabulary.excluded_pairs())
    return Ruleset(
        variables=variables,
        rules=rules,
        constraints=tuple(_constraint(c, variables) for c in bundle.constraints if c.formula is not None),
        overrides={policy: frozenset(others) for policy, others in bundle.overrides.items()},
        excludes=frozenset((*pairs, *((b, a) for a, b in pairs))),
        complete=tuple(sorted(name for name, o in bundle.outcomes.items() if o.get("complete"))),
        outcomes=tuple(sorted(bundle.outcomes)),
        unproven=tuple(_unproven(bundle)),
        steps={name: tuple(policy["steps"]) for name, policy in bundle.policies.items() if policy.get("steps")},
    )


def _unproven(bundle: BundleLogic) -> Iterator[Unproven]:
    """The rules that could not be read. A policy that was not formalized and of which nothing more is said, as in a
    bundle of an earlier version, may speak of anything.
    """
    told = bundle.bundle_metadata.unproven
    for one in told:
        yield read_unproven(one, bundle.vocabulary)
    known = {one.policy_id for one in told}
    for policy_id, policy in sorted(bundle.policies.items()):
        status = policy.get("processing_status", {}).get("formalization")
        is_lost = policy.get("is_active") and status == "failed" and policy.get("has_logic", True)
        if is_lost and policy_id not in known:
            yield Unproven(
                path=str(policy.get("path")),
                line=1,
                actions=(),
                outcomes=(),
                finding="schema",
                reason=f"the bundle does not say what `{policy_id}` speaks of",
                policy_id=policy_id,
                owner=str(policy.get("owner", "")),
                domain=policy.get("domain"),
                audience=tuple(policy.get("audience", ())),
                is_everything=True,
            )


def read_unproven(told: BundleUnproven, vocabulary: Vocabulary) -> Unproven:
    """What a bundle says of a rule that could not be read, ready for the evaluator."""
    return Unproven(
        path=told.path,
        line=told.line,
        actions=tuple(told.actions),
        outcomes=tuple(told.outcomes),
        finding=told.finding,
        reason=told.reason,
        policy_id=told.policy_id,
        owner=told.owner,
        domain=told.domain,
        start=_day(told.effective_date),
        end=_day(told.expiry_date),
        audience=tuple(told.audience),
        is_everything=told.everything,
        reach=vocabulary.reach(told.actions, told.outcomes),
        beside=tuple(told.beside),
    )


def _variable(name: str, declared: BundleVariable) -> Variable:
    kind = KINDS[declared.type]
    open_ended = Variable(name, kind)
    try:
        low, high = (
            None if bound is None else int(open_ended.read(bound)) if kind == "date" else exact(bound)
            for bound in (declared.minimum, declared.maximum)
        )
    except ValueError as problem:
        raise ValueError(f"the variable `{name}` has a bound that does not fit: {problem}") from None
    return Variable(name, kind, tuple(declared.values or ()), low, high, declared.unit)


def _day(text: str | None) -> int | None:
    return None if text is None else int(Variable("day", "date").read(text))


def _source(source: RuleSource) -> Source:
    return Source(source.path, source.line, source.source_text)


def _rule(rule: BundleRule, variables: Mapping[str, Variable]) -> ConditionalRule:
    effect = rule.effect
    try:
        guard = decode(rule.conditions, variables)
    except (ValueError, TypeError) as problem:
        raise ValueError(f"the rule `{rule.rule_id}`: {problem}") from None
    return ConditionalRule(
        rule_id=rule.rule_id,
        policy_id=rule.policy_id,
        domain=rule.metadata.domain,
        effect=Effect(effect.kind, effect.action, effect.outcome, tuple(effect.implied), tuple(effect.implied_takes)),
        guard=guard,
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
