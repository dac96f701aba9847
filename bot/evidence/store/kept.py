"""Is what lies beside the chain what the chain recorded? Replies, questions and papers against their fingerprints.

The chain holds fingerprints; what people are shown lies in rows, which whoever can write the store can change too. So a
reply is held against the chain before it is given out once more, and verifying holds all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal

from bot.evidence.artifacts import ArtifactError, Shelf, written
from bot.evidence.store.columns import told
from bot.evidence.store.connection import Connection, among
from bot.evidence.store.tables import audit, requests
from bot.evidence.store.tables.requests import Standing
from bylaw.audit.entry import ARTIFACTS, BUNDLE, AuditEntry
from bylaw.audit.verify import Break, verify
from bylaw.canonical import canonical_json
from bylaw.errors import BylawError
from bylaw.progress import Hear

_BATCH = 200  # entries whose rows and papers are held at a time
_TOLD = "reply"
Misfit = Literal["altered", "missing"]


class Altered(BylawError):
    """A reply that is not, or no longer, the one that was recorded."""


def standing(connection: Connection, request_id: str) -> Standing | None:
    """What is known of the request, to be shown to somebody. Raises Altered where its reply is not the recorded one."""
    found = requests.load(connection, request_id)
    if found is not None and found.reply is not None:
        check(connection, request_id)
    return found


def check(connection: Connection, request_id: str) -> None:
    """Raise Altered unless the reply that is kept is the one that the chain recorded."""
    why = doubt(connection, request_id)
    if why is not None:
        raise Altered(f"the answer kept for `{request_id}` {why}; it is not given out", "see `bylaw audit verify`")


def doubt(connection: Connection, request_id: str) -> str | None:
    """What is wrong with the reply that is kept; None where nothing is, or none is kept."""
    kept = connection.first("SELECT reply FROM requests WHERE request_id = :asked", {"asked": request_id})
    return None if kept is None or kept[0] is None else _distrusted(connection, request_id, told(kept[0]))


def breaks(connection: Connection, shelves: Sequence[Shelf], hear: Hear | None = None) -> Iterator[Break]:
    """Every reply, question and paper that is not as the chain recorded it, and every reply it knows nothing of."""
    bundles: dict[str, Misfit | None] = {}  # those that were looked at: every answer names one
    entries = audit.entries(connection, hear=hear)
    while batch := list(islice(entries, _BATCH)):
        told = [(entry, body) for entry in batch if (body := _body(entry)) is not None]
        rows = _rows(connection, [body["request_id"] for _, body in told if body.get("event") == _TOLD])
        texts = _texts(connection, {mark for _, body in told for mark in _marks(body).values()})
        for entry, body in told:
            yield from _of_papers(entry, body, texts, shelves, bundles)
            if body.get("event") == _TOLD:
                yield from _of_rows(entry, body, rows.get(body["request_id"]), texts, shelves)
    last = audit.tail(connection).count
    for row in connection.each(_UNRECORDED):
        yield Break("unrecorded", last, f"a reply to `{row['request_id']}` is kept, and no entry records one")


_UNRECORDED = (
    "SELECT request_id FROM requests WHERE reply IS NOT NULL"
    " AND NOT EXISTS (SELECT 1 FROM audit WHERE audit.request_id = requests.request_id) ORDER BY request_id"
)


def _distrusted(connection: Connection, request_id: str, kept: Any) -> str | None:
    """What is wrong with the reply; None where nothing is."""
    recorded = [one for one in audit.about(connection, request_id) if (_body(one) or {}).get("event", _TOLD) == _TOLD]
    if not recorded:
        return "is one that the audit log knows nothing of"
    entry = recorded[-1]
    following = audit.follows(connection, entry.seq)
    if any("its own hash" in one.detail for one in verify([entry]).breaks) or following not in (None, entry.entry_hash):
        return "has an entry in the audit log that was edited"
    body = _body(entry)
    if body is None:
        return "was redacted"
    if _is_same(kept, body.get(_TOLD), _texts(connection, {str(body.get(_TOLD))})):
        return None
    return "was altered after it was recorded"


def _body(entry: AuditEntry) -> Mapping[str, Any] | None:
    """What the entry says; None where it was taken away, or is no entry: the chain's own verdict says so."""
    try:
        return None if entry.is_redacted else entry.body
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _marks(body: Mapping[str, Any]) -> Mapping[str, str]:
    found = body.get(ARTIFACTS)
    return {str(name): str(mark) for name, mark in found.items()} if isinstance(found, Mapping) else {}


def _rows(connection: Connection, request_ids: Iterable[str]) -> dict[str, tuple[Any, Any]]:
    chosen, given = among("request_id", request_ids)
    rows = connection.each(f"SELECT request_id, question, reply FROM requests WHERE {chosen}", given)
    return {row["request_id"]: (told(row["question"]), told(row["reply"])) for row in rows}


def _texts(connection: Connection, names: Iterable[str]) -> dict[str, str]:
    """The papers of these names that lie in the store, whatever their text is now."""
    chosen, given = among("name", sorted(names))
    return {
        row["name"]: str(row["text"]) for row in connection.each(f"SELECT name, text FROM papers WHERE {chosen}", given)
    }


def _of_papers(
    entry: AuditEntry,
    body: Mapping[str, Any],
    texts: Mapping[str, str],
    shelves: Sequence[Shelf],
    bundles: dict[str, Misfit | None],
) -> Iterator[Break]:
    for name, mark in sorted(_marks(body).items()):
        if name == BUNDLE and mark in bundles:
            continue
        _, why = _looked_up(mark, texts, shelves)
        if name == BUNDLE:
            bundles[mark] = why
        if why is not None and not (why == "missing" and _is_fixed(entry)):
            what = "is gone" if why == "missing" else "is not the one that was recorded"
            yield Break(why, entry.seq, f"the paper `{name}` of entry {entry.seq} {what}")


def _of_rows(
    entry: AuditEntry,
    body: Mapping[str, Any],
    row: tuple[Any, Any] | None,
    texts: Mapping[str, str],
    shelves: Sequence[Shelf],
) -> Iterator[Break]:
    named = f"`{body['request_id']}` (entry {entry.seq})"
    if row is None:
        if not _is_fixed(entry):
            yield Break("missing", entry.seq, f"the reply to {named} is gone, and no redaction says so")
        return
    question, reply = row
    if not _is_same(reply, body.get(_TOLD), texts):
        yield Break("altered", entry.seq, f"the reply to {named} is not the one that was recorded")
    text, _ = _looked_up(_marks(body).get("request", ""), texts, shelves)
    asked = _parsed(text)
    if isinstance(asked, dict) and asked.get("question") != question:
        yield Break("altered", entry.seq, f"the question of {named} is not the one that was recorded")


def _is_fixed(entry: AuditEntry) -> bool:
    """Was it written by an earlier version? A redaction takes its papers and rows, and leaves its words."""
    return entry.header.startswith('{"body":')


def _looked_up(mark: str, texts: Mapping[str, str], shelves: Sequence[Shelf]) -> tuple[str | None, Misfit | None]:
    """The text of a paper, or what is wrong with it."""
    if mark in texts:
        return (texts[mark], None) if written(texts[mark]).name == mark else (None, "altered")
    why: Misfit = "missing"
    for shelf in shelves:
        try:
            return shelf.get_text(mark), None
        except ArtifactError as error:
            why = "altered" if "altered" in error.message else why
    return None, why


def _is_same(kept: Any, mark: Any, texts: Mapping[str, str]) -> bool:
    """Is *kept* what has that fingerprint? A server's JSON may spell a number in another way than the paper does."""
    if kept is None or not isinstance(mark, str):
        return False
    if written(canonical_json(kept)).name == mark:
        return True
    text = texts.get(mark)
    return text is not None and written(text).name == mark and _parsed(text) == kept


def _parsed(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None
