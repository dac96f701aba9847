"""Which files are read: all of the repository's, none outside it, and nothing that would wait for ever."""

import os
import stat
import sys
from pathlib import Path

import pytest

from ci.findings import Finding
from ci.loading.files import Content, _bytes, contents
from ci.loading.limits import MAX_BYTES


def listed(root: Path) -> tuple[list[str], dict[str, str]]:
    """The paths that were read, and what is told about the others."""
    found = list(contents(root))
    read = [item.path for item in found if isinstance(item, Content)]
    told = {item.at.path: item.message for item in found if isinstance(item, Finding)}
    assert {item.id for item in found if isinstance(item, Finding)} <= {"unreadable-file"}
    return read, told


def make(path: Path, text: str = "a: 1\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_yaml_and_json_of_the_three_folders_in_the_order_of_their_names(tmp_path: Path) -> None:
    names = ("policies/b.yaml", "policies/a/z.yml", "policies/a/b/c.JSON", "context/x.Yaml", "rules/r.json")
    for name in (
        *names,
        "policies/readme.md",
        "policies/.hidden.yaml",
        "other/a.yaml",
        "policies/.git/a.yaml",
        "a.yaml",
    ):
        make(tmp_path / name)
    assert listed(tmp_path) == (
        ["policies/b.yaml", "policies/a/z.yml", "policies/a/b/c.JSON", "context/x.Yaml", "rules/r.json"],
        {},
    )


def test_a_link_may_lead_elsewhere_inside_and_never_outside(tmp_path: Path) -> None:
    root = tmp_path / "root"
    outside = make(tmp_path / "outside" / "secret.yaml")
    inside = make(root / "common" / "one.yaml")
    make(root / "policies" / "two.yaml")
    (root / "policies" / "one.yaml").symlink_to(inside)
    (root / "policies" / "secret.yaml").symlink_to(outside)
    (root / "policies" / "folder").symlink_to(outside.parent)
    (root / "policies" / "common").symlink_to(inside.parent)
    (root / "policies" / "gone.yaml").symlink_to(root / "nowhere.yaml")
    read, told = listed(root)
    assert read == ["policies/one.yaml", "policies/two.yaml", "policies/common/one.yaml"]
    assert told == {
        "policies/gone.yaml": "the file cannot be read: no such file or directory",
        "policies/secret.yaml": "the link leads out of the repository",
        "policies/folder": "the link leads out of the repository",
    }


def test_a_neighbour_with_a_longer_name_is_outside(tmp_path: Path) -> None:
    root = tmp_path / "root"
    make(root / "policies" / "a.yaml")
    (root / "policies" / "b.yaml").symlink_to(make(tmp_path / "root-of-another" / "b.yaml"))
    assert listed(root)[1] == {"policies/b.yaml": "the link leads out of the repository"}


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    make(tmp_path / "policies" / "a.yaml")
    (tmp_path / "policies" / "again").symlink_to(tmp_path / "policies")
    (tmp_path / "policies" / "self.yaml").symlink_to("self.yaml")
    (tmp_path / "policies" / "one").symlink_to("two")
    (tmp_path / "policies" / "two").symlink_to("one")
    read, told = listed(tmp_path)
    assert read == ["policies/a.yaml"]
    assert told == {
        "policies/again": "the link leads to a folder that is read at its own place",
        "policies/self.yaml": "the file cannot be read: too many levels of symbolic links",
    }


def test_a_link_to_a_folder_above_or_beside_reads_nothing_twice(tmp_path: Path) -> None:
    make(tmp_path / "rules" / "r.yaml")
    make(tmp_path / "policies" / "b" / "b.yaml")
    (tmp_path / "policies" / "b" / "up").symlink_to("../..")
    (tmp_path / "policies" / "a").symlink_to("b")
    (tmp_path / "policies" / "rules").symlink_to("../rules")
    told = "the link leads to a folder that is read at its own place"
    assert listed(tmp_path) == (
        ["policies/b/b.yaml", "rules/r.yaml"],
        {"policies/a": told, "policies/b/up": told, "policies/rules": told},
    )


def test_a_whole_folder_may_be_a_link_only_if_it_stays_inside(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    make(tmp_path / "outside" / "a.yaml")
    (root / "policies").symlink_to(tmp_path / "outside")
    assert listed(root) == ([], {"policies": "the link leads out of the repository"})


def test_the_root_itself_may_be_a_link(tmp_path: Path) -> None:
    make(tmp_path / "real" / "policies" / "a.yaml")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert listed(tmp_path / "link") == (["policies/a.yaml"], {})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    os.mkfifo(tmp_path / "policies" / "a.yaml")
    assert listed(tmp_path) == ([], {"policies/a.yaml": "this is no ordinary file"})


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_told(tmp_path: Path) -> None:
    make(tmp_path / "policies" / "a.yaml").chmod(0)
    assert listed(tmp_path) == ([], {"policies/a.yaml": "the file cannot be read: permission denied"})


def test_a_file_where_a_folder_belongs_is_told(tmp_path: Path) -> None:
    make(tmp_path / "rules")
    assert listed(tmp_path) == ([], {"rules": "the folder cannot be read: not a directory"})


@pytest.mark.skipif(sys.platform == "darwin", reason="this file system takes UTF-8 names only")
def test_a_name_that_is_no_text_is_read_and_shown(tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    name = os.fsencode(tmp_path / "policies") + b"/\xff.yaml"
    with open(name, "wb") as stream:  # noqa: PTH123 - a path of bytes
        stream.write(b"a: 1\n")
    read, told = listed(tmp_path)
    assert (read, told) == (["policies/\\xff.yaml"], {})
    read[0].encode()


def test_of_a_huge_file_one_byte_too_many_is_read(tmp_path: Path) -> None:
    path = make(tmp_path / "policies" / "a.yaml")
    os.truncate(path, 10 * MAX_BYTES)
    (content,) = contents(tmp_path)
    assert isinstance(content, Content)
    assert len(content.data) == MAX_BYTES + 1
    assert stat.S_ISREG(path.stat().st_mode)


@pytest.mark.parametrize("told", [0, 4, 5, 6, 2 * MAX_BYTES])
def test_a_file_is_read_whole_whatever_size_was_told(tmp_path: Path, told: int) -> None:
    """It may have changed since, and some file systems tell no sizes."""
    assert _bytes(str(make(tmp_path / "a.yaml", "a: 1\n")), told) == b"a: 1\n"


@pytest.mark.parametrize("told", [0, MAX_BYTES, 9 * MAX_BYTES])
def test_of_a_file_that_grew_huge_one_byte_too_many_is_read(tmp_path: Path, told: int) -> None:
    path = make(tmp_path / "a.yaml")
    os.truncate(path, 2 * MAX_BYTES)
    assert len(_bytes(str(path), told)) == MAX_BYTES + 1
