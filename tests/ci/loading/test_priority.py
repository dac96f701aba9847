"""The level of a policy follows from its metadata, row by row of the seed's table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from bylaw.authored.machines.layers import Priorities
from bylaw.authored.policies import Policy
from ci.loading.derived.priority import derive
from ci.loading.rules import load_defaults
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("priority.yaml").read_text(encoding="utf-8"))["rows"]
DEFAULTS = load_defaults()["priorities"]


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_the_level_follows_from_the_metadata(row: dict[str, Any]) -> None:
    metadata = {"source": "handbook", "owner": "Front Desk", "domain": "refund", **row["metadata"]}
    policy = Policy.model_validate({"policy_id": row.get("id", "POL-REFUND-001"), "actions": [], "metadata": metadata})
    level = derive(policy, Priorities.model_validate({**DEFAULTS, **row.get("rules", {})}))
    assert [level.number, level.name] == row["level"]
    assert level.reason == row.get("reason", level.reason)
    assert level.reason


def test_the_packaged_lattice_is_the_seeds() -> None:
    packaged = Priorities.model_validate(DEFAULTS)
    assert packaged.levels == {"regulatory": 1, "core_values": 2, "company": 3, "department": 4, "situational": 5}
    assert [packaged.levels[name] for name in packaged.order] == [1, 2, 5, 3, 4]
