"""`bylaw eval` as people run it, on a new repository with a suite of its own."""

from __future__ import annotations

import json
import shutil

import pytest

SUITE = """\
name: lamps
at: "2026-11-20T09:30:00Z"
questions:
  - {ask: "Can I return a lamp I bought 12 days ago? I have the receipt.", route: policy, reaches: [POL-REFUND]}
  - {ask: What is the capital of France?, route: unknown}
  - {ask: drop table orders, topic: write, expect: refuse}
  - {ask: "I have the receipt", after: ["Can I return a lamp I bought 12 days ago?"], route: policy}
"""
WRONG = """\
name: wrong
at: "2026-11-20T09:30:00Z"
questions:
  - {ask: "Can I return a lamp I bought 12 days ago? I have the receipt.", topic: lamps, route: data}
"""


@pytest.fixture
def root(repository, tmp_path):
    root = tmp_path / "mine"
    shutil.copytree(repository.root, root, ignore=shutil.ignore_patterns(".bylaw"))
    (root / "evaluation").mkdir()
    (root / "evaluation" / "lamps.yaml").write_text(SUITE, encoding="utf-8")
    return root


def test_a_suite_that_holds_ends_with_0_and_leaves_nothing_behind(call, root):
    done = call("eval", "--root", root)
    assert done.code == 0, done.out + done.err
    assert done.out.splitlines() == [
        "lamps: 4 questions, 100.0% right (at least 90.0%), 0.0% answered wrongly (at most 2.0%), "
        "100.0% came to the right answerer: holds",
        "            right  wrong",
        "  answer        2      0",
        "  clarify       0      0",
        "  form          0      0",
        "  refuse        2      0",
        "  development: 4 questions, 4 right (51.0% to 100.0%)",
        "    answered 2, 0 of these wrong (0.0% to 65.8%); asked 0 (0 with a form), refused 2",
    ]
    assert not (root / ".bylaw" / "store.db").exists()
    assert not list((root / ".bylaw").glob("*.duckdb"))


def test_a_suite_below_its_floor_ends_with_1_and_says_what_went_wrong(call, root):
    (root / "evaluation" / "wrong.yaml").write_text(WRONG, encoding="utf-8")
    done = call("eval", "--root", root, "--suite", "wrong", "--failures")
    assert done.code == 1
    assert "wrong: 1 questions, 0.0% right" in done.out
    assert "went to policy, not to data" in done.out
    assert "lamps: " not in done.out
    (root / "rules").mkdir(exist_ok=True)
    floors = "floors: {accuracy_from: 0, silent_wrong_up_to: 1}\n"
    (root / "rules" / "evaluation.yaml").write_text(floors, encoding="utf-8")
    assert call("eval", "--root", root, "--suite", "wrong").code == 0


def test_json_is_one_document_and_nothing_else(call, root):
    (root / "evaluation" / "wrong.yaml").write_text(WRONG, encoding="utf-8")
    done = call("eval", "--root", root, "--format", "json")
    said = json.loads(done.out)
    assert (done.code, done.err, said["holds"]) == (1, "", False)
    assert [(one["suite"], one["holds"]) for one in said["suites"]] == [("lamps", True), ("wrong", False)]
    assert said["suites"][1]["matrix"]["answer"] == {"right": 0, "wrong": 1}


@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        (SUITE, ["--suite", "lamp"], "there is no suite `lamp`"),
        (SUITE.replace("route: unknown", "rout: unknown"), [], "evaluation/lamps.yaml:5:"),
        (SUITE.replace(", route: unknown", ""), [], "nothing says what is right"),
        (SUITE.replace("T09:30:00Z", "T09:30:00"), [], "the time needs a timezone"),
        (SUITE.replace("expect: refuse", "expect: refuse, rows: [[1]]"), [], "expects `refuse` has no rows"),
        ("name: [", [], "evaluation/lamps.yaml:"),
    ],
)
def test_a_suite_that_cannot_be_read_is_told_by_its_line(call, root, text, words, says):
    (root / "evaluation" / "lamps.yaml").write_text(text, encoding="utf-8")
    done = call("eval", "--root", root, *words)
    assert done.code == 2
    assert says in done.err


def test_a_repository_without_suites_is_told_where_they_go(call, repository):
    done = call("eval", "--root", repository.root)
    assert done.code == 2
    assert "evaluation/*.yaml" in done.err


def test_questions_held_out_are_reported_apart_and_may_be_kept_elsewhere(call, root, tmp_path):
    path = tmp_path / "kept" / "elsewhere.yaml"
    path.parent.mkdir()
    path.write_text(SUITE.replace("name: lamps", "name: elsewhere\nheld_out: true"), encoding="utf-8")
    done = call("eval", "--root", root, "--suite", path, "--suite", "lamps", "--format", "json")
    assert done.code == 0, done.err
    lamps, elsewhere = json.loads(done.out)["suites"]
    assert (list(lamps["parts"]), list(elsewhere["parts"])) == (["development"], ["held_out"])
    part = elsewhere["parts"]["held_out"]
    assert (part["questions"], part["answered"], part["wrong"], part["asked"], part["refused"]) == (4, 2, 0, 0, 2)
    assert part["right"]["interval"][0] < 0.6 < part["right"]["interval"][1]


def test_a_file_of_questions_that_is_not_there_is_a_wrong_call(call, root):
    done = call("eval", "--root", root, "--suite", "nowhere.yaml")
    assert done.code == 2 and "nowhere.yaml" in done.err
