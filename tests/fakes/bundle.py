"""A bundle with no policy in it: the smallest that loads, or one that holds only context, decisions and rules."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from bylaw.authored.context import Context
from bylaw.authored.decisions import Decisions
from bylaw.authored.machines.rules import Rules
from bylaw.authored.vocabulary import Vocabulary
from bylaw.bundle import BundleMetadata, CompiledPolicyBundle, dump, parse
from bylaw.canonical import write_atomically
from ci.loading.rules import load_defaults


def bundle_of(context: Context, rules: Rules, decisions: Decisions, **metadata: Any) -> CompiledPolicyBundle:
    """A bundle of these, without policies; *metadata* is added to the counts, which are 0."""
    counts = dict.fromkeys(("policy_count", "active_policy_count", "rule_count", "constraint_count", "path_count"), 0)
    return CompiledPolicyBundle(
        variables={},
        conditional_rules=[],
        constraints=[],
        decision_nodes=[],
        compiled_paths=[],
        dominance_rules=[],
        escalations=[],
        priority_lattice=dict(rules.priorities.levels),
        vocabulary=Vocabulary(),
        outcomes={},
        graphs={},
        layers={},
        conflicts=[],
        context=context,
        decisions=decisions,
        rules=rules,
        bundle_metadata=BundleMetadata(**counts, **metadata),
    )


def write_bundle(path: Path, commit: str | None = "abc1234", **rules: Any) -> str:
    """A bundle that holds nothing but the default rules, or others by file name; its etag."""
    text, etag = _made(commit, json.dumps(rules, sort_keys=True))
    write_atomically(path, text)
    return etag


@functools.cache
def _made(commit: str | None, rules: str) -> tuple[str, str]:
    """Hundreds of tests write the same few."""
    given = Rules.model_validate({**load_defaults(), **json.loads(rules)})
    text = dump(bundle_of(Context(), given, Decisions(), source_commit=commit, commit_date=None))
    return text, parse(text).bundle_metadata.etag
