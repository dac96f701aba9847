"""The files of an answer hold what the answer holds, and can be opened without harm."""

from __future__ import annotations

import csv
import io
import sys

from bot.conversation import Chart
from bot.delivery.blocks.files import ALT, MOST_BYTES, File, files, fits, has_files
from tests.fakes.frame import reply
from tests.rows import each

BARS = Chart(kind="bars", title="Orders by region", x="region", y=("orders",), format="integer")
REGIONS = reply(kind="data", columns=("region", "orders"), rows=(("EU", 3), ("=1+1", 5)), chart=BARS)


def test_a_chart_and_a_table_each_with_the_title_of_the_chart():
    drawn, table = files(REGIONS)
    assert [(file.name, file.title) for file in (drawn, table)] == [
        ("chart.png", "Orders by region"),
        ("result.csv", "Orders by region"),
    ]
    assert drawn.content.startswith(b"\x89PNG\r\n")
    assert drawn.alt == "Bar chart: Orders by region. 2 values, lowest 3 at EU, highest 5 at =1+1."
    assert table.alt is None


def test_the_table_has_every_row_and_nothing_that_a_spreadsheet_would_run():
    many = REGIONS.model_copy(update={"rows": tuple((f"@{n}", n) for n in range(500)), "chart": None})
    read = list(csv.reader(io.StringIO(files(many)[-1].content.decode())))
    assert len(read) == 501
    assert read[1] == ["'@0", "0"]


@each(
    "held",
    [
        reply(),
        reply(kind="data", columns=("orders",), rows=((3,),)),
        reply(kind="data", columns=("orders",), rows=()),
        reply(kind="data", status="recommended", sql="SELECT 1"),
    ],
)
def test_what_a_message_says_whole_has_no_files(held):
    assert not has_files(held)
    assert files(held) == ()


def test_rows_without_a_chart_are_a_table_alone(monkeypatch):
    assert [file.name for file in files(REGIONS.model_copy(update={"chart": None}))] == ["result.csv"]
    monkeypatch.setitem(sys.modules, "vl_convert", None)  # as where `bylaw-policies[charts]` is not installed
    assert [file.name for file in files(REGIONS)] == ["result.csv"]


def test_the_words_for_a_picture_fit_however_long_its_names_are():
    rows = tuple((f"{month:04}-01-01", name * 60, month) for month in range(2001, 2005) for name in "abcdefgh")
    chart = Chart(kind="line", title="t" * 900, x="at", y=("n",), series="s")
    drawn = files(reply(columns=("at", "s", "n"), rows=rows, chart=chart))[0]
    assert len(drawn.title) <= 150
    assert ALT // 2 < len(drawn.alt) <= ALT


def test_a_file_has_a_largest_size():
    assert fits(File("a", "a", b"x" * MOST_BYTES))
    assert not fits(File("a", "a", b"x" * (MOST_BYTES + 1)))
