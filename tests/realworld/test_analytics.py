"""Data questions on databases that nobody here wrote: how many are right, refused, wrong; the floors hold."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests.beside import beside
from tests.realworld import measure
from tests.realworld.comparison import fingerprint, norm, same
from tests.rows import each

HERE = Path(__file__).parent
COMPARED = yaml.safe_load((HERE / "comparison.yaml").read_text(encoding="utf-8"))
SORTED = yaml.safe_load((HERE / "sort_keys.yaml").read_text(encoding="utf-8"))
FLOORS = yaml.safe_load((HERE / "floors.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def outcomes() -> list[measure.Outcome]:
    return measure.measure()


@pytest.fixture(scope="module")
def figures(outcomes) -> dict[str, float]:
    return measure.figures(outcomes)


@each("row", COMPARED, ids=lambda row: row["title"])
def test_two_results_are_compared_by_their_rows(row):
    found, gold = ([tuple(cells) for cells in row[key]] for key in ("found", "gold"))
    assert same(found, gold, row.get("keys")) is row["same"]


def test_the_order_of_columns_is_searched_only_among_those_that_fit():
    """Sixteen columns have more orders than can be tried."""
    rows = [tuple(row * 16 + column for column in range(16)) for row in range(50)]
    turned = [tuple(reversed(row)) for row in rows]
    assert same(turned, rows, keys=[0])
    assert not same(turned, [*rows[:-1], tuple(range(16))], keys=[0])


@pytest.mark.parametrize("row", SORTED, ids=lambda row: row["statement"])
def test_the_columns_that_a_statement_sorts_by(row):
    assert list(measure.sort_keys(row["statement"])) == row["keys"]


def test_there_are_enough_questions_to_refuse_of_every_kind():
    rows = yaml.safe_load(measure.REFUSALS.read_text(encoding="utf-8"))
    assert len({row["id"] for row in rows}) == len(rows) >= 60
    assert min(Counter(row["kind"] for row in rows).values()) >= 10
    assert len({row["question"] for row in rows}) == len(rows)
    for row in rows:
        assert (measure.CONTEXTS / row["root"] / "context" / "entities").is_dir(), row["id"]


@pytest.mark.slow
@pytest.mark.parametrize("dataset", measure.SETS)
def test_every_gold_statement_gives_what_its_record_says(dataset):
    """The measure itself: gold is right by it, and by the fingerprint of the data set."""
    records = {}
    for line in beside(*measure.DATA, dataset, "dev", "questions.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        records[record["id"]] = record
    for asked in measure.questions(dataset):
        if not asked.statements:
            assert asked.expected == "refuse_unanswerable"
            continue
        record = records[asked.id.removesuffix("@scaled")]
        rows = measure.gold(asked, asked.statements[0])
        assert same(rows, rows, measure.sort_keys(asked.statements[0]))
        known = {record["gold_fingerprint_scaled" if asked.scaled else "gold_fingerprint"], *asked.fingerprints}
        assert fingerprint(rows) in known, asked.id
        if rows and not asked.ordered:
            assert same([tuple(reversed(row)) for row in reversed(rows)], rows)
        if rows:
            changed = [(*rows[0][:-1], "something else"), *rows[1:]]
            assert not same(changed, rows)
        assert all(norm(cell) == norm(norm(cell)) for row in rows for cell in row)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FLOORS["at_least"]))
def test_a_figure_does_not_fall_below_its_floor(figures, name):
    assert figures[name] >= FLOORS["at_least"][name]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FLOORS["at_most"]))
def test_a_figure_does_not_rise_above_its_ceiling(figures, name):
    assert figures[name] <= FLOORS["at_most"][name]


@pytest.mark.slow
def test_no_question_of_ours_that_must_be_refused_is_given_rows(outcomes):
    ours = [one for one in outcomes if one.asked.fit.startswith("refuse_") and one.asked.tags[0].startswith("kind:")]
    assert len(ours) >= 60
    assert [one.asked.text for one in ours if one.outcome == "wrong"] == []


@pytest.mark.slow
def test_the_report_names_every_question_once(outcomes):
    for told in (measure.report(outcomes), measure.table(outcomes)):
        lines = told.splitlines()
        for one in outcomes:
            assert sum(line.startswith(f"| {one.asked.id} | {one.asked.fit} | {one.outcome} |") for line in lines) == 1
