"""The packages that a repository is built from, by the files that list them; read where a decision names one."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

MOST_FOLDERS = 20_000
MOST_BYTES = 64 * 1024 * 1024  # of one list
_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:[\[=<>!~;,(@ ]|$)")
_UNSEEN = frozenset(("node_modules", "site-packages", "__pycache__", "vendor", "venv"))


def packages_of(root: Path) -> frozenset[str] | None:
    """The names of all packages, spelled by `package_name`; None where nobody knows them all.

    That is where nothing lists any, a list cannot be read, or one is of a kind that is not read here.
    """
    found: set[str] = set()
    is_any = False
    for path, read in _lists(root):
        try:
            if read is None or path.stat().st_size > MOST_BYTES:
                return None
            found.update(package_name(name) for name in read(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, AttributeError, TypeError, RecursionError):
            return None
        is_any = True
    return frozenset(found) if is_any else None


def package_name(name: str) -> str:
    """*name* as names are compared: `Queue_Client` and `queue-client` are one package."""
    return re.sub(r"[-_.]+", "-", name.strip().casefold())


def _lists(root: Path) -> Iterator[tuple[Path, Reader | None]]:
    """The files that list packages, each with what reads it; None for a kind that nothing reads."""
    walked = os.walk(root)
    for count, (folder, inner, names) in enumerate(walked):
        inner[:] = sorted(one for one in inner if not one.startswith(".") and one not in _UNSEEN)
        if count >= MOST_FOLDERS:
            yield root, None
            return
        for name in sorted(names):
            kind = next((pattern for pattern in KINDS if fnmatchcase(name, pattern)), None)
            if kind is not None and not (path := Path(folder, name)).is_symlink():
                yield path, KINDS[kind]


def _pyproject(text: str) -> Iterator[str]:
    written = tomllib.loads(text)
    project, poetry = written.get("project", {}), written.get("tool", {}).get("poetry", {})
    groups = (*project.get("optional-dependencies", {}).values(), *written.get("dependency-groups", {}).values())
    for wanted in (project.get("dependencies", ()), *groups):
        yield from _requirements("\n".join(one for one in wanted if isinstance(one, str)))
    more = (group.get("dependencies", {}) for group in poetry.get("group", {}).values())
    for one in (poetry.get("dependencies", {}), *more):
        yield from one
    yield from (str(one["name"]) for one in (project, poetry) if "name" in one)


def _requirements(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if (named := _NAME.match(line)) is not None:
            yield named[1]


def _locked(text: str) -> Iterator[str]:
    yield from (str(one["name"]) for one in tomllib.loads(text).get("package", ()))


def _npm(text: str) -> Iterator[str]:
    written = json.loads(text)
    for key in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
        yield from written.get(key, {})
    yield from _named(written)


def _npm_lock(text: str) -> Iterator[str]:
    written = json.loads(text)
    yield from (path.rpartition("node_modules/")[2] for path in written.get("packages", {}) if path)
    yield from written.get("dependencies", {})
    yield from _named(written)


def _named(written: Mapping[str, Any]) -> Iterable[str]:
    return (str(written["name"]),) if "name" in written else ()


Reader = Callable[[str], Iterator[str]]
# Name of a file that lists packages -> what reads it.
KINDS: Mapping[str, Reader | None] = {
    "pyproject.toml": _pyproject,
    "requirements*.txt": _requirements,
    "requirements*.lock": _requirements,
    "constraints*.txt": _requirements,
    "uv.lock": _locked,
    "poetry.lock": _locked,
    "package.json": _npm,
    "package-lock.json": _npm_lock,
    **dict.fromkeys(("Pipfile", "setup.py", "environment.y*ml", "pnpm-lock.yaml", "yarn.lock", "go.mod", "Cargo.toml")),
    **dict.fromkeys(("Gemfile", "composer.json", "pom.xml", "build.gradle*", "*.csproj", "*.gemspec", "mix.exs")),
}
