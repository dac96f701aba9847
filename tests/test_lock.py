# To lock again (add --upgrade to the first line for the newest versions that the ranges in pyproject.toml allow):
#   uv pip compile pyproject.toml --no-config --universal --python-version 3.11 --all-extras --group dev \
#     --generate-hashes --no-emit-index-url --no-header --no-annotate -q -o requirements.lock
#   python tests/test_lock.py
#   uv pip compile pyproject.toml --no-config --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
#     --no-header --no-annotate -q -c requirements.lock -o ci/requirements.lock
"""The exact versions stand twice, for `uv run` and with hashes for pip: both say the same, and neither names a host."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "requirements.lock"
INSTALLED = ROOT / "ci" / "requirements.lock"  # by the action, the image and a release
PYPROJECT = ROOT / "pyproject.toml"

_REQUIREMENT = re.compile(r"(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)==(?P<version>[0-9][A-Za-z0-9.+!]*)(?: ; .+)?")
_HASH = re.compile(r" {4}--hash=sha256:[0-9a-f]{64}")
_BLOCK = re.compile(r"^constraint-dependencies = \[\n.*?^\]\n", re.MULTILINE | re.DOTALL)


def locked(lock: Path = LOCK) -> dict[str, list[str]]:
    """Each requirement of a lock with its hashes, in the order of the file."""
    found: dict[str, list[str]] = {}
    current = ""
    for line in lock.read_text(encoding="utf-8").splitlines():
        text = line.removesuffix(" \\")
        if line.startswith(" "):
            assert _HASH.fullmatch(text), f"not a hash: {line}"
            found[current].append(text)
        else:
            assert _REQUIREMENT.fullmatch(text), f"not an exact version: {line}"
            current = text
            found[current] = []
    return found


def block() -> str:
    """What stands in pyproject.toml under [tool.uv]."""
    return "".join(["constraint-dependencies = [\n", *(f'    "{line}",\n' for line in locked()), "]\n"])


def pyproject() -> dict[str, Any]:
    return tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))


def normalized(requirement: str) -> str:
    """The name of a requirement as an index spells it."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def test_uv_and_pip_are_told_the_same_versions() -> None:
    assert pyproject()["tool"]["uv"]["constraint-dependencies"] == list(locked())


def test_every_version_has_hashes() -> None:
    assert [name for name, hashes in locked().items() if not hashes] == []


def test_the_lock_is_sorted_and_names_nothing_twice() -> None:
    names = [normalized(line) for line in locked()]
    assert names == sorted(names)
    assert len(locked()) == sum(1 for line in LOCK.read_text(encoding="utf-8").splitlines() if not line.startswith(" "))


def test_everything_we_ask_for_is_locked() -> None:
    project = pyproject()
    wanted = [
        *project["project"]["dependencies"],
        *(line for extra in project["project"].get("optional-dependencies", {}).values() for line in extra),
        *(line for group in project["dependency-groups"].values() for line in group if isinstance(line, str)),
    ]
    missing = {normalized(line) for line in wanted} - {normalized(line) for line in locked()}
    assert missing == set()


def test_whoever_installs_bylaw_gets_all_that_it_asks_for() -> None:
    wanted = {normalized(line) for line in pyproject()["project"]["dependencies"]}
    assert wanted - {normalized(line) for line in locked(INSTALLED)} == set()


def test_the_lock_names_no_host_and_no_machine() -> None:
    text = LOCK.read_text(encoding="utf-8")
    assert "://" not in text
    assert "index" not in text
    assert "@" not in text
    assert not re.search(r"(^|\s)/", text)


def test_locks_that_record_addresses_are_ignored_by_git() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    assert {"uv.lock", "pylock.toml"} <= set(ignored)


if __name__ == "__main__":
    before = PYPROJECT.read_text(encoding="utf-8")
    after, count = _BLOCK.subn(lambda _: block(), before)
    if count != 1:
        raise SystemExit(f"pyproject.toml has no list to replace; put this under [tool.uv]:\n\n{block()}")
    PYPROJECT.write_text(after, encoding="utf-8")
    print("pyproject.toml says what requirements.lock says" if after != before else "nothing to change")
