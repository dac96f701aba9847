"""A pull request from outside: a real git repository, a base, a branch, and what the check says about the change."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
OLD_DEBT = Counter(
    {
        "conflict": 1,
        "dead-rule": 1,
        "failing-case": 1,
        "gap": 1,
        "inactive-policy": 1,
        "priority-mismatch": 1,
        "resolved-conflict": 2,
        "unformalized-exception": 1,
    }
)
CONTRADICTION = """\
policy_id: POL-RENTAL-000
conditions:
  - {type: fact, parameter: hours_late, between: [10, 12]}
actions:
  - {type: required, action: no_fee, source_text: Nobody pays for a delay over night.}
metadata: {source: Night leaflet, owner: Night Desk, domain: rental}
"""


class Git:
    """A git repository with commits of a fixed author and day."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self("init", "-q", "-b", "main")

    def __call__(self, *words: str) -> str:
        who = {f"GIT_{role}_{part}": f"ana{at}" for role in ("AUTHOR", "COMMITTER") for part, at in NAMES}
        when = {f"GIT_{role}_DATE": "2026-06-01T12:00:00Z" for role in ("AUTHOR", "COMMITTER")}
        quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(
            ["git", *words],
            cwd=self.folder,
            env={**os.environ, **who, **when, **quiet},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, message: str) -> str:
        """Commit everything there is; the commit's id."""
        self("add", "-A")
        self("commit", "-q", "-m", message)
        return self("rev-parse", "HEAD")


NAMES = (("NAME", ""), ("EMAIL", "@example.com"))


@pytest.fixture
def git(company_copy: Path) -> Git:
    """The tiny company under git, with all its faults, on a branch of its own."""
    repository = Git(company_copy)
    repository.commit("Found the company")
    repository("checkout", "-q", "-b", "change")
    return repository


def edit(git: Git, path: str, old: str, new: str) -> None:
    file = git.folder / path
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, path
    file.write_text(text.replace(old, new), encoding="utf-8")


def against_main(call: Command, git: Git, *more: str) -> tuple[int, list[dict[str, Any]], Counter[str]]:
    """Exit code, the new findings, and the existing ones by id."""
    done = call("check", "--root", git.folder, "--base", "main", "--format", "json", *more)
    assert done.err == ""
    findings = done.json["findings"]
    assert done.json["summary"]["existing"] == sum(f["existing"] for f in findings)
    return done.code, [f for f in findings if not f["existing"]], Counter(f["id"] for f in findings if f["existing"])


def test_old_debt_fails_alone_and_not_against_its_base(git: Git, call: Command) -> None:
    assert call("check", "--root", git.folder).code == 1
    assert against_main(call, git) == (0, [], OLD_DEBT)


def test_a_new_contradiction_fails_and_lies_on_the_line_of_the_change(git: Git, call: Command) -> None:
    (git.folder / "policies/rental/POL-RENTAL-006.yaml").write_text(
        (git.folder / "policies/rental/POL-RENTAL-006.yaml").read_text()
    )
    new = "policies/rental/POL-RENTAL-900.yaml"
    (git.folder / new).write_text(CONTRADICTION.replace("-000", "-900"))
    git.commit("Waive the fee over night")
    code, found, existing = against_main(call, git)
    assert code == 1
    assert existing == OLD_DEBT
    conflicts = [f for f in found if f["id"] == "conflict"]
    assert {f["path"] for f in conflicts} == {new}
    assert {f["line"] for f in conflicts} == {5}
    assert all("POL-RENTAL-900" in f["policies"] for f in conflicts)
    named = {place["path"] for f in conflicts for place in f["related"]}
    assert "policies/rental/POL-RENTAL-001.yaml" in named
    assert all(10 <= f["counterexample"]["facts"]["hours_late"] <= 12 for f in conflicts)


def test_people_read_the_new_first_and_the_old_marked(git: Git, call: Command) -> None:
    (git.folder / "policies/rental/POL-RENTAL-900.yaml").write_text(CONTRADICTION.replace("-000", "-900"))
    done = call("check", "--root", git.folder, "--base", "main")
    assert done.code == 1
    heads = [line for line in done.out.splitlines() if line.startswith(("error[", "warning[", "notice["))]
    old = [" (existing): " in head for head in heads]
    assert old == sorted(old)
    assert not old[0]
    assert sum(old) == sum(OLD_DEBT.values())
    assert done.out.splitlines()[-1].endswith("9 existing")


def test_lines_that_move_make_nothing_new(git: Git, call: Command) -> None:
    for path in sorted((git.folder / "policies").rglob("*.yaml")):
        path.write_text("# A remark above everything.\n\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    git.commit("Remark on everything")
    assert against_main(call, git) == (0, [], OLD_DEBT)


def test_what_a_change_repairs_is_gone(git: Git, call: Command) -> None:
    edit(git, "policies/safety/POL-SAFETY-002.yaml", "priority: 4", "priority: 2")
    code, found, existing = against_main(call, git)
    assert (code, found) == (0, [])
    assert existing == OLD_DEBT - Counter(["priority-mismatch"])


def test_a_new_warning_is_listed_and_does_not_fail(git: Git, call: Command) -> None:
    edit(git, "policies/safety/POL-SAFETY-003.yaml", "owner: ", "owner: TBD # ")
    code, found, existing = against_main(call, git)
    assert code == 0
    assert [(f["id"], f["severity"], f["path"]) for f in found] == [
        ("changed-check", "warning", "policies/safety/POL-SAFETY-003.yaml"),  # who is asked is another
        ("missing-owner", "warning", "policies/safety/POL-SAFETY-003.yaml"),
    ]
    assert existing == OLD_DEBT


def test_a_policy_taken_away_is_judged_by_what_it_leaves_behind(git: Git, call: Command) -> None:
    (git.folder / "policies/rental/POL-RENTAL-006.yaml").unlink()
    code, found, _ = against_main(call, git)
    assert code == 1
    errors = [f for f in found if f["severity"] == "error"]
    assert {(f["id"], f["path"]) for f in errors} == {("failing-case", "policies/rental/cases.yaml")}


def test_a_file_that_cannot_be_read_is_new(git: Git, call: Command) -> None:
    edit(git, "policies/safety/POL-SAFETY-003.yaml", "policy_id:", "policy_id: [")
    code, found, _ = against_main(call, git)
    assert code == 1
    assert [f["path"] for f in found if f["id"] == "unreadable-file"] == ["policies/safety/POL-SAFETY-003.yaml"]


def test_what_is_not_committed_counts_as_well(git: Git, call: Command) -> None:
    (git.folder / "policies/rental/POL-RENTAL-900.yaml").write_text(CONTRADICTION.replace("-000", "-900"))
    assert against_main(call, git)[0] == 1


def test_both_sides_are_asked_for_one_day_so_time_brings_nothing_new(git: Git, call: Command) -> None:
    assert against_main(call, git, "--at", "2030-01-01")[:2] == (0, [])


@pytest.mark.parametrize("ref", ["HEAD", "main", "change", "HEAD^{tree}^{commit}", "a-tag"])
def test_a_base_is_a_branch_a_tag_or_a_commit(ref: str, git: Git, call: Command) -> None:
    git("tag", "a-tag")
    done = call("check", "--root", git.folder, "--base", ref, "--format", "json")
    if "tree" in ref:
        assert (done.code, list(done.json)) == (2, ["error"])
    else:
        assert (done.code, done.json["summary"]["existing"]) == (0, 9)


@pytest.mark.parametrize("ref", ["nowhere", "", "main..change", "--help", "main:policies", "main\nchange"])
def test_a_base_that_git_does_not_know_is_wrong_usage(ref: str, git: Git, call: Command) -> None:
    done = call("check", "--root", git.folder, f"--base={ref}")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err


def test_a_folder_outside_git_has_no_base(company_copy: Path, call: Command) -> None:
    done = call("check", "--root", company_copy, "--base", "main")
    assert (done.code, done.out) == (2, "")


def test_the_root_may_be_a_folder_of_a_larger_repository(tmp_path: Path, company_copy: Path, call: Command) -> None:
    git = Git(tmp_path / "large")
    shutil.copytree(company_copy, git.folder / "teams/pedalino")
    (git.folder / "policies").mkdir()
    (git.folder / "policies/notes.yaml").write_text("this: is no policy\n")
    git.commit("Everything in one repository")
    root = git.folder / "teams/pedalino"
    (root / "policies/rental/POL-RENTAL-900.yaml").write_text(CONTRADICTION.replace("-000", "-900"))
    done = call("check", "--root", root, "--base", "main", "--format", "json")
    assert done.code == 1
    new = [f for f in done.json["findings"] if not f["existing"]]
    assert {f["path"] for f in new if f["severity"] == "error"} == {"policies/rental/POL-RENTAL-900.yaml"}
    assert done.json["summary"]["existing"] == 9


def test_a_change_that_brings_the_first_policies_is_all_new(tmp_path: Path, company_copy: Path, call: Command) -> None:
    git = Git(tmp_path / "young")
    (git.folder / "README.md").write_text("nothing yet\n")
    git.commit("Begin")
    git("checkout", "-q", "-b", "change")
    for root in (git.folder, git.folder / "teams" / "pedalino"):
        shutil.copytree(company_copy / "policies", root / "policies")
        done = call("check", "--root", root, "--base", "main", "--format", "json")
        assert (done.code, done.err) == (1, "")
        assert Counter(f["id"] for f in done.json["findings"] if f["id"] != "outcome-change") == OLD_DEBT
        assert done.json["summary"]["existing"] == 0


# ---- the bundle of a commit -----------------------------------------------------------------------------------------


def compiled(bylaw: Command, root: Path, out: Path, **environ: str) -> dict[str, bytes]:
    """Every file that a compile of *root* leaves in *out*."""
    done = bylaw("compile", "--root", root, "-o", out, **environ)
    assert done.code == 1, done.err
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def test_one_commit_compiles_to_the_same_bytes_anywhere(git: Git, tmp_path: Path, bylaw: Command) -> None:
    first = compiled(bylaw, git.folder, tmp_path / "one", PYTHONHASHSEED="1")
    assert len(first) == 11
    again = compiled(bylaw, git.folder, tmp_path / "one", PYTHONHASHSEED="2", TZ="Asia/Tokyo")
    clone = tmp_path / "a clone elsewhere"
    subprocess.run(["git", "clone", "-q", git.folder, clone], check=True)
    elsewhere = compiled(bylaw, clone, tmp_path / "two", PYTHONHASHSEED="3", LC_ALL="C", TZ="America/Lima")
    assert first == again == elsewhere


def metadata(out: Path) -> dict[str, Any]:
    bundle = json.loads((out / "compiled_policy_bundle.json").read_text(encoding="utf-8"))
    found: dict[str, Any] = bundle["bundle_metadata"]
    return found


def test_a_bundle_names_its_commit_and_whether_files_differ_from_it(git: Git, call: Command) -> None:
    out = git.folder / "build"
    head = git("rev-parse", "HEAD")
    call("compile", "--root", git.folder, "-o", out)
    assert (metadata(out)["source_commit"], metadata(out)["commit_date"]) == (head, "2026-06-01")
    call("compile", "--root", git.folder, "-o", out)
    assert metadata(out)["source_commit"] == head, "the bundle beside the policies is no change of them"
    edit(git, "policies/safety/POL-SAFETY-002.yaml", "priority: 4", "priority: 2")
    call("compile", "--root", git.folder, "-o", out)
    assert metadata(out)["source_commit"] == f"{head}-dirty"
    before = metadata(out)
    (git.folder / "policies/rental/notes.yaml").write_text("")
    call("compile", "--root", git.folder, "-o", out)
    assert metadata(out) == before, "what does not fit is not compiled, and the old bundle stays"


def test_outside_git_a_bundle_names_no_commit(company: Any) -> None:
    assert metadata(company.output)["source_commit"] is None
    assert metadata(company.output)["commit_date"] is None


def test_records_of_policies_that_are_gone_do_not_stay(git: Git, tmp_path: Path, call: Command) -> None:
    compiled(call, git.folder, tmp_path / "out")
    (git.folder / "policies/rental/POL-RENTAL-006.yaml").unlink()
    (tmp_path / "out/policies/notes.txt").write_text("mine")
    left = compiled(call, git.folder, tmp_path / "out")
    assert "policies/POL-RENTAL-006.json" not in left
    assert left["policies/notes.txt"] == b"mine"
