"""Equal forms are equal conditions, over the declared values; the rows of a database are what is compared with."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import duckdb
import pytest
import yaml

from bot.memory.normal import normal_form, unlisted
from bot.memory.words import names_something

ROWS = yaml.safe_load(Path(__file__).with_name("normal.yaml").read_text(encoding="utf-8"))
LISTS = ((("orders", "channel"), ("in-store", "online")),)


def form(text):
    return normal_form(text, "orders", LISTS)


@pytest.mark.parametrize("texts", ROWS["same"], ids=lambda texts: texts[0])
def test_all_spellings_of_one_meaning_have_one_form(texts):
    assert len({form(text) for text in texts}) == 1


def test_other_meanings_have_other_forms():
    assert len({form(texts[0]) for texts in ROWS["same"]}) == len(ROWS["same"])


@pytest.mark.parametrize("row", ROWS["unlisted"], ids=lambda row: row["text"])
def test_a_value_that_a_closed_list_does_not_hold_is_found(row):
    found = list(unlisted(row["text"], "orders", LISTS))
    assert found == [(("orders", "channel"), row["value"], ("in-store", "online"))]


@pytest.mark.parametrize("text", ROWS["listed"])
def test_what_is_listed_or_open_is_fine(text):
    assert list(unlisted(text, "orders", LISTS)) == []


ATOMS = (
    "channel = 'online'",
    "channel <> 'online'",
    "'in-store' = channel",
    "channel in ('online', 'in-store')",
    "channel is null",
    "channel is not null",
    "status = 'a'",
    "status <> 'a'",
    "status in ('a', 'b')",
    "status not in ('b')",
    "status is null",
    "is_ours",
    "not is_ours",
    "is_ours = true",
    "total > 1",
    "1 >= total",
    "total <> 2",
    "total between 1 and 2",
)


def build(random, depth):
    if depth == 0 or random.random() < 0.25:
        return random.choice(ATOMS)
    match random.randrange(3):
        case 0:
            return f"not ({build(random, depth - 1)})"
        case 1:
            return f"({build(random, depth - 1)} and {build(random, depth - 1)})"
        case _:
            return f"({build(random, depth - 1)} or {build(random, depth - 1)})"


@pytest.mark.parametrize("seed", range(4))
def test_conditions_of_one_form_keep_the_same_rows(seed):
    random = Random(seed)
    texts = [build(random, depth) for depth in (1, 2, 2, 3) for _ in range(150)]
    with duckdb.connect(":memory:") as connection:
        connection.execute("create table orders (channel text, status text, is_ours boolean, total integer)")
        rows = product(("online", "in-store", None), ("a", "b", "c", None), (True, False, None), (0, 1, 2, 3, None))
        connection.executemany("insert into orders values (?, ?, ?, ?)", list(rows))
        kept = {}
        for text in texts:
            (rows,) = connection.execute(f"select list(rowid order by rowid) from orders where {text}").fetchone()
            kept.setdefault(form(text), set()).add(tuple(rows or ()))
    assert all(len(rows) == 1 for rows in kept.values())
    assert len(kept) < len(set(texts)), "some are equal"


@pytest.mark.parametrize(
    "text",
    [
        " and ".join(["channel = 'online'"] * 45),
        " or ".join(f"(total = {n} and cost = {n})" for n in range(30)),
        "(" * 400 + "total > 1" + ")" * 400,
        "not " * 200 + "is_ours",
        "channel in (" + ", ".join(f"'{n}'" for n in range(120)) + ")",
    ],
    ids=["repeated", "pairs", "brackets", "negated", "a long list"],
)
def test_hostile_conditions_are_read_or_refused_at_once(text):
    from time import perf_counter

    from bylaw.semantic.expressions import InvalidExpression

    begun = perf_counter()
    try:
        assert form(text) == form(text)
    except InvalidExpression as error:
        assert "nested" in error.message or "no SQL" in error.message
    assert perf_counter() - begun < 5


@pytest.mark.parametrize(
    "word", ["the", "The", "of the", "how many", "per", "month", "weekly", "3", "€", "???", "not", "please", "by"]
)
def test_a_word_of_the_language_names_nothing(word):
    assert not names_something(word)


@pytest.mark.parametrize("word", ["turnover", "the till", "Umsatz", "GMV", "売上", "orders of the week", "income"])
def test_a_word_of_the_house_names_something(word):
    assert names_something(word)
