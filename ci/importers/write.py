"""A draft beside what lies in a policy repository: what is new, what follows the source, what a person's edit keeps.

What was imported is remembered in `context/.imported.json`, record by record. It is what tells an edit of the source
from an edit of a person, and belongs into the repository like the files it speaks of.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from bylaw.authoring import annotated, dump
from bylaw.canonical import write_atomically
from bylaw.errors import UsageError
from ci.importers.draft import KINDS, ContextDraft, Note, Record
from ci.importers.merge import merge, same, spoken
from ci.loading.files import FOLDERS
from ci.loading.load import load
from ci.loading.schema.schema_findings import fitted
from ci.loading.source import Unreadable, parse
from ci.scaffold import SCHEMAS

MEMORY = "context/.imported.json"
State = Literal["new", "updated", "unchanged", "kept", "removed"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the plan. `notes` say what changed or was kept; `text` is what is written, None for nothing.

    `schema` is the one that its first line points at.
    """

    path: str
    state: State
    notes: tuple[str, ...] = ()
    text: str | None = None
    diff: str = ""
    schema: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import would do to *root*: its files, what the source no longer says, and what is remembered."""

    root: Path
    entries: tuple[Entry, ...]
    gone: tuple[str, ...]
    memory: Mapping[str, Any] = field(default_factory=dict)

    def write(self) -> None:
        """Every file, each whole or not at all; then the memory, so that an import that was stopped can be repeated."""
        real = self.root.resolve()
        files = [(entry.path, entry.text) for entry in self.entries if entry.text is not None]
        files += list(missing_schemas(self.root, {entry.schema for entry in self.entries if entry.text is not None}))
        for path, _ in [*files, (MEMORY, "")]:
            if not (self.root / path).resolve().is_relative_to(real):
                raise UsageError(f"`{path}` leads out of `{self.root}`", "remove the link, or name another --output")
        try:
            for path, text in files:
                write_atomically(self.root / path, text, durable=False)
            for entry in self.entries:
                if entry.state == "removed":
                    (self.root / entry.path).unlink(missing_ok=True)
            if self.entries:
                write_atomically(self.root / MEMORY, _memory_text(self.memory))
        except OSError as problem:
            reason = (problem.strerror or "the system gives no reason").lower()
            raise UsageError(f"`{self.root}` cannot be written: {reason}", "name another --output") from None


def plan(root: Path, draft: ContextDraft, origin: str, force: bool = False) -> Plan:
    """What importing *draft* from *origin* does to the repository at *root*. Nothing is written yet."""
    if root.exists() and not root.is_dir():
        raise UsageError(f"`{root}` is a file", "--output names the folder of a policy repository")
    memory = remembered(root)
    workspace = load(root) if any((root / folder).exists() for folder in FOLDERS) else None
    known = workspace.context.paths if workspace else {}
    entries, kept = [], dict(memory)
    for section, records in draft.records.items():
        for name, record in records.items():
            path = known.get(f"{section}/{name}", f"context/{section}/{name}.yaml")
            notes = draft.notes.get((section, name), [])
            entry = replace(
                _entry(root, path, section, record, notes, memory.get(path), force), schema=KINDS[section][2]
            )
            entries.append(entry)
            if entry.state == "unchanged" and path in memory:
                notes = memory[path].get("notes", [])  # those that the file has
            if entry.state != "kept" or path in memory:
                kept[path] = {"origin": origin, "record": record} | ({"notes": notes} if notes else {})
    paths = {entry.path for entry in entries}
    gone = sorted(path for path, held in memory.items() if held.get("origin") == origin and path not in paths)
    for path in gone:
        if not (root / path).exists():
            kept.pop(path)
    return Plan(root, tuple(entries), tuple(path for path in gone if path in kept), kept)


def _entry(root: Path, path: str, section: str, record: Record, notes: Sequence[Note], held: Any, force: bool) -> Entry:
    model, _, schema = KINDS[section]
    try:
        text = (root / path).read_bytes().decode("utf-8")
        mine = parse(path, text).data
    except FileNotFoundError:
        return Entry(path, "new", text=_text(root, path, schema, record, notes))
    except (OSError, UnicodeDecodeError):
        return Entry(path, "kept", ("the file cannot be read",))
    except Unreadable as problem:
        return Entry(path, "kept", (problem.message,))
    if same(mine, record):
        return Entry(path, "unchanged")
    fresh = _text(root, path, schema, record, notes)
    base = held.get("record") if isinstance(held, dict) else None
    if base is None and not force:
        why = ("it was not imported, so it is yours (--force takes what the source says into it)",)
        return Entry(path, "kept", why, diff=difference(path, text, fresh))
    if base is not None and text == _text(root, path, schema, base, held.get("notes", ())):
        return Entry(path, "updated", ("nobody had edited it",), fresh, difference(path, text, fresh))
    found = merge(base if base is not None else {}, mine, record, force)
    edited = found.apply(text)
    kept = tuple(f"{spoken(route)} stays as it is here; the source says {_shown(value)}" for route, value in found.kept)
    if edited != text:
        misfits = fitted(model, parse(path, edited).data, path)[1]
        if misfits:
            return Entry(
                path, "kept", (f"with the source's changes, {misfits[0].message}",), diff=difference(path, text, fresh)
            )
        return Entry(path, "updated", (*found.changed, *kept), edited, difference(path, text, edited))
    return Entry(path, "kept" if kept else "unchanged", kept, diff=difference(path, text, fresh) if kept else "")


def _text(root: Path, path: str, schema: str, record: Record, notes: Sequence[Note] = ()) -> str:
    return f"{schema_line(root, path, schema)}{annotated(dump(record), notes)}"


def schema_line(root: Path, path: str, schema: str) -> str:
    """The first line of a file, by which an editor finds the schema."""
    up = "../" * path.count("/")
    folder = "bylaw/schemas" if (root / "bylaw" / "schemas").is_dir() else "schemas"
    return f"# yaml-language-server: $schema={up}{folder}/{schema}.schema.json\n"


def missing_schemas(root: Path, names: Set[str]) -> Iterator[tuple[str, str]]:
    """The schemas that the first lines point at, where they are missing."""
    if (root / "bylaw" / "schemas").is_dir():
        return
    for name in sorted(names - {""}):
        if not (root / "schemas" / f"{name}.schema.json").exists():
            yield f"schemas/{name}.schema.json", (SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8")


def remembered(root: Path) -> dict[str, Any]:
    """What was imported into *root* before: path → origin, and the record or the text that was written."""
    path = root / MEMORY
    if not path.is_file():
        return {}
    try:
        held = json.loads(path.read_text(encoding="utf-8"))["files"]
        if all(isinstance(value, dict) and _is_whole(value) for value in held.values()):
            return dict(held)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise UsageError(
        f"`{MEMORY}` is no memory of an import", "restore it from git, or delete it: what is here is then yours"
    )


def _is_whole(held: Mapping[str, Any]) -> bool:
    return isinstance(held.get("record"), dict) or isinstance(held.get("text"), str)


def _memory_text(files: Mapping[str, Any]) -> str:
    """The keys of a record in their order: it is held against the file that was written with them."""
    held = {"schema_version": "1.0", "files": dict(sorted(files.items()))}
    return json.dumps(held, indent=1, ensure_ascii=False) + "\n"


def _shown(value: Any) -> str:
    if value is None:
        return "nothing of it any more"
    line = json.dumps(value, ensure_ascii=False, default=str)
    return f"`{line if len(line) <= 80 else line[:79] + '…'}`"


def difference(path: str, before: str, after: str) -> str:
    """How *after* differs from *before*, as a patch."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"{path} (here)", f"{path} (source)", lineterm=""
    )
    return "\n".join(lines)
