"""What a pull request shows is what git says, however the files are called and whatever stands in them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bylaw.errors import UsageError
from ci.findings import Finding, Place
from ci.review.computed.hunks import Diff, Hunks, anchored, commit_of, diff_since, forked_at, parsed
from tests.ci.review.repository import Repository
from tests.rows import each

ROWS = yaml.safe_load((Path(__file__).parent / "hunks.yaml").read_text(encoding="utf-8"))


def told(diff: Diff) -> dict[str, Any]:
    return {path: {"shown": sorted(h.shown), "changed": sorted(h.changed)} for path, h in diff.files.items()}


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_a_diff_says_which_lines_it_shows(row: dict[str, Any]) -> None:
    assert told(parsed(row["diff"])) == row["files"]


@given(st.text(alphabet='+- @\\d/b\nif1,\t"', max_size=200))
def test_no_text_breaks_the_reading(text: str) -> None:
    for hunks in parsed(text).files.values():
        assert hunks.changed <= hunks.shown


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repo")
    made.write("policies/a.yaml", "".join(f"line {i}\n" if i != 4 else "\n" for i in range(1, 21)))
    made.commit("Begin")
    made.branch()
    return made


def test_three_lines_around_a_change_are_shown(repository: Repository) -> None:
    repository.replace("policies/a.yaml", "line 10\n", "line ten\nline ten and a half\n")
    repository.commit()
    diff = diff_since(repository.folder, "main")
    assert told(diff) == {"policies/a.yaml": {"shown": [7, 8, 9, 10, 11, 12, 13, 14], "changed": [10, 11]}}
    assert [diff.shows("policies/a.yaml", line) for line in (10, 12, 1)] == ["changed", "context", "file"]
    assert diff.shows("policies/b.yaml", 10) == "elsewhere"


@pytest.mark.parametrize(
    "name", ["with space.yaml", "dä.yaml", 'quo"te.yaml', "tab\t.yaml", "back\\slash.yaml", "-dash.yaml", "日本.yaml"]
)
def test_a_file_may_be_called_anything(repository: Repository, name: str) -> None:
    repository.write(f"policies/{name}", "one\n")
    repository.commit()
    assert told(diff_since(repository.folder, "main")) == {f"policies/{name}": {"shown": [1], "changed": [1]}}


SETTINGS = {
    "prefixes": ["diff.noprefix", "true"],
    "words for prefixes": ["diff.mnemonicPrefix", "true"],
    "a program of its own": ["diff.external", "false"],
    "more around a change": ["diff.context", "9"],
    "hunks grown together": ["diff.interHunkContext", "50"],
    "colours": ["color.diff", "always"],
    "blank lines left blank": ["diff.suppressBlankEmpty", "true"],
    "another order": ["diff.algorithm", "patience"],
}


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_nobodys_settings_change_what_is_shown(repository: Repository, setting: list[str]) -> None:
    repository.replace("policies/a.yaml", "line 2\n", "line two\n")
    repository.replace("policies/a.yaml", "line 18\n", "line eighteen\n")
    repository.commit()
    before = told(diff_since(repository.folder, "main"))
    assert before["policies/a.yaml"]["changed"] == [2, 18]
    repository.git("config", *setting)
    assert told(diff_since(repository.folder, "main")) == before


@pytest.mark.parametrize("attributes", ["* -diff\n", "* binary\n", "*.yaml diff=own\n", "* -text eol=crlf\n"])
def test_nothing_that_a_stranger_commits_hides_a_file(repository: Repository, attributes: str) -> None:
    repository.git("config", "diff.own.textconv", "false")
    repository.write(".gitattributes", attributes)
    repository.replace("policies/a.yaml", "line 2\n", "line two\n")
    repository.commit()
    assert diff_since(repository.folder, "main").files["policies/a.yaml"].changed == {2}


def test_what_the_base_did_meanwhile_is_no_part_of_it(repository: Repository) -> None:
    repository.replace("policies/a.yaml", "line 2\n", "line two\n")
    repository.commit()
    first = repository.git("rev-parse", "main")
    repository.git("checkout", "-q", "main")
    repository.write("policies/b.yaml", "theirs\n")
    repository.commit("Meanwhile")
    repository.git("checkout", "-q", "change")
    assert forked_at(repository.folder, "main") == first
    assert list(diff_since(repository.folder, first).files) == ["policies/a.yaml"]


def test_paths_count_from_the_root_of_the_policies(repository: Repository, tmp_path: Path) -> None:
    shutil.copytree(repository.folder / "policies", repository.folder / "teams/shop/policies")
    repository.write("elsewhere.yaml", "x\n")
    repository.commit()
    assert list(diff_since(repository.folder / "teams/shop", "main").files) == ["policies/a.yaml"]


@pytest.mark.parametrize("ref", ["nowhere", "", "--help", "main:policies", "main..change"])
def test_what_is_no_commit_is_wrong_usage(repository: Repository, ref: str) -> None:
    with pytest.raises(UsageError, match="git does not know"):
        commit_of(repository.folder, ref)


def test_branches_without_a_common_commit_cannot_be_compared(repository: Repository) -> None:
    repository.git("checkout", "-q", "--orphan", "alone")
    repository.commit()
    with pytest.raises(UsageError, match="share no commit") as problem:
        forked_at(repository.folder, "main")
    assert "fetch-depth" in (problem.value.help or "")


LINES = st.lists(st.sampled_from(["a", "b", "+++ b/c", "--- a/c", "@@ -1 +1 @@", "diff --git a/x b/x", "", "\\"]))


@given(LINES, LINES)
def test_lines_that_are_not_changed_were_there_before(old: list[str], new: list[str]) -> None:
    """Without a diff of git's own: from the hunks that it would write for the whole file."""
    body = [f"-{line}" for line in old] + [f"+{line}" for line in new]
    head = f"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,{len(old)} +1,{len(new)} @@\n"
    after = "diff --git a/z b/z\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-o\n+n\n"
    diff = parsed(head + "".join(f"{line}\n" for line in body) + after)
    assert diff.files["a"].changed == set(range(1, len(new) + 1))
    assert diff.files["z"] == Hunks(frozenset({1}), frozenset({1}))
    assert set(diff.files) == {"a", "z"}


# ---- findings on lines ----------------------------------------------------------------------------------------------

ONE, TWO, THREE = (Place(f"policies/{name}.yaml", line=line) for name, line in (("one", 5), ("two", 7), ("three", 9)))
CLASH = Finding("conflict", "m", ONE, related=((TWO, "two says"), (THREE, "three says")), detail={"side": "one says"})
SHOWN = frozenset(range(1, 20))


@each(
    ("files", "at"),
    [
        ({}, ONE),
        ({"policies/one.yaml": Hunks(SHOWN, frozenset({5}))}, ONE),
        ({"policies/two.yaml": Hunks(SHOWN, frozenset({7}))}, TWO),
        ({"policies/three.yaml": Hunks(SHOWN, frozenset({1}))}, THREE),
        ({"policies/one.yaml": Hunks(SHOWN, frozenset({1})), "policies/two.yaml": Hunks(SHOWN, frozenset({7}))}, TWO),
        ({"policies/one.yaml": Hunks(), "policies/three.yaml": Hunks(SHOWN)}, THREE),
        ({"policies/one.yaml": Hunks(), "policies/three.yaml": Hunks()}, ONE),
    ],
)
def test_a_finding_stands_on_the_line_that_the_change_wrote(files: dict[str, Hunks], at: Place) -> None:
    there = anchored(CLASH, Diff(files))
    assert there.at == at
    assert {there.at, *(place for place, _ in there.related)} == {ONE, TWO, THREE}
    if at != ONE:
        assert there.related[0] == (ONE, "one says")
        assert there.detail["side"] == {TWO: "two says", THREE: "three says"}[at]
    assert there.fingerprint == CLASH.fingerprint or not CLASH.rules
