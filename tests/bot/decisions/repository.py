"""A policy repository with the joinery's decisions, one of them for the partners only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from bylaw.cli import bundle_for_root
from ci.loading.source import read
from ci.scaffold import init

HIDDEN = "joinery-allow-ash-2021"
KEPT = "joinery-oak-only-2019"
PARTNER = "UPARTNER"


def build(root: Path) -> Path:
    """Write the repository to *root* and return its compiled bundle."""
    init(root)
    source = Path(__file__).with_name("joinery.yaml")
    corpus: dict[str, list[dict[str, Any]]] = read(source.name, source.read_bytes()).data
    for kind, records in corpus.items():
        folder = root / "context" / "decisions" / kind
        folder.mkdir(parents=True, exist_ok=True)
        for record in records:
            if record["id"] == HIDDEN:
                record = {**record, "audience": ["partner"]}
            written = yaml.safe_dump(dict(record), sort_keys=False, allow_unicode=True)
            (folder / f"{record['id']}.yaml").write_text(written, encoding="utf-8")
    roles = {
        "roles": {"everyone": {"schemas": ["*"]}, "partner": {"schemas": ["*"]}},
        "users": {PARTNER: ["partner"]},
        "default_role": "everyone",
    }
    (root / "rules" / "roles.yaml").write_text(yaml.safe_dump(roles), encoding="utf-8")
    return bundle_for_root(root)
