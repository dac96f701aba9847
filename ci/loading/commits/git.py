"""The only way to git: it reads objects and compares files, and starts nothing that a repository could name.

The folder may be a stranger's fork. What a repository, its attributes or somebody's settings could make git start is
switched off for every call: a bare repository that was committed as a folder, transports (and with them objects that
are fetched when they are missed), hooks, filters, file monitors, text conversions, foreign diffs, pagers, prompts.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO

from bylaw.errors import BylawError, UsageError

SECONDS = 120
MOST_BYTES = 512 * 1024 * 1024  # of one answer: a tree of trees may list more files than there are atoms
_MOST_LETTERS = 1_000  # of a ref
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

_SETTINGS: Mapping[str, str] = {
    "safe.bareRepository": "explicit",  # a folder of a checkout that looks like a repository is none
    "protocol.allow": "never",
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.pager": "cat",
    "core.quotePath": "true",
    "core.editor": "false",
    "core.askPass": "",
    "core.sshCommand": "false",
    "core.gitProxy": "",
    "core.bigFileThreshold": "8m",  # larger ones are streamed instead of held
    "credential.helper": "",
    "diff.external": "",
    "gpg.program": "false",
    "gpg.ssh.program": "false",
    "gpg.x509.program": "false",
    "log.showSignature": "false",
    "submodule.recurse": "false",
}
_ENVIRONMENT: Mapping[str, str] = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_PAGER": "cat",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "LC_ALL": "C",
}
_KEPT = ("SYSTEMROOT", "TMPDIR", "TEMP")  # of the environment, beside the path
_READ_FILES = frozenset({"diff", "status"})  # what compares the working tree runs it through the filters of its files
_FOREIGN = r"^(filter|diff|merge)\..*\.(clean|smudge|process|required|command|textconv|driver)$"


def git(root: Path, *arguments: str, given: bytes = b"", most: int = MOST_BYTES) -> bytes | None:
    """What git says in *root*; None when it fails, is not there, takes too long or says more than *most* bytes."""
    try:
        with reading(root, *arguments, given=given) as (stream, process):
            said = stream.read(most + 1)
            if len(said) > most:
                return None
            return said if process.wait() == 0 else None
    except (OSError, ValueError):  # there is no git here, or a NUL in what it is asked
        return None


def text(root: Path, *arguments: str) -> str | None:
    """The same as text."""
    said = git(root, *arguments)
    return None if said is None else said.decode("utf-8", "replace")


@contextmanager
def reading(root: Path, *arguments: str, given: bytes = b"") -> Iterator[tuple[IO[bytes], subprocess.Popen[bytes]]]:
    """What git says in *root*, as a stream; killed when the time is up and where the block ends before it does."""
    settings = [*_SETTINGS.items(), *_trusted()]
    if arguments[0] in _READ_FILES:
        settings += ((name, "") for name in _foreign(root))
    with tempfile.TemporaryFile() as asked:
        asked.write(given)
        asked.seek(0)
        command = ["git", "--no-pager", "-C", str(root), *arguments]
        process = subprocess.Popen(
            command,
            stdin=asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(settings),
        )
        guard = threading.Timer(SECONDS, process.kill)
        guard.start()
        try:
            assert process.stdout is not None
            yield process.stdout, process
        finally:
            guard.cancel()
            process.kill()
            if process.stdout is not None:
                process.stdout.close()
            process.wait()


def commit_of(root: Path, ref: str) -> str:
    """The full id of the commit that *ref* names. Raises UsageError where git knows none."""
    is_ref = not ref.startswith("-") and len(ref) <= _MOST_LETTERS and ref.isprintable()
    found = text(root, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}") if is_ref else None
    if found is None or _COMMIT.fullmatch(found.strip()) is None:
        shown = ref if is_ref else repr(ref[:60])[1:-1]
        raise UsageError(f"git does not know `{shown}` in `{root}`", "name a branch, a tag or a commit")
    return found.strip()


def _environment(settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Nothing of the caller's but where programs are, and *settings* as variables: names may hold an equals sign."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    said: dict[str, str] = {"GIT_CONFIG_COUNT": str(len(settings))}
    for i, (name, value) in enumerate(settings):
        said |= {f"GIT_CONFIG_KEY_{i}": name, f"GIT_CONFIG_VALUE_{i}": value}
    return {"PATH": _path(), **kept, **_ENVIRONMENT, **said}


def _path() -> str:
    """Where programs are; not in the folder that happens to be the current one."""
    said = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(part for part in said if Path(part).is_absolute())


def _foreign(root: Path) -> list[str]:
    """The names under which the repository's own settings give programs to filters, diffs and merges."""
    found = text(root, "config", "--null", "--name-only", "--get-regexp", _FOREIGN)
    return [name for name in (found or "").split("\0") if name]


@lru_cache(maxsize=1)
def _trusted() -> tuple[tuple[str, str], ...]:
    """Of the settings of this machine and its user only one is heard: whose folders they trust."""
    command = ["git", "-C", os.sep, "config", "--null", "--show-scope", "--get-all", "safe.directory"]
    try:
        environment = {**os.environ, "PATH": _path()}
        said = subprocess.run(command, capture_output=True, env=environment, timeout=SECONDS, check=False).stdout
    except subprocess.TimeoutExpired as error:
        raise BylawError("git does not answer") from error
    parts = said.decode("utf-8", "surrogateescape").split("\0")
    pairs = zip(parts[::2], parts[1::2], strict=False)
    return tuple(("safe.directory", value) for scope, value in pairs if scope in ("system", "global", "command"))
