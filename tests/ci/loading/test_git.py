"""Nothing that a repository names is run: every way that a stranger's fork could have one of ours start a program."""

from __future__ import annotations

import ast
import contextlib
import os
import re
from datetime import date
from pathlib import Path

import pytest

from bylaw.errors import BylawError, UsageError
from ci.findings import Finding
from ci.loading.commits import git as ours
from ci.loading.commits.base_commit import committed_on, files_at
from ci.loading.commits.git import commit_of
from ci.loading.commits.revision import folder, revision
from ci.loading.files import contents
from ci.loading.source import MAX_BYTES
from ci.review.asked.answers import Head, changes, why
from ci.review.asked.commands import Why
from ci.review.computed.brought import brought
from ci.review.computed.hunks import diff_since, forked_at
from tests.ci.hostile import ATTACKS, Hostile, git, hostile, with_bare_repository
from tests.rows import each, one_of

HOUSE = Path(__file__).resolve().parents[3]


@pytest.fixture
def repository(tmp_path: Path) -> Hostile:
    return hostile(tmp_path)


@pytest.fixture
def embedded(repository: Hostile) -> tuple[Hostile, str]:
    """A committed bare repository as the policy root, and the commit before it."""
    before = repository.head
    with_bare_repository(repository).commit()
    return repository, before


def everything(root: Path, base: str) -> None:
    """Whatever ci asks of git, each whether or not it can be answered."""
    today = date(2026, 6, 1)
    for ask in (
        lambda: files_at(root, base),
        lambda: files_at(root, "HEAD"),
        lambda: committed_on(root, base),
        lambda: revision(root),
        lambda: folder(root),
        lambda: forked_at(root, base),
        lambda: diff_since(root, base),
        lambda: [*brought(root, ["policies/vocabulary.yaml"])],
        lambda: why(Why(facts={}), Head(root, "HEAD", base, None, today)),
        lambda: changes(Head(root, "HEAD", base, None, today)),
    ):
        with contextlib.suppress(BylawError):
            ask()


def test_a_committed_bare_repository_runs_nothing(embedded, call):
    made, before = embedded
    call("check", "--root", made.root, "--base", before)
    call("diff", before, "HEAD", "--root", made.root)
    call("diff", before, made.root, "--root", made.root)
    call("review", "--dry-run", "--root", made.root, "--base", before)
    everything(made.root, before)
    everything(made.root, "0" * 40)
    assert not made.mark.exists()


def test_what_cannot_be_told_is_no_answer(embedded):
    made, before = embedded
    assert revision(made.root).commit is None
    with pytest.raises(UsageError, match="git does not know"):
        files_at(made.root, before)


@pytest.mark.parametrize("attack", one_of(3, ATTACKS))
def test_nothing_that_a_repository_names_is_run(repository, attack):
    before = repository.head
    ATTACKS[attack](repository)
    everything(repository.root, before)
    assert not repository.mark.exists()


@pytest.mark.parametrize("name", ["GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_PAGER", "GIT_ASKPASS", "PAGER"])
def test_nothing_that_the_environment_names_is_run(repository, monkeypatch, name):
    monkeypatch.setenv(name, str(repository.script("own")))
    (repository.root / "policies" / "vocabulary.yaml").write_text("facts: {}\n")
    everything(repository.root, repository.head)
    assert not repository.mark.exists()


def test_settings_of_the_user_are_not_heard_but_for_whom_they_trust(repository, monkeypatch, tmp_path):
    own = tmp_path / "gitconfig"
    own.write_text(f"[core]\n\tfsmonitor = {repository.script('own')}\n[safe]\n\tdirectory = *\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    ours._trusted.cache_clear()
    try:
        if os.geteuid() == 0:
            os.chown(repository.top, 65534, 65534)  # as in a job whose checkout belongs to another user
        assert revision(repository.root).commit == repository.head
    finally:
        ours._trusted.cache_clear()
    assert not repository.mark.exists()


def test_a_program_called_git_in_the_folder_is_not_git(repository, monkeypatch):
    before, fake = repository.head, repository.top / "git"
    fake.write_text(f"#!/bin/sh\ntouch {repository.mark}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    monkeypatch.chdir(repository.top)
    everything(repository.root, before)
    assert not repository.mark.exists()


def test_another_repository_that_the_environment_names_is_not_read(repository, monkeypatch, tmp_path):
    other = hostile(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.top / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.top))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.top / ".git" / "index"))
    assert folder(repository.root) == "sub/"


ODD = [
    "-", "--", "--help", "--upload-pack=touch x", "-c", "--exec=x", "--output=x", "-O/x", "@{-1}", "HEAD:sub",
    "HEAD^{tree}", "", " ", "HEAD HEAD", "HEAD\nHEAD", "HEAD\0x", "HEAD..HEAD~1", "HEAD...main", "^HEAD", "a" * 1_001,
    "a" * 100_000, "../../etc/passwd", "refs/heads/../../config", "\u200bHEAD", "ext::touch x", "$(touch x)",
    "`touch x`", ";touch x", "HEAD;x", "HEAD\x1b[2J", "0" * 40, "f" * 64, "\ud800", "HEAD^{", "HEAD@{upstream}",
    ":/nowhere", "stash@{0}", "refs/replace/x",
]  # fmt: skip


@each("ref", ODD, ids=repr)
def test_what_names_no_commit_is_refused(repository, ref):
    with pytest.raises(UsageError, match="git does not know"):
        commit_of(repository.root, ref)
    assert committed_on(repository.root, ref) is None
    assert not (repository.top / "x").exists() and not (repository.root / "x").exists()


def test_a_tree_of_trees_is_given_up_early(repository):
    """Ten levels of ten folders that are all the same one: ten thousand million files in a few hundred bytes."""
    top = repository.top
    blob = git(top, "hash-object", "-w", "--stdin", given=b"a: 1\n")
    tree = git(top, "mktree", given="".join(f"100644 blob {blob}\tf{i}.yaml\n" for i in range(10)).encode())
    for _ in range(9):
        tree = git(top, "mktree", given="".join(f"040000 tree {tree}\td{i}\n" for i in range(10)).encode())
    root = git(top, "mktree", given=f"040000 tree {tree}\tpolicies\n".encode())
    commit = git(top, "commit-tree", root, "-m", "bomb")
    assert ours.git(top, "ls-tree", "-r", "-z", commit, "--", "policies", most=1_000_000) is None


def test_a_large_file_is_not_held(repository):
    (repository.root / "policies" / "large.yaml").write_bytes(b"#" * 30_000_000)
    (repository.root / "policies" / "zz.yaml").write_bytes(b"behind: it\n")
    repository.commit()
    found = {one.path: one.data for one in files_at(repository.root, "HEAD")}
    assert len(found["policies/large.yaml"]) == MAX_BYTES + 1
    assert found["policies/zz.yaml"] == b"behind: it\n"


def test_a_link_to_something_hidden_is_not_read(repository):
    """The settings of a checkout may hold the token it was made with."""
    (repository.top / ".git" / "config").open("a").write("[secret]\n\ttoken = s3cret\n")
    (repository.top / "policies").mkdir()
    (repository.top / "policies" / "a.yaml").symlink_to("../.git/config")
    (repository.top / ".own").mkdir()
    (repository.top / "policies" / "b").symlink_to("../.own")
    (repository.top / "rules").symlink_to(".git")
    found = [*contents(repository.top)]
    assert [(one.at.path, one.message) for one in found if isinstance(one, Finding)] == [
        ("policies/a.yaml", "the link leads to a hidden file"),
        ("policies/b", "the link leads to a hidden file"),
        ("rules", "the link leads to a hidden file"),
    ]
    assert len(found) == 3


STARTERS = {
    *("os.system", "os.popen", "os.execv", "os.execve", "os.execvp", "os.execvpe", "os.posix_spawn", "os.posix_spawnp"),
    *("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"),
}


def test_nothing_else_starts_git():
    """One module calls git. Whoever starts another program does not start this one."""
    callers, verbs = set(), {name.rpartition(".")[2] for name in STARTERS}
    starters = {"subprocess", "git", "pygit2", "dulwich", "pty"}
    spoken = re.compile(rf"\b({'|'.join(sorted(starters | verbs))})\b")
    for package in ("bylaw", "ci", "bot"):
        for path in (HOUSE / package).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if not spoken.search(text):
                continue
            for node in ast.walk(ast.parse(text)):
                modules = {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
                modules |= {node.module} if isinstance(node, ast.ImportFrom) else set()
                starts = modules & starters
                named = isinstance(node, ast.Attribute) and node.attr in verbs and ast.unparse(node) in STARTERS
                if starts or named:
                    callers.add(path.relative_to(HOUSE).as_posix())
    assert callers == {
        "ci/loading/commits/git.py",
        "bot/gate/proxy.py",
        "bylaw/logic/solver/sandbox.py",
        "bylaw/warehouses/process.py",
    }
