"""The files of another commit, as they would be read from a folder that shows it."""

import subprocess

import pytest

from bylaw.errors import UsageError
from ci.loading.commits import base_commit
from ci.loading.commits.base_commit import committed_on, files_at
from ci.loading.files import contents

FILES = {
    "policies/vocabulary.yaml": "facts: {}\n",
    "policies/b/POL-B-001.yaml": "policy_id: POL-B-001\n",
    "policies/a.yaml": "a\n",
    "policies/a/z.yaml": "z\n",
    "policies/a/b/deep.json": "{}\n",
    "context/entities/orders.yaml": "name: orders\n",
    "rules/ci.yaml": "severities: {}\n",
    "policies/ünï cödé.yaml": "x\n",
    "policies/two\nlines.yaml": "x\n",
    "policies/.hidden.yaml": "x\n",
    "policies/.folder/x.yaml": "x\n",
    "policies/notes.txt": "x\n",
    "elsewhere/x.yaml": "x\n",
    "policies/empty.yaml": "",
    "policies/UPPER.YAML": "x\n",
}


def git(root, *words):
    subprocess.run(
        ["git", "-C", str(root), "-c", "user.name=n", "-c", "user.email=e@x", *words], check=True, capture_output=True
    )


@pytest.fixture
def root(tmp_path):
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    (tmp_path / "policies" / "link.yaml").symlink_to("/etc/hostname")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "all")
    return tmp_path


def test_they_are_those_of_the_folder_in_its_order(root):
    (root / "policies" / "link.yaml").unlink()  # a link is no file of a commit
    assert files_at(root, "HEAD") == list(contents(root))


def test_the_working_tree_makes_no_difference(root):
    before = files_at(root, "HEAD")
    (root / "policies" / "a.yaml").write_text("changed\n")
    (root / "policies" / "new.yaml").write_text("new\n")
    assert files_at(root, "HEAD") == before


def test_a_root_may_be_a_folder_of_its_repository(root):
    (root / "shop").mkdir()
    (root / "shop" / "policies").mkdir()
    (root / "shop" / "policies" / "one.yaml").write_text("one\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "shop")
    assert [(file.path, file.data) for file in files_at(root / "shop", "HEAD")] == [("policies/one.yaml", b"one\n")]


def test_where_no_policies_were_there_are_none(root):
    git(root, "rm", "-r", "-q", "policies", "context", "rules")
    git(root, "commit", "-q", "-m", "gone")
    assert files_at(root, "HEAD") == []
    assert files_at(root, "HEAD~1") != []


def test_a_file_that_is_too_large_is_read_one_byte_too_far(root):
    from ci.loading.source import MAX_BYTES

    (root / "policies" / "large.yaml").write_bytes(b"#" * (MAX_BYTES + 100))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "large")
    (large,) = [file for file in files_at(root, "HEAD") if file.path == "policies/large.yaml"]
    assert len(large.data) == MAX_BYTES + 1


@pytest.mark.parametrize("ref", ["nowhere", "--upload-pack=x", "HEAD:policies", "0" * 40])
def test_what_is_no_commit_is_said(root, ref):
    with pytest.raises(UsageError):
        files_at(root, ref)


def test_a_commit_has_a_day(root):
    assert committed_on(root, "HEAD") is not None
    assert committed_on(root, "nowhere") is None


@pytest.mark.parametrize("names", ["sha1", "sha256"])
def test_of_what_is_alike_here_git_is_not_asked_and_the_answer_is_the_same(tmp_path, monkeypatch, names):
    git(tmp_path, "init", "-q", f"--object-format={names}")
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    (tmp_path / "policies/a.yaml").write_text("another\n")
    (tmp_path / "policies/a/z.yaml").unlink()
    (tmp_path / "policies/new.yaml").write_text("z\n")
    here, before = list(contents(tmp_path)), files_at(tmp_path, "HEAD")
    asked: list[bytes] = []
    read = base_commit._contents
    monkeypatch.setattr(base_commit, "_contents", lambda root, blobs: read(root, asked.extend(blobs) or blobs))
    found = files_at(tmp_path, "HEAD", here)
    assert found == before
    assert len(asked) == 2  # the changed file and the one that is gone
    same = {id(file) for file in here}
    assert [file.path for file in found if id(file) not in same] == ["policies/a.yaml", "policies/a/z.yaml"]
