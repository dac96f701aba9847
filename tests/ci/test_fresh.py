"""A bundle is compiled again exactly when something that goes into it has changed."""

import shutil
from datetime import date
from pathlib import Path

import pytest

from bylaw.bundle import read
from bylaw.errors import UsageError
from ci import fresh

COMPANY = Path(__file__).resolve().parents[1] / "company"
TODAY = date(2026, 11, 20)


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
    (root / "policies" / "rental" / "POL-RENTAL-001.yaml").write_text("policy_id: [")
    with pytest.raises(UsageError) as raised:
        fresh.bundle(root, root / ".bylaw", TODAY)
    assert "bylaw check" in (raised.value.help or "")
    assert read(root / ".bylaw" / "compiled_policy_bundle.json").bundle_metadata.etag == etag
