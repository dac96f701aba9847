"""What an author calls all day: new files, lists, cases that are written, files by name, errors as JSON."""

from __future__ import annotations

import json
import os
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from bylaw.authored.vocabulary import Vocabulary
from bylaw.cli import bylaw, main
from bylaw.roots import root_around
from ci.commands.appending import appended
from ci.commands.cli import LISTED, MADE
from ci.commands.listing import KINDS as LISTING
from ci.commands.skeleton import KINDS as SKELETONS
from ci.commands.watching import watch
from ci.pipeline import run
from ci.scaffold import init
from tests.rows import each

DAY = date(2026, 1, 1)
NAMES = {"policy": "expense", "case": "a taxi without a receipt", "gotcha": "test-trips", "decision": "trains-first"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    init(tmp_path / "p")
    return tmp_path / "p"


def call(*args: str | Path) -> Result:
    return CliRunner().invoke(bylaw, [str(arg) for arg in args])


def test_the_choices_of_the_commands_are_their_tables() -> None:
    assert tuple(LISTING) == LISTED
    assert tuple(SKELETONS) == MADE


@pytest.mark.parametrize("kind", MADE)
def test_a_new_file_checks_without_errors_and_is_never_written_over(kind: str, root: Path) -> None:
    name = NAMES.get(kind, "trips")
    args = ("new", kind, name, "--root", root, *(("--domain", "refund") if kind == "case" else ()))
    assert call(*args).exit_code == 0
    assert not run(root, DAY, DAY).failed
    again = call(*args)
    if kind in ("policy", "case"):
        assert again.exit_code == 0  # the next number; another case
    else:
        assert "is there already" in str(again.exception)


def test_the_commented_lines_of_a_new_policy_are_right_as_they_are(root: Path) -> None:
    call("new", "policy", "POL-EXPENSE-001", "--root", root, "--owner", "Finance")
    path = root / "policies/expense/POL-EXPENSE-001.yaml"
    text = path.read_text(encoding="utf-8").replace(" []  ", "    ")
    path.write_text(text.replace("#  - {type:", "  - {type:"), encoding="utf-8")
    found = [one for one in run(root, DAY, DAY).findings if one.severity == "error" and one.at.path.endswith(path.name)]
    assert {one.id for one in found} <= {"conflict"}, found  # four demands at once do contradict each other


@pytest.mark.parametrize(
    ("kind", "name", "says"),
    [
        ("policy", "../../etc", "neither the id of a policy nor a domain"),
        ("entity", "two words", "no name of a entity"),
        ("decision", "X", "no name of a decision"),
        ("case", "no domain", "belongs to a domain"),
    ],
)
def test_a_name_of_the_wrong_form_is_refused(kind: str, name: str, says: str, root: Path) -> None:
    assert says in str(call("new", kind, name, "--root", root).exception)


@pytest.mark.parametrize("kind", LISTED)
def test_every_list_is_text_and_the_same_rows_as_json(kind: str, root: Path) -> None:
    text, told = call("list", kind, "--root", root), json.loads(call("list", kind, "--root", root, "--json").output)
    assert told["count"] == len(told[kind])
    for record in told[kind]:
        assert next(iter(record.values())) in text.output


def test_missing_cases_are_added_behind_what_is_there(root: Path) -> None:
    path = root / "policies/refund/cases.yaml"
    lines = path.read_text(encoding="utf-8").split("- name:")
    path.write_text("- name:".join(lines[:2]), encoding="utf-8")
    before = path.read_text(encoding="utf-8")
    assert call("cases", "--root", root, "--missing", "--write").exit_code == 0
    assert path.read_text(encoding="utf-8").startswith(before.rstrip("\n"))
    assert "no case is missing" in call("cases", "--root", root, "--missing").output
    assert not run(root, DAY, DAY).failed


@each("text", ["", "# only a remark\n", "[]\n", "[]  # none yet\n", "- {name: a, facts: {}, expect: {}}"])
def test_a_case_can_be_added_to_any_list_in_blocks(text: str) -> None:
    made = appended("cases.yaml", text, ["- name: b\n  facts: {}\n  expect: {}\n"])
    assert made.endswith("- name: b\n  facts: {}\n  expect: {}\n")
    assert all(remark in made for remark in ("only a remark", "none yet") if remark in text)


@each("text", ["[{name: a, facts: {}, expect: {}}]\n", "a: mapping\n", "- [broken\n"])
def test_what_is_no_list_in_blocks_is_refused_and_stays(text: str) -> None:
    with pytest.raises(Exception, match="no list that cases can be added to"):
        appended("cases.yaml", text, ["- name: b\n  facts: {}\n  expect: {}\n"])


def test_a_check_of_some_files_tells_and_fails_by_these_alone(root: Path) -> None:
    one, other = root / "policies/refund/POL-REFUND-001.yaml", root / "policies/refund/POL-REFUND-002.yaml"
    other.write_text(other.read_text(encoding="utf-8").replace("ask_manager", "telephone"), encoding="utf-8")
    assert call("check", "--root", root, one).exit_code == 0
    found = call("check", "--root", root, other, "--format", "json")
    assert found.exit_code == 1 and {one["id"] for one in json.loads(found.output)["findings"]} == {"unknown-action"}
    outside = call("check", "--root", root, root.parent)
    assert "lies outside the repository" in str(outside.exception)


def test_junit_counts_a_file_as_a_test_and_its_errors_as_failures(root: Path) -> None:
    path = root / "policies/refund/POL-REFUND-002.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("ask_manager", '"tele<phone&"'), encoding="utf-8")
    suite = ElementTree.fromstring(call("check", "--root", root, "--format", "junit").output)
    failing = [one.get("name") for one in suite.iter("testcase") if one.find("failure") is not None]
    assert suite.get("failures") == str(len(failing))
    assert failing == ["policies/refund/POL-REFUND-002.yaml", "policies/refund/cases.yaml"]


def test_a_root_is_found_from_any_folder_below_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (root, root / "policies", root / "policies/refund"):
        monkeypatch.chdir(folder)
        assert root_around(Path()).resolve() == root
    monkeypatch.chdir(root.parent)
    assert root_around(Path()) == Path()
    (root / "notes" / ".git").mkdir(parents=True)
    monkeypatch.chdir(root / "notes")
    assert root_around(Path()) == Path(), "another repository of git begins here"


@pytest.mark.parametrize(
    "args", [["list", "facts", "--json"], ["check", "--format", "json"], ["check", "--format=json", "--nope"]]
)
def test_with_json_an_error_is_a_json_document(
    args: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["bylaw", *args])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    told = json.loads(capsys.readouterr().out)["error"]
    assert told["exit_code"] == 2 and told["message"]


def test_watching_looks_once_for_many_changes(root: Path) -> None:
    path, looks, at = root / "policies/vocabulary.yaml", [], 0

    def wait() -> bool:
        nonlocal at
        at += 1
        if at in (2, 3):  # two saves right after each other
            os.utime(path, ns=(at, at))
        return at < 8

    watch(root, lambda: looks.append(at), wait)
    assert looks == [0, 4]


def test_the_words_of_a_list_say_what_a_fact_can_be() -> None:
    told = Vocabulary.model_validate(
        {"facts": {"age": {"type": "integer", "minimum": 0, "maximum": 120, "unit": "years"}}}
    )
    from ci.commands.listing import _domain

    assert _domain(told.facts["age"]) == "0…120 years"


@each(
    ("words", "nearest"),
    [(("list", "fact"), "facts"), (("list", "Policies"), "policies"), (("new", "metrics", "x"), "metric")],
)
def test_a_kind_that_is_none_hears_the_nearest(words: tuple[str, ...], nearest: str, root: Path) -> None:
    problem = call(*words, "--root", root).exception
    assert f"did you mean `{nearest}`?" in str(getattr(problem, "help", ""))


def test_a_finding_is_explained_where_there_is_no_repository(tmp_path: Path) -> None:
    told = call("explain", "unkept-decision", "--root", tmp_path / "nowhere")
    assert told.exit_code == 0 and "confirmation" in told.output
