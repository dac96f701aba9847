"""One link of the hash chain: each entry is hashed together with its predecessor's hash (seed 001).

What is hashed is the entry's header: its number, what is kept for good, and the digest of its payload. So a payload can
be taken away and the chain still holds. A salt in the payload keeps its digest from telling what a short one said; the
fingerprints of papers, which have none, go with it: whoever guesses what a paper said could make sure.
Pure: storage belongs to `bot.evidence.store.tables.audit`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bylaw.canonical import canonical_json

# What a redaction leaves: when, what happened, from which bundle. Nothing a person said.
KEPT = ("at", "artifacts", "bundle_etag", "commit", "event", "redacts", "request_id", "rows")
REDACTION = "redaction"
ARTIFACTS, BUNDLE = "artifacts", "bundle"  # the fingerprints by name; of these one is kept
_SALT = "salt"
_AT, _ROWS = "at", "rows"  # the last of what is kept, in the order of canonical JSON


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How long the chain was, and the hash it ended with."""

    count: int
    head: str | None


START = Checkpoint(0, None)


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """An entry that has no place in the chain yet: what its header keeps before its time and behind it, as JSON.

    Its time is `at` where it brings one, else it is given with its place: only then does it stand in order.
    """

    before: str
    behind: str
    payload: str
    digest: str
    at: str | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One link. `payload` is the canonical JSON of what was recorded beside the header; None once it is redacted."""

    seq: int
    prev_hash: str | None
    entry_hash: str
    header: str
    payload: str | None

    @property
    def body(self) -> dict[str, Any]:
        """What was recorded, as far as it is still there."""
        header = parsed(self.header)
        if "body" in header:  # written before payloads were apart
            body: dict[str, Any] = header["body"]
            return body
        kept, told = header["kept"], {} if self.payload is None else json.loads(self.payload)
        papers = {ARTIFACTS: {**kept[ARTIFACTS], **told[ARTIFACTS]}} if ARTIFACTS in told else {}
        return {**kept, **{name: value for name, value in told.items() if name != _SALT}, **papers}

    @property
    def is_redacted(self) -> bool:
        """Was its payload taken away?"""
        return self.payload is None and "body" not in parsed(self.header)


@lru_cache(maxsize=4)
def parsed(header: str) -> Any:
    """The JSON of a header, which whoever reads a chain asks for several times in a row; nobody changes it."""
    return json.loads(header)


def draft(body: Mapping[str, Any], salt: str) -> EntryDraft:
    """*body* made ready to be linked; *salt* is 16 random bytes or more, as text."""
    kept = {name: body[name] for name in KEPT if name in body}
    told = {_SALT: salt, **{name: value for name, value in body.items() if name not in kept}}
    papers = kept.get(ARTIFACTS)
    if papers and isinstance(papers, Mapping):
        kept[ARTIFACTS] = {name: mark for name, mark in papers.items() if name == BUNDLE}
        told[ARTIFACTS] = {name: mark for name, mark in papers.items() if name != BUNDLE}
    payload = canonical_json(told)
    before, behind = (
        canonical_json({name: kept[name] for name in names})[1:-1]
        for names in ([name for name in kept if name < _AT], [name for name in kept if name > _AT])
    )
    return EntryDraft(before, behind, payload, digest(payload), canonical_json(body[_AT]) if _AT in body else None)


def link(
    tail: Checkpoint, drafted: EntryDraft, at: str | None = None, rows: Mapping[str, str] | None = None
) -> AuditEntry:
    """The entry that records *drafted*, now or then (*at*), after the chain that stands at *tail*.

    *rows* are the marks of the rows that were written with it, which nobody knows before they are.
    """
    seq = tail.count + 1
    moment = drafted.at if at is None else canonical_json(at)
    marks = f'"{_ROWS}":{canonical_json(rows)}' if rows else None
    told = (drafted.before, moment and f'"{_AT}":{moment}', drafted.behind, marks)
    # the order of canonical JSON
    header = f'{{"kept":{{{",".join(filter(None, told))}}},"payload":"{drafted.digest}","seq":{seq}}}'
    return AuditEntry(seq, tail.head, entry_hash(tail.head, header), header, drafted.payload)


def after(entry: AuditEntry) -> Checkpoint:
    """Where the chain stands once *entry* is its last."""
    return Checkpoint(entry.seq, entry.entry_hash)


def entry_hash(prev_hash: str | None, header: str) -> str:
    """sha256 over the predecessor's hash and the header."""
    return digest((prev_hash or "") + header)


def digest(text: str) -> str:
    """sha256 of *text*, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read(prev_hash: str | None, hash_: str, header: str, payload: str | None, position: int) -> AuditEntry:
    """A stored entry. One whose header was changed is numbered by its *position*; verifying reports it as edited."""
    seq = _seq(header) if entry_hash(prev_hash, header) == hash_ else None
    return AuditEntry(position if seq is None else seq, prev_hash, hash_, header, payload)


def _seq(header: str) -> int | None:
    try:
        seq = parsed(header)["seq"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return seq if type(seq) is int and 0 < seq < 2**62 else None
