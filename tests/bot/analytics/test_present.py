"""Figures in sentences, and personal data behind the mask."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from bot.analytics.headline import apart, headline, readable
from bot.analytics.reply.present import figure, sentence
from bot.pii import Mask
from bylaw.authored.context import Metric
from bylaw.semantic.query import AnyOf, Apart, Filter, First, Related, SemanticQuery, Window
from bylaw.warehouses.port import Rows
from tests.rows import each

BASE = {"entity": "loans", "agg": "sum", "expr": "x"}
METRICS = {
    "fees": Metric.model_validate({"name": "fees", **BASE, "format": "currency", "unit": "EUR"}),
    "late_rate": Metric.model_validate({"name": "late_rate", **BASE, "format": "percent"}),
    "loan_count": Metric.model_validate({"name": "loan_count", **BASE, "format": "integer"}),
    "pages_read": Metric.model_validate({"name": "pages_read", **BASE}),
    "open_loans": Metric.model_validate({"name": "open_loans", **BASE, "snapshot": True, "format": "integer"}),
}
Q3 = Window(start=date(2026, 7, 1), end=date(2026, 10, 1), label="Q3 2026")
IN_2026 = tuple(
    Filter(dimension="loans.lent_on", operator=operator, values=(day,))
    for operator, day in ((">=", "2026-01-01"), ("<", "2027-01-01"))
)


def of_readers(comparison, value, *filters):
    """Readers with so many loans."""
    return Related(entity="readers", metric="count(loans)", comparison=comparison, value=value, filters=filters)


@each(
    ("metric", "value", "expected"),
    [
        ("fees", Decimal("1234.5"), "1,234.50 EUR"),
        ("fees", -3, "-3.00 EUR"),
        ("fees", None, "nothing"),
        ("late_rate", 0.1234, "12.3 %"),
        ("late_rate", 0, "0.0 %"),
        ("late_rate", 0.0004, "0.04 %"),
        ("late_rate", 0.9997, "99.97 %"),
        ("late_rate", Decimal("0.00000001"), "0.000001 %"),
        ("late_rate", 1, "100.0 %"),
        ("pages_read", 0.0034, "0.003"),
        ("pages_read", -0.0034, "-0.003"),
        ("loan_count", 1234567, "1,234,567"),
        ("loan_count", 0, "0"),
        ("pages_read", Decimal("3.50"), "3.5"),
        ("pages_read", 100, "100"),
        ("pages_read", 1000, "1,000"),
        ("pages_read", "many", "many"),
    ],
)
def test_a_figure_is_written_in_its_unit(metric, value, expected):
    assert figure(value, METRICS[metric]) == expected


@each(
    ("query", "expected"),
    [
        ({"metrics": ("fees",)}, "Fees, all time"),
        ({"metrics": ("open_loans",)}, "Open loans"),
        ({"metrics": ("late_rate",), "window": Q3}, "Late rate, Q3 2026"),
        ({"metrics": ("fees", "loan_count"), "dimensions": ("readers.city",)}, "Fees and loan count by city, all time"),
        ({"metrics": ("fees",), "dimensions": ("r.city",), "grain": "month"}, "Fees by city and month, all time"),
        (
            {"metrics": ("fees",), "filters": (Filter(dimension="r.city", values=("Bonn", "Ulm"), negated=True),)},
            "Fees, city not Bonn or Ulm, all time",
        ),
        (
            {"metrics": ("fees",), "filters": (First(by="loans.lent_on", per=("readers",), is_last=True),)},
            "Fees, the last by loans lent on of each of readers, all time",
        ),
        (
            {
                "metrics": ("fees",),
                "filters": (
                    Related(entity="r", metric="count(l)", filters=(Apart(moment="l.a", since="r.b", same="month"),)),
                ),
            },
            "Fees, with l (a in the same month as b), all time",
        ),
        (
            {"dimensions": ("readers.name", "readers.town"), "filters": (of_readers("=", 0, *IN_2026),)},
            "Readers (name and town), with no loans (lent on in 2026)",
        ),
        (
            {
                "metrics": ("fees",),
                "filters": (of_readers("<", 3), Filter(dimension="readers.left_on", operator="is_null")),
            },
            "Fees, with fewer than 3 loans, without left on, all time",
        ),
        (
            {
                "metrics": ("fees",),
                "filters": (AnyOf(any_of=(Filter(dimension="r.town", values=("Ulm",)), of_readers(">=", 1))),),
            },
            "Fees, town Ulm or with loans, all time",
        ),
        (
            {"metrics": ("fees",), "filters": (Related(entity="readers", metric="fees", comparison=">", value=9),)},
            "Fees, with fees above 9, all time",
        ),
        *(
            (
                {
                    "dimensions": ("readers.name",),
                    "filters": (Related(entity=owner, metric=metric, comparison=sign, against=agg),),
                },
                f"Name, with {said}, all time",
            )
            for owner, metric, sign, agg, said in (
                ("readers", "count(loans)", ">", "avg", "more loans than average"),
                ("readers", "fees", "<", "avg", "fees below the average"),
                ("loans", "max(loans.weight)", ">", "median", "weight above the median"),
            )
        ),
        (
            {
                "metrics": ("fees",),
                "filters": (
                    Filter(dimension="l.lent_on", operator=">=", values=("2026-03-01",)),
                    Filter(dimension="l.lent_on", operator="<", values=("2026-04-01",)),
                    Filter(dimension="l.back_on", operator="<", values=("2026-05-01",)),
                ),
            },
            "Fees, lent on in March 2026, back on before 2026-05-01",
        ),
    ],
)
def test_the_headline_says_what_the_number_is_about(query, expected):
    assert headline(SemanticQuery(**query), METRICS) == expected


def test_the_time_between_two_moments_is_named_by_both():
    assert readable("avg(loans.days(loans.lent_on, loans.due_on))") == "avg days from lent on to due on"


@each(
    ("how", "expected"),
    [
        ({"least": 0, "is_open": True}, "came after left"),
        ({"most": 0}, "came on or before left"),
        ({"least": 3, "is_open": True}, "came more than 3 days after left"),
        ({"least": 1, "unit": "week"}, "came at least 1 week after left"),
        ({"most": -2}, "came at least 2 days before left"),
        ({"least": 0, "most": 2}, "came within 2 days after left"),
        ({"least": -1, "most": 0, "unit": "year", "is_open": True}, "came less than 1 year before left"),
        ({"least": -10, "most": 10}, "came from 10 days before to 10 days after left"),
        ({"least": 5, "most": 5}, "came 5 days after left"),
        ({"same": "day", "negated": True}, "came not on the same day as left"),
    ],
)
def test_how_far_two_moments_may_lie_apart_is_said(how, expected):
    assert apart(Apart(moment="a.came", since="b.left", **how)) == expected


@each(
    ("query", "rows", "expected"),
    [
        ({"metrics": ("fees",)}, [(Decimal(2),)], "Fees, all time: 2.00 EUR."),
        ({"metrics": ("fees",)}, [(None,)], "Fees, all time: there are no such rows."),
        ({"metrics": ("fees", "loan_count")}, [(1, 2)], "Fees and loan count, all time: 1.00 EUR and 2."),
        ({"metrics": ("fees",), "dimensions": ("r.city",)}, [], "Fees by city, all time: there are no such rows."),
        (
            {"metrics": ("loan_count",), "dimensions": ("r.city",)},
            [("Bonn", 2), (None, 1)],
            "Loan count by city, all time: Bonn 2, (none) 1.",
        ),
        (
            {"metrics": ("loan_count",), "dimensions": ("r.city",)},
            [(str(i), i) for i in range(8)],
            "Loan count by city, all time: 0 0, 1 1, 2 2, 3 3, 4 4 and 3 others.",
        ),
        (
            {"metrics": ("loan_count",), "grain": "day"},
            [(date(2026, 1, 2), 1), (datetime(2026, 1, 3, 4, 5), 2)],
            "Loan count by day, all time: 2026-01-02 1, 2026-01-03 2.",
        ),
    ],
)  # fmt: skip
def test_rows_become_one_sentence(query, rows, expected):
    found = Rows(tuple("ab"[: len(rows[0])]) if rows else ("a",), tuple(rows))
    assert sentence(SemanticQuery(**query), METRICS, found) == expected


@pytest.fixture(scope="module")
def mask(index):
    return Mask(index.rules.pii)


@each(
    ("text", "expected"),
    [
        ("ada@example.org", "***"),
        ("write to ada@example.org or bo@example.org", "write to *** or ***"),
        ("support@voltmark.example", "support@voltmark.example"),
        ("4111 1111 1111 1111", "***"),
        ("4111 1111 1111 1112", "4111 1111 1111 1112"),
        ("123-45-6789", "***"),
        ("+49 555 123456", "***"),
        ("LA-026", "LA-026"),
        ("2026-11-20", "2026-11-20"),
        ("", ""),
    ],
)
def test_personal_data_is_masked_by_its_shape(mask, text, expected):
    assert mask.text(text) == expected


def test_only_text_cells_are_masked(mask):
    rows = mask.rows(Rows(("a", "b", "c"), (("ada@example.org", 4111111111111111, None),), truncated=True))
    assert rows == Rows(("a", "b", "c"), (("***", 4111111111111111, None),), truncated=True)
