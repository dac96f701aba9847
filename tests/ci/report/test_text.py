"""What a person sees in a terminal, to the letter."""

import unicodedata
from pathlib import Path
from typing import Any

import click
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ci.findings import Finding, Place
from ci.loading.source import parse
from ci.proofs.answers import Answered
from ci.report.text import WIDTH, capped, left_open, render
from ci.report.visible import visible
from tests.rows import each

ROWS = yaml.safe_load((Path(__file__).parent / "text.yaml").read_text(encoding="utf-8"))

OVERRIDES = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def finding_of(row: dict[str, Any]) -> Finding:
    path = row.get("path", "a.yaml")
    return Finding(
        row["id"],
        row["message"],
        Place(path, tuple(row.get("route", ())), row.get("key", False), row.get("line"), row.get("column")),
        help=row.get("help"),
        related=tuple((Place(path, tuple(route)), note) for route, note in row.get("related", ())),
        counterexample=row.get("case"),
        detail={"excerpt": row["excerpt"]} if "excerpt" in row else {},
        severity=row.get("severity", "error"),
    )


def plain(text: str) -> str:
    return click.unstyle(text)


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_the_report_is_this_text(row: dict[str, Any]) -> None:
    findings = [finding_of(item) for item in row["findings"]]
    existing = {f.fingerprint for f, item in zip(findings, row["findings"], strict=True) if item.get("existing")}
    text = render(findings, {"a.yaml": parse("a.yaml", row["source"])}, existing, cap=row.get("cap"))
    assert plain(text) + "\n" == row["shows"]


def test_colours_are_there_for_who_wants_them() -> None:
    text = render([finding_of({"id": "gap", "message": "m", "severity": "warning"})], {})
    assert text != plain(text)
    assert click.style("warning[gap]", fg="yellow", bold=True) in text


def test_of_a_long_line_the_part_around_the_word_is_shown() -> None:
    source = parse("a.yaml", f"a: [{'x, ' * 200}bad, {'y, ' * 200}z]\n")
    finding = Finding("schema", "m", Place("a.yaml", ("a", 200)))
    lines = plain(render([finding], {"a.yaml": source})).splitlines()
    assert "…" in lines[2]
    assert len(lines[2]) < WIDTH + 12
    assert lines[2][lines[3].index("^") :].startswith("bad, y")
    assert lines[3].count("^") == 3


def test_a_line_that_is_empty_or_too_short_has_no_excerpt() -> None:
    source = parse("a.yaml", "a: 1\n\n")
    for line, column in ((2, 1), (1, 99), (9, 1)):
        finding = Finding("schema", "m", Place("a.yaml", line=line, column=column))
        assert "|" not in plain(render([finding], {"a.yaml": source}))


def test_many_findings_stay_a_readable_report() -> None:
    findings = [Finding("conflict", f"m{i}", Place("a.yaml")) for i in range(10_000)]
    text = plain(render(findings, {}, cap=20))
    assert text.count("error[conflict]") == 20
    assert "… and 9980 more: 9980 conflict" in text
    assert text.endswith("1 file: 10000 errors")


@given(st.lists(st.sampled_from(["conflict", "gap", "schema", "unused-word"]), max_size=30), st.integers(1, 12))
def test_a_cap_keeps_the_order_and_leaves_no_kind_out_while_there_is_room(ids: list[str], cap: int) -> None:
    findings = [Finding(id, str(i), Place("a.yaml")) for i, id in enumerate(ids)]
    shown = capped(findings, cap)
    assert len(shown) == min(cap, len(findings))
    assert shown == [finding for finding in findings if finding in shown]
    if cap >= len(set(ids)):
        assert {finding.id for finding in shown} == set(ids)


@given(st.text())
def test_no_text_moves_the_cursor(text: str) -> None:
    shown = visible(text)
    assert not any(unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") for char in shown)
    assert not any(unicodedata.bidirectional(char) in OVERRIDES for char in shown)
    shown.encode()


def test_a_finding_with_many_places_shows_some_and_counts_the_rest() -> None:
    places = tuple((Place("a.yaml"), f"place {i}") for i in range(9))
    shown = render([Finding("gap", "m", Place("a.yaml"), related=places, severity="warning")], {})
    assert shown.count("place ") == 4
    assert "5 more places" in shown


def test_what_was_not_answered_is_one_line() -> None:
    asked = (
        Answered("gap", 2, 1),
        Answered("conflict", 3, 0, 2, 0, (("too long", 2),)),
        Answered("redundant-rule", 1, 1, 1, 3, (("too long", 1), ("too many rules", 3))),
    )
    assert left_open(asked) == [
        "not every question was answered: conflict 2 undecided of 5 (too long); redundant-rule 1 undecided and 3 "
        "skipped of 6 (too long, too many rules); limits stand under `proofs` in rules/ci.yaml"
    ]


def test_where_everything_was_answered_nothing_is_said() -> None:
    assert left_open((Answered("gap", 2, 1), Answered("conflict"))) == []
