"""The pages in tests/transcripts and docs: files in, commands, the exact output: the documentation of the command.

A fence whose opening line names a path (```yaml policies/vocabulary.yaml, on a page of docs ```yaml title="…") writes
that file; an empty one deletes it.
A `console` fence holds `$ bylaw …` lines, each followed by what it must say and, unless it is 0, the exit code. The
comment `<!-- starts from tests/company -->` copies a folder first. `--update-golden` writes the outputs anew.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
PAGES = [*sorted((HERE / "transcripts").glob("*.md")), *sorted(DOCS.glob("*.md"))]
FENCE = re.compile(r"^```(\w+)(?: (?:title=\")?([^\s\"]+)\"?)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
START = re.compile(r"<!-- starts from (\S+) -->")
VERBS = {"check", "compile", "decide", "explain", "init", "sql"}


@dataclass(frozen=True)
class Fence:
    """A block of a page: its text lies from *start* to *end*."""

    language: str
    path: str | None
    text: str
    start: int
    end: int


def fences(page: str) -> Iterator[Fence]:
    for found in FENCE.finditer(page):
        yield Fence(found[1], found[2], found[3], found.start(3), found.end(3))


def replayed(page: str, folder: Path, call: Callable[..., Any]) -> str:
    """The page as it would read if every command were run now in *folder*."""
    if start := START.search(page):
        shutil.copytree(HERE.parent / start[1], folder, ignore=shutil.ignore_patterns(".bylaw"), dirs_exist_ok=True)
    text, done = "", 0
    for fence in fences(page):
        text += page[done : fence.start]
        done = fence.end
        if fence.language == "console":
            calls = [line for line in fence.text.splitlines() if line.startswith("$ ")]
            text += "".join(called(line, folder, call) for line in calls)
        else:
            if fence.path is not None:
                written(folder / fence.path, fence.text)
            text += fence.text
    return text + page[done:]


def written(path: Path, text: str) -> None:
    if not text.strip():
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def called(line: str, folder: Path, call: Callable[..., Any]) -> str:
    """The line, what the command says to a person, and how it ends."""
    program, *words = shlex.split(line.removeprefix("$ "))
    assert program == "bylaw", line
    done = call(*words, cwd=folder, merged=True)
    assert "Traceback" not in done.out
    said = done.out if not done.out or done.out.endswith("\n") else f"{done.out}\n"
    return f"{line}\n{said}{f'[exit code {done.code}]' if done.code else ''}" + ("\n" if done.code else "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_shows_what_the_command_says(
    page: Path, tmp_path: Path, call: Callable[..., Any], request: pytest.FixtureRequest
) -> None:
    written_text = page.read_text(encoding="utf-8")
    now = replayed(written_text, tmp_path, call)
    if request.config.getoption("--update-golden"):
        page.write_text(now, encoding="utf-8")
    else:
        assert now == written_text


def test_every_page_has_a_title_and_runs_something() -> None:
    assert PAGES
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert text.startswith("# "), page.name
        runs = any(fence.language == "console" and fence.text.startswith("$ bylaw ") for fence in fences(text))
        assert runs or page.parent == DOCS, f"{page.name} shows nothing"
        assert str(Path.home()) not in text


def test_the_pages_show_the_verbs_of_the_first_trip() -> None:
    shown = {
        shlex.split(line)[2]
        for page in PAGES
        for fence in fences(page.read_text(encoding="utf-8"))
        if fence.language == "console"
        for line in fence.text.splitlines()
        if line.startswith("$ bylaw ")
    }
    assert shown >= VERBS
