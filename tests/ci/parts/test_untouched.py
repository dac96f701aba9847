"""Of files that lie as they did nothing is read, and whatever was done to one of them is noticed."""

import os
import pickle
import threading
from datetime import date
from pathlib import Path

import pytest

from ci import check as checking
from ci.loading import files
from ci.loading.files import Changed, Content, Known, Untouched, contents
from ci.parts import snapshot
from ci.report.jsonl import render
from tests.ci.parts.conftest import VOCABULARY, policy

DAY = date(2026, 6, 15)
ONE = "policies/shop/POL-SHOP-001.yaml"
ARGUING = policy("POL-SHOP-002", 8, 20, "part")


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Two policies that contradict each other, so long ago that their signatures are remembered."""
    folder = tmp_path / "repository"
    (folder / "policies/shop").mkdir(parents=True)
    (folder / "policies/vocabulary.yaml").write_text(VOCABULARY)
    (folder / ONE).write_text(policy("POL-SHOP-001", 0, 10, "full"))
    (folder / "policies/shop/POL-SHOP-002.yaml").write_text(ARGUING)
    monkeypatch.setattr(files, "SETTLED_NS", -1_000_000_000)
    monkeypatch.setattr(checking, "DIFFERING", 0)
    return folder


def known(root):
    found = [*contents(root)]
    return Known({one.path: one.signature for one in found}, {one.path: one.digest for one in found})


def told(root, cache):
    done = checking.check(root, DAY, DAY, cache=cache)
    return render(done.findings, done.workspace.sources, done.existing, None, done.answers)


def rewritten(path):
    """Another text of the same length, with the old times."""
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"[0, 10]", b"[0,  7]"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(path):
    other = path.with_name("other")
    other.write_bytes(path.read_bytes().replace(b"[0, 10]", b"[0,  7]"))
    other.rename(path)


EDITS = {
    "written anew": lambda path: path.write_text(policy("POL-SHOP-001", 0, 7, "full")),
    "written anew with the old times": rewritten,
    "put in its place": replaced,
    "taken away": lambda path: path.unlink(),
    "a link that leads out": lambda path: (path.unlink(), path.symlink_to("/etc/hostname")),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "no YAML": lambda path: path.write_text("[" * 7),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_what_was_done_to_a_file_is_told_as_by_a_check_that_reads_all(root, tmp_path, edit):
    first = told(root, tmp_path / "cache")
    assert "contradict each other" in first
    assert told(root, tmp_path / "cache") == first
    edit(root / ONE)
    again = told(root, tmp_path / "cache")
    assert again != first
    assert again == told(root, tmp_path / "another")


def test_only_the_words_are_read_where_all_lies_as_it_did(root, tmp_path, monkeypatch):
    told(root, tmp_path / "cache")
    read, bytes_ = [], files._bytes
    monkeypatch.setattr(files, "_bytes", lambda path, size: read.append(Path(path).name) or bytes_(path, size))
    checking.check(root, DAY, DAY, cache=tmp_path / "cache")
    assert read == ["vocabulary.yaml"]


def test_a_file_that_changes_while_it_is_checked_makes_the_check_read_all(root, tmp_path, monkeypatch):
    told(root, tmp_path / "cache")
    (root / "policies/shop/POL-SHOP-002.yaml").write_text(policy("POL-SHOP-002", 9, 20, "part"))
    inventory = checking.inventory

    def slow(*given):
        found = inventory(*given)
        if any(type(one) is Untouched for one in found.files.values()):
            rewritten(root / ONE)  # its signature was asked already
        return found

    monkeypatch.setattr(checking, "inventory", slow)
    assert told(root, tmp_path / "cache") == told(root, tmp_path / "another")
    assert "contradict each other" not in told(root, tmp_path / "cache")


def test_it_says_so_where_it_holds_something_else(root):
    before = known(root)
    (one,) = [file for file in contents(root, before) if file.path == ONE]
    assert type(one) is Untouched
    assert one.data == (root / ONE).read_bytes()
    assert pickle.loads(pickle.dumps(one)) == Content(ONE, one.data)
    rewritten(root / ONE)
    with pytest.raises(Changed):
        _ = one.data
    (root / ONE).unlink()
    with pytest.raises(Changed):
        _ = one.data


def test_what_changed_a_moment_ago_is_read_again(root, monkeypatch):
    monkeypatch.setattr(files, "SETTLED_NS", 60_000_000_000)
    assert {one.signature for one in contents(root)} == {None}


def test_checks_at_once_leave_something_whole(root, tmp_path):
    expected, found = told(root, tmp_path / "another"), []
    threads = [threading.Thread(target=lambda: found.append(told(root, tmp_path / "cache"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
    assert snapshot.read(snapshot.place(tmp_path / "cache", root)) is not None
