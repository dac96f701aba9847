"""What a vocabulary says of its words together."""

import pytest

from bylaw.authored.vocabulary import Vocabulary

ACTIONS = {"full": {"outcome": "refund"}, "credit": {"outcome": "refund"}, "reject": {"outcome": "refund"}}


@pytest.mark.parametrize(
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
