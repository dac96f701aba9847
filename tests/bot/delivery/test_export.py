"""Rows as files: formulas are defused, columns typed, and the same reply is the same bytes."""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from decimal import Decimal

import duckdb
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation import Chart, sayable, spoken
from bot.delivery.export import MEDIA_TYPES, exported
from bot.delivery.saving import said, save
from bylaw.errors import UsageError
from tests.fakes.frame import reply
from tests.rows import each

HOSTILE = [
    ("=1+1", "'=1+1"),
    ("+1 555 0100", "'+1 555 0100"),
    ("-2+3", "'-2+3"),
    ("@SUM(A1)", "'@SUM(A1)"),
    ("\t=1", "'\t=1"),
    ("  =cmd|' /C calc'!A0", "'  =cmd|' /C calc'!A0"),
    ("|calc", "'|calc"),
    ("-5.25", "-5.25"),
    ("+3e7", "+3e7"),
    ("plain, with a comma", "plain, with a comma"),
    ('a "quote"', 'a "quote"'),
    ("two\nlines", "two\nlines"),
    ("nul\0", "nul\N{REPLACEMENT CHARACTER}"),
    ("**bold** <b> [x](y)", "**bold** <b> [x](y)"),
    ("\N{SNOWMAN}", "\N{SNOWMAN}"),
    (None, ""),
    (True, "true"),
    (False, "false"),
    (-7, "-7"),
    (1.5, "1.5"),
    (Decimal("12345678901234567890.123456789"), "12345678901234567890.123456789"),
]


def read_parquet(made, tmp_path):
    path = tmp_path / "rows.parquet"
    path.write_bytes(made)
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT * FROM read_parquet('{path}')")
        return [column[0] for column in found.description], found.fetchall()


@each(("cell", "shown"), HOSTILE, ids=[repr(cell)[:20] for cell, _ in HOSTILE])
def test_a_cell_reaches_a_spreadsheet_as_what_it_is_and_never_as_a_formula(cell, shown):
    made = exported(reply(columns=("a",), rows=((cell,),)), "csv").decode()
    (read,) = list(csv.reader(io.StringIO(made, newline="")))[1:]
    assert "".join(read) == shown


def test_a_column_cannot_be_a_formula_either():
    assert exported(reply(columns=("=1+1",), rows=()), "csv") == b"'=1+1\r\n"


TYPES = [
    ([1, None, 3], [1, None, 3]),
    ([1, 2.5], [1.0, 2.5]),
    ([Decimal("1.25"), None], [1.25, None]),
    ([True, False, None], [True, False, None]),
    (["2026-01-01", None], [date(2026, 1, 1), None]),
    (["2026-01-01", "soon"], ["2026-01-01", "soon"]),
    ([1, "a"], ["1", "a"]),
    ([2**70, 1], [str(2**70), "1"]),
    (["nul\0", "x" * 5_000], ["nul\N{REPLACEMENT CHARACTER}", "x" * 5_000]),
    ([None, None], [None, None]),
    ([float("inf"), 1.0], [float("inf"), 1.0]),
]


@pytest.mark.parametrize(("cells", "held"), TYPES, ids=[str(cells)[:30] for cells, _ in TYPES])
def test_a_parquet_column_has_the_type_of_its_cells(cells, held, tmp_path):
    made = exported(reply(columns=("a",), rows=tuple((cell,) for cell in cells)), "parquet")
    names, rows = read_parquet(made, tmp_path)
    assert names == ["a"]
    assert [row[0] for row in rows] == held
    assert [type(row[0]) for row in rows] == [type(cell) for cell in held]


def test_moments_are_moments_and_zones_stay_text(tmp_path):
    rows = (("2026-01-01T10:00:00", "2026-01-01T10:00:00+00:00"),)
    _, found = read_parquet(exported(reply(columns=("a", "b"), rows=rows), "parquet"), tmp_path)
    assert found[0][0].isoformat() == "2026-01-01T10:00:00"
    assert found[0][1] == "2026-01-01T10:00:00+00:00"


def test_columns_of_one_name_are_told_apart(tmp_path):
    made = exported(reply(columns=("a", "A", 'q"uo'), rows=((1, 2, 3),)), "parquet")
    names, rows = read_parquet(made, tmp_path)
    assert names == ["a", "A_2", 'q"uo']
    assert rows == [(1, 2, 3)]


def test_no_rows_are_still_a_file(tmp_path):
    assert read_parquet(exported(reply(columns=("a",), rows=()), "parquet"), tmp_path)[1] == []
    assert exported(reply(columns=("a",), rows=()), "csv") == b"a\r\n"


CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.decimals(allow_nan=False)
)


@given(st.lists(st.tuples(CELLS, CELLS), max_size=8))
def test_any_rows_make_each_kind_of_file_twice_the_same(rows):
    given_reply = reply(columns=("a", "b"), rows=tuple(rows))
    for kind in MEDIA_TYPES:
        assert exported(given_reply, kind) == exported(given_reply, kind)
    read = list(csv.reader(io.StringIO(exported(given_reply, "csv").decode(), newline="")))
    assert len(read) == len(rows) + 1
    assert json.loads(exported(given_reply, "json")) == sayable(given_reply)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_yaml_says_what_json_says(text):
    held = spoken(reply(text=f"x{text}", columns=("a", "b", "c"), rows=((f"{text}.", 1, None),)))
    assert yaml.safe_load(exported(held, "yaml")) == json.loads(exported(held, "json"))


def test_what_has_no_rows_is_no_table_and_an_unknown_format_none_at_all():
    with pytest.raises(UsageError, match="no rows"):
        exported(reply(), "csv")
    with pytest.raises(UsageError, match="no format"):
        exported(reply(), "xlsx")


@pytest.mark.parametrize("ending", ["csv", "parquet", "json", "yaml", "yml", "CSV"])
def test_the_ending_says_what_is_written(ending, tmp_path):
    path = tmp_path / f"rows.{ending}"
    save(reply(columns=("a",), rows=((1,),)), path)
    assert path.read_bytes() == exported(
        reply(columns=("a",), rows=((1,),)), {"yml": "yaml"}.get(ending, ending.lower())
    )


def test_what_cannot_be_written_is_said(tmp_path):
    chart = Chart(kind="bars", title="t", x="a", y=("b",))
    for path, held, why in (
        (tmp_path / "rows.xlsx", reply(), "nothing that can be written"),
        (tmp_path / "no" / "rows.json", reply(), "cannot be written"),
        (tmp_path / "a.png", reply(), "no chart"),
        (tmp_path / "b.png", reply(chart=chart), "no chart"),
    ):
        with pytest.raises(UsageError, match=why):
            save(held, path)


def test_a_document_ends_where_it_ends():
    assert json.loads(said(reply(), "json"))["request_id"] == reply().request_id
    assert not said(reply(), "yaml").endswith("\n")
