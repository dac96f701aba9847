"""New cases at the end of a `cases.yaml`: what is there stays byte for byte, and the result is read back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from bylaw.canonical import write_atomically
from bylaw.errors import UsageError
from ci.loading.source import Unreadable, read


def appended(path: str, text: str, entries: Sequence[str]) -> str:
    """*text* with *entries* behind it. Raises UsageError where the file is no list in blocks to add to."""
    bare = re.sub(r"^\[\s*\][ \t]*(#.*)?$", r"\1", text, flags=re.MULTILINE)  # an empty list holds no place for an item
    lead = bare.rstrip("\n") + "\n" if bare.strip() else ""
    made = lead + "".join(entries)
    old, new = _items(path, bare), _items(path, made)
    added = sum(row.startswith("- ") for one in entries for row in one.split("\n"))
    if old is None or new is None or new[: len(old)] != old or len(new) != len(old) + added:
        raise UsageError(f"`{path}` is no list that cases can be added to", "write each case as an item: `- name: …`")
    return made


def _items(path: str, text: str) -> list[Any] | None:
    """The items of the file; none of a file that only remarks, None of what is no list."""
    if all(not row.strip() or row.lstrip().startswith("#") for row in text.split("\n")):
        return []
    try:
        data = read(path, text.encode()).data
    except Unreadable:
        return None
    return data if isinstance(data, list) else None


def write_cases(root: Path, entries: Sequence[tuple[str, str]]) -> Mapping[str, int]:
    """Add *entries*, each a path from *root* and its text, to their files; how many each file got.

    Raises UsageError before anything is written where one of the files cannot take them.
    """
    texts: dict[str, str] = {}
    counts: dict[str, int] = {}
    for path, group in groupby(sorted(entries, key=lambda pair: pair[0]), key=lambda pair: pair[0]):
        added = [text for _, text in group]
        texts[path], counts[path] = appended(path, _text(root / path), added), len(added)
    for path, text in texts.items():
        try:
            write_atomically(root / path, text)
        except OSError as error:
            raise UsageError(f"cannot write `{root / path}`: {error.strerror or error}") from None
    return counts


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read `{path}`: {error}") from None
