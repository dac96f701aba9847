"""Every kind of damage to the chain is found and told apart."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bylaw.audit.entry import START, Checkpoint, after, draft, entry_hash, link, read
from bylaw.audit.verify import MAX_TOLD, verify

ROWS = yaml.safe_load(Path(__file__).with_name("verify.yaml").read_text())


def step(entries, verb, what, chain):
    """*entries* after one act of damage."""
    at = {entry.seq: place for place, entry in enumerate(entries)}
    match verb:
        case "edit":
            old = entries[at[what]]
            entries[at[what]] = replace(old, payload=old.payload.replace("entry", "untrue entry"))
        case "edit_header":
            old = entries[at[what]]
            header = old.header.replace("reply", "other")
            entries[at[what]] = read(old.prev_hash, old.entry_hash, header, old.payload, what)
        case "garble":
            old = entries[at[what]]
            entries[at[what]] = read(old.prev_hash, old.entry_hash, "{not json", old.payload, what)
        case "replace":
            old = entries[at[what]]
            entries[at[what]] = link(Checkpoint(what - 1, old.prev_hash), draft({"said": "untrue"}, "salt"))
        case "delete":
            del entries[at[what]]
        case "swap":
            left, right = at[what[0]], at[what[1]]
            entries[left], entries[right] = entries[right], entries[left]
        case "double":
            entries.insert(at[what], entries[at[what]])
        case "copy_to_end":
            entries.append(entries[at[what]])
        case "fork":  # [after which entry, how many, where they stand: beside it or at the end]
            branch = chain(what[1], entries[: what[0]], "branch")[what[0] :]
            place = what[0] + 1 if what[2] == "beside" else len(entries)
            entries[place:place] = branch
        case "stranger":
            entries.insert(what, link(Checkpoint(what - 1, "f" * 64), draft({"said": "untrue"}, "salt")))
        case "cut":
            entries = entries[:what]
        case "grow":
            entries = chain(what, entries, "later")
        case "rewrite":
            entries = chain(len(entries), word="other")
        case "erase":
            entries[at[what]] = replace(entries[at[what]], payload=None)
        case "forge":
            made = draft({"event": "redaction", "redacts": "ranges"}, "salt")
            forged = replace(made, behind=made.behind.replace('"ranges"', what))
            entries.append(link(after(entries[-1]), forged))
        case "redact":
            said = {"event": "redaction", "redacts": [what]}
            entries.append(link(after(entries[-1]), draft(said, "salt")))
            for seq in range(what[0], min(what[1], len(at)) + 1):
                entries[at[seq]] = replace(entries[at[seq]], payload=None)
    return entries


@pytest.mark.parametrize("row", ROWS, ids=[row["title"] for row in ROWS])
def test_damage_is_found_and_named(row, chain):
    entries = chain(row.get("size", 5))
    anchors = [after(entries[n - 1]) for n in row.get("anchors", [])]
    for act in row["do"]:
        ((verb, what),) = act.items()
        entries = step(entries, verb, what, chain)
    found = verify(entries, anchors)
    assert [[one.kind, one.seq] for one in found.breaks] == row["breaks"]
    assert found.is_intact == (not row["breaks"])
    assert found.redacted_count == row.get("redacted", 0)
    if "says" in row:
        assert row["says"] in found.breaks[0].detail


def test_an_empty_checkpoint_demands_nothing(chain):
    assert verify(chain(2), [START]).is_intact


def test_the_verdict_says_where_the_chain_stands(chain):
    entries = chain(4)
    found = verify(entries, [after(entries[1])])
    assert (found.entry_count, found.standing, found.checkpoint_count) == (4, after(entries[3]), 1)


def test_a_clock_that_went_backwards_is_told_and_is_no_break():
    times = ["12:00", "12:05", "11:00", "11:01", "10:00"]
    tail, entries = START, []
    for time in times:
        entries.append(link(tail, draft({"at": f"2026-11-20T{time}:00.000000Z"}, "salt")))
        tail = after(entries[-1])
    found = verify(entries)
    assert (found.is_intact, found.backward_count) == (True, 2)


def test_checkpoints_say_where_a_chain_was_continued_twice(chain):
    honest = chain(9)
    anchors = [after(honest[n - 1]) for n in (3, 6, 9)]
    other = chain(5, honest[:4], "other")
    (found,) = verify(other, reversed(anchors)).breaks
    assert (found.kind, found.seq) == ("forked", 6)
    assert "up to entry 3 it is" in found.detail


def test_a_fork_is_called_one_however_long_both_branches_are(chain):
    trunk = chain(5)
    one, other = chain(2000, trunk, "one"), chain(1500, trunk, "other")
    found = verify([*one, *other[5:]])
    assert [(each.kind, each.seq) for each in found.breaks] == [("forked", 6)]


def test_all_breaks_are_counted_and_the_first_are_told(chain):
    broken = [replace(entry, payload="{}") for entry in chain(MAX_TOLD + 200)]
    found = verify(broken)
    assert (len(found.breaks), found.break_counts) == (MAX_TOLD, {"edited": MAX_TOLD + 200})


@pytest.mark.slow
def test_memory_does_not_grow_with_the_chain():
    def entries(size):
        tail = START
        for n in range(size):
            made = link(tail, draft({"n": n}, "salt"))
            tail = after(made)
            yield made

    peaks = []
    for size in (2_000, 8_000):
        tracemalloc.start()
        assert verify(entries(size)).is_intact
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.5


@given(st.integers(2, 12), st.data())
def test_no_single_change_goes_unseen(size, data):
    from tests.bylaw.audit.conftest import grown

    entries = grown(size)
    anchor = after(entries[-1])
    place = data.draw(st.integers(0, size - 1))
    victim = entries[place]
    verb = data.draw(st.sampled_from(["payload", "prev_hash", "entry_hash", "header", "drop", "move", "copy", "bare"]))
    if verb == "drop":
        del entries[place]
    elif verb == "bare":
        entries[place] = replace(victim, payload=None)
    elif verb in ("move", "copy"):
        to = data.draw(st.integers(0, size - 1).filter(lambda other: other != place))
        entries.insert(to, entries.pop(place) if verb == "move" else victim)
    else:
        entries[place] = replace(victim, **{verb: (getattr(victim, verb) or "") + "0"})
    assert not verify(entries, [anchor]).is_intact


@given(st.permutations(range(8)), st.sets(st.integers(0, 7), max_size=3))
def test_whatever_the_order_gaps_are_exactly_what_is_missing(order, gone):
    from tests.bylaw.audit.conftest import grown

    entries = grown(9)
    kept = [entries[n] for n in order if n not in gone]
    found = verify([*kept, entries[8]]).breaks
    assert not [one for one in found if one.kind not in ("deleted", "reordered")]
    missing = {n + 1 for n in gone}
    starts = {n for n in missing if n - 1 not in missing}
    assert {one.seq for one in found if one.kind == "deleted"} == starts


def test_the_hash_of_an_entry_covers_its_predecessor():
    assert entry_hash(None, "x") != entry_hash("a", "x")
