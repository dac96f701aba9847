"""Which commit a folder shows: real git, in a folder of its own."""

import subprocess
from datetime import date
from pathlib import Path

import pytest

from ci.loading.commits.revision import Revision, revision
from ci.loading.load import load


def git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    day = {
        "GIT_COMMITTER_DATE": "2026-01-31T12:00:00+0000",
        "GIT_AUTHOR_DATE": "2020-01-01T12:00:00+0000",
        "HOME": str(root),
    }
    path = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    done = subprocess.run(
        ["git", *identity, "-C", str(root), *arguments], capture_output=True, text=True, check=True, env={**path, **day}
    )
    return done.stdout.strip()


def write(root: Path, name: str, text: str = "facts: {}\n") -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    write(root, ".gitignore", "ignored/\n")
    write(root, "policies/vocabulary.yaml")
    write(root, "README.md")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "one")
    return root


def test_a_clean_tree_shows_its_commit_and_the_day_it_was_committed(repository: Path) -> None:
    shown = revision(repository)
    assert (shown.commit, shown.commit_date) == (git(repository, "rev-parse", "HEAD"), date(2026, 1, 31))
    assert shown.committed_at == git(repository, "log", "-1", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%cd")


@pytest.mark.parametrize(
    "name", ["policies/vocabulary.yaml", "policies/new.yaml", "context/new.yaml", "rules/new.yaml"]
)
def test_a_changed_or_new_file_that_is_read_makes_it_dirty(repository: Path, name: str) -> None:
    write(repository, name, "facts: {a: {type: boolean}}\n")
    assert revision(repository).commit == f"{git(repository, 'rev-parse', 'HEAD')}-dirty"


def test_a_deleted_file_makes_it_dirty(repository: Path) -> None:
    (repository / "policies/vocabulary.yaml").unlink()
    assert str(revision(repository).commit).endswith("-dirty")


@pytest.mark.parametrize("name", ["README.md", "compiled_policy_bundle.json", "out/policies/POL-A-001.json"])
def test_a_file_that_is_not_read_changes_nothing(repository: Path, name: str) -> None:
    write(repository, name, "something else\n")
    assert revision(repository).commit == git(repository, "rev-parse", "HEAD")


def test_a_root_may_be_a_folder_inside_its_repository(repository: Path) -> None:
    write(repository, "shop/policies/vocabulary.yaml")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "two")
    commit = git(repository, "rev-parse", "HEAD")
    assert revision(repository / "shop").commit == commit
    write(repository, "policies/vocabulary.yaml", "facts: {a: {type: boolean}}\n")
    assert revision(repository / "shop").commit == commit, "another folder's change is none of this one's"
    assert revision(repository).commit == f"{commit}-dirty"


def test_a_folder_that_git_ignores_is_in_no_commit(repository: Path) -> None:
    write(repository, "ignored/demo/policies/vocabulary.yaml")
    assert revision(repository / "ignored/demo") == Revision()


def test_outside_git_and_before_the_first_commit_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    assert revision(tmp_path) == Revision()
    git(tmp_path, "init", "-q")
    assert revision(tmp_path) == Revision()
    assert revision(tmp_path / "nowhere") == Revision()


def test_a_program_that_the_repository_configures_is_not_started(repository: Path, tmp_path: Path) -> None:
    started = tmp_path / "started"
    hook = tmp_path / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch {started}\n")
    hook.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(hook))
    assert revision(repository).commit is not None
    assert not started.exists()


def test_a_workspace_knows_its_commit_and_asks_for_its_day(repository: Path) -> None:
    workspace = load(repository, today=date(2030, 1, 1))
    assert workspace.commit == git(repository, "rev-parse", "HEAD")
    assert workspace.commit_date == workspace.at == date(2026, 1, 31)
