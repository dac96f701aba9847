"""An older bundle is not taken for a newer one, whoever serves it, unless somebody says so."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bot.evidence.store.tables.served import admit
from bylaw.bundle import BundleMetadata
from bylaw.errors import BundleError
from tests.fakes.frame import NOON

ROWS = yaml.safe_load((Path(__file__).parent / "served.yaml").read_text(encoding="utf-8"))


def bundle(etag: str, committed_at: str | None) -> BundleMetadata:
    counts = dict.fromkeys(("policy_count", "active_policy_count", "rule_count", "constraint_count", "path_count"), 0)
    more = {"source_commit": f"commit-{etag}", "commit_date": None, "committed_at": committed_at, "etag": etag}
    return BundleMetadata.model_validate(counts | more)


def newest(store):
    with store.reading() as connection:
        return [row["etag"] for row in connection.all("SELECT etag FROM served")]


@pytest.mark.parametrize("row", ROWS, ids=[row["title"] for row in ROWS])
def test_a_bundle_is_admitted_by_its_commit(store, row):
    with store.writing() as connection:
        admit(connection, bundle(*row["was"]), None, NOON)
    try:
        with store.writing() as connection:
            admit(connection, bundle(*row["next"]), row.get("told"), NOON)
        is_admitted = True
    except BundleError as refused:
        is_admitted = False
        assert f"BYLAW_ROLLBACK_TO={row['next'][0]}" in refused.help
    assert is_admitted == row["admitted"]
    assert newest(store) == [row["next"][0] if is_admitted else row["was"][0]]


def test_after_a_roll_back_that_was_told_the_way_on_is_open(store):
    for etag, moment, told in [("b", "2026-06-02", None), ("a", "2026-06-01", "a"), ("c", "2026-06-01T12", None)]:
        with store.writing() as connection:
            admit(connection, bundle(etag, moment), told, NOON)
    assert newest(store) == ["c"]
