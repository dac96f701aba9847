"""Files that others wrote, as plain values: JSON, YAML with several documents and anchors, or text.

Nothing here trusts a file: its size, its depth, what its aliases would unfold to and where its links lead are bounded.
A date is its ISO text and a number with a point its decimal, as they will be written again.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from bylaw.errors import UsageError

MAX_JSON = 256 * 1_048_576  # a manifest of a large project
MAX_TEXT = 8 * 1_048_576
MAX_DEPTH = 64
MAX_VALUES = 2_000_000
MAX_FILES = 10_000
PASSED = frozenset(("node_modules", "dbt_packages", "target", "__pycache__"))
SUFFIXES = (".json", ".yaml", ".yml", ".lkml", ".md")


@dataclass(frozen=True, slots=True)
class Foreign:
    """One file: its documents (none for text that is no data), and its text. `path` is relative to what was named."""

    path: str
    documents: tuple[Any, ...]
    text: str = ""

    @property
    def mappings(self) -> tuple[dict[str, Any], ...]:
        """The documents that are mappings."""
        return tuple(document for document in self.documents if isinstance(document, dict))

    def lists(self, key: str, having: str) -> bool:
        """Is there a document with a list under *key* in which something has the key *having*?"""
        lists = (document.get(key) for document in self.mappings)
        return any(
            isinstance(one, dict) and having in one for found in lists if isinstance(found, list) for one in found
        )


def read(target: Path, wanted: tuple[str, ...] = SUFFIXES) -> list[Foreign]:
    """The file *target*, or every file under the folder, in the order of their names. Raises UsageError."""
    if target.is_file():
        return [_read(target, target.name)]
    if not target.is_dir():
        raise UsageError(
            f"there is no file or folder `{target}`",
            "name what is there: dbt, for one, writes target/manifest.json with `dbt parse`",
        )
    found = []
    for path in _walk(target, wanted):
        found.append(_read(path, path.relative_to(target).as_posix()))
        if len(found) > MAX_FILES:
            raise UsageError(f"`{target}` holds more than {MAX_FILES:,} files", "name a folder further down")
    return found


def _walk(target: Path, wanted: tuple[str, ...]) -> Iterator[Path]:
    for folder, folders, names in os.walk(target):  # links to folders are not followed
        folders[:] = sorted(name for name in folders if name not in PASSED and not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if name.endswith(wanted) and not name.startswith(".") and not path.is_symlink():
                yield path


def _read(path: Path, shown: str) -> Foreign:
    limit = MAX_JSON if path.suffix == ".json" else MAX_TEXT
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"`{shown}` is no ordinary file")
        if status.st_size > limit:
            raise UsageError(f"`{shown}` is larger than {limit:,} bytes", "name a smaller part of it")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as problem:
        raise UsageError(f"`{shown}` cannot be read: {(problem.strerror or 'no reason given').lower()}") from None
    except UnicodeDecodeError:
        raise UsageError(f"`{shown}` is not UTF-8 text", "save it as UTF-8") from None
    return parse(shown, text)


def parse(path: str, text: str) -> Foreign:
    """The documents of *text*, read as the name of its file says. Raises UsageError for what is no such data."""
    if path.endswith(".json"):
        documents: tuple[Any, ...] = (_json(path, text),)
    elif path.endswith((".yaml", ".yml")):
        documents = _yaml(path, text)
    else:
        return Foreign(path, (), text)
    return Foreign(path, tuple(_bounded(path, document) for document in documents), text)


def _json(path: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        where = f" (line {problem.lineno})" if isinstance(problem, json.JSONDecodeError) else ""
        raise UsageError(f"`{path}` is no valid JSON{where}") from None


def _yaml(path: str, text: str) -> tuple[Any, ...]:
    try:
        _refuse_depth(path, text)
        return tuple(document for document in yaml.load_all(text, Loader=yaml.CSafeLoader) if document is not None)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark is not None else ""
        said = getattr(problem, "problem", None)
        raise UsageError(f"`{path}` is no valid YAML{where}{f': {said}' if said else ''}") from None


def _refuse_depth(path: str, text: str) -> None:
    """The loader goes down with every level, so the levels are counted before."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise UsageError(f"`{path}` is nested more than {MAX_DEPTH} deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _bounded(path: str, document: Any) -> Any:
    """*document* as a tree of its own: aliases unfolded as far as there is room, dates as text."""
    left = MAX_VALUES

    def copied(value: Any, depth: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise UsageError(f"`{path}` holds more than {MAX_VALUES:,} values, aliases unfolded")
        if depth > MAX_DEPTH:
            raise UsageError(f"`{path}` is nested more than {MAX_DEPTH} deep")
        if isinstance(value, dict):
            return {str(key): copied(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | set | tuple):
            return [copied(item, depth + 1) for item in value]
        if isinstance(value, date):
            return value.isoformat()
        return value if isinstance(value, str | bool | int | float) or value is None else str(value)

    return copied(document, 0)
