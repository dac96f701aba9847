"""Questions to a seed bank: what is held whole is the query of its row; everything else is shown, with its reason."""

import pytest

from bot.analytics.plan.restatement import renamed
from bot.ask.query.assemble import assemble
from bylaw.hold.hold import Ground, hold
from bylaw.hold.item import read_items
from bylaw.semantic.query import SemanticQuery, Unanswerable
from tests.bot.ask.conftest import read_yaml

ROWS = read_yaml("seedbank_rows.yaml")


def outcome_of(row, means):
    """The query that runs, or the reason why none does."""
    reading = hold(row["text"], read_items(row["items"], "data"), Ground("data", means.index, means.clock))
    for name, is_so in (
        ("refused", bool(reading.refused)),
        ("weak", any(one.status == "weak" for one in reading.items)),
        ("residue", bool(reading.residue)),
    ):
        if is_so:
            return (
                name,
                [(one.item.quote, one.status, one.why) for one in reading.held],
                [r.text for r in reading.residue],
            )
    try:
        query = assemble([one.item for one in reading.items], means)
        means.compiler.compile(query)
    except Unanswerable as problem:
        return "unsayable", problem.message
    return "query", renamed(query)


def expected_of(row):
    return row.get("not") or renamed(SemanticQuery.model_validate(row["query"]))


def test_each_question_becomes_what_its_row_says(means):
    wrong = []
    for row in ROWS:
        found = outcome_of(row, means)
        if (found[1] if found[0] == "query" else found[0]) != expected_of(row):
            wrong.append((row["text"], expected_of(row), found))
    assert not wrong, f"{len(wrong)}\n" + "\n".join(map(str, wrong))


STOCK = {"kind": "asks", "name": "seeds_held"}


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ([], "no item says what is asked for"),
        ([STOCK, {"kind": "limit", "value": 10**30}], "no number of rows"),
        ([STOCK, {"kind": "limit", "value": 3}, {"kind": "limit", "value": 4}], "one limit"),
        ([STOCK, {"kind": "over", "value": ["moving", 0]}], "moving average"),
        ([STOCK, {"kind": "over", "name": "test_count", "value": "rank"}], "test_count"),
        ([STOCK, {"kind": "filter", "name": "accessions.vault", "operator": "same", "value": "north"}], "`same`"),
        ([STOCK, {"kind": "filter", "name": "accessions.seeds", "unit": "kg", "value": 3}], "has no unit"),
        (
            [STOCK, {"kind": "filter", "name": "accessions.vault", "operator": "is null", "value": "x"}],
            "no place there",
        ),
        ([STOCK, {"kind": "filter", "name": "first()"}], "by no date"),
        ([STOCK, {"kind": "filter", "name": "after(tests.ended_on)", "value": 1}], "two dates"),
        ([STOCK, {"kind": "time", "value": "2026-01-01/2025-01-01"}], "before it begins"),
        ([STOCK, {"kind": "time", "value": "2025"}], "no span of days"),
        (
            [STOCK, {"kind": "time", "value": "2025-01-01/2026-01-01"}, {"kind": "time", "value": "../2026-01-01"}],
            "name",
        ),
        ([STOCK, {"kind": "compare", "value": "previous"}], "no first time"),
        ([STOCK, {"kind": "group", "unit": "month"}, {"kind": "group", "unit": "year"}], "not by both"),
        ([STOCK, {"kind": "group", "name": "accessions.vault", "unit": "month"}], "no date"),
        ([{"kind": "asks", "name": "list(species)"}, {"kind": "order", "value": "desc"}], "sorted by"),
        ([{"kind": "asks", "name": "avg(accession_count)"}], "say of each what"),
        ([{"kind": "asks", "name": "ratio(seeds_held)"}], "of two numbers"),
        ([{**STOCK, "of": [{"kind": "limit", "value": 3}]}], "no condition on rows"),
        ([{"kind": "asks", "name": "viability", "unit": "kg"}], "kg"),
        ([{"kind": "asks", "name": "no_such_number"}], "no_such_number"),
    ],
)
def test_what_the_query_cannot_say_is_refused_by_name(items, told, means):
    with pytest.raises(Unanswerable) as refused:
        means.compiler.compile(assemble(read_items(items, "data").items, means))
    assert told in f"{refused.value.message} {refused.value.help}"
