"""What makes a finding the same finding, and what makes it new."""

from dataclasses import replace

import pytest

from ci.findings import SEVERITIES, Finding, Place, graded, known_before
from tests.rows import each

CONFLICT = Finding(
    "conflict", "two policies", Place("a.yaml", ("actions", 0)), ("POL-A-001", "POL-A-002"), ("R1", "R2")
)


def test_a_finding_about_rules_is_the_same_wherever_its_lines_move():
    moved = replace(CONFLICT, at=Place("b.yaml", ("actions", 3)), message="in other words")
    assert moved.fingerprint == CONFLICT.fingerprint


@each(
    "change",
    [{"id": "resolved-conflict"}, {"policies": ("POL-A-001", "POL-A-003")}, {"rules": ("R1", "R3")}],
)
def test_another_id_policy_or_rule_is_another_finding(change):
    assert replace(CONFLICT, **change).fingerprint != CONFLICT.fingerprint


def test_a_finding_about_a_file_is_told_by_its_place_and_words():
    first = Finding("schema", "unknown key `x`", Place("a.yaml", ("x",)))
    assert replace(first, at=Place("a.yaml", ("y",))).fingerprint != first.fingerprint
    assert replace(first, message="unknown key `y`").fingerprint != first.fingerprint
    assert replace(first, help="did you mean `y`?").fingerprint == first.fingerprint


def test_a_group_is_known_only_when_every_member_was():
    before = replace(CONFLICT, members=("p1", "p2"))
    grown = replace(CONFLICT, members=("p1", "p2", "p3"))
    shrunk = replace(CONFLICT, members=("p1",))
    assert known_before([grown], [before]) == frozenset()
    assert known_before([shrunk], [before]) == {CONFLICT.fingerprint}


def test_a_group_of_what_was_told_one_by_one_is_known():
    singles = [replace(CONFLICT, rules=(f"R{i}", "R9"), members=(f"p{i}",)) for i in range(3)]
    group = replace(CONFLICT, members=("p0", "p1", "p2"))
    assert known_before([group], singles) == {CONFLICT.fingerprint}


def test_a_repository_may_change_or_silence_a_severity():
    other = replace(CONFLICT, id="gap")
    found = graded([CONFLICT, other], {"conflict": "warning", "gap": "off"})
    assert [(finding.id, finding.severity) for finding in found] == [("conflict", "warning")]


def test_findings_come_errors_first_then_by_file():
    notice = Finding("unused-word", "x", Place("a.yaml"))
    later = Finding("schema", "x", Place("z.yaml"))
    sooner = Finding("schema", "x", Place("b.yaml"))
    assert graded([notice, later, sooner], {}) == graded([later, sooner, notice], {})
    assert [f.at.path for f in graded([notice, later, sooner], {})] == ["b.yaml", "z.yaml", "a.yaml"]


def test_an_id_that_does_not_exist_is_our_mistake_and_shows():
    with pytest.raises(KeyError):
        graded([replace(CONFLICT, id="no-such-id")], {})
    assert all(severity in ("error", "warning", "notice") for severity in SEVERITIES.values())


def test_the_tenth_item_comes_after_the_second():
    found = [Finding("schema", "m", Place("a.yaml", ("cases", i, "x"))) for i in (10, 2)]
    assert [f.at.route[1] for f in graded([*found, Finding("schema", "m", Place("a.yaml"))], {}) if f.at.route] == [
        2,
        10,
    ]
