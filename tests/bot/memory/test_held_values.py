"""A correction is held against what is declared: values, words, personal data; what means the same is one."""

from __future__ import annotations

from dataclasses import replace
from threading import Barrier, Thread

import pytest

from bot.evidence.store.tables import corrections
from bot.memory.changes import Change
from bot.memory.corrections import AGAIN
from bot.memory.structure import checked
from bylaw.authored.context import Context
from bylaw.errors import UsageError
from tests.bot.memory.conftest import CONTEXT, SENIORS

CLOSED = {"name": "channel", "is_enum": True, "sample_values": ["online", "in-store"]}


def declared(**others):
    orders = CONTEXT["entities"]["orders"]
    entities = {**CONTEXT["entities"], "orders": {**orders, "dimensions": [CLOSED, {"name": "status"}], **others}}
    return Context.model_validate({**CONTEXT, "entities": entities})


@pytest.fixture
def closed(shop):
    shop.serve(declared())
    return shop


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"new": "channel = 'nope'"}, "`channel` is never `nope`"),
        ({"new": "'nope' = channel"}, "`channel` is never `nope`"),
        ({"new": "status = 'x' or channel in ('online', 'Online')"}, "`channel` is never `Online`"),
        ({"field": "expr", "new": "case when channel = 'nope' then total else 0 end"}, "`channel` is never `nope`"),
        ({"object": "gotchas/returns", "field": "required_filter", "new": "channel <> 'nope'"}, "is never `nope`"),
        ({"field": "synonyms", "new": "the"}, "names nothing by itself"),
        ({"field": "synonyms", "new": "Of The"}, "names nothing by itself"),
        ({"field": "synonyms", "new": "!!"}, "names nothing by itself"),
        ({"new": "email = 'a@b.example'"}, "`email` is personal data"),
        ({"new": "EMAIL like '%@b.example'"}, "`EMAIL` is personal data|no column"),
        ({"new": "channel = 'online' and length(email) > 3"}, "`email` is personal data"),
        ({"object": "entities/orders", "field": "required_filter", "new": "email is not null"}, "is personal data"),
        ({"new": "postings.amount > 5"}, "reads a column that the context does not know|could no longer"),
        ({"new": "(" * 450 + "total > 1" + ")" * 450}, "SQL expression|nested|so already|takes"),
        ({"new": "channel = 'online'\u202e"}, "printable"),
        ({"new": "status <> 'bob@private.example'"}, "holds personal data"),
        ({"field": "description", "new": "ask bob@private.example"}, "holds personal data"),
        ({"reason": "x\ud800"}, "the reason takes"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_not_declared_is_refused_with_what_is(closed, given, why):
    with pytest.raises(UsageError, match=why):
        closed.correct("ada", **given)
    assert closed.kept("ada") == ()
    assert closed.ask("ada").sql == closed.ask("bo").sql


def test_the_refusal_lists_the_values(closed):
    with pytest.raises(UsageError) as refused:
        closed.correct("ada", new="channel = 'nope'")
    assert refused.value.help == "it is one of in-store, online"


SPELLINGS = ("channel in ('online')", "'online' = channel", "channel <> 'in-store'", "not (channel = 'in-store')")


def test_four_who_mean_the_same_make_one_candidate(closed):
    for user, new in zip(SENIORS, SPELLINGS, strict=False):
        closed.correct(user, new=new)
    (one,) = closed.candidates
    assert len(one.members) == 4


def test_four_at_once_make_one_candidate(closed):
    asked = {user: closed.ask(user).request_id for user in SENIORS[:4]}
    barrier, failed = Barrier(4), []

    def say(user, new):
        barrier.wait()
        try:
            closed.correct(user, asked[user], new=new)
        except Exception as error:
            failed.append(error)

    people = [Thread(target=say, args=pair) for pair in zip(SENIORS[:4], SPELLINGS, strict=True)]
    for one in people:
        one.start()
    for one in people:
        one.join()
    assert failed == []
    (one,) = closed.candidates
    assert len(one.members) == 4


def test_the_same_in_other_words_is_said_once(closed):
    closed.correct("ada", new=SPELLINGS[0])
    assert [closed.correct("ada", new=new).text for new in SPELLINGS[1:]] == [AGAIN] * 3


def test_what_is_merged_in_another_spelling_is_in_force(closed):
    closed.correct("ada", new=SPELLINGS[0])
    metrics = {**CONTEXT["metrics"], "revenue": {**CONTEXT["metrics"]["revenue"], "filter": SPELLINGS[2]}}
    orders = {**CONTEXT["entities"]["orders"], "dimensions": [CLOSED, {"name": "status"}]}
    entities = {**CONTEXT["entities"], "orders": orders}
    closed.serve(Context.model_validate({**CONTEXT, "metrics": metrics, "entities": entities}))
    with pytest.raises(UsageError, match="says so already"):
        closed.correct("bo", new=SPELLINGS[1])
    assert not any("Using your correction" in note for note in closed.ask("ada").caveats)


def test_once_a_third_value_is_declared_they_are_two_meanings(closed):
    for user, new in zip(SENIORS[:4], SPELLINGS, strict=True):
        closed.correct(user, new=new)
    third = {**CLOSED, "sample_values": ["online", "in-store", "phone"]}
    closed.serve(declared(dimensions=[third, {"name": "status"}]))
    with closed.services.store.reading() as connection:
        assert len(corrections.in_play(connection)) == 4
    closed.correct("eve", new="channel = 'online'")
    assert len(closed.candidates) == 1, "three of five agree: too few for another one"


def test_what_became_personal_locks_nobody_out(shop):
    shop.serve(declared(pii=[]))
    shop.correct("ada", new="cost > 77")
    assert "77" in shop.ask("ada").sql
    shop.serve(declared(pii=["cost"]))
    reply = shop.ask("ada")
    assert reply.status == "recommended"
    assert "77" not in reply.sql
    assert not any("Using your correction" in note for note in reply.caveats)


def test_what_one_may_read_no_more_locks_nobody_out(shop):
    shop.serve(declared())
    shop.correct("ada", new="status = 'paid'")
    kept = shop.kept("ada")[0]
    with shop.services.store.writing() as connection:
        corrections.move(connection, [kept.correction_id], shop.now, stage="withdrawn", is_applied=False)
        forged = replace(kept, correction_id="C-forged", new="postings.amount > 5")
        corrections.keep(connection, forged)
    assert "postings" not in shop.ask("ada").sql


def test_a_number_in_several_units_can_be_corrected():
    facts = [{"name": "total", "unit_column": "currency"}]
    context = declared(dimensions=[CLOSED, {"name": "status"}, {"name": "currency"}], facts=facts)
    change = Change(object="metrics/revenue", field="filter", new="channel = 'online'")
    assert checked(change, context) == change
    with pytest.raises(UsageError, match="could no longer be computed"):
        checked(change.model_copy(update={"field": "expr", "new": "postings.amount"}), context)
