"""What the proposer without a model takes of a text, and what it leaves over."""

from datetime import date
from pathlib import Path

import pytest
import yaml

from bot.ask.matcher.match import match
from bylaw.authored.context import Context
from bylaw.authored.vocabulary import Vocabulary
from bylaw.hold.declared import index_vocabulary
from bylaw.hold.hold import Ground, hold
from bylaw.hold.item import MOST_ITEMS
from bylaw.hold.values import Clock
from bylaw.semantic.words import index_context

HOUSE = Path(__file__).parents[2] / "bylaw" / "hold"
ROWS = yaml.safe_load((Path(__file__).parent / "rows.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def grounds():
    words = Vocabulary.model_validate(yaml.safe_load((HOUSE / "vocabulary.yaml").read_text(encoding="utf-8")))
    data = Context.model_validate(yaml.safe_load((HOUSE / "context.yaml").read_text(encoding="utf-8")))
    clock = Clock(date(2026, 11, 20))
    return {
        "policy": Ground("policy", index_vocabulary(words, {}), clock),
        "data": Ground("data", index_context(data), clock),
    }


def shown(item):
    if item.kind in ("fact", "filter"):
        return f"{item.kind} {item.name} {item.operator or '=='} {item.value}"
    return f"{item.kind} {item.name}" if item.name else item.kind


def test_what_is_taken_and_what_is_left_over(grounds):
    wrong = []
    for row in ROWS:
        ground = grounds[row.get("kind", "policy")]
        reading = hold(row["text"], match(row["text"], ground), ground, "matcher")
        taken = sorted(shown(one.item) for one in reading.items)
        left = sorted(one.text for one in (*reading.residue, *reading.not_used))
        if (taken, left) != (sorted(row["takes"]), sorted(row["left"])):
            wrong.append((row["text"], taken, left))
    assert not wrong, "\n".join(map(str, wrong))


def test_a_long_hostile_text_is_matched_at_once(grounds):
    for text in ("not " * 9_000, "cancel 9 days " * 2_500, "over 1 " * 5_000):
        for ground in grounds.values():
            assert len(match(text, ground).items) <= MOST_ITEMS
