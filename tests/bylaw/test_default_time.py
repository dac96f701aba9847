"""By which date rows are told where nobody says which."""

from __future__ import annotations

from bylaw.authored.context import Context, Entity, Metric
from tests.rows import each

ORDERS = {
    "name": "orders",
    "base_table": {"schema": "s", "table": "orders"},
    "time_dimensions": [{"name": "placed_on"}],
}
LINES = {"name": "lines", "base_table": {"schema": "s", "table": "lines"}, "facts": [{"name": "pieces"}]}
COUNT = {"entity": "lines", "agg": "count"}
DATES = [{"name": "packed_on", "default": True}, {"name": "sent_on"}]


@each(
    ("dates", "metrics", "found"),
    [
        ([], [], None),
        ([], [{}], None),
        ([], [{"time_dimension": "orders.placed_on"}, {}], "orders.placed_on"),
        ([], [{"time_dimension": "orders.placed_on"}, {"time_dimension": "orders.paid_on"}], None),
        (DATES, [{"time_dimension": "orders.placed_on"}], "lines.packed_on"),
        (DATES[1:], [{"time_dimension": "orders.placed_on"}], "lines.sent_on"),
        ([{"name": "packed_on"}, {"name": "sent_on"}], [{"time_dimension": "packed_on"}], None),
    ],
)
def test_it_is_their_own_or_the_one_that_their_metrics_share(dates, metrics, found):
    entities = [Entity.model_validate(ORDERS), Entity.model_validate({**LINES, "time_dimensions": dates})]
    named = [Metric.model_validate({"name": f"m{i}", **COUNT, **more}) for i, more in enumerate(metrics)]
    context = Context(entities={one.name: one for one in entities}, metrics={one.name: one for one in named})
    assert context.default_time("lines") == found
    assert context.default_time("orders") == "orders.placed_on"
