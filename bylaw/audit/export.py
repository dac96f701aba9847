"""The chain as a file that verifies by itself: JSON lines, an opening line, one an entry, a closing line.

The opening line says what the first entry follows, the closing one where the chain stood: a file cut off shows.
A checkpoint file is the closing lines alone, one under the other: it only grows, and git shows what was added.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from json.encoder import encode_basestring  # what `json` itself spells text with
from pathlib import Path
from typing import IO, Any

from bylaw.audit.entry import START, AuditEntry, Checkpoint, after, read
from bylaw.audit.verify import Verdict, Verifier
from bylaw.canonical import canonical_json
from bylaw.errors import UsageError
from bylaw.progress import Hear, heard

FORMAT = 1
MAX_LINE = 64 * 1024 * 1024  # bytes; an entry of the bot has a few thousand


@dataclass
class Export:
    """An export being read. `entries` can be read once; what stands at the end is known after that."""

    start: Checkpoint
    entries: Iterator[AuditEntry]
    closing: Checkpoint | None = None
    is_torn: bool = False
    strays: list[int] = field(default_factory=list)  # lines behind the closing one
    is_altered: bool = False  # says the last line something else beside its entry?


def lines(entries: Iterable[AuditEntry], start: Checkpoint = START) -> Generator[str]:
    """The lines of the export of *entries*, which follow *start*."""
    yield canonical_json({"bylaw_audit": FORMAT, "after": _plain(start)}) + "\n"
    tail = start
    for entry in entries:
        yield _line(entry)
        tail = after(entry)
    yield canonical_json({"closing": _plain(tail)}) + "\n"


def open_export(stream: IO[bytes], name: str, hear: Hear | None = None) -> Export:
    """The export in *stream*; raises UsageError for a file that is none. *hear* is told how far it was read."""
    first = _value(stream.readline(MAX_LINE))
    start = _checkpoint(first.get("after")) if isinstance(first, dict) and first.get("bylaw_audit") == FORMAT else None
    if start is None:
        raise UsageError(f"`{name}` is no export of the audit log", "write one with `bylaw audit export -o FILE`")
    export = Export(start, iter(()))
    size = os.fstat(stream.fileno()).st_size if hear is not None and stream.seekable() else 0
    export.entries = heard("reading the log", _entries(stream, export), size, hear if size else None, stream.tell)
    return export


def verify_export(export: Export, anchors: Iterable[Checkpoint] = ()) -> Verdict:
    """The verdict over an export: its chain, its end, and *anchors* where the export reaches them."""
    verifier = Verifier((anchor for anchor in anchors if anchor.count >= export.start.count), export.start)
    for entry in export.entries:
        if verifier.feed(entry) and export.is_altered:
            verifier.tell("edited", entry.seq, f"the line of entry {entry.seq} says more or other than the entry")
    last = verifier.standing.count
    if export.is_torn:
        detail = f"the last line is incomplete: its writing was interrupted after entry {last}; export again"
        verifier.tell("torn", last + 1, detail)
    elif export.closing is None:
        verifier.tell("truncated", last + 1, f"the closing line is missing: the export was cut off after entry {last}")
    elif export.closing.count > last:
        detail = f"the export ends at entry {last}, its closing line knew {export.closing.count}"
        verifier.tell("truncated", last + 1, detail)
    elif export.closing != verifier.standing:
        verifier.tell("rewritten", last, f"entry {last} is not the one that the closing line knew")
    for line in export.strays:
        verifier.tell("inserted", last + 1, f"line {line} stands behind the closing line")
    return verifier.finish()


def read_checkpoints(path: Path) -> tuple[Checkpoint, ...]:
    """Every checkpoint in the file, oldest first. A line whose writing was interrupted is left out.

    Raises UsageError for a line that is none, and no beginning of one.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"`{path}` cannot be read: {error.strerror}", "write it with `bylaw audit checkpoint`"
        ) from None
    found: list[Checkpoint] = []
    for number, row in enumerate(text.split(b"\n"), start=1):
        if not row.strip() or _is_torn(row):
            continue
        value = _value(row)
        known = _checkpoint(value.get("closing")) if isinstance(value, dict) else None
        if known is None:
            raise UsageError(f"line {number} of `{path}` is no checkpoint", "restore the file from git")
        found.append(known)
    return tuple(sorted(found, key=lambda known: known.count))


def _is_torn(row: bytes) -> bool:
    """Is *row* the beginning of a checkpoint, whose writing was interrupted?"""
    count, head = re.search(rb"[0-9]+", row), re.search(rb'"head":"([0-9a-f]{0,64})', row)
    named = Checkpoint(int(count[0][:18]) if count else 1, (head[1].decode() if head else "").ljust(64, "0"))
    whole = canonical_json({"closing": _plain(named)}).encode()
    return len(row) < len(whole) and whole.startswith(row)


def add_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Add *checkpoint* to the file. Several processes may at once: a short line is appended whole. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = (canonical_json({"closing": _plain(checkpoint)}) + "\n").encode()
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        size = os.fstat(handle).st_size
        is_torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        whole = b"\n" + line if is_torn else line
        if os.write(handle, whole) < len(whole):  # the disk is full: what is torn is left out by who reads it
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(handle)
    finally:
        os.close(handle)


def _entries(stream: IO[bytes], export: Export) -> Iterator[AuditEntry]:
    position, number = export.start.count, 1
    while line := stream.readline(MAX_LINE):
        number += 1
        value = _value(line)
        if export.closing is not None:
            export.strays.append(number)
            continue
        if value is None and not line.endswith(b"\n"):
            export.is_torn = True
            return
        if isinstance(value, dict) and set(value) == {"closing"}:
            export.closing = _checkpoint(value["closing"])
            continue
        entry = _entry(value, position + 1, line)
        export.is_altered = _line(entry).encode("utf-8", "replace") != line.rstrip(b"\r\n") + b"\n"
        position = entry.seq
        yield entry


def _entry(value: Any, position: int, line: bytes) -> AuditEntry:
    """The entry of a line; what is none of ours cannot match its own hash."""
    match value:
        case {
            "seq": int(seq),
            "prev_hash": str() | None as prev_hash,
            "entry_hash": str(hash_),
            "header": str(header),
            "payload": str() | None as payload,
        }:
            return read(prev_hash, hash_, header, payload, seq if 0 < seq < 2**62 else position)
    return AuditEntry(position, None, "", line.decode("utf-8", "replace"), None)


def _line(entry: AuditEntry) -> str:
    hash_, header, payload, before = map(_spelled, (entry.entry_hash, entry.header, entry.payload, entry.prev_hash))
    # canonical JSON, put together: whoever verifies an export writes each of its lines anew
    return f'{{"entry_hash":{hash_},"header":{header},"payload":{payload},"prev_hash":{before},"seq":{entry.seq}}}\n'


def _spelled(text: str | None) -> str:
    return "null" if text is None else encode_basestring(text)


def _checkpoint(value: Any) -> Checkpoint | None:
    match value:
        case {"count": int(count), "head": str() | None as head} if count >= 0 and (head is None) == (count == 0):
            return Checkpoint(count, head)
    return None


def _plain(checkpoint: Checkpoint) -> dict[str, Any]:
    return {"count": checkpoint.count, "head": checkpoint.head}


def _value(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
