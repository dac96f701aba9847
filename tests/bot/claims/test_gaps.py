"""What a text says and its claims do not bear: every stretch of it, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from bot.claims.coverage import Coverage, ToldCase
from bot.claims.declared import declared
from bot.claims.models import read_claims
from bot.index import BundleIndex
from bot.request.cases import read_facts
from bylaw.language.text import parse
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("gaps.yaml").read_text(encoding="utf-8"))
QUERY, TOLD = "Flex ticket, it leaves in 50 hours.", {"fare_class": "flex", "hours_until_departure": 50}


@each("row", ROWS, ids=lambda row: row["why"])
def test_the_gaps_are_what_the_claims_do_not_bear(row: dict[str, Any], repositories: dict[str, BundleIndex]) -> None:
    root = row.get("root", "ferry")
    index = repositories[root]
    told = ToldCase(read_facts(TOLD, index), QUERY) if root == "ferry" else ToldCase({}, row.get("query", ""))
    gaps = [*Coverage(parse(row["text"]), read_claims(row.get("claims", [])), declared(index), told).gaps()]
    assert [[gap.quote, gap.claim] for gap in gaps] == row.get("gaps", [])
    assert [n for n, gap in enumerate(gaps) if gap.is_weak] == row.get("weak", [])
