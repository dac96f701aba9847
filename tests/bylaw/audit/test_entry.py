"""An entry says what was recorded, its hash is the specification's, and a redaction takes nothing from the chain."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bylaw.audit.entry import KEPT, START, Checkpoint, after, draft, link, read
from bylaw.audit.verify import verify
from bylaw.canonical import canonical_json

BODY = {"at": "2026-11-20T12:00:00.000000Z", "event": "reply", "b": 1, "a": "ä"}


def test_the_hash_is_the_one_of_the_specification():
    first = link(START, draft(BODY, "salt"))
    payload = '{"a":"ä","b":1,"salt":"salt"}'
    digest = hashlib.sha256(payload.encode()).hexdigest()
    kept = '{"at":"2026-11-20T12:00:00.000000Z","event":"reply"}'
    assert first.payload == payload
    assert first.header == f'{{"kept":{kept},"payload":"{digest}","seq":1}}'
    assert first.entry_hash == hashlib.sha256(first.header.encode()).hexdigest()
    second = link(after(first), draft({}, "s"))
    assert second.prev_hash == first.entry_hash
    assert second.entry_hash == hashlib.sha256((first.entry_hash + second.header).encode()).hexdigest()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
bodies = st.dictionaries(st.sampled_from(KEPT) | st.text().filter(lambda name: name != "salt"), json_values, max_size=6)


@given(bodies, st.integers(0, 2**40))
def test_a_body_comes_back_as_it_was_recorded_and_the_header_is_canonical(body, count):
    import json

    entry = link(Checkpoint(count, None if count == 0 else "f" * 64), draft(body, "x" * 32))
    assert entry.body == json.loads(canonical_json(body))
    assert entry.header == canonical_json(json.loads(entry.header))
    assert read(entry.prev_hash, entry.entry_hash, entry.header, entry.payload, 7) == entry


def test_what_a_redaction_leaves_is_when_what_and_from_what_but_nothing_that_was_said():
    said = {"query": "I am Ana", "actor": {"id": "ana"}}
    body = {**BODY, "bundle_etag": "sha256:e", "artifacts": {"reply": "ana's", "bundle": "b"}, **said}
    entry = link(START, draft(body, "salt"))
    bare = replace(entry, payload=None)
    assert (entry.is_redacted, bare.is_redacted) == (False, True)
    assert entry.body == body
    assert bare.body == {**{name: body[name] for name in ("at", "event", "bundle_etag")}, "artifacts": {"bundle": "b"}}
    assert "ana" not in bare.header.lower()


def test_the_same_words_have_another_digest_in_another_entry():
    assert draft(BODY, "one").digest != draft(BODY, "two").digest


@given(bodies, st.text())
def test_an_entry_is_the_same_whether_its_time_was_known_before_its_place(body, at):
    known = link(START, draft({**body, "at": at}, "salt"))
    assert link(START, draft({name: body[name] for name in body if name != "at"}, "salt"), at) == known


def test_an_entry_of_the_first_version_still_holds():
    header = '{"body":{"at":"2026-11-20T12:00:00.000000Z","event":"reply","said":"yes"},"seq":1}'
    old = read(None, hashlib.sha256(header.encode()).hexdigest(), header, None, 1)
    assert (old.body["said"], old.is_redacted) == ("yes", False)
    new = link(after(old), draft(BODY, "salt"))
    assert verify([old, new]).is_intact
    changed = read(None, old.entry_hash, header.replace("yes", "no"), None, 1)
    assert [one.kind for one in verify([changed, new]).breaks] == ["edited"]
