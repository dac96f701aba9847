"""A bundle is compiled again exactly when something that goes into it has changed."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest

from bylaw.bundle import read
from bylaw.errors import UsageError
from ci.commands import explained, fresh
from ci.loading.kept import KEY

COMPANY = Path(__file__).resolve().parents[2] / "company"
TODAY = date(2026, 11, 20)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of one's own: the key that seals lies there."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path):
    return Path(shutil.copytree(COMPANY, tmp_path / "company"))


def compiled(root, today=TODAY):
    path = fresh.bundle(root, root / ".bylaw", today)
    return path.stat().st_ino, read(path).bundle_metadata.etag


def test_nothing_changed_nothing_is_compiled(root):
    assert compiled(root) == compiled(root)


def test_a_changed_file_is_compiled(root):
    before = compiled(root)
    path = root / "policies" / "rental" / "POL-RENTAL-001.yaml"
    path.write_text(path.read_text().replace("hours_late", "hours_late", 1) + "\n# looked at\n")
    after = compiled(root)
    assert after[0] != before[0]
    assert after[1] == before[1]  # a comment changes no bundle


def test_a_damaged_bundle_is_compiled_again(root):
    _, etag = compiled(root)
    path = root / ".bylaw" / "compiled_policy_bundle.json"
    path.write_text(path.read_text().replace("hourly_fee", "hourly_bee", 1))
    assert compiled(root)[1] == etag


def test_outside_git_another_day_is_another_question(root):
    before = compiled(root)
    assert compiled(root, date(2026, 11, 21))[0] != before[0]


def test_a_repository_that_does_not_compile_says_so_and_keeps_the_old_bundle(root):
    _, etag = compiled(root)
    (root / "rules").mkdir(exist_ok=True)
    (root / "rules" / "roles.yaml").write_text("roles: [")
    with pytest.raises(UsageError) as raised:
        fresh.bundle(root, root / ".bylaw", TODAY)
    assert "bylaw check" in (raised.value.help or "")
    assert read(root / ".bylaw" / "compiled_policy_bundle.json").bundle_metadata.etag == etag


def test_what_was_unproven_is_read_again_once_it_is_mended(root):
    path = root / "policies" / "rental" / "POL-RENTAL-001.yaml"
    good, (_, etag) = path.read_text(), compiled(root)
    path.write_text("policy_id: [")
    fresh.bundle(root, root / ".bylaw", TODAY)
    told = read(root / ".bylaw" / "compiled_policy_bundle.json").bundle_metadata.unproven
    assert [one.policy_id for one in told] == ["POL-RENTAL-001"]
    path.write_text(good)
    assert compiled(root)[1] == etag


def test_what_somebody_else_has_sealed_is_compiled_again(root, home):
    """A clone may bring a `.bylaw/` along, with a bundle, its digest and all: only one's own key makes it believed."""
    before = compiled(root)
    shutil.rmtree(home)
    after = compiled(root)
    assert after[0] != before[0] and after[1] == before[1]
    assert compiled(root) == after


def test_a_key_that_others_may_read_seals_nothing(root, home):
    before = compiled(root)
    (home / KEY).chmod(0o644)
    assert compiled(root)[0] != before[0]
    (home / KEY).write_bytes(b"short")
    (home / KEY).chmod(0o600)
    assert compiled(root)[1] == before[1]


def test_without_a_home_everything_still_works(root, home, monkeypatch):
    home.write_text("a file where the home should be")
    assert compiled(root)[1] == compiled(root)[1]


def test_an_explanation_is_worked_out_once_and_believed_only_with_its_seal(root, monkeypatch):
    from ci.help import explain

    told = explained.explain(root, "POL-RENTAL-001", None, TODAY)
    kept = root / ".bylaw" / explained.FILE_NAME
    worked = []
    monkeypatch.setattr(explain, "explanations", lambda root, id, *_: worked.append(id) or {id: "anew"})
    assert explained.explain(root, "POL-RENTAL-001", None, TODAY) == told
    assert explained.explain(root, "R-RENTAL-001a", None, TODAY).startswith("R-RENTAL-001a of POL-RENTAL-001")
    assert worked == []
    whole = kept.read_bytes()
    for spoilt in (whole.replace(b"POL-RENTAL-001", b"POL-RENTAL-00l"), whole[: len(whole) // 2], b"", b"\n{}"):
        kept.write_bytes(spoilt)
        assert explained.explain(root, "POL-RENTAL-001", None, TODAY) == "anew"
    assert len(worked) == 4


def test_a_list_is_told_again_until_a_file_changes(root, call):
    listed = call("list", "policies", "--root", root)
    kept = root / ".bylaw" / "listed.json"
    assert listed.code == 0 and "POL-RENTAL-001" in listed.out
    whole = kept.read_bytes()
    assert call("list", "policies", "--root", root) == listed
    assert kept.read_bytes() == whole
    next(root.rglob("POL-RENTAL-001.yaml")).unlink()
    assert "POL-RENTAL-001" not in call("list", "policies", "--root", root).out
    kept.write_bytes(whole)  # of another state of the files: not believed
    assert "POL-RENTAL-001" not in call("list", "policies", "--root", root).out


def test_many_at_once_find_one_key_and_whole_files(root):
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda _: explained.explain(root, "POL-RENTAL-001", None, TODAY), range(8)))
    assert len(set(told)) == 1
    assert len(list((root / ".bylaw").iterdir())) == 1
