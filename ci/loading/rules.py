"""The rules for machines as they hold in one repository: its own files over the packaged numbers.

Mappings merge, scalars and lists replace, so a repository writes only what differs and a route into the merged data is
a route into the file that was written. Rights are the exception: `roles.yaml` holds whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bylaw.authored.machines.rules import RULE_FILES, CiRules
from ci.findings import SEVERITIES, Finding, Place
from ci.loading.schema.nearest import did_you_mean
from ci.loading.source import read

DEFAULTS = Path(__file__).parent / "defaults" / "rules"

WHOLE = frozenset({"roles"})  # never merged: nobody gets a right because somebody else's file grants it


def load_defaults() -> dict[str, dict[str, Any]]:
    """The packaged data by the name of its file, without the suffix."""
    return {name: read(f"{name}.yaml", (DEFAULTS / f"{name}.yaml").read_bytes()).data for name in sorted(RULE_FILES)}


def effective(name: str, default: Mapping[str, Any], own: Mapping[str, Any] | None) -> dict[str, Any]:
    """What holds for the file *name*, given what the repository says there (None: it has no such file)."""
    if own is None:
        return dict(default)
    return dict(own) if name in WHOLE else merge(default, own)


def merge(default: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """*own* over *default*, neither changed. A key that is written but left empty says nothing about a mapping."""
    merged = dict(default)
    for key, value in own.items():
        before = default.get(key)
        if not isinstance(before, Mapping):
            merged[key] = value
        elif value is not None:
            merged[key] = merge(before, value) if isinstance(value, Mapping) else value
    return merged


def unknown_severities(rules: CiRules, path: str) -> Iterator[Finding]:
    """Every finding whose severity `rules/ci.yaml` sets is one that a check can make."""
    for id in sorted(rules.severities):
        if id not in SEVERITIES:
            yield Finding(
                "schema",
                f"`severities` names the finding `{id}`, which no check makes",
                Place(path, ("severities", id), on_key=True),
                help=did_you_mean(id, SEVERITIES),
            )
