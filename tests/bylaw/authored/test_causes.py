"""The links between decisions and what they govern, walked from both sides."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bylaw.authored.causes import Causes, caused, causes_in, governing
from bylaw.authored.decisions import Decision, Decisions
from ci.loading.source import read
from tests.rows import each

ROWS = read("causes.yaml", Path(__file__).with_name("causes.yaml").read_bytes()).data
KNOWN = Decisions(decisions={row["id"]: Decision.model_validate(row) for row in ROWS["decisions"]})


@each(("path", "ids"), list(ROWS["paths"].items()))
def test_a_file_is_governed_by(path: str, ids: list[str]) -> None:
    assert [one.id for one, _ in governing(KNOWN, path)] == ids


def test_a_policy_comes_from_what_it_names_and_from_what_affects_it() -> None:
    causes = Causes(KNOWN)
    assert [one.id for one in causes.of("policy", "pol-jobs-001")] == ["one-queue"]
    assert [one.id for one in causes.of("policy", "POL-OTHER-001", "three-queues")] == ["three-queues"]
    assert [one.id for one in causes.of("metric", "job_time", "three-queues")] == ["one-queue", "three-queues"]
    assert causes.of("policy", "POL-OTHER-001", "ADR-99") == []


def test_a_cause_says_how_it_stands_and_names_nothing_that_fewer_people_may_read() -> None:
    old = {"id": "old-one", "option": "Old", "rationale": "So.", "decided_on": "2020-01-01", "status": "superseded"}
    new = {"id": "new-one", "option": "New", "rationale": "So.", "decided_on": "2021-02-03", "audience": ["board"]}
    records = [{**old, "superseded_by": ["new-one"]}, {**new, "supersedes": ["old-one"]}]
    hidden = Causes(Decisions(decisions={row["id"]: Decision.model_validate(row) for row in records}))
    (told,) = hidden.told("policy", "POL-JOBS-001", "old-one")
    assert told.state == "Superseded (decided on 1 January 2020)"
    (secret,) = hidden.told("policy", "POL-JOBS-001", "new-one")
    assert secret.is_for({"board"}) and not secret.is_for({"staff"}) and told.is_for(set())
    del records[1]["audience"]
    (told,) = Causes(Decisions(decisions={row["id"]: Decision.model_validate(row) for row in records})).told(
        "policy", "POL-JOBS-001", "old-one"
    )
    assert told.state == "Superseded by new-one on 3 February 2021"


@each("listed", [None, [], [{}], ["x"], [{"id": "a", "title": "t", "status": "accepted", "state": "s"}]])
def test_what_a_bundle_lists_is_read_as_far_as_it_goes(listed: object) -> None:
    found = causes_in({} if listed is None else {"decided_by": listed})
    assert [one.id for one in found] == [str(one.get("id", "")) for one in listed or [] if isinstance(one, dict)]


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
