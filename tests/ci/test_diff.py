"""`bylaw diff` and `bylaw check --base`: the sides it takes, what it leaves out, and the two tellings."""

from __future__ import annotations

import json
import subprocess
from datetime import date
from pathlib import Path

import pytest

from bylaw.errors import UsageError
from ci.check import check
from ci.diff import diff
from ci.report.changes import render, render_json

DAY = date(2026, 6, 1)
VOCABULARY = """
facts:
  has_receipt: {type: boolean, label: has the receipt, phrases: {"true": [with a receipt]}}
  days: {type: integer, unit: days, minimum: 0, label: days since purchase, phrases: ["bought {value} days ago"]}
  kind: {type: enum, values: {tv: [], shirt: []}}
actions:
  full_refund: {outcome: refund}
  store_credit: {outcome: refund}
  notify: {}
outcomes:
  refund: {label: what the customer gets back}
"""
POLICY = """
policy_id: POL-REFUND-001
conditions:
  - {id: early, type: fact, parameter: days, operator: "<=", value: 30}
actions:
  - {type: required, action: full_refund, requires: [early, has_receipt]}
  - {type: fallback, action: store_credit}
  - {type: prohibited, action: notify, requires: [has_receipt]}
metadata: {source: Returns, owner: Service, domain: refund}
"""


def written(root: Path, policy: str | None = POLICY, vocabulary: str = VOCABULARY) -> Path:
    (root / "policies" / "refund").mkdir(parents=True, exist_ok=True)
    (root / "policies" / "vocabulary.yaml").write_text(vocabulary, encoding="utf-8")
    path = root / "policies" / "refund" / "POL-REFUND-001.yaml"
    path.unlink(missing_ok=True)
    if policy is not None:
        path.write_text(policy, encoding="utf-8")
    return root


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", "-C", str(root), *who, *words], check=True, capture_output=True)


@pytest.fixture
def sides(tmp_path):
    """Two folders; in the second one the window is shorter."""
    return written(tmp_path / "one"), written(tmp_path / "two", POLICY.replace("30", "25"))


@pytest.fixture
def repository(tmp_path):
    """A repository whose last commit shortened the window."""
    root = written(tmp_path / "repository")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first", "--date", "2026-01-01T00:00:00")
    written(root, POLICY.replace("30", "25"))
    git(root, "commit", "-q", "-a", "-m", "second")
    return root


def compared(one, two, root="."):
    return diff(str(one), str(two), Path(root), DAY, DAY)


def seen(comparison):
    return [(c.subject.name, c.before, c.after, dict(c.facts)) for c in comparison.found.changes]


CHANGE = [("refund", "full_refund", "store_credit", {"days": 26, "has_receipt": True})]


def test_two_folders_are_compared(sides):
    assert seen(compared(*sides)) == CHANGE


def test_two_git_refs_are_compared(repository):
    assert seen(compared("HEAD~1", "HEAD", repository)) == CHANGE
    assert seen(compared("HEAD", "HEAD~1", repository)) == [("refund", "store_credit", "full_refund", CHANGE[0][3])]


def test_a_ref_is_compared_with_a_folder(repository):
    written(repository, POLICY.replace("30", "20"))
    (change,) = compared("main", repository, repository).found.changes
    assert dict(change.facts) == {"days": 21, "has_receipt": True}


def test_the_day_is_that_of_the_head(repository):
    day = diff("HEAD", "HEAD~1", repository, None, date(2030, 1, 1)).at
    shown = subprocess.run(
        ["git", "log", "-1", "--format=%cs", "HEAD~1"], cwd=repository, capture_output=True, text=True
    )
    assert day.isoformat() == shown.stdout.strip()


def test_bundles_say_what_their_folders_say(sides, tmp_path, call):
    outputs = []
    for folder in sides:
        outputs.append(tmp_path / f"{folder.name}.out")
        assert call("compile", "--root", folder, "-o", outputs[-1], "--at", "2026-06-01").code == 0
    assert seen(compared(*outputs)) == CHANGE
    files = [output / "compiled_policy_bundle.json" for output in outputs]
    assert seen(compared(*files)) == CHANGE
    assert seen(compared(files[0], sides[1])) == CHANGE
    assert seen(compared(sides[0], files[0])) == []


@pytest.mark.parametrize("side", ["nowhere", "--upload-pack=x", "missing.json", "HEAD~7"])
def test_what_is_no_version_is_a_wrong_call(side, repository):
    with pytest.raises(UsageError):
        compared(side, "HEAD", repository)


def test_a_policy_that_is_new_is_a_change(sides, tmp_path):
    found = compared(written(tmp_path / "none", None), sides[0]).found
    assert {(c.subject.kind, c.subject.name, c.after) for c in found.changes} == {
        ("outcome", "refund", "full_refund"),
        ("outcome", "refund", "store_credit"),
        ("prohibited", "notify", True),
    }


def test_a_policy_without_rules_leaves_the_rest_unproven(sides, tmp_path):
    broken = written(tmp_path / "broken", POLICY.replace("action: store_credit", "action: store_creditt"))
    document = json.loads(render_json(compared(sides[0], broken)))
    assert document["nothing_else_changes"] is False
    assert "POL-REFUND-001" in document["unknown"][0]["reason"]
    same = written(tmp_path / "same", POLICY.replace("action: store_credit", "action: store_creditt"))
    assert json.loads(render_json(compared(broken, same)))["nothing_else_changes"] is True


def test_an_unproven_rule_of_both_sides_leaves_other_changes_open(sides, tmp_path, call):
    """What it makes of a change nobody knows; where nothing else changed, it changed nothing."""
    other = POLICY.replace("001", "002").replace("parameter: days", "parameter: dayz")
    for side in sides:
        (side / "policies" / "refund" / "POL-REFUND-002.yaml").write_text(other, encoding="utf-8")
    document = json.loads(render_json(compared(*sides)))
    assert document["nothing_else_changes"] is False
    assert ["POL-REFUND-002" in one["reason"] for one in document["unknown"]] == [True]
    assert json.loads(render_json(compared(sides[0], sides[0])))["nothing_else_changes"] is True
    bundles = []
    for side in sides:
        out = tmp_path / f"{side.name}.out"
        assert call("compile", "--root", side, "-o", out, "--allow-errors").code == 0
        bundles.append(out / "compiled_policy_bundle.json")
    document = json.loads(render_json(compared(*bundles)))
    assert document["nothing_else_changes"] is False and "POL-REFUND-002" in document["unknown"][0]["reason"]


def test_an_override_that_leads_nowhere_leaves_the_rest_unproven(sides, tmp_path):
    dangling = POLICY.replace("metadata:", "overrides: [POL-REFUND-009]\nreason: it is newer\nmetadata:")
    found = compared(sides[0], written(tmp_path / "dangling", dangling)).found
    assert ["POL-REFUND-001" in one.reason for one in found.unknown] == [True]


def test_a_file_that_cannot_be_read_leaves_the_rest_unproven(sides, tmp_path):
    broken = written(tmp_path / "broken", "policy_id: [")
    assert "POL-REFUND-001.yaml" in compared(sides[0], broken).found.unknown[0].reason


# ---- tellings -------------------------------------------------------------------------------------------------------


def test_the_json_is_the_contract(sides, call):
    done = call("diff", *sides, "--at", "2026-06-01", "--json")
    assert done.code == 0
    (change,) = done.json["changes"]
    assert change["kind"] == "outcome" and change["outcome"] == "refund" and "action" not in change
    assert (change["before"], change["after"]) == ("full_refund", "store_credit")
    assert change["case"]["facts"] == {"days": 26, "has_receipt": True}
    assert change["policies"] == ["POL-REFUND-001"]
    assert done.json["nothing_else_changes"] is True and done.json["unknown"] == []
    assert json.dumps(done.json, indent=2, sort_keys=True) + "\n" == done.out


def test_the_case_is_decided_as_told_on_both_sides(sides, call):
    (change,) = call("diff", *sides, "--at", "2026-06-01", "--json").json["changes"]
    facts = json.dumps(change["case"]["facts"])
    for side, told in zip(sides, ("before", "after"), strict=True):
        done = call("decide", "--root", side, "--facts", facts, "--at", "2026-06-01", "--json")
        assert done.json["outcomes"]["refund"]["action"] == change[told]


def test_a_duty_names_its_action_and_a_direction(sides, tmp_path):
    without = POLICY.replace("  - {type: prohibited, action: notify, requires: [has_receipt]}\n", "")
    document = json.loads(render_json(compared(sides[0], written(tmp_path / "without", without))))
    (change,) = document["changes"]
    assert (change["kind"], change["action"], change["before"], change["after"]) == (
        "prohibited",
        "notify",
        True,
        False,
    )
    assert document["effect"] == change["effect"] == "loosened"


def test_a_person_reads_the_case_both_rules_and_their_lines(sides):
    text = render(compared(*sides))
    assert "bought 26 days ago" in text
    assert "POL-REFUND-001 says full_refund   policies/refund/POL-REFUND-001.yaml:6" in text
    assert "POL-REFUND-001 says store_credit   policies/refund/POL-REFUND-001.yaml:7" in text
    assert text.endswith("1 region of change (1 changed); nothing else changes")


def test_nothing_changes_is_said_when_it_is_proven(sides):
    assert "nothing changes" in render(compared(sides[0], sides[0]))


def test_a_new_value_and_a_new_fact_are_told_beside_the_changes(sides, tmp_path):
    words = VOCABULARY.replace("shirt: []}", "shirt: [], book: []}").replace(
        "facts:", "facts:\n  is_gift: {type: boolean}"
    )
    policy = POLICY.replace("requires: [has_receipt]}", "requires: [is_gift]}")
    comparison = compared(
        written(tmp_path / "old", POLICY.split("  - {type: prohibited")[0] + POLICY[POLICY.index("metadata") :]),
        written(tmp_path / "new", policy, words),
    )
    document = json.loads(render_json(comparison))
    assert document["changes"] == []
    assert {(word["what"], word["name"]) for word in document["vocabulary"]} == {("fact", "is_gift"), ("value", "kind")}
    assert [rule["policy_id"] for rule in document["not_compared"]] == ["POL-REFUND-001"]
    assert "values of `kind` `book`: added" in render(comparison)


def test_words_that_would_move_a_cursor_are_shown_as_code_points(sides, tmp_path):
    words = VOCABULARY.replace("bought {value} days ago", "bought \\e[2J {value} days ago")
    two = written(tmp_path / "bad", POLICY.replace("30", "25"), words)
    assert "\x1b[2J" not in render(compared(sides[0], two))


# ---- check --base ---------------------------------------------------------------------------------------------------


def test_a_check_with_a_base_tells_each_region_on_the_line_of_its_rule(repository):
    checked = check(repository, DAY, DAY, "HEAD~1")
    (finding,) = [finding for finding in checked.new if finding.id == "outcome-change"]
    assert finding.severity == "notice" and not checked.failed
    assert finding.policies == ("POL-REFUND-001",)
    assert finding.counterexample["facts"] == {"days": 26, "has_receipt": True}
    assert checked.workspace.position(finding.at)[0] == 7
    assert "full_refund → store_credit" in finding.message


def test_a_check_without_a_change_tells_none(repository):
    assert [f for f in check(repository, DAY, DAY, "HEAD").findings if f.id == "outcome-change"] == []


def test_a_policy_that_is_gone_is_told_at_its_old_file(repository):
    written(repository, None)
    found = [f for f in check(repository, DAY, DAY, "HEAD").findings if f.id == "outcome-change"]
    assert {finding.at.path for finding in found} == {"policies/refund/POL-REFUND-001.yaml"}
    assert len({finding.fingerprint for finding in found}) == len(found) == 3


def test_its_severity_is_the_repositorys_to_set(repository):
    """Its base's, that is: a change does not say how bad it is."""
    (repository / "rules").mkdir()
    (repository / "rules" / "ci.yaml").write_text("severities: {outcome-change: error}\n", encoding="utf-8")
    assert not check(repository, DAY, DAY, "HEAD~1").failed
    assert check(repository, DAY, DAY, "HEAD~1", is_merged=True).failed


# ---- limits and hand-written logic ----------------------------------------------------------------------------------


def test_beyond_its_limit_of_boxes_a_comparison_tells_a_bound_and_says_so(sides):
    (sides[0] / "rules").mkdir()
    (sides[0] / "rules" / "ci.yaml").write_text("proofs: {change_boxes: 1}\n", encoding="utf-8")
    comparison = compared(*sides)
    assert [(name, before, after) for name, before, after, _ in seen(comparison)] == [
        ("refund", "full_refund", "store_credit")
    ]
    assert 26 <= comparison.found.changes[0].facts["days"] <= 30
    (told,) = json.loads(render_json(comparison))["changes"]
    assert told["region"]["is_bound"] and told["region"]["words"].startswith("some of the cases in which ")
    assert "some of the cases in which" in render(comparison)
    assert json.loads(render_json(comparison))["nothing_else_changes"]


BY_HAND = """
policy_id: POL-REFUND-001
actions: []
formal: {logic_rules: [{rule_id: R-1, consequent: full_refund, z3_expr: "%s"}]}
metadata: {source: Returns, owner: Service, domain: refund}
"""


@pytest.mark.parametrize("boxes", [10_000, 1])
@pytest.mark.parametrize(
    ("before", "after", "days"),
    [
        ("(<= days 30)", "(< (* 2 days) 61)", None),
        ("(<= days 30)", "(<= (* days days) 900)", None),
        ("(<= days 30)", "(< (* 2 days) 60)", 30),
        ("(<= (* 2 days) 60)", "(and (<= days 30) (not (= days 7)))", 7),
    ],
)
def test_hand_written_logic_is_compared_by_what_it_means(tmp_path, before, after, days, boxes):
    one, two = (written(tmp_path / name, BY_HAND % text) for name, text in (("one", before), ("two", after)))
    (one / "rules").mkdir()
    (one / "rules" / "ci.yaml").write_text(f"proofs: {{change_boxes: {boxes}}}\n", encoding="utf-8")
    expected = [] if days is None else [("refund", "full_refund", None, {"days": days})]
    comparison = compared(one, two)
    assert (seen(comparison), comparison.found.unknown) == (expected, ())
    assert comparison.found.tendency == ("changed" if expected else "equivalent")
