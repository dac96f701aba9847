"""Folders of documents: which are found, which are refused, and what git says of the day of an undated one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from pydantic import ValidationError

from bylaw.authored.decision_sources import DecisionSources
from ci.commands.watching import stamp
from ci.loading.commits.base_commit import files_at
from ci.loading.commits.first_commits import first_days
from ci.loading.commits.revision import Revision, revision
from ci.loading.files import Content, contents
from ci.loading.load import load, read
from tests.rows import each

DOCUMENT = "# A thing\n\nDate: 2020-01-01\n\n## Status\n\nAccepted\n\n## Decision\n\nSo.\n"


def _write(root: Path, path: str, text: str = DOCUMENT) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def _sources(root: Path, *folders: str) -> None:
    listed = "\n".join(f'  - {{folder: "{folder}"}}' for folder in folders)
    _write(root, "context/decisions/sources.yaml", f"sources:\n{listed}\n")


def _git(root: Path, *arguments: str, at: str = "2020-03-01T23:30:00-05:00") -> None:
    environment = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at, "PATH": "/usr/bin:/bin:/usr/local/bin"}
    names = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *names, *arguments], cwd=root, check=True, capture_output=True, env=environment)


@each(
    ("folder", "found"),
    [
        ("docs/adr", ["docs/adr/0001-a.md"]),
        ("docs/adr/", ["docs/adr/0001-a.md"]),
        ("services/*/adr", ["services/mail/adr/0002-b.md", "services/pay/adr/0003-c.md"]),
        ("services/p*/adr", ["services/pay/adr/0003-c.md"]),
        (
            "services/**",
            ["services/mail/adr/0002-b.md", "services/pay/adr/0003-c.md", "services/pay/adr/old/0004-d.md"],
        ),
        ("services/**/old", ["services/pay/adr/old/0004-d.md"]),
    ],
)
def test_a_pattern_finds_folders(tmp_path: Path, folder: str, found: list[str]) -> None:
    for path in (
        "docs/adr/0001-a.md",
        "docs/adr/notes.txt",
        "docs/adr/.hidden.md",
        "services/mail/adr/0002-b.md",
        "services/pay/adr/0003-c.md",
        "services/pay/adr/old/0004-d.md",
        "services/.git/adr/0005-e.md",
    ):
        _write(tmp_path, path)
    _sources(tmp_path, folder)
    assert [item.path for item in contents(tmp_path) if isinstance(item, Content)][1:] == found
    workspace = load(tmp_path)
    assert sorted(workspace.decisions.sources.values()) == found
    assert not workspace.findings


@each(
    "folder",
    [
        "../adr",
        "docs/../../adr",
        "/etc",
        "docs//adr",
        ".git",
        "docs/.adr",
        "~/adr/..",
        "c:\\adr",
        "**/adr",
        "docs/a**",
        "",
        "a\u0000b",
    ],
)
def test_a_folder_that_may_lie_elsewhere_is_refused(folder: str) -> None:
    with pytest.raises(ValidationError):
        DecisionSources.model_validate({"sources": [{"folder": folder}]})


def test_a_bad_source_hides_no_other(tmp_path: Path) -> None:
    _write(tmp_path, "docs/adr/0001-a.md")
    _sources(tmp_path, "../elsewhere", "docs/adr")
    workspace = load(tmp_path)
    assert list(workspace.decisions.decisions) == ["0001-a"]
    (told,) = workspace.findings
    assert (told.id, told.at.route) == ("schema", ("sources", 0, "folder"))
    assert "inside the repository" in told.message


def test_a_folder_that_is_not_there_is_told_at_its_line(tmp_path: Path) -> None:
    _sources(tmp_path, "docs/adrs")
    workspace = load(tmp_path)
    (told,) = workspace.findings
    assert (told.id, workspace.position(told.at)[0]) == ("dangling-reference", 2)


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = _write(tmp_path, "outside/secret.md")
    root = tmp_path / "root"
    _write(root, "docs/adr/0001-a.md")
    (root / "docs/adr/0002-b.md").symlink_to(outside)
    (root / "docs/linked").symlink_to(outside.parent)
    _sources(root, "docs/*", "docs/linked")
    workspace = load(root)
    assert list(workspace.decisions.decisions) == ["0001-a"]
    told = sorted((one.id, one.at.path) for one in workspace.findings)
    assert told == [("dangling-reference", "context/decisions/sources.yaml"), ("unreadable-file", "docs/adr/0002-b.md")]


def test_only_documents_that_a_source_names_are_read(tmp_path: Path) -> None:
    _write(tmp_path, "docs/adr/0001-a.md")
    _sources(tmp_path, "docs/adr")
    held = [*contents(tmp_path), Content("README.md", b"# Read me\n"), Content("docs/0002-b.md", DOCUMENT.encode())]
    workspace = read(tmp_path, held, Revision(), None)
    assert list(workspace.decisions.decisions) == ["0001-a"]
    assert not workspace.findings


def test_a_watch_sees_an_edited_document(tmp_path: Path) -> None:
    _write(tmp_path, "docs/adr/0001-a.md")
    _sources(tmp_path, "docs/adr")
    before = stamp(tmp_path)
    _write(tmp_path, "docs/adr/0001-a.md", DOCUMENT + "More.\n")
    assert stamp(tmp_path) != before


def test_one_id_in_two_folders_is_told(tmp_path: Path) -> None:
    _write(tmp_path, "a/adr/0001-a.md")
    _write(tmp_path, "b/adr/0001-a.md")
    _sources(tmp_path, "a/adr", "b/adr")
    assert [one.id for one in load(tmp_path).findings] == ["duplicate-id"]


def test_an_undated_document_has_the_day_of_its_first_commit(tmp_path: Path) -> None:
    _write(tmp_path, "docs/adr/0001-a.md", DOCUMENT.replace("Date: 2020-01-01\n\n", ""))
    _sources(tmp_path, "docs/adr")
    outside = load(tmp_path).decisions.decisions["0001-a"]
    assert (outside.decided_on, outside.dated_by) == (None, "nothing")
    _git(tmp_path, "init")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-m", "first")
    _write(tmp_path, "docs/adr/0001-a.md", DOCUMENT.replace("Date: 2020-01-01\n\n", "").replace("So.", "So, yes."))
    _git(tmp_path, "commit", "-am", "second", at="2021-01-01T00:00:00Z")
    found = load(tmp_path)
    one = found.decisions.decisions["0001-a"]
    assert (str(one.decided_on), one.timestamp, one.dated_by) == ("2020-03-01", "2020-03-01T00:00:00Z", "first_commit")
    assert [told.id for told in found.findings] == ["undated-decision"]
    shallow = tmp_path / "shallow"
    _git(tmp_path, "clone", "--depth=1", f"file://{tmp_path}", str(shallow))
    assert load(shallow).decisions.decisions["0001-a"].dated_by == "nothing"


def test_the_first_commit_is_that_of_the_file_under_its_first_name(tmp_path: Path) -> None:
    """It came from a folder beside, was renamed there and here, and changed on the way; its name is another's now."""
    body = DOCUMENT.replace("Date: 2020-01-01\n\n", "") + "".join(f"Reason {n} of many.\n" for n in range(30))
    _write(tmp_path, "old/deep/first.md", body)
    _git(tmp_path, "init")
    moves = [("old/deep/first.md", "notes/second.md"), ("notes/second.md", "docs/adr/x.md")]
    moves += [("docs/adr/x.md", "docs/adr/0001-a b\u00e4.md")]
    for number, (old, new) in enumerate([("", ""), *moves]):
        if new:
            (tmp_path / new).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / new).write_text((tmp_path / old).read_text(encoding="utf-8") + "More.\n", encoding="utf-8")
            (tmp_path / old).unlink()
        _git(tmp_path, "add", "-A")
        _git(tmp_path, "commit", "-m", str(number), at=f"201{number}-01-01T00:00:00Z")
    _write(tmp_path, "notes/second.md", "another one")
    _write(tmp_path, "docs/adr/0002-new.md", DOCUMENT.replace("Date: 2020-01-01\n\n", "").replace("So.", "Else."))
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-m", "later", at="2020-01-01T00:00:00Z")
    found = first_days(tmp_path, ["docs/adr/0001-a b\u00e4.md", "docs/adr/0002-new.md"])
    assert {path: str(day) for path, day in found.items()} == {
        "docs/adr/0001-a b\u00e4.md": "2010-01-01",
        "docs/adr/0002-new.md": "2020-01-01",
    }
    assert first_days(tmp_path, []) == {} == first_days(tmp_path, ["docs/adr/none.md"])


def test_a_commit_gives_the_documents_that_its_own_sources_name(tmp_path: Path) -> None:
    _write(tmp_path, "docs/adr/0001-a.md")
    _write(tmp_path, "docs/other/0002-b.md")
    _sources(tmp_path, "docs/adr")
    _git(tmp_path, "init")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-m", "first")
    _sources(tmp_path, "docs/other")
    here = list(contents(tmp_path))
    assert [file.path for file in files_at(tmp_path, "HEAD", here)] == [
        "context/decisions/sources.yaml",
        "docs/adr/0001-a.md",
    ]
    assert [item.path for item in here if isinstance(item, Content)][1:] == ["docs/other/0002-b.md"]


def test_an_edited_document_makes_the_commit_another(tmp_path: Path) -> None:
    _write(tmp_path, "docs/adr/0001-a.md")
    _sources(tmp_path, "docs/adr")
    _git(tmp_path, "init")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-m", "first")
    assert not str(revision(tmp_path).commit).endswith("-dirty")
    _write(tmp_path, "docs/adr/0001-a.md", DOCUMENT + "\nMore.\n")
    assert str(revision(tmp_path).commit).endswith("-dirty")
