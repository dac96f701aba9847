"""An artifact has the name of its bytes, is written once and is never given out altered."""

from __future__ import annotations

import hashlib
from decimal import Decimal

import pytest

from bot.evidence.artifacts import ArtifactError, paper, shelf
from bot.evidence.store.engine import connect
from bot.evidence.store.migrate import upgrade
from bot.evidence.store.tables.papers import EARLIER, Papers, shelf_of
from bylaw.errors import BylawError
from tests.fakes.forked import Forked


@pytest.fixture(params=["folder", "memory", "store"])
def kept(request, tmp_path):
    if request.param == "store":
        store = connect("sqlite:///store.db", tmp_path)
        upgrade(store)
        yield shelf_of(None, tmp_path, store)
        store.close()
    else:
        yield shelf_of("artifacts" if request.param == "folder" else f"memory://{tmp_path.name}", tmp_path, None)


def test_what_is_kept_comes_back(kept):
    value = {"b": [1, None, True, "ü"], "a": {"x": 0.5}}
    name = kept.put(value)
    assert name == hashlib.sha256('{"a":{"x":0.5},"b":[1,null,true,"ü"]}'.encode()).hexdigest()
    assert kept.get(name) == value


def test_equal_values_are_one_artifact(kept):
    assert kept.put({"a": 1, "b": Decimal("0.10")}) == kept.put({"b": "0.1", "a": 1})


def test_a_missing_artifact_is_an_error_with_words(kept):
    with pytest.raises(ArtifactError, match=r"is not (on the shelf|in the store)"):
        kept.get("0" * 64)


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "0" * 63, "G" * 64, "0" * 64 + "/..", "A" * 64])
def test_a_name_that_is_no_fingerprint_never_reaches_the_file_system(kept, name):
    with pytest.raises(ArtifactError, match="not the name of an artifact"):
        kept.get(name)


def test_an_altered_artifact_is_not_given_out(kept):
    name = kept.put({"said": "yes"})
    if isinstance(kept, Papers):
        with kept.store.writing() as connection:
            connection.exec_driver_sql("""UPDATE papers SET text = '{"said":"no"}'""")
    else:
        kept.fs.pipe_file(f"{kept.base}/{name[:2]}/{name}.json", b'{"said":"no"}')
    with pytest.raises(ArtifactError, match="altered"):
        kept.get(name)


def test_a_paper_is_kept_with_the_transaction_or_not_at_all(tmp_path):
    store = connect("sqlite:///store.db", tmp_path)
    upgrade(store)
    kept, one = shelf_of(None, tmp_path, store), paper({"said": "yes"})
    with pytest.raises(ZeroDivisionError), store.writing() as connection:
        kept.within(connection, [one, one])
        raise ZeroDivisionError
    with pytest.raises(ArtifactError, match="not in the store"):
        kept.get(one.name)
    with store.writing() as connection:
        kept.within(connection, [one, one])
    assert kept.get(one.name) == {"said": "yes"}
    store.close()


def test_what_is_removed_is_gone_and_asking_for_it_again_is_no_failure(kept):
    gone, stays = kept.put("gone"), kept.put("stays")

    def removed():
        found = kept.remove([gone, "0" * 64])
        if isinstance(kept, Papers):
            with kept.store.writing() as connection:
                found += kept.remove_within(connection, [gone, stays], lambda names: names & {stays})
        return found

    assert [removed(), removed()] == [1, 0]
    assert kept.get(stays) == "stays"
    with pytest.raises(ArtifactError, match="is not"):
        kept.get(gone)


def test_what_somebody_else_deletes_meanwhile_is_gone(tmp_path, monkeypatch):
    kept = shelf("artifacts", tmp_path)
    names = [kept.put(n) for n in range(3)]
    monkeypatch.setattr(kept.fs, "exists", lambda _: True)
    (path,) = (tmp_path / "artifacts").glob(f"*/{names[1]}.json")
    path.unlink()
    kept.remove(names)
    assert list((tmp_path / "artifacts").rglob("*.json")) == []


def test_what_an_earlier_version_kept_in_the_folder_is_found(tmp_path):
    name = shelf(EARLIER, tmp_path).put([1])
    store = connect("sqlite:///store.db", tmp_path)
    upgrade(store)
    assert shelf_of(None, tmp_path, store).get(name) == [1]
    store.close()


def test_a_folder_that_cannot_be_written_to_is_an_error_with_words(tmp_path):
    (tmp_path / "artifacts").write_text("a file")
    with pytest.raises(ArtifactError, match="artifacts cannot be kept at `artifacts`") as refused:
        shelf("artifacts", tmp_path).put([1])
    assert "BYLAW_ARTIFACTS" in refused.value.help


def test_a_second_writer_changes_nothing(tmp_path):
    first = shelf("artifacts", tmp_path)
    name = first.put([1])
    (path,) = (tmp_path / "artifacts").glob("*/*.json")
    before = path.stat()
    assert shelf("artifacts", tmp_path).put([1]) == name
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert [one.name for one in path.parent.iterdir()] == [path.name]  # no temporary file is left


def test_the_loser_of_a_race_finds_the_artifact_there(tmp_path):
    kept = shelf(f"memory://race-{tmp_path.name}", tmp_path)
    name = kept.put("same")
    assert shelf(f"memory://race-{tmp_path.name}", tmp_path).put("same") == name


def test_processes_that_write_at_once_leave_whole_artifacts(tmp_path):
    code = (
        "import sys; from pathlib import Path; from bot.evidence.artifacts import shelf;"
        "s = shelf('artifacts', Path(sys.argv[1]));"
        "[s.put({'n': n, 'text': 'x' * 10000}) for n in range(40)]"
    )
    started = [Forked("-c", code, tmp_path) for _ in range(3)]
    assert [one.wait() for one in started] == [0, 0, 0]
    files = sorted((tmp_path / "artifacts").glob("*/*"))
    assert len(files) == 40
    assert {hashlib.sha256(one.read_bytes()).hexdigest() + ".json" for one in files} == {one.name for one in files}


def test_a_place_nobody_knows_is_an_error_with_words(tmp_path):
    with pytest.raises(BylawError, match="cannot be kept"):
        shelf("nonsense://x", tmp_path)
