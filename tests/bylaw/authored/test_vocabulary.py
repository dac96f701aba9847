"""What a vocabulary says of its words together."""

import pytest
from pydantic import ValidationError

from bylaw.authored.vocabulary import Fact, Vocabulary
from tests.rows import each

ACTIONS = {"full": {"outcome": "refund"}, "credit": {"outcome": "refund"}, "reject": {"outcome": "refund"}}


@each(
    ("said", "ranked"),
    [
        ([], ("reject", "credit", "full")),
        (["credit"], ("credit", "reject", "full")),
        (["credit", "full", "reject"], ("credit", "full", "reject")),
        (["voucher"], ("credit", "reject", "full")),
    ],
)
def test_actions_are_ordered_by_how_restrictive_they_are(said, ranked):
    others = {"voucher": {"same_as": "credit"}, "ship": {"outcome": "delivery"}, "notify": {}}
    outcomes = {"refund": {"restrictive": said}, "delivery": {}}
    words = Vocabulary.model_validate({"schema_version": "1.0", "actions": {**ACTIONS, **others}, "outcomes": outcomes})
    assert words.restrictive("refund") == ranked
    assert words.restrictive("delivery") == ("ship",)
    assert words.restrictive("nowhere") == ()


HISTORIES = [
    ({"type": "integer", "history": {"count": ["a"], "within": "24 hours", "same": ["k"]}}, None),
    ({"type": "decimal", "unit": "USD", "history": {"sum": "price", "of": ["a"]}}, None),
    ({"type": "decimal", "unit": "minutes", "maximum": 60, "history": {"since": "a"}}, None),
    ({"type": "boolean", "history": {"happened": "a", "not_after": ["b"], "other": ["actor"]}}, None),
    ({"type": "boolean", "history": {"previous": "a", "including_failed": True}}, None),
    ({"type": "boolean", "history": {"count": ["a"]}}, "fact of type integer"),
    ({"type": "decimal", "unit": "minutes", "history": {"since": "a"}}, "maximum"),
    ({"type": "decimal", "unit": "USD", "maximum": 60, "history": {"since": "a"}}, "unit of time"),
    ({"type": "integer", "assertable": True, "history": {"count": ["a"]}}, "nobody can assert"),
    ({"type": "integer", "history": {"count": ["a"], "happened": "b"}}, "exactly one"),
    ({"type": "integer", "history": {"within": "1 day"}}, "exactly one"),
    ({"type": "integer", "history": {"count": ["a"], "within": "3 business days"}}, "period of time"),
    ({"type": "decimal", "history": {"sum": "price"}}, "`of`"),
    ({"type": "boolean", "history": {"previous": "a", "not_after": ["b"]}}, "not_after"),
    ({"type": "boolean", "history": {"happened": "a", "other": ["day"]}}, "actor"),
]


@each(("said", "told"), HISTORIES)
def test_a_history_is_one_kind_that_fits_its_fact(said, told):
    if told is None:
        assert Fact.model_validate(said).history is not None
        return
    with pytest.raises(ValidationError, match=told):
        Fact.model_validate(said)
