"""Charts: what is drawn, that nothing in it can do harm, and that the same reply gives the same picture."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.conversation import Chart
from bot.delivery.pictures import description, picture, specification
from bot.delivery.plots import plot
from bylaw.errors import UsageError
from tests.fakes.frame import reply
from tests.rows import each

LINE = Chart(kind="line", title="Revenue by month", x="month", y=("revenue",), format="currency", unit="USD")
BARS = Chart(kind="bars", title="Orders by region", x="region", y=("orders",), format="integer")
ROWS = (("2026-01-01", 10.5), ("2026-02-01", None), ("2026-03-01", 7))
MONTHS = reply(kind="data", columns=("month", "revenue"), rows=ROWS, chart=LINE)
REGIONS = reply(kind="data", columns=("region", "orders"), rows=(("EU", 3), (None, 5), ("A.b[c]", -2)), chart=BARS)


def test_a_line_has_its_points_in_time_and_holes_where_there_are_none():
    made = specification(MONTHS)
    assert made["mark"]["type"] == "line"
    assert made["data"]["values"] == [
        {"x": "2026-01-01", "y": 10.5, "s": "revenue"},
        {"x": "2026-03-01", "y": 7.0, "s": "revenue"},
    ]
    assert made["encoding"]["y"]["title"] == "USD"
    assert made["encoding"]["x"]["axis"]["format"] == "%b %Y"


def test_a_picture_in_words_has_its_reach_and_its_ends():
    assert description(MONTHS) == (
        "Line chart: Revenue by month. 2 values from 2026-01-01 to 2026-03-01, "
        "lowest 7.00 USD at 2026-03-01, highest 10.50 USD at 2026-01-01."
    )
    assert description(REGIONS) == "Bar chart: Orders by region. 3 values, lowest -2 at A.b[c], highest 5 at (none)."
    assert description(reply()) == ""
    rows = tuple((f"2026-0{month}-01", region, month / 8) for month in (2, 1) for region in ("US", "EU"))
    shares = LINE.model_copy(update={"series": "region", "format": "percent", "unit": None})
    said = description(reply(columns=("month", "region", "revenue"), rows=rows, chart=shares))
    assert "US: 2 values from 2026-01-01 to 2026-02-01, lowest 12.5% at 2026-01-01, highest 25.0% at" in said


def test_bars_keep_the_order_of_the_rows():
    made = specification(REGIONS)
    assert made["mark"]["type"] == "bar"
    assert made["encoding"]["y"]["sort"] == ["EU", "(none)", "A.b[c]"]


def test_several_series_have_a_legend_in_their_order():
    rows = tuple((f"2026-0{month}-01", region, month) for month in (1, 2) for region in ("US", "EU"))
    chart = LINE.model_copy(update={"series": "region"})
    made = specification(reply(columns=("month", "region", "revenue"), rows=rows, chart=chart))
    assert made["encoding"]["color"]["scale"]["domain"] == ["US", "EU"]


@each(
    ("days", "format_"),
    [
        (["2025-01-01", "2026-01-01"], "%Y"),
        (["2026-01-01", "2026-02-01"], "%b %Y"),
        (["2026-01-01", "2026-01-08"], "%-d %b %Y"),
    ],
)
def test_dates_are_as_fine_as_they_need_to_be(days, format_):
    made = specification(MONTHS.model_copy(update={"rows": tuple((day, 1) for day in days)}))
    assert made["encoding"]["x"]["axis"]["format"] == format_


@each(
    "held",
    [
        reply(columns=("a",), rows=((1,),)),
        REGIONS.model_copy(update={"columns": ("other", "orders")}),
        REGIONS.model_copy(update={"columns": (), "rows": ()}),
    ],
)
def test_what_has_no_chart_has_no_picture(held):
    assert specification(held) is None
    assert picture(held, "png") is None
    assert plot(held) == ""


def test_a_picture_is_a_picture():
    assert picture(MONTHS, "png").startswith(b"\x89PNG\r\n")
    drawn = picture(REGIONS, "svg").decode()
    assert drawn.startswith("<svg")
    assert "Orders by region" in drawn and "A.b[c]" in drawn


@pytest.mark.slow
def test_the_same_reply_is_the_same_picture_wherever_and_whenever_it_is_drawn():
    code = (
        "import sys, hashlib; from tests.bot.delivery.test_pictures import MONTHS, picture; "
        "print(hashlib.sha256(picture(MONTHS, 'png')).hexdigest())"
    )
    there = {**os.environ, "TZ": "Pacific/Auckland", "LANG": "de_DE.UTF-8", "PYTHONHASHSEED": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=there)
    assert done.stdout.strip() == hashlib.sha256(picture(MONTHS, "png")).hexdigest()


HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e\0'\"&${7*7}"


def test_no_text_in_a_picture_is_more_than_text():
    held = REGIONS.model_copy(
        update={
            "rows": ((HOSTILE, 1), ("x" * 500, 2)),
            "chart": BARS.model_copy(update={"title": HOSTILE * 20, "unit": HOSTILE}),
        }
    )
    drawn = picture(held, "svg").decode()
    assert "<script" not in drawn
    assert "${7*7}" in drawn
    assert not any(char in drawn for char in "\x1b\0\u202e")
    assert max(map(len, specification(held)["title"])) <= 271


NUMBERS = st.one_of(st.none(), st.integers(-(10**30), 10**30), st.floats(allow_nan=False, allow_infinity=False))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=20), NUMBERS), min_size=1, max_size=6))
def test_any_rows_can_be_described_drawn_and_plotted(rows):
    held = REGIONS.model_copy(update={"rows": tuple(rows)})
    json.dumps(specification(held), allow_nan=False)
    assert picture(held, "svg")
    assert description(held) or all(value is None for _, value in rows)
    assert all(len(line) <= 24 + 2 + 40 for line in plot(held).splitlines())


def test_without_the_library_a_picture_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(UsageError) as caught:
        picture(MONTHS, "png")
    assert "bylaw-policies[charts]" in caught.value.help


def test_a_plot_shows_what_is_above_and_below_nothing():
    assert plot(REGIONS).splitlines() == [f"EU      {24 * '#'}", f"(none)  {40 * '#'}", f"A.b[c]  {16 * '-'}"]
    assert plot(REGIONS.model_copy(update={"rows": (("EU", 1),)})) == ""
    assert plot(REGIONS.model_copy(update={"rows": (("EU", 0), ("US", 0))})) == ""
    assert plot(REGIONS.model_copy(update={"rows": tuple((str(i), i) for i in range(40))})) == ""
    many = BARS.model_copy(update={"y": ("orders", "orders")})
    assert plot(REGIONS.model_copy(update={"chart": many})) == ""
