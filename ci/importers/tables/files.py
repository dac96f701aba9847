"""The files that tables become, beside those of the repository: new, following their source, or kept by an edit.

Rows are one thing: where a person changed some of them and the source did too, nothing at all is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from bylaw.authored.policies import Case, Policy
from bylaw.authored.vocabulary import Vocabulary
from bylaw.errors import UsageError
from ci.findings import Finding, Place
from ci.importers.merge import merge, same, spoken
from ci.importers.tables.spell import spell
from ci.importers.write import Entry, Plan, difference, remembered, schema_line
from ci.loading.limits import MAX_BYTES
from ci.loading.schema.schema_findings import fitted
from ci.loading.source import Unreadable, parse

ROWS: Final = ("conditions", "actions", "overrides", "reason")  # what a row becomes stands or falls together


@dataclass(frozen=True, slots=True)
class Draft:
    """One file to be written: its record, and which schema it follows."""

    path: str
    schema: str
    record: Any

    def misfits(self, data: Any) -> list[Finding]:
        """What of *data* does not fit its model."""
        match self.schema:
            case "policy":
                return fitted(Policy, data, self.path)[1]
            case "vocabulary":
                return fitted(Vocabulary, data, self.path)[1]
        items = data if isinstance(data, list) else []
        return [finding for i, item in enumerate(items) for finding in fitted(Case, item, self.path, (i,))[1]]


def plan(root: Path, drafts: Sequence[Draft], origin: str, force: bool) -> Plan:
    """What writing *drafts* from *origin* does to the repository at *root*. Nothing is written yet.

    Raises UsageError where a file is there that this source did not write.
    """
    if root.exists() and not root.is_dir():
        raise UsageError(f"`{root}` is a file", "--output names the folder of a policy repository")
    memory = remembered(root)
    entries: list[Entry] = []
    held = dict(memory)
    for draft in drafts:
        note = PROPOSED if draft.schema == "vocabulary" else ""
        fresh = schema_line(root, draft.path, draft.schema) + note + spell(draft.record)
        if len(fresh.encode()) > MAX_BYTES:
            raise UsageError(f"`{draft.path}` would be larger than {MAX_BYTES:,} bytes", "split the table")
        base = _base(memory.get(draft.path), origin, draft.path)
        entries.append(replace(_entry(root, draft, fresh, base, force), schema=draft.schema))
        held[draft.path] = {"origin": origin, "text": fresh}
    paths = {draft.path for draft in drafts}
    gone = sorted(path for path, one in memory.items() if one.get("origin") == origin and path not in paths)
    left = []
    for path in gone:
        text = _text(root / path)
        if text is not None and text != memory[path].get("text"):
            left.append(path)
            continue
        held.pop(path)
        if text is not None:
            entries.append(Entry(path, "removed", ("its rows are gone from the source",)))
    if any(entry.state == "kept" and entry.notes == (TORN,) for entry in entries):
        entries = [entry if entry.notes == (TORN,) else Entry(entry.path, "kept", (HELD_BACK,)) for entry in entries]
        return Plan(root, tuple(entries), tuple(left), memory)
    return Plan(root, tuple(entries), tuple(left), held)


PROPOSED: Final = "# labels, questions and phrases are proposed from the words of the source, for review\n"
TORN: Final = "rows were edited here and changed in the source: yours stay (--force takes those of the source)"
HELD_BACK: Final = "nothing was written, because rows of this source were edited here"


def _base(held: Mapping[str, Any] | None, origin: str, path: str) -> str | None:
    """The text that this source wrote there before."""
    if held is None:
        return None
    if held.get("origin") != origin:
        raise UsageError(f"`{path}` was imported from another source: {held.get('origin')}", "name another --domain")
    text = held.get("text")
    return text if isinstance(text, str) else None


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        return ""


def _entry(root: Path, draft: Draft, fresh: str, base: str | None, force: bool) -> Entry:
    path, text = draft.path, _text(root / draft.path)
    if text is None:
        return Entry(path, "new", text=fresh)
    if text == fresh:
        return Entry(path, "unchanged")
    if base is None and not force:
        raise UsageError(
            f"`{path}` is there already, and this source did not write it", "name another --domain, or give --force"
        )
    if base is None or text == base:
        why = "nobody had edited it" if base is not None else "what was here is replaced"
        return Entry(path, "updated", (why,), fresh, difference(path, text, fresh))
    try:
        mine, before = parse(path, text).data, parse(path, base).data
    except Unreadable as problem:
        return Entry(path, "kept", (problem.message,), diff=difference(path, text, fresh))
    follow = _cases if draft.schema == "cases" else _mapping
    return follow(_Versions(draft, fresh, base, text, before, mine, force))


@dataclass(frozen=True, slots=True)
class _Versions:
    """A file as it was written, as a person has it, and as the source says it now."""

    draft: Draft
    fresh: str
    base: str
    text: str
    before: Any
    mine: Any
    force: bool

    def entry(self, edited: str, notes: Sequence[str], is_kept: bool) -> Entry:
        """The entry for what came of them, which has to fit its model."""
        path = self.draft.path
        try:
            misfits = self.draft.misfits(parse(path, edited).data)
        except Unreadable as problem:
            misfits = [Finding("schema", problem.message, Place(path))]
        if misfits:
            why = f"with the source's changes, {misfits[0].message}"
            return Entry(path, "kept", (why,), diff=difference(path, self.text, self.fresh))
        if edited == self.text:
            shown = difference(path, self.text, self.fresh) if is_kept else ""
            return Entry(path, "kept" if is_kept else "unchanged", tuple(notes), diff=shown)
        return Entry(path, "updated", tuple(notes), edited, difference(path, self.text, edited))


def _mapping(versions: _Versions) -> Entry:
    """A policy or a vocabulary: rows as one, everything else key by key."""
    draft, before, mine = versions.draft, versions.before, versions.mine
    now = parse(draft.path, versions.fresh).data
    if not isinstance(mine, dict):
        return Entry(draft.path, "kept", ("it is no mapping any more",))
    text, notes = versions.text, list[str]()
    if draft.schema == "policy":
        rows, was, new = (_part(record, ROWS) for record in (mine, before, now))
        if not same(rows, new) and (same(rows, was) or versions.force):
            spliced = _with_rows(versions.text, versions.fresh)
            if spliced is None or not same(_part(parse(draft.path, spliced).data, ROWS), new):
                return Entry(draft.path, "kept", (TORN,), diff=difference(draft.path, versions.text, versions.fresh))
            text = spliced
            notes.append("its rows follow the source")
        elif not same(rows, was) and not same(rows, new) and not same(was, new):
            return Entry(draft.path, "kept", (TORN,), diff=difference(draft.path, versions.text, versions.fresh))
        mine, before, now = (_without(record, ROWS) for record in (mine, before, now))
    found = merge(before, mine, now, versions.force)
    edited = found.apply(text)
    kept = [f"{spoken(route)} stays as it is here" for route, _ in found.kept]
    return versions.entry(edited, (*notes, *found.changed, *kept), bool(kept))


def _part(record: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: record[key] for key in keys if key in record}


def _without(record: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in keys}


def _with_rows(text: str, fresh: str) -> str | None:
    """*text* with the blocks of rows of *fresh*; None where the two have them in another form."""
    old, new = _blocks(text), _blocks(fresh)
    if "actions" not in old or "actions" not in new:
        return None
    lines: list[str] = []
    for key, block in old.items():
        if key == "actions" and "conditions" in new and "conditions" not in old:
            lines += new["conditions"]
        lines += new.get(key, []) if key in ROWS else block
        if key == "actions":
            lines += [line for other in ("overrides", "reason") if other not in old for line in new.get(other, [])]
    return "".join(lines)


def _blocks(text: str) -> dict[str, list[str]]:
    """The lines of each key at the top of a file; what stands before the first key under an empty one."""
    found: dict[str, list[str]] = {"": []}
    key = ""
    for line in text.splitlines(keepends=True):
        name = line.partition(":")[0]
        if name.isidentifier() and ":" in line:
            key = name
        found.setdefault(key, []).append(line)
    return found


def _cases(versions: _Versions) -> Entry:
    """Cases stand on one line each: those of the source are as it says now, without what a person took out."""
    before = set(versions.base.splitlines())
    own = [line for line in versions.text.splitlines() if line not in before]
    there = set(versions.text.splitlines())
    taken_out = before - there
    lines = [line for line in versions.fresh.splitlines() if line not in taken_out]
    edited = "".join(f"{line}\n" for line in [*lines, *own])
    return versions.entry(edited, ("the cases that were added or changed here stay",), False)
