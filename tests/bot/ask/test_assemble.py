"""Questions to a seed bank: what is held whole is the query of its row; everything else is shown, with its reason."""

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
