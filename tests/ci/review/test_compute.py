"""A review computed from real commits: findings on the lines of the change, outcomes, graphs, and the one right fix."""

from __future__ import annotations

import itertools
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from bylaw.errors import UsageError
from ci.review.computed import compute as room
from ci.review.computed.compute import compute
from ci.review.computed.document import FoundItem, ReviewDocument, Spot, read, write
from ci.review.words.comment import verdict
from ci.review.words.render import render
from tests.ci.review.documents import HERE, finding
from tests.ci.review.repository import Repository
from tests.conftest import copy_company
from tests.rows import one_of

DAY = date(2026, 6, 1)
ROWS = yaml.safe_load((Path(__file__).parent / "compute.yaml").read_text(encoding="utf-8"))
NIGHT = """\
policy_id: POL-RENTAL-900
conditions:
  - {type: fact, parameter: hours_late, between: [10, 12]}
actions:
  - {type: required, action: no_fee, source_text: Nobody pays for a delay over night.}
metadata: {source: Night leaflet, owner: Night Desk, domain: rental}
"""


@pytest.fixture
def company(tmp_path: Path) -> Repository:
    """The tiny company, with all its faults, on a branch."""
    made = Repository(copy_company(tmp_path / "company"))
    made.commit("Found the company")
    made.branch()
    return made


def reviewed(repository: Repository, root: str = "", **other: Any) -> ReviewDocument:
    """The review of what is committed, each part of it having taken a second."""
    ticks = itertools.count()
    return compute(repository.folder / root, "main", DAY, clock=lambda: float(next(ticks)), **other)


def by_id(document: ReviewDocument, id: str) -> list[FoundItem]:
    return [finding for finding in document.new if finding.id == id]


def test_a_new_contradiction_stands_on_the_line_of_the_change_and_names_its_partner(company: Repository) -> None:
    company.write("policies/rental/POL-RENTAL-900.yaml", NIGHT)
    head = company.commit("Waive the fee over night")
    document = reviewed(company)
    assert (document.head_sha, document.base_sha) == (head, company.git("rev-parse", "main"))
    one, two = by_id(document, "conflict")
    assert {(f.at.path, f.at.line, f.shown) for f in (one, two)} == {
        ("policies/rental/POL-RENTAL-900.yaml", 5, "changed")
    }
    assert {f.side for f in (one, two)} == {"POL-RENTAL-900 says no late fee"}
    (partner,) = next(f for f in (one, two) if "POL-RENTAL-001" in f.policies).related
    assert (partner.path, partner.line) == ("policies/rental/POL-RENTAL-001.yaml", 12)
    assert partner.note == "POL-RENTAL-001 says a fee by the hour"
    assert sorted({owner for f in (one, two) for owner in f.owners}) == ["Fleet Team", "Night Desk", "Rental Desk"]
    assert one.ending == "both are level 4 (department), so neither gives way"
    assert one.case is not None
    assert one.case.entry.startswith("- name:")
    assert one.case.facts["hours_late"] == 10


def test_what_changes_outcome_is_told_with_who_says_so_before_and_after(company: Repository) -> None:
    company.replace("policies/rental/POL-RENTAL-001.yaml", "between: [2, 24]", "between: [2, 30]")
    company.commit()
    document = reviewed(company)
    assert document.nothing_else_changes and not document.unknown
    assert document.change_count == len(document.changes) > 0
    (row,) = [
        c for c in document.changes if c.before == "the fee of a whole day" and c.case.facts.get("bike_type") != "cargo"
    ]
    assert row.by_before == ["POL-RENTAL-001 says the fee of a whole day"]
    assert 25 <= int(str(row.case.facts["hours_late"])) <= 30
    assert [graph.policy_id for graph in document.graphs] == ["POL-RENTAL-001"]
    assert document.graph_count == 1


def test_old_debt_is_counted_and_is_no_news(company: Repository) -> None:
    company.replace("policies/rental/POL-RENTAL-006.yaml", "Rental terms, section 4", "Rental terms, section 5")
    company.commit()
    document = reviewed(company)
    assert (document.new, document.changes, document.unknown) == ([], [], [])
    assert document.counts.model_dump() == {"error": 0, "warning": 0, "notice": 0, "existing": 9}
    assert len(document.findings) == len(document.standing) == 9
    assert all(finding.existing and finding.suggestion is None for finding in document.findings)
    assert document.changed_files == ["policies/rental/POL-RENTAL-006.yaml"]


@pytest.mark.parametrize("row", one_of(3, ROWS), ids=[row["title"] for row in ROWS])
def test_a_suggestion_put_in_takes_its_finding_away(company: Repository, row: dict[str, Any]) -> None:
    path = f"policies/{row['path']}"
    company.replace(path, row["old"], row["slip"])
    company.commit("Slip")
    found = by_id(reviewed(company), row["id"])
    assert found
    suggestions = [finding.suggestion for finding in found if finding.suggestion is not None]
    if "right" in row and row["right"] is None:
        assert suggestions == []
        return
    (fix,) = suggestions
    lines = (company.folder / path).read_text(encoding="utf-8").split("\n")
    lines[fix.line - 1 : fix.end_line] = fix.lines
    right = row.get("right", row["old"])
    assert right in "\n".join(lines)
    company.write(path, "\n".join(lines))
    company.commit("Take the suggestion")
    assert by_id(reviewed(company), row["id"]) == []


def test_a_line_that_the_change_does_not_show_gets_no_suggestion(company: Repository) -> None:
    company.git("checkout", "-q", "main")
    company.write("policies/rental/POL-RENTAL-900.yaml", NIGHT.replace("hours_late", "hours_lat"))
    company.commit()
    company.git("checkout", "-q", "change")
    company.git("merge", "-q", "main")
    company.replace("policies/vocabulary.yaml", "name: no late fee", "name: nothing to pay")
    company.commit()
    document = reviewed(company)
    assert [finding for finding in document.findings if finding.suggestion is not None] == []


def test_a_file_that_cannot_be_read_leaves_the_rest_of_the_answer_open(company: Repository) -> None:
    company.replace("policies/rental/POL-RENTAL-006.yaml", "policy_id:", "policy_id: [")
    company.commit()
    document = reviewed(company)
    (found,) = by_id(document, "unreadable-file")
    assert found.at.path == "policies/rental/POL-RENTAL-006.yaml"
    assert (document.etag, document.without_etag) == (None, "a rule or a file cannot be read, so nothing is compiled")
    assert not document.nothing_else_changes
    assert document.unknown == ["policies/rental/POL-RENTAL-006.yaml takes no part in the comparison: it has errors"]


def test_a_policy_taken_away_changes_outcomes_and_has_no_graph(company: Repository) -> None:
    (company.folder / "policies/rental/POL-RENTAL-002.yaml").unlink()
    company.commit()
    document = reviewed(company)
    assert document.graphs == []
    assert any("POL-RENTAL-002" in " ".join(change.by_before) for change in document.changes)


def test_cases_of_the_changed_policies_are_counted_on_both_sides(company: Repository) -> None:
    company.replace("policies/rental/POL-RENTAL-006.yaml", "value: 50", "value: 60")
    company.commit()
    document = reviewed(company)
    assert document.coverage is not None
    assert document.coverage.before.count > 0
    assert document.coverage.after.count > 0
    assert document.missing_case_count > 0
    entries = yaml.safe_load(document.missing_cases)
    assert {"name", "facts", "expect"} <= set(entries[0])


def test_what_a_contradiction_leaves_open_is_not_offered_as_a_case(company: Repository) -> None:
    company.write("policies/rental/POL-RENTAL-900.yaml", NIGHT)
    company.commit()
    document = reviewed(company)
    assert document.missing_case_count > 0
    assert document.missing_cases == ""


CASE = "- name: a scratch\n  facts: {is_damaged: true, damage_cost: 61}\n  expect: {deposit: keep_deposit}\n"


def with_a_case(company: Repository, more: str = "") -> str:
    """A changed policy, and a new case at the end of the file of cases, or what *more* says; the file."""
    path = "policies/rental/cases.yaml"
    company.replace("policies/rental/POL-RENTAL-006.yaml", "value: 50", "value: 60")
    company.write(path, (company.folder / path).read_text(encoding="utf-8") + (more or CASE))
    company.commit()
    return path


def test_missing_cases_are_taken_over_with_one_click_where_cases_are_written(company: Repository) -> None:
    path = with_a_case(company)
    document = reviewed(company)
    (fix,) = document.case_suggestions
    lines = (company.folder / path).read_text(encoding="utf-8").split("\n")
    assert lines[fix.line - 1] == fix.lines[0] == "  expect: {deposit: keep_deposit}"
    company.write(path, "\n".join([*lines[: fix.line - 1], *fix.lines, *lines[fix.line :]]))
    company.commit("Take the cases over")
    after = reviewed(company)
    assert after.missing_case_count < document.missing_case_count
    assert after.counts.error == document.counts.error


def test_where_cases_cannot_be_appended_none_are(company: Repository) -> None:
    with_a_case(company, "- name: [\n")
    assert reviewed(company).case_suggestions == []


def test_the_etag_is_that_of_the_bundle_of_this_commit(company: Repository, call: Any, tmp_path: Path) -> None:
    company.replace("policies/rental/POL-RENTAL-006.yaml", "value: 50", "value: 60")
    company.commit()
    call("compile", "--root", company.folder, "-o", tmp_path / "out")
    bundle = yaml.safe_load((tmp_path / "out/compiled_policy_bundle.json").read_text(encoding="utf-8"))
    assert reviewed(company).etag == bundle["bundle_metadata"]["etag"]


def test_one_commit_gives_the_same_bytes_and_they_are_read_back(company: Repository) -> None:
    company.write("policies/rental/POL-RENTAL-900.yaml", NIGHT)
    company.commit()
    first, second = reviewed(company), reviewed(company)
    assert write(first) == write(second)
    assert read(write(first).encode(), first.head_sha) == first
    assert [timing.seconds for timing in first.timings] == [1.0] * 4


def test_what_is_not_committed_takes_part_and_is_marked(company: Repository) -> None:
    company.replace("policies/rental/POL-RENTAL-006.yaml", "value: 50", "value: 60")
    document = reviewed(company)
    assert document.is_dirty
    assert document.changed_files == ["policies/rental/POL-RENTAL-006.yaml"]
    assert document.head_sha == company.git("rev-parse", "HEAD")


def test_the_root_may_be_a_folder_of_a_larger_repository(tmp_path: Path) -> None:
    large = Repository(tmp_path / "large")
    copy_company(large.folder / "teams/pedalino")
    large.commit()
    large.branch()
    large.write("teams/pedalino/policies/rental/POL-RENTAL-900.yaml", NIGHT)
    large.write("notes.yaml", "nobody: reads this\n")
    large.commit()
    document = reviewed(large, "teams/pedalino")
    assert document.folder == "teams/pedalino/"
    assert document.changed_files == ["policies/rental/POL-RENTAL-900.yaml"]
    assert {finding.shown for finding in by_id(document, "conflict")} == {"changed"}


def test_a_set_checked_in_parts_is_reviewed_alike(company: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    company.write("policies/rental/POL-RENTAL-900.yaml", NIGHT)
    company.replace("policies/rental/POL-RENTAL-006.yaml", "value: 50", "value: 60")
    company.commit()
    whole = reviewed(company)
    monkeypatch.setattr(room, "WHOLE", 0)
    monkeypatch.setattr("ci.check.SMALL", 0)
    parts = reviewed(company)
    left_out = {"coverage", "missing_cases", "missing_case_count", "etag", "without_etag", "open_questions"}
    assert parts.model_dump(exclude=left_out) == whole.model_dump(exclude=left_out)
    assert parts.without_etag == "more than 0 policies are not compiled for a review"


def test_a_base_that_git_does_not_know_is_wrong_usage(company: Repository) -> None:
    with pytest.raises(UsageError, match="git does not know `nowhere`"):
        compute(company.folder, "nowhere", DAY)


def test_the_first_policies_of_a_repository_are_all_new(tmp_path: Path) -> None:
    young = Repository(tmp_path / "young")
    young.write("README.md", "nothing yet\n")
    young.commit()
    young.branch()
    shutil.copytree(copy_company(tmp_path / "source") / "policies", young.folder / "policies")
    young.commit()
    document = reviewed(young)
    assert document.counts.existing == 0
    assert {finding.shown for finding in document.new} == {"changed"}
    assert document.graph_count == len(document.graphs) > 5


def test_changes_of_outcome_that_are_off_are_counted_all_the_same(company: Repository) -> None:
    company.git("checkout", "-q", "main")
    company.write("rules/ci.yaml", "severities: {outcome-change: off, unknown-answer: off, unreadable-file: off}\n")
    company.commit()
    company.git("checkout", "-q", "-B", "change")
    company.replace("policies/rental/POL-RENTAL-001.yaml", "between: [2, 24]", "between: [2, 30]")
    company.commit()
    document = reviewed(company)
    assert (document.changes, document.change_severity) == ([], None)
    assert document.change_count > 0
    assert "no case changes outcome" not in render(document, HERE).title
    assert "1 kind of case changes outcome, no other does" in render(document, HERE).title
    company.replace("policies/rental/POL-RENTAL-006.yaml", "policy_id:", "policy_id: [")
    company.commit()
    document = reviewed(company)
    assert document.unknown and not document.nothing_else_changes


def test_only_a_contradiction_is_called_one(company: Repository) -> None:
    """A finding that stands at another of its places has two sides too."""
    company.write("policies/rental/POL-RENTAL-900.yaml", NIGHT.replace("no_fee", "hourly_fee"))
    company.commit()
    found = by_id(reviewed(company), "redundant-rule")
    for one in (*found, finding(id="ambiguous-synonym", side="x", related=[Spot(path="policies/a.yaml", line=1)])):
        assert "Contradiction" not in verdict(one, 1_000)


def test_every_clash_of_a_cause_is_listed_and_all_their_owners_decide(company: Repository) -> None:
    """A new policy contradicts six of different owners, and its own owner is new."""
    text = "policy_id: POL-RENTAL-{}\nconditions: [{{type: fact, parameter: hours_late, between: [{}, {}]}}]\n"
    text += "actions: [{{type: required, action: {}}}]\nmetadata: {{source: H, owner: {}, domain: rental}}\n"
    company.git("checkout", "-q", "main")
    for n in range(910, 916):
        policy = text.format(n, 100 + n, 100 + n, "full_day_fee", f"Owner {n}")
        company.write(f"policies/rental/POL-RENTAL-{n}.yaml", policy)
    company.commit()
    company.git("checkout", "-q", "-B", "change")
    new = text.format(900, 1000, 1100, "no_fee", "Night Desk")
    company.write("policies/rental/POL-RENTAL-900.yaml", new)
    company.commit()
    found = [one for one in by_id(reviewed(company), "conflict") if one.pairs > 5]
    assert {owner for one in found for owner in one.owners} >= {"Night Desk", *(f"Owner {n}" for n in range(910, 916))}
    told = render(reviewed(company), HERE)
    for n in range(910, 916):
        assert f"POL-RENTAL-{n} says the fee of a whole day" in told.summary
        assert any(f"POL-RENTAL-{n} says the fee of a whole day" in comment.body for comment in told.comments)
