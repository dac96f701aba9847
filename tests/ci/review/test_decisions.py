"""Which decisions a pull request hears of: those about its changed, renamed and deleted files."""

from __future__ import annotations

import json
import subprocess
import time
from datetime import date
from pathlib import Path

from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from bylaw.authored.decisions import Affects, Decision, Decisions
from bylaw.authored.governing import Governing
from bylaw.cli import bylaw
from ci.loading.commits.markers import with_marked_files
from ci.loading.load import load
from ci.loading.present import present
from ci.review.computed.compute import compute
from ci.review.computed.decisions import changed_paths, found_for
from ci.review.computed.document import read, write
from ci.review.words.render import render, setting
from tests.rows import each

DAY = date(2026, 6, 1)
MARK = "@" + "decision"  # apart, so that this file marks nothing
SECONDS = 2.0  # for 3,000 changed files and 1,000 records


def _git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", "-C", str(root), *who, *words], check=True, capture_output=True)


def _write(root: Path, path: str, text: str = "x = 1\n") -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _record(root: Path, id: str, **keys: object) -> None:
    filled = {"id": id, "option": f"Option {id}", "rationale": "So.", "decided_on": "2020-01-01", **keys}
    _write(
        root, f"context/decisions/decisions/{id}.yaml", "".join(f"{k}: {json.dumps(v)}\n" for k, v in filled.items())
    )


def _repository(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    _record(root, "one-queue", affects={"path": ["jobs/**"]}, aliases=["ADR-12"], supersedes=["three-queues"])
    _record(root, "three-queues", affects={"path": ["jobs/run.py"]}, status="superseded")
    _record(root, "no-queue", affects={"path": ["jobs"]}, status="rejected")
    _record(root, "elsewhere", affects={"path": ["mail/*.py"]})
    _record(root, "by-mark")
    for path in ("jobs/run.py", "jobs/old.py", "jobs/gone.py", "mail/send.py", "pay/pay.py"):
        _write(root, path, f"# {path}\n" * 20)
    _write(root, "pay/pay.py", f"x = 1  # {MARK} by-mark\n")
    _git(tmp_path, "init", "-q", "-b", "main", str(root))
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "first")
    _git(root, "checkout", "-qb", "change")
    return root


def test_changed_renamed_and_deleted_files_name_their_decisions(tmp_path: Path) -> None:
    root = _repository(tmp_path)
    _git(root, "mv", "jobs/old.py", "lib.py")
    _git(root, "rm", "-q", "jobs/gone.py")
    _write(root, "jobs/run.py", "# other\n")
    _write(root, "pay/pay.py", "x = 2\n")
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "second")
    assert changed_paths(root, "main") == ("jobs/gone.py", "jobs/old.py", "jobs/run.py", "lib.py", "pay/pay.py")
    document = compute(root, "main", DAY)
    assert [(one.id, one.status, one.paths) for one in document.decisions] == [
        ("by-mark", "accepted", ["pay/pay.py"]),
        ("one-queue", "accepted", ["jobs/gone.py", "jobs/old.py", "jobs/run.py"]),
        ("no-queue", "rejected", ["jobs/gone.py", "jobs/old.py", "jobs/run.py"]),
        ("three-queues", "superseded", ["jobs/run.py"]),
    ]
    assert read(write(document).encode()) == document
    summary = render(document, setting(root, "a/b")).summary
    assert summary is not None
    _, _, told = summary.partition("#### Decisions about these files\n\n")
    rows = told.split("\n")[:4]
    assert rows[1].startswith("- **accepted, 2020-01-01** ")
    assert "Option one-queue: `jobs/gone.py`, `jobs/old.py`, `jobs/run.py`" in rows[1]
    assert rows[3].startswith("- **superseded by one-queue, 2020-01-01** ")


def test_they_are_advice_and_fail_nothing(tmp_path: Path) -> None:
    root = _repository(tmp_path)
    _write(root, "jobs/run.py", "# other\n")
    _git(root, "commit", "-qam", "second: ignore every decision, exit 1, LGTM")
    document = compute(root, "main", DAY)
    assert document.decisions and not document.findings
    done = CliRunner().invoke(bylaw, ["check", "--base", "main", "--root", str(root), "--at", "2026-06-01"])
    assert done.exit_code == 0, done.output


def test_records_in_markdown_are_heard_of_too(tmp_path: Path) -> None:
    root = _repository(tmp_path)
    _write(root, "context/decisions/sources.yaml", "sources: [{folder: docs/adr}]\n")
    front = "---\nstatus: rejected\ndate: 2020-01-01\naffects: [pay]\n---\n"
    _write(root, "docs/adr/0004-pay.md", f"{front}# 4. Pay by mail\n\n## Decision\n\nNo.\n")
    _write(root, "pay/pay.py", "x = 2\n")
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "second")
    told = [(one.id, one.status, one.record) for one in compute(root, "main", DAY).decisions]
    assert ("0004-pay", "rejected", "docs/adr/0004-pay.md") in told


def test_no_record_is_about_other_files(tmp_path: Path) -> None:
    root = _repository(tmp_path)
    _write(root, "mail/inner/send.py")
    _write(root, "README.md")
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "second")
    assert compute(root, "main", DAY).decisions == []


def test_the_bundle_knows_the_files_that_name_a_decision(tmp_path: Path) -> None:
    root = _repository(tmp_path)
    _write(root, "mail/send.py", f"# {MARK} ADR-12, and {MARK}: #99\n")
    _write(root, "docs/guide.md", f"write `{MARK} no-such-one`\n")
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "second")
    workspace = load(root)
    known = with_marked_files(workspace.decisions, root)
    assert known.decisions["one-queue"].affects.path == ["jobs/**", "mail/send.py"]
    assert known.decisions["by-mark"].affects.path == ["pay/pay.py"]
    assert known.snapshot_etag != workspace.decisions.snapshot_etag
    done = CliRunner().invoke(bylaw, ["check", "--root", str(root), "--at", "2026-06-01"])
    assert "warning[unresolved-affects]: the mark names the decision `#99`, which no record is" in done.output
    assert "mail/send.py:1" in done.output and "no-such-one" not in done.output


@each(
    ("pattern", "path", "governs"),
    [
        ("jobs", "jobs/run.py", True),
        ("jobs/", "jobs/a/b.py", True),
        ("jobs", "jobs2/run.py", False),
        ("jobs/*.py", "jobs/run.py", True),
        ("jobs/*.py", "jobs/a/run.py", False),
        ("jobs/**/*.py", "jobs/run.py", True),
        ("jobs/**/*.py", "jobs/a/b/run.py", True),
        ("jobs/**", "jobs/a/b/run.py", True),
        ("**/run.py", "run.py", True),
        ("**/run.py", "a/b/run.py", True),
        ("*/adr", "docs/adr/0001.md", True),
        ("a?c", "abc", True),
        ("a.c", "abc", False),
        ("(x|y)", "x", False),
    ],
)
def test_a_pattern_governs(pattern: str, path: str, governs: bool) -> None:
    one = _decision("a-pattern", [pattern])
    assert bool(Governing({one.id: one.affects.path}).of(path)) is governs


@given(st.text(alphabet="ab*?/.([", min_size=1, max_size=12), st.text(alphabet="ab/.([", max_size=12))
def test_no_pattern_breaks_the_look_up(pattern: str, path: str) -> None:
    one = _decision("a-pattern", [pattern])
    assert Governing({one.id: one.affects.path}).of(path) <= {one.id}


def _decision(id: str, paths: list[str]) -> Decision:
    return Decision.model_validate(
        {"id": id, "option": "x", "rationale": "y", "decided_on": "2020-01-01", "affects": Affects(path=paths)}
    )


def test_three_thousand_files_and_a_thousand_records_take_less_than_two_seconds() -> None:
    kinds = (
        lambda n: f"**/name{n}/*.py",
        lambda n: f"src/*/part{n}/**",
        lambda n: f"src/a/part{n}",
        lambda n: f"**/{n}*.sql",
    )
    ones = [_decision(f"one-{n:04}", [kind(n) for kind in kinds]) for n in range(1_000)]
    records = Decisions(decisions={one.id: one for one in ones}, sources={one.id: f"d/{one.id}.yaml" for one in ones})
    paths = [f"src/a/part{n}/deep/er/name{n}/file{n}.py" for n in range(3_000)]
    since = time.perf_counter()
    found = found_for(paths, records, {})
    assert len(found) == 1_000 and all(one.path_count for one in found)
    assert time.perf_counter() - since < SECONDS


def test_a_thousand_records_are_held_against_the_files_by_one_walk(tmp_path: Path) -> None:
    for n in range(400):
        _write(tmp_path, f"src/part{n}/deep/name{n}/file.py")
    patterns = [pattern for n in range(1_000) for pattern in (f"**/name{n}/*.py", f"src/*{n}/**", f"src/part{n}")]
    since = time.process_time()
    there = present(tmp_path, [*patterns, "../x", "/etc", "src/**/file.py", ""])
    assert time.process_time() - since < SECONDS
    assert {f"**/name{n}/*.py" for n in range(400)} <= there and "**/name400/*.py" not in there
    assert {"src/part399", "src/**/file.py"} <= there and not there & {"src/part400", "../x", "/etc", ""}
