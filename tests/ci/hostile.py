"""Repositories as a stranger would prepare them: each leaves a mark when something that it names is run."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import copy_company


def git(root: Path, *words: str, given: bytes = b"") -> str:
    """What git says to the stranger, who lets it do everything."""
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "core.hooksPath=/dev/null")
    done = subprocess.run(["git", "-C", str(root), *who, *words], input=given, check=True, capture_output=True)
    return done.stdout.decode().strip()


@dataclass(frozen=True)
class Hostile:
    """A repository whose policies lie in `sub`; `mark` is there once something of its own was run."""

    top: Path
    mark: Path

    @property
    def root(self) -> Path:
        return self.top / "sub"

    @property
    def head(self) -> str:
        return git(self.top, "--git-dir=.git", "rev-parse", "HEAD")

    def script(self, name: str) -> Path:
        """A program that leaves the mark, and passes on what it is given."""
        path = self.top.parent / name
        path.write_text(f"#!/bin/sh\ntouch {self.mark}\nexec cat\n")
        path.chmod(0o755)
        return path

    def commit(self) -> str:
        git(self.top, "--git-dir=.git", "--work-tree=.", "add", "-A", "-f")
        git(self.top, "--git-dir=.git", "--work-tree=.", "commit", "-q", "--allow-empty", "-m", "more")
        return self.head


def hostile(folder: Path) -> Hostile:
    """A clean repository, the company's files in its folder `sub`, with one commit."""
    made = Hostile(folder / "top", folder / "mark")
    copy_company(made.root)
    git(folder, "init", "-q", "-b", "main", str(made.top))
    made.commit()
    return made


def with_bare_repository(made: Hostile) -> Hostile:
    """Commit what looks like a bare repository as the files of `sub`: what it lacks, it would fetch by a command."""
    head = made.head
    config = f"{_promisor(made)}[core]\n\tbare = false\n\tworktree = ..\n[protocol]\n\tallow = always\n"
    for name, text in (
        ("HEAD", f"{head}\n"),
        ("config", config),
        ("refs/heads/main", f"{head}\n"),
        ("objects/pack/keep", ""),
    ):
        (made.root / name).parent.mkdir(parents=True, exist_ok=True)
        (made.root / name).write_text(text)
    return made


def _promisor(made: Hostile) -> str:
    return (
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n"
        f'[remote "origin"]\n\tpromisor = true\n\turl = ext::touch {made.mark}\n[protocol "ext"]\n\tallow = always\n'
    )


def _told(made: Hostile, *pairs: tuple[str, str]) -> None:
    for name, value in pairs:
        git(made.top, "config", name, value)


def _attributes(made: Hostile, line: str) -> None:
    (made.top / ".gitattributes").write_text(f"* {line}\n")
    made.commit()
    for path in (made.root / "policies").rglob("*.yaml"):
        path.touch()  # git has to look at what it holds
        break
    (made.root / "policies" / "vocabulary.yaml").open("a").write("# more\n")


def _filter(made: Hostile, kind: str) -> None:
    _attributes(made, "filter=own")
    _told(made, (f"filter.own.{kind}", str(made.script("filter"))), ("filter.own.required", "true"))


def _odd_filter(made: Hostile) -> None:
    _attributes(made, "filter=a=b.c")
    _told(made, ("filter.a=b.c.clean", str(made.script("filter"))))


def _textconv(made: Hostile) -> None:
    _attributes(made, "diff=own")
    program = str(made.script("driver"))
    _told(made, ("diff.own.textconv", program), ("diff.own.command", program), ("diff.external", program))


def _submodule(made: Hostile) -> None:
    (made.root / "policies" / "module").mkdir()
    git(made.root / "policies" / "module", "init", "-q")
    git(made.root / "policies" / "module", "commit", "-q", "--allow-empty", "-m", "x")
    url = f"ext::touch {made.mark}"
    (made.top / ".gitmodules").write_text(
        f'[submodule "m"]\n\tpath = sub/policies/module\n\turl = {url}\n\tupdate = !touch {made.mark}\n'
    )
    made.commit()
    inner = made.root / "policies" / "module"
    _told(made, ("submodule.m.update", f"!touch {made.mark}"), ("status.submoduleSummary", "true"))
    git(inner, "config", "core.fsmonitor", str(made.script("monitor")))


def _hooks(made: Hostile) -> None:
    for name in ("post-index-change", "reference-transaction", "fsmonitor-watchman", "post-checkout", "pre-auto-gc"):
        hook = made.top / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {made.mark}\n")
        hook.chmod(0o755)
    _told(made, ("core.fsmonitor", ".git/hooks/fsmonitor-watchman"))


def _aliases(made: Hostile) -> None:
    for verb in ("status", "log", "diff", "ls-tree", "rev-parse", "cat-file", "merge-base", "config"):
        _told(made, (f"alias.{verb}", f"!touch {made.mark}"), (f"pager.{verb}", str(made.script("pager"))))
    _told(made, ("core.pager", str(made.script("pager"))))


def _signatures(made: Hostile) -> None:
    program = str(made.script("gpg"))
    _told(made, ("log.showSignature", "true"), ("gpg.program", program), ("gpg.format", "openpgp"))
    commit = git(made.top, "cat-file", "commit", "HEAD").encode()
    head, _, rest = commit.partition(b"\n\n")
    signed = head + b"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n" + rest + b"\n"
    found = git(made.top, "hash-object", "-t", "commit", "-w", "--stdin", given=signed)
    git(made.top, "update-ref", "HEAD", found)


def _lazy(made: Hostile) -> None:
    """The repository itself lacks an object and would fetch it."""
    blob = git(made.top, "rev-parse", "HEAD:sub/policies/vocabulary.yaml")
    (made.top / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with (made.top / ".git" / "config").open("a") as config:
        config.write(_promisor(made))


def _over_ssh(made: Hostile) -> None:
    _lazy(made)
    _told(made, ("remote.origin.url", "ssh://h/x"), ("core.sshCommand", str(made.script("ssh"))))


def _from_a_folder(made: Hostile) -> None:
    _lazy(made)
    other = made.top.parent / "other"
    git(made.top.parent, "init", "-q", str(other))
    _told(made, ("remote.origin.url", str(other)), ("remote.origin.uploadpack", str(made.script("pack"))))


def _proxy(made: Hostile) -> None:
    _lazy(made)
    _told(made, ("remote.origin.url", "git://h/x"), ("core.gitProxy", str(made.script("proxy"))))


def _helper(made: Hostile) -> None:
    _lazy(made)
    _told(made, ("remote.origin.vcs", "ext"), ("credential.helper", f"!touch {made.mark}"))


def _included(made: Hostile) -> None:
    (made.root / "more.cfg").write_text(f"[core]\n\tfsmonitor = {made.script('monitor')}\n")
    made.commit()
    _told(made, ("include.path", "../sub/more.cfg"))


def _of_a_worktree(made: Hostile) -> None:
    _told(made, ("extensions.worktreeConfig", "true"))
    (made.top / ".git" / "config.worktree").write_text(f"[core]\n\tfsmonitor = {made.script('monitor')}\n")


def _a_file_called_git(made: Hostile) -> None:
    """An archive may hold what git would not let anybody commit."""
    inner = made.top.parent / "inner"
    git(made.top.parent, "clone", "-q", "--bare", str(made.top), str(inner))
    git(inner, "config", "core.bare", "false")
    git(inner, "config", "core.worktree", str(made.root))
    git(inner, "config", "core.fsmonitor", str(made.script("monitor")))
    (made.root / ".git").write_text(f"gitdir: {inner}\n")


ATTACKS: Mapping[str, Callable[[Hostile], object]] = {
    "a file monitor": lambda made: _told(made, ("core.fsmonitor", str(made.script("monitor")))),
    "a filter that cleans": lambda made: _filter(made, "clean"),
    "a filter that smudges": lambda made: _filter(made, "smudge"),
    "a filter that stays": lambda made: _filter(made, "process"),
    "a filter with an odd name": _odd_filter,
    "a text conversion and a foreign diff": _textconv,
    "a submodule": _submodule,
    "hooks": _hooks,
    "a folder of hooks": lambda made: (_hooks(made), _told(made, ("core.hooksPath", ".git/hooks"))),
    "aliases and pagers": _aliases,
    "a program that checks signatures": _signatures,
    "an object that is missing": _lazy,
    "an object that is missing, over ssh": _over_ssh,
    "an object that is missing, from a folder": _from_a_folder,
    "an object that is missing, through a proxy": _proxy,
    "an object that is missing, by a helper": _helper,
    "settings that are included": _included,
    "settings of a work tree": _of_a_worktree,
    "a file called .git": _a_file_called_git,
}
