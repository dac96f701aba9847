"""What people prefer adds up: the strictest counts, all of it is listed, and a grain makes no total into many."""

from __future__ import annotations

from pathlib import Path
from threading import Barrier, Thread

import pytest
import yaml

from bot.analytics.plan.autonomy import find_wishes
from bot.conversation import Actor
from bot.evidence.store.tables import memories
from bot.evidence.store.tables.memories import Memory
from bot.memory import own, preferences
from bot.memory.recall import recall
from bylaw.authored.context import Context
from bylaw.errors import UsageError
from tests.bot.memory.conftest import CONTEXT
from tests.fakes.frame import NOON

ROWS = yaml.safe_load(Path(__file__).with_name("preferences.yaml").read_text(encoding="utf-8"))
ADA = Actor(id="ada")


@pytest.fixture
def heard(shop):
    entities = {**CONTEXT["entities"], "orders": {**CONTEXT["entities"]["orders"], "domain": "finance"}}
    shop.serve(Context.model_validate({**CONTEXT, "entities": entities}))
    shop.services = shop.services.under(shop.services.index.rules.autonomy)
    return shop


def liked(shop, user="ada"):
    return own.remembered(Actor(id=user), shop.services)["preferences"]


@pytest.mark.parametrize("row", ROWS["said"], ids=lambda row: row["text"])
def test_what_people_prefer_is_heard(heard, row):
    assert "noted your preference" in heard.ask("ada", row["text"]).text
    assert liked(heard) == {name: row[name] for name in ("grain", "care") if name in row}


@pytest.mark.parametrize("order", [("Always confirm financial data", "review all queries"), None])
def test_preferences_combine_by_the_strictest_and_are_listed(heard, order):
    said = order or ("review all queries", "Always confirm financial data", "I trust routine queries")
    told = [heard.ask("ada", text).text for text in said][-1]
    assert heard.ask("ada").level == 3
    assert heard.ask("bo").level == 4
    assert "review all (level 4 at most)" in told and "confirm finance (level 3 at most)" in told
    assert {"confirm_finance", "review_all"} <= set(liked(heard)["care"])
    listed = own.in_words(own.remembered(ADA, heard.services))
    assert "confirm finance" in listed and "review all" in listed


def test_one_is_forgotten_by_its_own_name_and_all_by_that_of_the_kind(heard):
    for text in ("review all queries", "Always confirm financial data", "I trust routine queries"):
        heard.ask("ada", text)
    own.forget("confirm_finance", ADA, heard.services)
    assert liked(heard) == {"care": ["review_all", "trust_routine"]}
    own.forget("care", ADA, heard.services)
    assert liked(heard) == {}
    with pytest.raises(UsageError, match="nothing of yours"):
        own.forget("care", ADA, heard.services)


def test_nobody_forgets_what_another_prefers(heard):
    heard.ask("ada", "review all queries")
    with pytest.raises(UsageError, match="nothing of yours"):
        own.forget("review_all", Actor(id="bo"), heard.services)
    assert liked(heard) == {"care": ["review_all"]}


def test_what_an_earlier_version_remembered_still_stands(heard):
    with heard.services.store.writing() as connection:
        memories.retain(connection, Memory("ada", "preference", "care", {"value": "confirm_finance"}, None, NOON))
    assert heard.ask("ada").level == 3
    heard.ask("ada", "review all queries")
    assert liked(heard) == {"care": ["confirm_finance", "review_all"]}


def test_two_at_once_are_both_remembered(heard):
    barrier = Barrier(2)

    def say(text):
        barrier.wait()
        heard.ask("ada", text)

    both = [Thread(target=say, args=(text,)) for text in ("review all queries", "Always confirm financial data")]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert liked(heard) == {"care": ["confirm_finance", "review_all"]}


def test_of_very_many_the_strictest_counts_too(heard):
    rules = heard.services.index.rules
    known = rules.autonomy.preferences
    many = {f"p{n}": known["review_all"].model_copy(update={"phrases": [f"wish {n}"]}) for n in range(10_000)}
    autonomy = rules.autonomy.model_copy(update={"preferences": {**known, **many}})
    mine = {f"care:{name}": name for name in [*many, "confirm_finance"]}
    index = heard.services.index
    index = type(index)(index.bundle.model_copy(update={"rules": rules.model_copy(update={"autonomy": autonomy})}))
    own = preferences.applied(index, "ada", mine)
    assert len(own.rules.autonomy.standing["ada"]) == 10_001
    assert find_wishes("revenue, wish 9999", autonomy) == ("wish 9999",)
    services = heard.services.under(autonomy)
    assert services.lexicons.liked["wish 1234"] == ("care", "p1234")


def test_a_value_of_any_length_is_kept_under_a_name_that_the_store_takes(heard):
    with heard.services.store.writing() as connection:
        preferences.retain(connection, "ada", ("care", "x" * 200), "r", NOON)
    with heard.services.store.reading() as connection:
        kept = recall(connection, "ada").preferences
        (memory,) = memories.of(connection, "ada")
    assert preferences.cares(kept) == ("x" * 200,)
    assert len(memory.name) <= 128


@pytest.mark.parametrize("row", ROWS["wishes"], ids=lambda row: row["text"])
def test_words_that_set_preferences_aside_are_heard_however_they_are_written(heard, row):
    found = find_wishes(row["text"], heard.services.index.rules.autonomy)
    assert found == ((row["heard"],) if row["heard"] else ())


def test_just_do_it_sets_aside_what_one_prefers_and_says_so(heard):
    heard.ask("ada", "Always confirm financial data")
    aside = heard.ask("ada", "revenue, just do it")
    assert aside.level == 4
    assert any("just do it" in note and "confirm finance" in note for note in aside.caveats)
    assert heard.ask("ada").level == 3


@pytest.mark.parametrize("row", ROWS["grains"], ids=lambda row: row["text"])
def test_a_preferred_grain_applies_only_where_figures_over_time_are_asked_for(heard, row):
    heard.ask("ada", "I prefer weekly aggregations")
    reply = heard.ask("ada", row["text"])
    assert reply.sql is not None
    grains = [one for one in ("day", "week", "month", "quarter", "year") if f"'{one.upper()}'" in reply.sql.upper()]
    assert grains == ([row["grain"]] if row["grain"] else [])
    assert any("as you prefer" in note for note in reply.caveats) == (row["grain"] == "week")
    assert "WEEK" not in (heard.ask("bo", row["text"]).sql or "").upper()
