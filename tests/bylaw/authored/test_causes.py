"""The links between decisions and what they govern, walked from both sides."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bylaw.authored.causes import behind, caused, governing
from bylaw.authored.decisions import Decision, Decisions
from ci.loading.source import read
from tests.rows import each

ROWS = read("causes.yaml", Path(__file__).with_name("causes.yaml").read_bytes()).data
KNOWN = Decisions(decisions={row["id"]: Decision.model_validate(row) for row in ROWS["decisions"]})


@each(("path", "ids"), list(ROWS["paths"].items()))
def test_a_file_is_governed_by(path: str, ids: list[str]) -> None:
    assert [one.id for one, _ in governing(KNOWN, path)] == ids


def test_a_policy_comes_from_what_it_names_and_from_what_affects_it() -> None:
    assert [one.id for one in behind(KNOWN, "policy", "POL-JOBS-001")] == ["one-queue"]
    assert [one.id for one in behind(KNOWN, "policy", "POL-OTHER-001", "three-queues")] == ["three-queues"]
    assert [one.id for one in behind(KNOWN, "metric", "job_time", "three-queues")] == ["one-queue", "three-queues"]
    assert behind(KNOWN, "policy", "POL-OTHER-001", "ADR-99") == []


def test_a_decision_knows_what_it_caused() -> None:
    named = [
        ("policy", "POL-NIGHT-002", "ADR-12"),
        ("policy", "POL-JOBS-001", "#12"),
        ("metric", "cost", "three-queues"),
    ]
    assert caused(KNOWN, "one-queue", named)["policy"] == ["POL-JOBS-001", "POL-NIGHT-002"]
    assert caused(KNOWN, "three-queues", named)["metric"] == ["cost"]


@given(path=st.text(max_size=60), glob=st.text(alphabet="ab*?/.[(\\", min_size=1, max_size=20))
def test_no_path_and_no_pattern_breaks_it(path: str, glob: str) -> None:
    row = {**ROWS["decisions"][0], "affects": {"path": [glob]}}
    governing(Decisions(decisions={"one-queue": Decision.model_validate(row)}), path)
