"""How much of an entity is tested: columns that verified questions read, and keys that were looked at."""

from __future__ import annotations

from decimal import Decimal

from bot.analytics.tested import coverage
from bylaw.authored.context import Context
from tests.rows import each

LOANS = {
    "name": "loans",
    "base_table": {"schema": "lib", "table": "loans"},
    "primary_key": {"columns": ["loan_id"]},
    "dimensions": [{"name": "loan_id"}, {"name": "branch", "expr": "upper(branch_code)"}],
    "time_dimensions": [{"name": "lent_at"}],
    "facts": [{"name": "fee"}],
}
FEES = {"name": "fees", "entity": "loans", "agg": "sum", "expr": "fee", "time_dimension": "loans.lent_at"}
SHARE = {"name": "share", "type": "ratio", "numerator": "fees", "denominator": "fees"}


def verified(**said):
    return {"q": {"name": "q", "question": "q", "verified_by": "ada", "verified_at": "2026-01-01", **said}}


@each(
    ("queries", "measured", "share"),
    [
        ({}, (), "0"),
        ({}, ("loans",), "0.25"),  # its key was looked at
        (verified(sql="SELECT SUM(l.fee) FROM lib.loans AS l WHERE l.branch_code = 'A'"), (), "0.5"),
        (verified(sql="SELECT fee FROM other.loans"), (), "0"),
        (verified(sql="SELECT ("), (), "0"),
        (verified(query={"metrics": ["share"], "dimensions": ["loans.branch"]}), (), "0.75"),
        (verified(query={"metrics": ["gone"], "dimensions": ["gone.branch", "branch"]}), ("gone",), "0"),
    ],
)
def test_what_is_tested_is_what_somebody_verified(queries, measured, share):
    context = {"entities": {"loans": LOANS}, "metrics": {"fees": FEES, "share": SHARE}, "verified_queries": queries}
    assert coverage(Context.model_validate(context), measured) == {"loans": Decimal(share)}
