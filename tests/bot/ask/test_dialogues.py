"""Conversations of two firms: what is carried from one turn into the next is told, and can be dropped."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import yaml

from bot.conversation import Question
from bot.enforcement.answer import answer
from bot.enforcement.question.carrying import NEW_CASE
from bot.enforcement.writing.write import Words
from tests.compiled import index_of
from tests.rows import each

HERE = Path(__file__).parent
NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
DIALOGUES = yaml.safe_load((HERE / "unseen" / "dialogues.yaml").read_text(encoding="utf-8"))


def visible_facts(reply, index):
    """The facts that an answer tells: those that the turn told, and those that it says to be from before."""
    now = {one["name"] for one in reply.reading["items"] if one["kind"] == "fact"}
    kept = next((line for line in reply.text.splitlines() if line.startswith("From before: ")), "")
    words, variables = Words(index.vocabulary), index.ruleset.variables
    told = {name: words.told(name, variables[name].recall(value)) for name, value in reply.facts.items()}
    before = {name for name, said in told.items() if said in kept}
    return {name: value for name, value in reply.facts.items() if name in now | before}, before


@each("firm, turns", [(firm, turns) for firm, those in DIALOGUES.items() for turns in those])
def test_what_is_carried_into_the_next_turn_is_told(firm, turns):
    index, state, steps, was_asked = index_of(HERE / "unseen" / firm), {}, 0, False
    for turn in turns:
        found = answer(Question(text=turn["say"], asked_at=NOW, request_id="r"), state, index)
        state = state if found.is_aside else found.state
        if found.reply.status == "needs_choice":
            steps += 1
            continue
        facts, kept = visible_facts(found.reply, index)
        assert (facts, kept) == (turn["facts"], set(turn.get("kept", ()))), (turn["say"], found.reply.text)
        given = {one["action"] for one in found.reply.outcomes.values()}
        assert turn.get("gives") in {*given, None}, found.reply.text
        is_anew = not was_asked or any(one["kind"] == "asks" for one in found.reply.reading["items"])
        assert (bool(kept) and is_anew) is (NEW_CASE in found.reply.choices)
        was_asked = found.reply.ask is not None
    assert steps <= 1
