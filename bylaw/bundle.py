"""The one door between the wings: `compiled_policy_bundle.json`, its etag, and how it is read back.

Canonical JSON: same commit, same bytes. `read` refuses a bundle whole when its schema version is another, its etag
is wrong, a key stands in it twice or a reference leads nowhere; whoever serves an older bundle keeps serving that one.
A reader who is given keys refuses what none of them signed. The signature lies inside, over the etag: one file is
fetched and put in place.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bylaw.bundle_logic import digest, document_of, joined, misfit, ruleset, text_of, unstamped
from bylaw.canonical import canonical_json, plain, spelled
from bylaw.collection import no_collection
from bylaw.compiled import CompiledPolicyBundle
from bylaw.errors import BundleError
from bylaw.references import broken
from bylaw.sections import (
    SCHEMA_VERSION,
    BundleConstraint,
    BundleEffect,
    BundleMetadata,
    BundleRule,
    BundleVariable,
    CompiledPath,
    Dominance,
    Escalation,
    PathStep,
    RuleMetadata,
    RuleSource,
    SchemaVersion,
)
from bylaw.signature import Keys, sign

__all__ = [
    "FILE_NAME",
    "SCHEMA_VERSION",
    "BundleConstraint",
    "BundleEffect",
    "BundleMetadata",
    "BundleRule",
    "BundleVariable",
    "CompiledPath",
    "CompiledPolicyBundle",
    "Dominance",
    "Escalation",
    "PathStep",
    "RuleMetadata",
    "RuleSource",
    "SchemaVersion",
    "dump",
    "etag",
    "parse",
    "read",
    "ruleset",
]

FILE_NAME = "compiled_policy_bundle.json"


def etag(document: Mapping[str, Any]) -> str:
    """sha256 over everything but the etag itself and the signature over it."""
    return digest(
        {
            key: canonical_json(unstamped(value) if key == "bundle_metadata" else value)
            for key, value in document.items()
        }
    )


def dump(bundle: CompiledPolicyBundle, sign_key: str | None = None) -> str:
    """The bundle's one text, etag filled in, newline at the end; signed with *sign_key*, an Ed25519 key as PEM.

    The same bundle and key give the same bytes. Raises UsageError for a key that is none.
    """
    document = plain(bundle.model_dump(mode="python", by_alias=True))
    metadata = document["bundle_metadata"]
    pieces = {key: spelled(value) for key, value in document.items()}
    metadata["etag"] = digest({**pieces, "bundle_metadata": spelled(unstamped(metadata))})
    if sign_key is not None:
        metadata["signature"] = sign(metadata["etag"], sign_key)
    return joined({**pieces, "bundle_metadata": spelled(metadata)}) + "\n"


def read(path: Path, keys: Keys = ()) -> CompiledPolicyBundle:
    """The bundle in *path*, signed by one of *keys* where there are any. Raises BundleError: why it is refused."""
    return parse(text_of(path), str(path), keys)


@no_collection()
def parse(text: str, name: str = "the bundle", keys: Keys = ()) -> CompiledPolicyBundle:
    """The bundle that *text* spells, signed by one of *keys* where there are any. Raises BundleError."""
    document = document_of(text, name, keys)
    try:
        bundle = CompiledPolicyBundle.model_validate(document)
        problem = next(broken(bundle, ruleset(bundle)), None)
    except (ValidationError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise misfit(name, error) from None
    if problem is not None:
        raise BundleError(f"`{name}` does not hold together: {problem}", "compile it again")
    return bundle
