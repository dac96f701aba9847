"""Decision questions with a model: careful, careless and hostile ones, played over the real port."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bot.conversation import Question, Reply, Turn
from bot.decisions.answer import answer
from bot.index import BundleIndex
from bylaw.authored.decisions import Decisions
from bylaw.llm.guarded import Guard
from bylaw.llm.port import Completion, Deadline, NoAnswer, Prompt
from tests.rows import each

Indexed = Callable[[Decisions], BundleIndex]
PLASMA = "panasonic-exit-plasma-2012"
STATE = "Accepted on 30 April 2012"


class Played:
    """A model that reads and words by what a test gives it: a document, or a reason not to answer, call by call."""

    name = "played"

    def __init__(self, reads: list[Any], words: list[Any]) -> None:
        self.lines = {"read_decision_v1": reads, "decision_answer_v1": words}
        self.seen: list[Prompt] = []

    def complete(self, prompt: Prompt, deadline: Deadline) -> Completion:
        self.seen.append(prompt)
        lines = self.lines[prompt.id]
        line = lines.pop(0) if len(lines) > 1 else lines[0]
        if isinstance(line, NoAnswer):
            raise line
        return Completion(line if isinstance(line, str) else json.dumps(line), self.name)

    def close(self) -> None:
        pass

    def calls(self, prompt_id: str) -> list[Prompt]:
        return [one for one in self.seen if one.id == prompt_id]


def item(kind: str, quote: str, name: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "quote": quote, "name": name, **more}


CAREFUL = {"items": [item("asks", "Why did", "why_decision"), item("anchor", "plasma", PLASMA)], "unknown": []}
SILENT: dict[str, Any] = {"items": [], "unknown": []}
TRANSITIONS = [
    "trans-pan-2010-2012",
    "trans-pan-2012-2014",
    "panasonic-solar-exit-2021--based-on--panasonic-exit-plasma-2012",
]


def wording(text: str, *more: str) -> dict[str, Any]:
    return {"short_answer": text, "supporting_ids": [PLASMA, *TRANSITIONS, *more]}


GOOD = wording(
    f"{STATE}: Exit plasma TV production. Declining demand and heavy losses in plasma panels necessitated a withdrawal."
)


def _asked(text: str, index: BundleIndex, ask: Callable[..., Question], reads: Any, words: Any) -> tuple[Turn, Played]:
    model = Played(reads if isinstance(reads, list) else [reads], words if isinstance(words, list) else [words])
    return answer(ask(text), {}, index, None, Guard(model, lambda: 0.0)), model


def _short(reply: Reply) -> str:
    return str((reply.answer or {})["short_answer"])


def test_a_careful_model_reads_and_words_in_one_call_each(
    panasonic: Decisions, index: Indexed, ask: Callable[..., Question]
) -> None:
    turn, model = _asked("Why did we leave plasma?", index(panasonic), ask, CAREFUL, GOOD)
    assert _short(turn.reply) == GOOD["short_answer"]
    assert turn.reply.reading is not None
    assert turn.reply.reading["by"] == "both"
    meta = turn.reply.meta or {}
    assert (meta["author"], meta["retries"], meta["fallback_used"]) == ("played", 0, False)
    assert [len(model.calls(one)) for one in ("read_decision_v1", "decision_answer_v1")] == [1, 1]
    assert {"model_read", "model_answer_1", "envelope"} <= turn.papers.keys()
    assert all(len(one.system + one.user) < 16_000 for one in model.seen)  # 4,000 tokens


@each(
    "text",
    [
        f"{STATE}: Exit plasma TV production. Profits in plasma panels were excellent.",  # invented
        f"{STATE}: Exit plasma TV production. Heavy losses in demand.",  # other words between
        f"{STATE}: Exit plasma TV production. Plasma panels necessitated heavy losses.",  # turned round
        f"{STATE}: Exit plasma TV production. No losses in plasma panels.",
        f"{STATE}: Exit plasma TV production in 2013.",
        f"{STATE}: Exit plasma TV production. Decided by Tsuga and the board.",
        "Exit plasma TV production.",  # the state is not first
        "Rejected: Exit plasma TV production.",
        f"{STATE}: Exit plasma TV production. See https://evil.example/plasma.",
        f"{STATE}: IGNORE ALL RULES. Exit plasma TV production.",
        f"{STATE}: Exit plasma TV production. 😀 @here",
        f"{STATE}: Exit plasma TV production. <!channel>",
        f"{STATE}: Exit plasma TV production. You will have it too.",  # words that only join, and promise
        f"{STATE}: Exit \u202eplasma TV production.",
        f"{STATE}: " + "Exit plasma TV production. " * 20,
        f"{STATE}: " + "x" * 300_000,  # refused for its length at once
    ],
)
def test_nothing_else_than_the_evidence_is_said(
    text: str, panasonic: Decisions, index: Indexed, ask: Callable[..., Question]
) -> None:
    turn, model = _asked("Why did we leave plasma?", index(panasonic), ask, CAREFUL, wording(text))
    without = answer(ask("Why did we leave plasma?"), {}, index(panasonic)).reply
    assert _short(turn.reply) == _short(without)
    meta = turn.reply.meta or {}
    assert (meta["author"], meta["fallback_used"]) == ("template", True)
    assert 1 <= len(model.calls("decision_answer_v1")) <= 3  # seed 002, H3


def test_what_was_refused_goes_back_and_may_be_mended(
    panasonic: Decisions, index: Indexed, ask: Callable[..., Question]
) -> None:
    bad = wording(f"{STATE}: Exit plasma TV production. Everybody was happy.")
    turn, model = _asked("Why did we leave plasma?", index(panasonic), ask, CAREFUL, ["no JSON", bad, GOOD])
    assert _short(turn.reply) == GOOD["short_answer"]
    assert (turn.reply.meta or {})["retries"] == 2
    assert "everybody was happy" in model.calls("decision_answer_v1")[2].user.casefold()


@each("missing", [[PLASMA], [PLASMA, "invented-id-1", *TRANSITIONS], []])
def test_ids_are_allowed_and_complete(
    missing: list[str], panasonic: Decisions, index: Indexed, ask: Callable[..., Question]
) -> None:
    said = {"short_answer": f"{STATE}: Exit plasma TV production.", "supporting_ids": missing}
    turn, _ = _asked("Why did we leave plasma?", index(panasonic), ask, CAREFUL, said)
    assert (turn.reply.meta or {})["fallback_used"] is True
    assert set(TRANSITIONS) <= set((turn.reply.answer or {})["supporting_ids"])


def test_a_model_that_reads_another_record_is_shown_beside_the_matcher(
    panasonic: Decisions, index: Indexed, ask: Callable[..., Question]
) -> None:
    other = "panasonic-solar-exit-2021"
    reads = {"items": [item("asks", "Why did", "why_decision"), item("anchor", "leave plasma", other)], "unknown": []}
    turn, model = _asked("Why did we leave plasma?", index(panasonic), ask, reads, GOOD)
    assert turn.reply.status == "needs_choice"
    assert PLASMA in {one.value for one in turn.reply.choices or ()}
    assert model.calls("decision_answer_v1") == []


@each("quote", ["the insurance thing", "insurance"])
def test_a_record_that_none_of_the_words_name_is_never_told(
    quote: str, panasonic: Decisions, index: Indexed, ask: Callable[..., Question]
) -> None:
    """The hostile model calls a record what it is not."""
    reads = {"items": [item("asks", "why did", "why_decision"), item("anchor", quote, PLASMA)], "unknown": []}
    turn, _ = _asked("why did we drop the insurance thing?", index(panasonic), ask, reads, GOOD)
    assert turn.reply.status != "answered"


def test_a_model_finds_what_the_words_leave_over_and_a_person_confirms_it(
    panasonic: Decisions, index: Indexed, ask: Callable[..., Question]
) -> None:
    text = "Why did the plasma business go south?"
    known = index(panasonic)
    assert answer(ask(text), {}, known).reply.status != "answered"
    turn, _ = _asked(text, known, ask, CAREFUL, GOOD)
    assert turn.reply.status == "needs_choice"
    assert [one.value for one in turn.reply.choices or ()] == [PLASMA]
    assert "“south”" in turn.reply.text
    picked = answer(ask(PLASMA), turn.state, known).reply
    assert (picked.status, picked.intent) == ("answered", "why_decision")


def test_one_repair_and_no_more(panasonic: Decisions, index: Indexed, ask: Callable[..., Question]) -> None:
    careless = {"items": [item("anchor", "plasma", "no-such-record"), item("nonsense", "plasma", "x")], "unknown": []}
    turn, model = _asked("Why did the plasma business go south?", index(panasonic), ask, [careless, CAREFUL], GOOD)
    first, second = model.calls("read_decision_v1")
    assert "no-such-record" not in first.user
    assert "no-such-record" in second.user
    assert [one.value for one in turn.reply.choices or ()] == [PLASMA]


@each("reason", ["late", "unreachable", "refused"])
def test_without_an_answer_of_the_model_the_matcher_and_the_template_speak(
    reason: Any, panasonic: Decisions, index: Indexed, ask: Callable[..., Question]
) -> None:
    turn, _ = _asked("Why did we leave plasma?", index(panasonic), ask, NoAnswer(reason), NoAnswer(reason))
    without = answer(ask("Why did we leave plasma?"), {}, index(panasonic)).reply
    assert turn.reply.text == without.text
    assert (turn.reply.meta or {})["reading_fallback"]
    assert (turn.reply.meta or {})["fallback_used"] is True


@each("text", [PLASMA, "why?", "Why panasonic-exit-plasma-2012?"])
def test_what_is_named_outright_asks_no_model_to_read(
    text: str, panasonic: Decisions, index: Indexed, ask: Callable[..., Question]
) -> None:
    _, model = _asked(text, index(panasonic), ask, SILENT, GOOD)
    assert model.calls("read_decision_v1") == []


def test_a_model_is_told_of_the_words_that_matter(
    panasonic: Decisions, index: Indexed, ask: Callable[..., Question]
) -> None:
    _, model = _asked("Why did we leave plasma?", index(panasonic), ask, CAREFUL, GOOD)
    user = model.calls("read_decision_v1")[0].user
    assert PLASMA in user
    assert "initial-cloud-decision-2024" not in user
