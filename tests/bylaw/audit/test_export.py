"""An export verifies by itself, says how it was damaged, and a checkpoint file only grows."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from bylaw.audit import export
from bylaw.audit.entry import START, Checkpoint, after
from bylaw.canonical import write_atomically
from bylaw.errors import UsageError
from tests.rows import each

ROOT = Path(__file__).parents[3]
ROWS = yaml.safe_load(Path(__file__).with_name("export.yaml").read_text())


def test_a_disk_that_is_full_leaves_a_torn_line_that_is_told_and_left_out(tmp_path, monkeypatch):
    path, write = tmp_path / "kept.jsonl", os.write
    export.add_checkpoint(path, Checkpoint(1, "a" * 64))
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:40]))
    with pytest.raises(OSError, match="No space left"):
        export.add_checkpoint(path, Checkpoint(2, "b" * 64))
    monkeypatch.undo()
    export.add_checkpoint(path, Checkpoint(3, "c" * 64))
    assert [known.count for known in export.read_checkpoints(path)] == [1, 3]


def told(lines):
    return export.open_export(io.BytesIO("".join(lines).encode()), "log.jsonl")


def damaged(lines, verb, what):
    lines = list(lines)
    match verb:
        case "replace":
            assert what[1] in lines[what[0] - 1]
            lines[what[0] - 1] = lines[what[0] - 1].replace(what[1], what[2])
        case "line":
            lines[what[0] - 1] = what[1]
        case "nest":
            lines[what - 1] = "[" * 100_000 + "\n"
        case "swap":
            left, right = what[0] - 1, what[1] - 1
            lines[left], lines[right] = lines[right], lines[left]
        case "twice":
            lines.insert(what, lines[what - 1])
        case "keep_bytes_of":
            lines = [*lines[: what[0] - 1], lines[what[0] - 1][: what[1]]]
    return lines


@pytest.mark.parametrize("row", ROWS, ids=[row["title"] for row in ROWS])
def test_damage_to_the_file_is_found_and_named(row, chain):
    entries = chain(9)
    lines = list(export.lines(entries[2:7], after(entries[1])))
    for act in row["do"]:
        ((verb, what),) = act.items()
        lines = damaged(lines, verb, what)
    anchors = [after(entries[n - 1]) for n in row.get("anchors", [])]
    found = export.verify_export(told(lines), anchors)
    assert [[one.kind, one.seq] for one in found.breaks] == row["breaks"]
    assert row.get("says", "") in "".join(one.detail for one in found.breaks)


def test_what_is_exported_is_read_again_entry_by_entry(chain):
    entries = chain(6)
    read = told(export.lines(entries))
    assert (read.start, list(read.entries), read.closing) == (START, entries, after(entries[5]))


def test_an_export_of_nothing_closes_where_it_starts():
    read = told(export.lines([]))
    assert export.verify_export(read).is_intact
    assert read.closing == START


@each("text", ["", "{}\n", "nonsense", '{"bylaw_audit":2,"after":{"count":0,"head":null}}\n', "[]\n"])
def test_what_is_no_export_is_refused(text):
    with pytest.raises(UsageError, match=r"`log.jsonl` is no export"):
        told([text])


def test_an_export_that_breaks_off_leaves_the_one_before(tmp_path, chain):
    path = tmp_path / "log.jsonl"
    write_atomically(path, export.lines(chain(3)))
    before = path.read_bytes()

    def breaking():
        yield "a line\n"
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        write_atomically(path, breaking())
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["log.jsonl"]


def test_checkpoints_are_added_and_read_in_order(tmp_path):
    path = tmp_path / "kept" / "checkpoints.jsonl"
    for n in (3, 9, 6):
        export.add_checkpoint(path, Checkpoint(n, f"{n}" * 64))
    assert [known.count for known in export.read_checkpoints(path)] == [3, 6, 9]


def test_a_checkpoint_whose_writing_was_interrupted_is_left_out(tmp_path):
    path = tmp_path / "checkpoints.jsonl"
    export.add_checkpoint(path, Checkpoint(3, "a" * 64))
    whole = path.read_bytes()
    for length in range(1, len(whole) - 1):  # wherever it was
        path.write_bytes(whole + whole[:length])
        assert [known.count for known in export.read_checkpoints(path)] == [3]
    export.add_checkpoint(path, Checkpoint(6, "b" * 64))
    assert [known.count for known in export.read_checkpoints(path)] == [3, 6]


@pytest.mark.parametrize(
    "line",
    [
        '{"closing":{"count":-1,"head":"a"}}',
        "{}",
        "[]",
        '{"closing":{"count":3,"head":null}}',
        "garbled",
        '{"closing":{"count":3,"head":"' + "x" * 64,
    ],
)
def test_a_line_that_is_no_checkpoint_is_refused_with_its_number(tmp_path, line):
    path = tmp_path / "checkpoints.jsonl"
    path.write_text(f"\n{line}\n")
    with pytest.raises(UsageError, match="line 2 of"):
        export.read_checkpoints(path)


def test_a_checkpoint_file_that_is_not_there_is_an_error_with_words(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        export.read_checkpoints(tmp_path / "none")


def test_processes_that_add_checkpoints_at_once_lose_none(tmp_path):
    code = (
        "import sys; from pathlib import Path; from bylaw.audit.entry import Checkpoint;"
        "from bylaw.audit.export import add_checkpoint; start = int(sys.argv[2]);"
        "[add_checkpoint(Path(sys.argv[1]), Checkpoint(start + n, 'a' * 64)) for n in range(30)]"
    )
    path = tmp_path / "checkpoints.jsonl"
    started = [subprocess.Popen([sys.executable, "-c", code, path, str(first)], cwd=ROOT) for first in (100, 200, 300)]
    assert [one.wait() for one in started] == [0, 0, 0]
    counts = [known.count for known in export.read_checkpoints(path)]
    assert counts == [first + n for first in (100, 200, 300) for n in range(30)]
