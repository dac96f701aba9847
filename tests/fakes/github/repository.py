"""A bare git repository behind the fake: real blobs, trees, commits and refs, and git's own diffs of them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied", "T": "changed"}


class GitError(Exception):
    """What git does not know or do, in its own words."""


@dataclass(frozen=True)
class Changed:
    """One file of a diff. `patch` is empty when git shows no lines: binary, or only renamed."""

    path: str
    status: str
    sha: str
    previous: str | None
    patch: str

    @cached_property
    def lines(self) -> Mapping[tuple[str, int], tuple[int, int]]:
        """(side, line) -> (hunk, position): the lines that a comment may stand on."""
        found: dict[tuple[str, int], tuple[int, int]] = {}
        hunk = left = right = 0
        for position, text in enumerate(self.patch.split("\n")):
            if start := _HUNK.match(text):
                hunk, left, right = hunk + 1, int(start[1]), int(start[2])
                continue
            if text[:1] in ("", " ", "-"):
                found["LEFT", left] = hunk, position
                left += 1
            if text[:1] in ("", " ", "+"):
                found["RIGHT", right] = hunk, position
                right += 1
        return found

    @property
    def additions(self) -> int:
        return sum(text.startswith("+") for text in self.patch.split("\n"))

    @property
    def deletions(self) -> int:
        return sum(text.startswith("-") for text in self.patch.split("\n"))


@dataclass(frozen=True)
class Commit:
    """A commit as git stores it."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    message: str
    author: tuple[str, str, str]  # name, e-mail, ISO time
    committer: tuple[str, str, str]


@dataclass(frozen=True)
class GitRepository:
    """The plumbing of git on one folder. Values are SHAs; nothing is checked out."""

    path: Path
    environ: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def create(cls, path: Path) -> GitRepository:
        """A new, empty, bare repository whose first branch is `main`."""
        plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        settled = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C", "TZ": "UTC"}
        subprocess.run(
            ["git", "init", "-q", "--bare", "--template=", "-b", "main", str(path)], check=True, env=plain | settled
        )
        return cls(path, plain | settled)

    def git(self, *words: str, given: bytes | None = None, **environ: str) -> str:
        """What git answers. Raises GitError."""
        return self.git_bytes(*words, given=given, **environ).decode(errors="replace")

    def git_bytes(self, *words: str, given: bytes | None = None, **environ: str) -> bytes:
        """Like `git`, for content that need not be text."""
        call = ["git", "-C", str(self.path), *words]
        done = subprocess.run(call, input=given, capture_output=True, check=False, env={**self.environ, **environ})
        if done.returncode != 0:
            raise GitError(done.stderr.decode(errors="replace").strip())
        return done.stdout

    def _fixed(self, *words: str) -> bytes:
        """Like `git_bytes`; remembered when all it is asked about is named by SHA, which never changes."""
        key = (self.path, *words)
        if key not in _FIXED:
            answer = self.git_bytes(*words)
            if not all(_IS_FIXED.fullmatch(word) for word in words[1:]):
                return answer
            _FIXED[key] = answer
        return _FIXED[key]

    def write(self, content: bytes) -> str:
        """A blob."""
        return self.git("hash-object", "-w", "--stdin", given=content).strip()

    def tree(self, base: str | None, changes: Mapping[str, str | None], modes: Mapping[str, str] | None = None) -> str:
        """The tree *base* with blobs at paths; None takes a path away. Raises GitError for what no tree can hold."""
        index = {"GIT_INDEX_FILE": str(self.path / "fake-index")}
        self.git("read-tree", *([base] if base else ["--empty"]), **index)
        rows = []
        for path, sha in sorted(changes.items()):
            mode = (modes or {}).get(path, "100644") if sha else "0"
            rows.append(f"{mode} {sha or '0' * 40}\t{path}\0")
        self.git("update-index", "-z", "--index-info", given="".join(rows).encode(), **index)
        return self.git("write-tree", **index).strip()

    def commit(
        self, tree: str, parents: list[str], message: str, author: tuple[str, str, str], committer: tuple[str, str, str]
    ) -> str:
        """A commit; the same words at the same time give the same SHA."""
        names = ("NAME", "EMAIL", "DATE")
        said = {f"GIT_AUTHOR_{name}": value for name, value in zip(names, author, strict=True)}
        said |= {f"GIT_COMMITTER_{name}": value for name, value in zip(names, committer, strict=True)}
        after = [word for parent in parents for word in ("-p", parent)]
        return self.git("commit-tree", tree, *after, "-F", "-", given=message.encode(), **said).strip()

    def resolve(self, name: str, kind: str = "commit") -> str | None:
        """The SHA that a branch, ref or SHA leads to."""
        if (self.path, name, kind) in _OBJECTS:
            return name
        is_whole = re.fullmatch(r"[0-9a-f]{40}|refs/.+", name) is not None
        for candidate in (name,) if is_whole else (f"refs/heads/{name}", f"refs/{name}", name):
            loose = self.path / candidate
            if candidate.startswith("refs/") and kind == "commit" and ".." not in candidate and loose.is_file():
                # What git would read, without starting it; a packed ref is git's to find.
                return loose.read_text(encoding="ascii").strip()
            try:
                sha = self.git("rev-parse", "--verify", "-q", "--end-of-options", f"{candidate}^{{{kind}}}").strip()
            except GitError:
                continue
            if sha == name:
                _OBJECTS.add((self.path, name, kind))
            return sha
        return None

    def blob_at(self, commit: str, path: str) -> str | None:
        """The SHA of a file at a commit or branch."""
        listed = self.git("ls-tree", commit, "--", path)
        return listed.split()[2] if listed and listed.split()[1] == "blob" else None

    def set_ref(self, ref: str, sha: str | None) -> None:
        """Point *ref* (`refs/heads/x`) at a commit, or take it away."""
        self.git("update-ref", ref, sha) if sha else self.git("update-ref", "-d", ref)

    def refs(self, prefix: str) -> dict[str, str]:
        """The refs that start with *prefix*, in order."""
        listed = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        rows = (line.split(" ") for line in listed)
        return {name: sha for name, sha in rows if name.startswith(prefix)}

    def merge_base(self, one: str, other: str) -> str | None:
        try:
            return self._fixed("merge-base", one, other).decode().strip()
        except GitError:
            return None

    def is_ancestor(self, older: str, newer: str) -> bool:
        return self.merge_base(older, newer) == older

    def commits(self, base: str, head: str) -> list[str]:
        """What *head* has beyond *base*, oldest first."""
        return self._fixed("rev-list", "--reverse", head, f"^{base}").decode().split()

    def read_commit(self, sha: str) -> Commit:
        return _read_commit(self, sha)

    def read_blob(self, sha: str) -> bytes:
        return self._fixed("cat-file", "blob", sha)

    def read_tree(self, sha: str, recursive: bool = False) -> list[tuple[str, str, str, str, int]]:
        """(path, mode, type, sha, size) for everything in a tree."""
        words = ["ls-tree", "-z", "--long", *(["-r", "-t"] if recursive else []), sha]
        rows = []
        for entry in self._fixed(*words).decode().split("\0")[:-1]:
            facts, path = entry.split("\t", 1)
            mode, kind, blob, size = facts.split()
            rows.append((path, mode, kind, blob, 0 if size == "-" else int(size)))
        return rows

    def diff(self, base: str, head: str) -> tuple[Changed, ...]:
        """What changes from *base* to *head*, with three lines of context like GitHub's."""
        return _diff(self, base, head)

    def moved(self, path: str, line: int, before: str, after: str) -> int | None:
        """Where *line* of *path* stands in a later commit; None when it changed on the way."""
        shift = 0
        for text in self.git("diff", "-U0", "--no-ext-diff", before, after, "--", path).splitlines():
            if hunk := re.match(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", text):
                start, count = int(hunk[1]), int(hunk[2] or 1)
                if count and start <= line < start + count:
                    return None
                if start + max(count, 1) <= line:
                    shift += int(hunk[4] or 1) - count
        return line + shift


_OBJECTS: set[tuple[Path, str, str]] = set()  # (repository, sha, kind) that are there: objects never go
_FIXED: dict[tuple[Path | str, ...], bytes] = {}
_IS_FIXED = re.compile(r"-.*|blob|\^?[0-9a-f]{40}")
_COMMITS: dict[tuple[Path, str], Commit] = {}
_DIFFS: dict[tuple[Path, str, str], tuple[Changed, ...]] = {}


def _read_commit(repository: GitRepository, sha: str) -> Commit:
    key = (repository.path, sha)
    if key not in _COMMITS:
        form = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"
        shown = repository.git("show", "-s", "--no-show-signature", f"--format={form}", sha).split("\0")
        own, tree, parents, *names, message = shown
        author, committer = tuple(names[:3]), tuple(names[3:6])
        _COMMITS[key] = Commit(own, tree, tuple(parents.split()), message.rstrip("\n"), author, committer)
    return _COMMITS[key]


def _diff(repository: GitRepository, base: str, head: str) -> tuple[Changed, ...]:
    key = (repository.path, base, head)
    if key not in _DIFFS:
        _DIFFS[key] = tuple(_changes(repository, base, head))
    return _DIFFS[key]


def _changes(repository: GitRepository, base: str, head: str) -> Iterator[Changed]:
    options = ("-M", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index")
    raw = repository.git("diff", *options, "--raw", "-z", base, head).split("\0")
    patches = re.split(r"^diff --git .*\n", repository.git("diff", *options, "-U3", base, head), flags=re.MULTILINE)[1:]
    for patch in patches:
        facts = raw.pop(0).lstrip(":").split(" ")
        status = facts[4][0]
        path = raw.pop(0)
        previous, path = (path, raw.pop(0)) if status in "RC" else (None, path)
        start = re.search(r"^@@ ", patch, flags=re.MULTILINE)
        shown = patch[start.start() :].removesuffix("\n") if start else ""
        yield Changed(path, _STATUS[status], facts[3] if status != "D" else facts[2], previous, shown)
