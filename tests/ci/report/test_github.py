"""What a runner of GitHub Actions reads out of the report: its own commands, and none that a file smuggled in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ci.findings import Finding, Place
from ci.proofs.answers import Answered
from ci.report.formats import FORMATS
from ci.report.github import MOST_OF_A_KIND, MOST_SUMMARY_BYTES, commands, summary
from ci.report.report import Report
from ci.report.visible import visible
from tests.rows import each

Command = Callable[..., Any]
ROWS = yaml.safe_load((Path(__file__).parent / "github.yaml").read_text(encoding="utf-8"))


def finding(message: str = "m", path: str = "a.yaml", **more: Any) -> Finding:
    return Finding(more.pop("id", "gap"), message, Place(path, line=2, column=3), **more)


def runner(text: str) -> list[tuple[str, dict[str, str], str]]:
    """The commands that a runner takes from *text*: as its `TryParseV2` and, for what that leaves, `TryParse` do."""
    found = []
    for line in re.split("\r\n|\r|\n", text):
        if not line.lstrip().startswith("::"):
            assert "##[" not in line, "an old command may stand anywhere in a line"
            continue
        head, _, message = line.lstrip()[2:].partition("::")
        name, _, told = head.partition(" ")
        properties = dict(part.split("=", 1) for part in told.split(",")) if told else {}
        found.append((name, {key: unescaped(value) for key, value in properties.items()}, unescaped(message)))
    return found


def unescaped(text: str) -> str:
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_the_commands_are_these_lines(row: dict[str, Any]) -> None:
    told = row["finding"]
    related = tuple((Place(path, line=line), note) for path, line, note in told.pop("related", ()))
    one = finding(told.pop("message"), told.pop("path", "a.yaml"), **told, related=related)
    lines = commands(Report([one], {}, folder=row.get("folder", ""))).splitlines()
    assert lines == row["lines"]


def test_ten_of_a_kind_are_annotated_and_the_others_counted() -> None:
    many = [finding(f"number {i}", severity=kind) for kind in ("error", "warning", "notice") for i in range(12)]
    text = commands(Report(many, {}))
    assert Counter(name for name, _, _ in runner(text)) == dict.fromkeys(("error", "warning", "notice"), MOST_OF_A_KIND)
    assert text.splitlines()[-1] == "12 errors, 12 warnings, 12 notices; 6 of them only in the job summary"
    assert all(f"number {i}" in summary(Report(many, {})) for i in range(12))


def test_what_was_there_before_is_told_in_the_summary_only() -> None:
    old, new = finding("old"), finding("new")
    report = Report([old, new], {}, existing=frozenset((old.fingerprint,)), has_base=True)
    assert [message for _, _, message in runner(commands(report))] == ["new"]
    assert commands(report).splitlines()[-1] == "1 error, 1 existing"
    told = summary(report)
    assert told.index("new") < told.index("old")
    assert "`gap` (existing)" in told


def test_questions_without_an_answer_are_told_in_the_summary() -> None:
    open_ = Answered("redundant-rule", proven=7, skipped=2, reasons=(("more than `600` neighbours", 2),))
    told = summary(Report([], {}, questions=[open_]))
    assert "redundant-rule 2 skipped of 9 &#40;more than `600` neighbours&#41;" in told


def test_a_clean_repository_says_so() -> None:
    assert commands(Report([], {})) == "no findings\n"
    assert "no findings" in summary(Report([], {}))


words = st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from(
    [
        "::error::x",
        "\n::set-env name=A::b",
        "\r::stop-commands::t",
        "%0A::error::x",
        "##[error]x",
        "a,line=9",
        "a:b",
        "%25",
    ]
)


@given(message=words, path=words, help=words, note=words)
def test_whatever_a_file_says_a_finding_is_one_command(message: str, path: str, help: str, note: str) -> None:
    one = finding(message, path, help=help, related=((Place(path, line=1), note),))
    ((name, properties, _),) = runner(commands(Report([one], {})))
    assert name == "error"
    assert set(properties) == {"file", "line", "col", "title"}
    shown = "".join(char if char in "\r\n" else visible(char) for char in path)
    assert properties["file"].replace("\r", "\n") == shown.replace("\r", "\n")
    assert properties["line"] == "2"


def test_a_huge_message_is_shortened_and_says_so() -> None:
    ((_, _, message),) = runner(commands(Report([finding("m" * 1_000_000)], {})))
    assert len(message) < 5_000
    assert message.endswith("more characters)")


def test_the_summary_stays_under_what_github_takes_and_counts_the_rest() -> None:
    many = [finding(f"{i} {'m' * 3_000}") for i in range(1_000)]
    told = summary(Report(many, {}))
    assert len(told.encode()) < MOST_SUMMARY_BYTES + 1_000
    left = re.search(r"… and (\d+) more: (\d+) gap", told)
    assert left is not None
    assert told.count("- **error**") + int(left[1]) == 1_000


def test_the_command_adds_to_the_summary_that_the_runner_names(
    company: Any, tmp_path: Path, call: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "summary.md"
    path.write_text("what another step said\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    done = call("check", "--root", company.root, "--format", "github")
    assert (done.code, done.err) == (1, "")
    assert len(runner(done.out)) == 9
    assert path.read_text(encoding="utf-8").startswith("what another step said\n### bylaw check\n\n3 errors")


@pytest.mark.parametrize("format_", sorted({*FORMATS} - {"github"}))
def test_other_formats_leave_the_summary_alone(
    format_: str, company: Any, tmp_path: Path, call: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "s.md"))
    call("check", "--root", company.root, "--format", format_)
    assert not (tmp_path / "s.md").exists()


def test_a_summary_that_cannot_be_written_is_wrong_usage(company: Any, tmp_path: Path, call: Command) -> None:
    nowhere = tmp_path / "no folder" / "summary.md"
    done = call("check", "--root", company.root, "--format", "github", "--summary", nowhere)
    assert done.code == 2
    assert "cannot write the summary" in done.err
