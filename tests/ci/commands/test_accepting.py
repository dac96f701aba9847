"""`bylaw cases --accept`: what failing cases expect, as it is decided now, and nothing else of their file."""

from __future__ import annotations

from pathlib import Path

import pytest

POLICY = """policy_id: POL-FEE-001
conditions: [{{type: fact, parameter: days_late, operator: ">", value: {days}}}]
actions:
  - {{type: required, action: charge}}
  - {{type: fallback, action: waive}}
  - {{type: prohibited, action: shout, requires: []}}
metadata: {{source: s, owner: o, domain: fee}}
"""
CASES = """# ours
- name: a week
  facts: {days_late: 7}
  expect: {fee: charge, prohibited: {shout: true}}   # argued about
# R-FEE-001a holds at days late 6 days
- {name: six, facts: {days_late: 6}, expect: {fee: charge}}
- name: nobody knows
  facts: {}
  expect: {fee: waive}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "policies/vocabulary.yaml": "facts: {days_late: {type: integer, unit: days, minimum: 0}}\n"
        "actions: {charge: {outcome: fee}, waive: {outcome: fee}, shout: {}}\noutcomes: {fee: {}}\n",
        "policies/fee/POL-FEE-001.yaml": POLICY.format(days=6),
        "policies/fee/cases.yaml": CASES,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_failing_cases_expect_what_is_decided_and_the_rest_of_the_file_stays(root: Path, call) -> None:
    path = root / "policies/fee/cases.yaml"
    shown = call("cases", "--accept", "--root", root)
    assert path.read_text(encoding="utf-8") == CASES
    assert "+- {name: six, facts: {days_late: 6}, expect: {fee: waive}}" in shown.out
    assert "left to you, for something contradicts or is unknown there: nobody knows" in shown.out
    assert call("cases", "--accept", "--write", "--root", root).code == 1
    gone = "# R-FEE-001a holds at days late 6 days\n"
    assert path.read_text(encoding="utf-8") == CASES.replace(gone, "").replace(
        "6}, expect: {fee: charge", "6}, expect: {fee: waive"
    )


def test_a_duty_among_others_is_expected_alone(root: Path, call) -> None:
    """A prohibition that another policy adds fails no case that does not speak of it."""
    text = "- {name: a, facts: {days_late: 9}, expect: {prohibited: {shout: true, charge: false}}}\n"
    (root / "policies/fee/cases.yaml").write_text(text, encoding="utf-8")
    assert "failing-case" not in call("check", "--root", root, "--no-cache").out
    (root / "policies/fee/cases.yaml").write_text(text.replace("shout: true", "shout: false"), encoding="utf-8")
    assert "expects prohibited: no shout, but gets shout" in call("check", "--root", root, "--no-cache").out


def test_an_expectation_over_several_lines_is_left_to_people(root: Path, call) -> None:
    text = "- name: six\n  facts: {days_late: 6}\n  expect:\n    fee: charge\n"
    (root / "policies/fee/cases.yaml").write_text(text, encoding="utf-8")
    done = call("cases", "--accept", "--write", "--root", root)
    assert done.code == 2 and "over several lines" in done.err
    assert (root / "policies/fee/cases.yaml").read_text(encoding="utf-8") == text
