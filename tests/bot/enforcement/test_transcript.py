"""The conversations of `conversations.yaml` word by word: `transcript.md` is what people read, and what is compared.

`pytest --update-golden` (where the option exists) writes it anew; the difference is for the reviewer.
"""

from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from bot.conversation import Actor, Question, Turn
from bot.enforcement.answer import answer
from bot.index import BundleIndex

HERE = Path(__file__).parent
GOLDEN = HERE / "transcript.md"


def say(text: str, state: dict, shop: BundleIndex, actor: str) -> Turn:
    asked_at = datetime(2026, 11, 20, 9, tzinfo=UTC)
    return answer(Question(text=text, actor=Actor(id=actor), asked_at=asked_at, request_id="r1"), state, shop)


def transcript(shop: BundleIndex) -> str:
    """Every conversation: what is said, and the exact reply."""
    lines = ["# Policy conversations over the shop", ""]
    for row in yaml.safe_load((HERE / "conversations.yaml").read_text()):
        lines += [f"## {row['title'].capitalize()}", ""]
        state: dict = {}
        for turn in row["turns"]:
            answered = say(turn["say"], state, shop, row.get("as", "anna"))
            state = answered.state
            lines += [f"> {turn['say']}", "", f"**{answered.reply.status}**", ""]
            lines += [f"    {line}" for line in answered.reply.text.splitlines()]
            lines += ["", *(f"    {one.text}\n" for one in answered.reply.different)]
            lines += [*(f"- {c.id}, {c.path}:{c.line}: {c.text}" for c in answered.reply.citations), ""]
    return "\n".join(lines)


def test_the_transcript_is_what_is_said(shop: BundleIndex, request: pytest.FixtureRequest) -> None:
    spoken = transcript(shop)
    if request.config.getoption("--update-golden", default=False):
        GOLDEN.write_text(spoken)
    assert spoken == GOLDEN.read_text()
