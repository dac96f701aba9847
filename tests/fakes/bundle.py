"""The smallest bundle that loads: no policy, no data, no decision, only the packaged rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bylaw.authored.context import Context
from bylaw.authored.decisions import Decisions
from bylaw.authored.rules import Rules
from bylaw.authored.vocabulary import Vocabulary
from bylaw.bundle import BundleMetadata, CompiledPolicyBundle, dump, parse
from bylaw.canonical import write_atomically
from ci.rules import load_defaults


def write_bundle(path: Path, commit: str | None = "abc1234", **rules: Any) -> str:
    """A bundle that holds nothing but the default rules, or others by file name; its etag."""
    bundle = CompiledPolicyBundle(
        variables={},
        conditional_rules=[],
        constraints=[],
        decision_nodes=[],
        compiled_paths=[],
        dominance_rules=[],
        escalations=[],
        priority_lattice={},
        vocabulary=Vocabulary(),
        outcomes={},
        graphs={},
        layers={},
        conflicts=[],
        context=Context(),
        decisions=Decisions(),
        rules=Rules.model_validate({**load_defaults(), **rules}),
        bundle_metadata=BundleMetadata(
            policy_count=0,
            active_policy_count=0,
            rule_count=0,
            constraint_count=0,
            path_count=0,
            source_commit=commit,
            commit_date=None,
        ),
    )
    text = dump(bundle)
    write_atomically(path, text)
    return parse(text).bundle_metadata.etag
