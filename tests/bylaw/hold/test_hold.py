"""What becomes of items, row by row: borne, weak or refused, and which words are left over."""

import json

import pytest

from bylaw.errors import UsageError
from bylaw.hold.hold import hold
from bylaw.hold.item import Proposal, parse_items, read_items
from tests.bylaw.hold.conftest import read_yaml

ROWS = read_yaml("rows.yaml")


def test_each_item_becomes_what_its_row_says(ground):
    wrong = []
    for row in ROWS:
        reading = hold(row["text"], read_items(row["items"], row["kind"]), ground(row["kind"], row.get("query", "")))
        left = {one.text for one in (*reading.residue, *reading.not_used)}
        statuses = [one.status for one in reading.held]
        is_right = (
            statuses == row["expect"] and left >= set(row.get("residue", ())) and left.isdisjoint(row.get("clear", ()))
        )
        if not is_right:
            wrong.append((row["text"], row["expect"], [(one.status, one.why) for one in reading.held], sorted(left)))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize(
    ("items", "complaint"),
    [
        ('{"items": [{"kind": "asks", "nmae": "x"}]}', "nmae"),
        ('[{"kind": "fact", "name": "age", "quote": "x"}]', "needs `value`"),
        ('[{"kind": "wish", "quote": "x"}]', "no kind of item"),
        ('[{"kind": "asks", "name": "x", "operator": "<", "quote": "x"}]', "`operator` is no key of `asks`"),
        ('[{"kind": "fact", "name": "age", "value": 1, "operator": "=>", "quote": "x"}]', "operator"),
        ("[" * 5_000, "not JSON"),
        ("{}[]", "not JSON"),
        ('{"itmes": []}', "`itmes`"),
        ('"asks"', "a list"),
    ],
)
def test_what_is_no_item_is_refused_by_name(items, complaint):
    with pytest.raises(UsageError, match=complaint):
        parse_items(items, "policy")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "[1, NaN]", '{"a": 1}'])
@pytest.mark.parametrize("within", ["%s", '{"kind": "asks", "name": "count(orders)", "of": [%s]}'])
def test_a_value_that_is_no_finite_number_is_refused_where_it_stands(number, within):
    """JSON as Python reads it has numbers that no query and no rule has."""
    having = f'{{"kind": "having", "name": "count(orders)", "operator": ">", "value": {number}}}'
    with pytest.raises(UsageError, match=r"value` does not fit: it is text, a finite number"):
        parse_items(f"[{within % having}]", "data")
    with pytest.raises(UsageError, match=r"value` does not fit: it is text, a finite number"):
        read_items(json.loads(f"[{within % having}]"), "data")


@pytest.mark.parametrize("number", ["1e999999999", "-1e999999999", "1e-999999999"])
def test_a_number_that_nobody_can_count_with_is_refused_at_once(number):
    with pytest.raises(UsageError, match="more than 300 places"):
        parse_items(f'[{{"kind": "having", "name": "count(orders)", "operator": ">", "value": {number}}}]', "data")


def test_residue_is_told_by_its_place_in_the_text_as_it_was_sent(ground):
    text = "Can I **cancel**  my\u200b héron\u200bs?"
    reading = hold(text, Proposal(()), ground("policy"))
    assert [(one.text, text[one.start : one.end]) for one in reading.residue] == [
        ("cancel", "cancel"),
        ("hérons", "héron\u200bs"),
    ]


def test_a_picked_item_is_held_by_its_name_alone(ground):
    reading = hold(
        "",
        read_items([{"kind": "asks", "name": "cancelling"}, {"kind": "asks", "name": "nope"}], "policy"),
        ground("policy"),
    )
    assert [one.status for one in reading.held] == ["borne", "refused"]
