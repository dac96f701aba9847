"""Hostile and broken files: each is told by its place, with the next step, and nothing is written."""

from __future__ import annotations

import contextlib
import io
import json
import random
import zipfile
from datetime import date, datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import openpyxl
import pytest
import yaml

from bylaw.errors import UsageError
from ci.importers.tables.imported import Options, Taken, take
from ci.importers.tables.limits import MOST_COLUMNS
from ci.importers.tables.mapping import mapped
from ci.importers.tables.model import TablesRefused
from tests.conftest import Command

HERE = Path(__file__).parent
ROWS = yaml.safe_load((HERE / "refusals.yaml").read_text(encoding="utf-8"))
TABLES = yaml.safe_load((HERE / "dmn.yaml").read_text(encoding="utf-8"))


def told(path: Path, options: Options = Options()) -> str:  # noqa: B008 - frozen
    """What is said of a file of which nothing is taken; and nothing was written."""
    root = path.parent / "root"
    with pytest.raises((TablesRefused, UsageError)) as problem:
        take(path, root, options)
    assert not root.exists()
    if isinstance(problem.value, UsageError):
        return f"{problem.value}; {problem.value.help}"
    assert all(one.why and one.where for one in problem.value.refusals)
    return "\n".join(map(str, problem.value.refusals))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["title"])
def test_a_broken_file_is_told_by_its_place(row: dict[str, Any], tmp_path: Path) -> None:
    kind = next(key for key in ("csv", "dmn", "jsonl", "bytes") if key in row)
    path = tmp_path / row.get("name", f"t.{kind}")
    path.write_bytes(bytes.fromhex(row[kind]) if kind == "bytes" else row[kind].encode())
    said = told(path)
    assert row["tells"] in said and row.get("help", "") in said, said


@pytest.mark.parametrize("row", TABLES, ids=lambda row: row["title"])
def test_a_table_that_no_policy_says_is_told_by_rule_and_column(row: dict[str, Any], tmp_path: Path) -> None:
    allowed = f"<inputValues><text>{row['allowed']}</text></inputValues>" if "allowed" in row else ""
    (tmp_path / "t.dmn").write_text(
        '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"><inputData name="Age"/>'
        f'<decision name="Fee"><decisionTable {row.get("attributes", "")}>'
        f'<input label="Age"><inputExpression typeRef="{row.get("type", "number")}">'
        f"<text>{escape(row.get('input', 'Age'))}</text></inputExpression>{allowed}</input><output/>"
        f"<rule><inputEntry><text>{escape(row.get('test', '>= 3'))}</text></inputEntry>"
        f"<outputEntry><text>{escape(row.get('output', '5'))}</text></outputEntry></rule>"
        "</decisionTable></decision></definitions>",
        encoding="utf-8",
    )
    said = told(tmp_path / "t.dmn")
    assert "decision `Fee`" in said and row["tells"] in said and row.get("help", "") in said, said


# ---- workbooks ------------------------------------------------------------------------------------------------------


def workbook(path: Path, *rows: list[Any], formats: dict[str, str] | None = None, merged: str = "") -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows:
        sheet.append(row)
    for cell, format_ in (formats or {}).items():
        sheet[cell].number_format = format_
    if merged:
        sheet.merge_cells(merged)
    book.save(path)
    return path


WORKBOOKS = {
    "a formula that was never computed": ([["age", "fee"], ["=1+1", "x"]], {}, "", "A2: its formula has no value"),
    "an error value": ([["age", "fee"], ["#REF!", "x"]], {}, "", "A2: it holds the error #REF!"),
    "a share": ([["share", "fee"], [0.155, "x"]], {"A2": "0%"}, "", "A2: it holds 0.155 in the format `0%`"),
    "a rounded number": ([["amount", "fee"], [12.345, "x"]], {"A2": "0.00"}, "", "shows 12.3"),
    "a power": ([["amount", "fee"], [12345, "x"]], {"A2": "0.00E+00"}, "", "A2: it holds 12345 in the format"),
    "more digits than are shown": ([["amount", "fee"], [0.1234567890123, "x"]], {}, "", "holds 0.1234567890123"),
    "a month": ([["since", "fee"], [date(2026, 1, 31), "x"]], {"A2": "mmm yyyy"}, "", "A2: it shows no whole day"),
    "a time of day": ([["since", "fee"], [datetime(2026, 1, 31, 13), "x"]], {}, "", "A2: it holds a time of day"),
    "text among numbers": (
        [["age", "fee"], [30, "x"], ["31", "y"]],
        {},
        "",
        "A3: `31` is text that looks like a number",
    ),
    "a range across columns": (
        [["age", "sex", "fee"], [1, None, "x"]],
        {},
        "A2:B2",
        "A2: the merged range A2:B2 spans",
    ),
    "an empty cell": ([["age", "sex", "fee"], [1, None, "x"]], {}, "", "B2: it is empty"),
}


@pytest.mark.parametrize("title", WORKBOOKS)
def test_a_cell_that_shows_something_else_is_refused(title: str, tmp_path: Path) -> None:
    rows, formats, merged, tells = WORKBOOKS[title]
    said = told(workbook(tmp_path / "t.xlsx", *rows, formats=formats, merged=merged))
    assert tells in said and "Sheet!" in said, said


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for n in range(3):
            archive.writestr(f"xl/worksheets/sheet{n}.xml", b"0" * 90_000_000)
    (tmp_path / "t.xlsx").write_bytes(held.getvalue())
    assert "it unpacks into more than" in told(tmp_path / "t.xlsx")


def test_ten_thousand_columns_are_too_many(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", [f"c{n}" for n in range(10_000)], [1] * 10_000)
    assert f"it has 10,000 columns, and at most {MOST_COLUMNS} are read" in told(path)
    text = ",".join(f"c{n}" for n in range(10_000)) + "\n"
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert f"it has more than {MOST_COLUMNS} columns" in told(tmp_path / "t.csv")


def test_a_sheet_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", ["age", "fee"], [1, "x"])
    said = told(path, Options(mapped=mapped((), (), None, "2026")))
    assert "it has no sheet `2026`" in said and "`Sheet`" in said


def test_entities_inside_a_workbook_are_not_read(tmp_path: Path) -> None:
    path = workbook(tmp_path / "ok.xlsx", ["age", "fee"], [1, "x"])
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "t.xlsx", "w") as new:
        for part in old.infolist():
            data = old.read(part)
            if part.filename == "xl/worksheets/sheet1.xml":
                data = b'<!DOCTYPE d [<!ENTITY a "' + b"x" * 100 + b'">]>' + data.partition(b"?>")[2]
                data = b'<?xml version="1.0"?>' + data.replace(b"<v>", b"<v>&a;", 1)
            new.writestr(part, data)
    assert "it is no workbook that can be read" in told(tmp_path / "t.xlsx")


TOKENS = (*'"(),-<[]?=@:#', "..", "not", "null", 'date("2020-13-01")', "1e9", "9" * 50, "\u202e", "&amp;", "1,000")
MODEL = """<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"><decision name="d"><decisionTable>
<input><inputExpression typeRef="number"><text>Age</text></inputExpression></input><output/>
<rule><inputEntry><text>[3..9)</text></inputEntry><outputEntry><text>"x"</text></outputEntry></rule>
<rule><inputEntry><text>not(5, 6)</text></inputEntry><outputEntry><text>"y"</text></outputEntry></rule>
</decisionTable></decision></definitions>"""


@pytest.mark.parametrize("name", ["t.csv", "t.dmn", "t.xlsx", "policies.jsonl"])
def test_whatever_is_broken_is_told_and_never_our_fault(name: str, tmp_path: Path) -> None:
    luck, path = random.Random(name), tmp_path / name
    rows = [["age", "tier", "fee"], ["<= 3", "gold, silver", "x"], ["[5..9)", "not gold", "7"]]
    texts = {
        "t.csv": "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows),
        "t.dmn": MODEL,
        "policies.jsonl": '{"policy_id": "POL-A-001", "actions": [{"type": "required", "action": "a"}], '
        '"metadata": {"domain": "a"}}',
    }
    whole = workbook(path, *rows).read_bytes() if name == "t.xlsx" else texts[name].encode()
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(luck.randint(1, 4)):
            at = luck.randrange(len(data))
            data[at : at + luck.randint(0, 3)] = (
                luck.choice(TOKENS).encode() if name != "t.xlsx" else bytes([luck.randrange(256)])
            )
        path.write_bytes(data)
        with contextlib.suppress(TablesRefused, UsageError):
            take(path, tmp_path / "root", Options())
    assert not (tmp_path / "root").exists()


# ---- what is taken all the same, without a guess -------------------------------------------------------------------


def taken(path: Path, options: Options = Options()) -> Taken:  # noqa: B008 - frozen
    return take(path, path.parent / "root", options)


def text_of(found: Taken, name: str) -> str:
    return next(entry.text or "" for entry in found.plan.entries if name in entry.path)


def test_merged_cells_fill_down(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "t.xlsx", ["kind", "age", "fee"], ["car", "<= 3", "x"], [None, "> 3", "y"], merged="A2:A3"
    )
    policy = text_of(taken(path), "POL-")
    assert policy.count("parameter: kind") == 2


def test_numbers_that_are_text_keep_their_spelling(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", ["version", "fee"], ["1.10", "x"], ["1.9", "y"])
    assert 'value: "1.10"' in text_of(taken(path), "POL-")
    (tmp_path / "t.csv").write_text("zip,fee\n01067,x\n80331,y\n", encoding="utf-8")
    assert 'value: "01067"' in text_of(taken(tmp_path / "t.csv"), "POL-")


def test_days_and_computed_values_of_a_workbook_are_taken_as_they_are_shown(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", ["since", "fee"], [date(2026, 1, 31), "x"], formats={"A2": "dd/mm/yyyy"})
    assert 'value: "2026-01-31"' in text_of(taken(path), "POL-")


def test_an_empty_cell_is_any_where_somebody_says_so(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,sex,fee\n<= 3,,x\n", encoding="utf-8")
    assert "parameter: sex" not in text_of(taken(tmp_path / "t.csv", Options(is_empty_any=True)), "POL-")


def test_the_command_tells_it_in_words_and_as_json(tmp_path: Path, call: Command) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age,fee\n=SUM(A1),x\n,y\n", encoding="utf-8")
    done = call("import", path, "-o", tmp_path / "root")
    assert (
        (done.code, done.out) == (2, "") and "A2: `=SUM(A1)` is a formula" in done.err and "A3: it is empty" in done.err
    )
    done = call("import", path, "-o", tmp_path / "root", "--json")
    document = json.loads(done.out)
    assert done.code == 2 and [one["where"] for one in document["refused"]] == ["A2", "A3"]
    assert document["files"] == [] and document["error"]["message"] and not (tmp_path / "root").exists()
