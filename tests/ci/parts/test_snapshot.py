"""A snapshot is read back as it was written, or not at all."""

import json

import pytest

from ci import pipeline
from ci.parts import snapshot
from ci.parts.incremental import remembered
from tests.ci.parts.conftest import policy

SET = {
    "POL-SHOP-001": policy("POL-SHOP-001", 0, 10, "full"),
    "POL-SHOP-002": policy("POL-SHOP-002", 8, 20, "part"),
}
CASES = "[{name: one, facts: {days: 9, vip: true}, expect: {refund: null}}, {name: two, facts: {days: x}, expect: {}}]"


def place(folder):
    return snapshot.place(folder / "cache", folder / "repository")


@pytest.fixture
def kept(made, tmp_path):
    now = made(SET, policies__shop__cases=CASES)
    snap = remembered(now, pipeline.check(now.workspace(), now.at))
    snapshot.write(place(tmp_path), snap)
    return snap


def test_it_is_read_as_it_was_written(kept, tmp_path):
    found = snapshot.read(place(tmp_path))
    assert found == kept
    assert [finding.id for finding in found.findings] == [finding.id for finding in kept.findings]
    assert found.statuses == kept.statuses
    assert sorted(found.statuses) == [
        ("case", "policies/shop/cases.yaml", 0),
        ("policy", "POL-SHOP-001"),
        ("policy", "POL-SHOP-002"),
    ]
    assert found.cases == {"policies/shop/cases.yaml": [{"days": [[9, 0, 9, 1]], "vip": [True]}, None]}


def test_what_many_policies_have_in_common_is_written_once(made, tmp_path):
    now = made({f"POL-SHOP-0{n}": policy(f"POL-SHOP-0{n}", 2 * n, 2 * n + 1, "full") for n in range(10, 40)})
    snapshot.write(place(tmp_path), remembered(now, pipeline.check(now.workspace(), now.at)))
    head, _, cards, statuses = map(json.loads, place(tmp_path).read_text().split("\n")[1:5])
    assert (len(cards[1]), len(head["kinds"])) == (30, 1)
    assert (len(statuses[0]), len(head["rows"])) == (30, 1)


def test_every_repository_has_a_place_of_its_own_outside_itself(tmp_path):
    one, other = (snapshot.place(tmp_path / "cache", tmp_path / name) for name in ("one", "other"))
    assert one != other
    assert {one.parent, other.parent} == {tmp_path / "cache"}
    (tmp_path / "link").symlink_to(tmp_path / "one")
    assert snapshot.place(tmp_path / "cache", tmp_path / "link") == one


def test_without_a_file_there_is_none(tmp_path):
    assert snapshot.read(place(tmp_path)) is None


def edited(text, how):
    stamp, _, body = text.partition("\n")
    program, digest = stamp.split()
    match how:
        case "half of it":
            return text[: len(text) // 2]
        case "a letter":
            return text.replace("POL-SHOP-001", "POL-SHOP-00l")
        case "another program":
            return f"{'0' * len(program)} {digest}\n{body}"
        case "no stamp":
            return body
        case "nothing":
            return ""
    raise AssertionError(how)


@pytest.mark.parametrize("how", ["half of it", "a letter", "another program", "no stamp", "nothing"])
def test_what_was_touched_is_as_good_as_absent(kept, tmp_path, how):
    path = place(tmp_path)
    path.write_text(edited(path.read_text(), how))
    assert snapshot.read(place(tmp_path)) is None


@pytest.mark.parametrize("body", ["[]", "{}", "nonsense", '{"at": 1}', "[" * 100_000, "{}\n[]\n[]\n[]\n[]\n"])
def test_a_stamp_alone_makes_no_snapshot(tmp_path, body):
    path = place(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text(f"{snapshot._stamp(body.encode())}\n{body}")
    assert snapshot.read(place(tmp_path)) is None


def test_columns_that_do_not_fit_each_other_are_no_snapshot(kept, tmp_path):
    path = place(tmp_path)
    _, head, files, cards, *rest = path.read_text().split("\n")
    places, ids, kind_of = json.loads(cards)
    for wrong in ([places, ids[1:], kind_of], [[7, 8], ids, kind_of], [places, ids, [5, 5]], [places, ids]):
        body = "\n".join([head, files, json.dumps(wrong), *rest])
        path.write_text(f"{snapshot._stamp(body.encode())}\n{body}")
        assert snapshot.read(path) is None, wrong


def test_bytes_that_are_no_text_are_no_snapshot(kept, tmp_path):
    place(tmp_path).write_bytes(b"\xff\xfe\x00")
    assert snapshot.read(place(tmp_path)) is None


def test_where_nothing_can_be_written_nothing_is_kept(kept, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    snapshot.write(place(blocked), kept)  # does not raise
    assert snapshot.read(place(blocked)) is None
