"""A correction shapes the answers of who made it, at once and visibly, and nobody else's."""

from __future__ import annotations

import pytest

from bot.evidence.store.tables import audit, deliveries, querylog
from bot.memory.candidates import retire
from bot.memory.corrections import AGAIN
from bot.operate.redaction import Scope, redact
from bylaw.errors import UsageError
from tests.fakes.stored import every_row


def test_it_changes_the_answer_of_its_author_and_says_so(shop):
    before = shop.ask("bo").sql
    noted = shop.correct("ada")
    assert (noted.correction.stage, noted.correction.is_applied, noted.correction.domain) == (
        "localized",
        True,
        "sales",
    )
    mine = shop.ask("ada")
    assert "channel = 'online'" in mine.sql
    assert any(note.startswith("Using your correction of 20 November 2026") for note in mine.caveats)
    theirs = shop.ask("bo")
    assert theirs.sql == before
    assert not any("correction" in note for note in theirs.caveats)


def test_a_word_of_ones_own_is_understood_from_its_author_alone(shop):
    shop.correct("ada", field="synonyms", new="Umsatz")
    assert shop.ask("ada", "umsatz").sql
    assert shop.ask("bo", "umsatz").sql is None


def test_a_trap_is_a_filter_with_a_word_about_it(shop):
    assert shop.correct("ada", object="entities/orders", field="required_filter").correction.correction_type == "gotcha"
    assert "channel = 'online'" in shop.ask("ada").sql


def test_saying_it_twice_is_saying_it_once_and_another_value_takes_its_place(shop):
    shop.correct("ada")
    assert shop.correct("ada", new="CHANNEL='online'".lower()).text == AGAIN
    shop.later(minutes=1)
    shop.correct("ada", new="channel = 'store'")
    assert [one.stage for one in shop.kept("ada")] == ["withdrawn", "localized"]
    assert "'store'" in shop.ask("ada").sql
    assert "'online'" not in shop.ask("ada").sql


def test_what_tables_and_texts_hang_on_waits_for_review(shop):
    noted = shop.correct("ada", field="description", new="what customers paid")
    assert (noted.correction.stage, noted.correction.is_applied) == ("captured", False)
    assert "before a steward has reviewed it" in noted.text


def test_a_permission_is_an_event_of_security_at_once(shop):
    noted = shop.correct("ada", correction_type="permission", reason="I should not see salaries")
    with shop.services.store.reading() as connection:
        events = [entry.body["event"] for entry in audit.about(connection, noted.correction.request_id)]
        (row,) = querylog.rows(connection)
    assert events == ["reply", "security"]
    assert (row["correction_made"], row["correction_type"]) == (True, "permission")
    assert shop.ask("ada").meta is None


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"object": "metrics/imported"}, "not written in a file of its own"),
        ({"object": "metrics/nothing"}, "nothing that can be corrected"),
        ({"object": "../../rules/roles"}, "nothing that can be corrected"),
        ({"field": "agg", "new": "count"}, "cannot be corrected"),
        ({"new": "chanel = 'online'"}, "no column that the context knows"),
        ({"new": "channel = 'online'; drop table orders"}, "no SQL expression"),
        ({"field": "expr", "new": "sum(total)"}, "does more than compute on one row"),
        ({"field": "expr", "new": "total"}, "says so already"),
        ({"field": "time_dimension", "new": "yesterday"}, "no name that the context knows"),
        ({"object": "metrics/spend"}, "does not rest on"),
        ({"reason": " "}, "the reason takes"),
        ({"new": "a" * 2_000}, "takes 1 to"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_names_nothing_or_would_not_hold_is_refused(shop, given, why):
    with pytest.raises(UsageError, match=why):
        shop.correct("ada", **given)
    assert shop.kept("ada") == ()


def test_once_it_is_shared_its_author_is_told_and_their_own_retires(shop):
    shop.correct("ada")
    assert retire(shop.services, shop.now) == 0
    shop.merge(object="metrics/revenue", field="filter", new="channel = 'online'")
    assert [retire(shop.services, shop.now) for _ in range(2)] == [1, 0]
    (one,) = shop.kept("ada")
    assert (one.stage, one.is_applied) == ("promoted", False)
    with shop.services.store.reading() as connection:
        ((_, letter),) = deliveries.notices(connection, shop.now)
    assert letter["to"] == "ada"
    assert "shared knowledge now" in letter["text"]
    assert not any("your correction" in note for note in shop.ask("ada").caveats)


def test_only_who_has_seen_an_answer_corrects_it(shop):
    shop.correct("ada")
    private = shop.ask("ada")
    with pytest.raises(UsageError, match="do not know that answer"):
        shop.correct("bo", private.request_id, new="channel = 'store'")
    with pytest.raises(UsageError, match="do not know that answer"):
        shop.correct("bo", "r999")
    assert shop.correct("bo", shop.ask("ada", "spend").request_id, object="metrics/spend", field="unit", new="EUR")


def test_what_is_redacted_is_taken_out_of_memory_too(shop):
    secret = "because Mrs Example of Utrecht said so"
    noted = shop.correct("ada", reason=secret)
    shelves = [shop.services.artifacts]
    scope = Scope(request_id=noted.correction.request_id)
    redact(scope, shop.services.store, shelves, "dpo", "asked for", lambda: shop.now)
    with shop.services.store.reading() as connection:
        rows = every_row(connection)
    assert secret not in "\n".join(rows)
    assert shop.kept("ada") == ()
    assert "'online'" not in shop.ask("ada").sql
