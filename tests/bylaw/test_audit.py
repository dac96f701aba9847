"""Every kind of damage to the chain is found and told apart."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bylaw.audit import AuditEntry, Checkpoint, checkpoint, link, read, verify

ROWS = yaml.safe_load(Path(__file__).with_name("audit.yaml").read_text())


def chain(size: int, start: list[AuditEntry] | None = None, word: str = "entry") -> list[AuditEntry]:
    entries = list(start or [])
    for _ in range(size):
        entries.append(link(entries[-1] if entries else None, {"said": f"{word} {len(entries) + 1}"}))
    return entries


def damaged(entries: list[AuditEntry], steps: list[dict]) -> list[AuditEntry]:
    for step in steps:
        ((verb, what),) = step.items()
        at = {entry.seq: place for place, entry in enumerate(entries)}
        match verb:
            case "edit":
                old = entries[at[what]]
                entries[at[what]] = replace(old, payload=old.payload.replace("entry", "untrue entry"))
            case "garble":
                old = entries[at[what]]
                entries[at[what]] = read(old.prev_hash, old.entry_hash, "{not json", old.seq)
            case "rehash":
                old = entries[at[what]]
                fresh = hashlib.sha256(((old.prev_hash or "") + old.payload).encode()).hexdigest()
                entries[at[what]] = replace(old, entry_hash=fresh)
            case "delete":
                del entries[at[what]]
            case "swap":
                left, right = at[what[0]], at[what[1]]
                entries[left], entries[right] = entries[right], entries[left]
            case "double":
                entries.insert(at[what], entries[at[what]])
            case "cut":
                entries = entries[:what]
            case "grow":
                entries = chain(what, entries, "later")
            case "rewrite":
                entries = chain(len(entries), word="other")
    return entries


@pytest.mark.parametrize("row", ROWS, ids=[row["title"] for row in ROWS])
def test_damage_is_found_and_named(row):
    entries = chain(row.get("size", 5))
    anchor = checkpoint(entries) if row.get("anchored") else None
    found = verify(damaged(entries, row["do"]), anchor)
    assert [[one.kind, one.seq] for one in found] == row["breaks"]


def test_the_hash_is_the_one_of_the_specification():
    first = link(None, {"b": 1, "a": "ä"})
    assert first.payload == '{"body":{"a":"ä","b":1},"seq":1}'
    assert first.entry_hash == hashlib.sha256(first.payload.encode()).hexdigest()
    second = link(first, {})
    assert second.prev_hash == first.entry_hash
    assert second.entry_hash == hashlib.sha256((first.entry_hash + second.payload).encode()).hexdigest()


def test_a_body_comes_back_as_it_was_recorded():
    assert link(None, {"said": "yes", "level": 3}).body == {"said": "yes", "level": 3}


def test_an_empty_checkpoint_demands_nothing():
    assert checkpoint([]) == Checkpoint(0, None)
    assert verify(chain(2), Checkpoint(0, None)) == []


@given(st.integers(2, 12), st.data())
def test_no_single_change_goes_unseen(size, data):
    entries = chain(size)
    anchor = checkpoint(entries)
    place = data.draw(st.integers(0, size - 1))
    victim = entries[place]
    verb = data.draw(st.sampled_from(["payload", "prev_hash", "entry_hash", "drop", "move"]))
    if verb == "drop":
        del entries[place]
    elif verb == "move":
        to = data.draw(st.integers(0, size - 1).filter(lambda other: other != place))
        entries.insert(to, entries.pop(place))
    else:
        entries[place] = replace(victim, **{verb: (getattr(victim, verb) or "") + "0"})
    assert verify(entries, anchor)
