"""A right that somebody says is wrong: who owns what the answer rests on is told, else the stewards; nobody twice."""

from __future__ import annotations

import pytest

from bot.conversation import Actor
from bot.evidence.store.tables import deliveries
from bot.memory.corrections import PERMISSION
from bylaw.authored.context import Context
from tests.bot.memory.conftest import CONTEXT, ROLES


def told(shop):
    with shop.services.store.reading() as connection:
        return sorted((letter["to"], letter["text"]) for _, letter in deliveries.notices(connection, shop.now))


def flag(shop, user="j0", reason="I should not see this", **others):
    return shop.correct(user, correction_type="permission", reason=reason, **others)


def test_every_steward_is_told_who_says_so_of_which_answer_and_why(shop):
    noted = flag(shop)
    assert noted.text == PERMISSION
    found = told(shop)
    assert [person for person, _ in found] == ["grace", "hal"]
    for _, text in found:
        assert all(word in text for word in ("j0", noted.correction.request_id, "I should not see this", "bylaw trace"))


def owned(owner):
    entities = {**CONTEXT["entities"], "orders": {**CONTEXT["entities"]["orders"], "owner": owner}}
    return Context.model_validate({**CONTEXT, "entities": entities})


@pytest.mark.parametrize(
    ("owner", "user", "ends"),
    [
        ("ada", "j0", ["ada"]),
        ("steward", "j0", ["grace", "hal"]),
        ("Sales Dept.", "j0", ["grace", "hal"]),  # the roles know nobody of that name
        ("ada", "ada", ["grace", "hal"]),  # who says so need not be told
    ],
)
def test_the_owner_of_what_the_answer_rests_on_is_told(shop, owner, user, ends):
    shop.serve(owned(owner))
    flag(shop, user)
    assert [person for person, _ in told(shop)] == ends


def test_a_steward_who_says_so_tells_the_other(shop):
    flag(shop, "grace")
    assert [person for person, _ in told(shop)] == ["hal"]


def test_two_reasons_are_two_notices_and_a_second_sending_is_none(shop):
    answer = shop.ask("j0").request_id
    for reason in ("first", "first", "second"):
        flag(shop, "j0", reason, request_id=answer)
    assert len(told(shop)) == 4


def test_a_correction_of_another_kind_tells_nobody_of_a_right(shop):
    shop.correct("ada")
    assert told(shop) == []


def test_nothing_is_told_where_nobody_may_be(shop):
    roles = {**ROLES, "users": {name: own for name, own in ROLES["users"].items() if own != ["steward"]}}
    shop.serve(Context.model_validate(CONTEXT), roles)
    flag(shop)
    assert told(shop) == []
    assert Actor(id="j0").id == "j0"
