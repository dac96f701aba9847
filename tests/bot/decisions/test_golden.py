"""Frozen answers (seed 002, D and R4): the question in, the whole reply out. `--update-golden` writes them anew.

Of meta the settled part is compared; that the fingerprints are stable is held in test_answer.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.conversation import Question, sayable
from bot.decisions.answer import answer
from bot.decisions.contract import DecisionAnswer, Evidence, Listed
from bot.decisions.validate import coverage, mandatory_ids, validate
from bot.index import BundleIndex
from bylaw.authored.decisions import Decisions
from bylaw.authored.machines.intents import Intents
from tests.rows import each

FOLDER = Path(__file__).parent / "golden"
FILES = sorted(FOLDER.glob("*.json"))
FIELDS = ("kind", "status", "text", "intent", "evidence", "answer", "completeness_flags", "citations", "choices")
META = ("policy_id", "prompt_id", "retries", "latency_ms", "fallback_used", "selector_truncation", "resolved_by")
META += ("coverage", "completeness_debt", "remarks")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_answer_is_the_golden_one(
    path: Path,
    panasonic: Decisions,
    index: Callable[[Decisions], BundleIndex],
    ask: Callable[..., Question],
    request: pytest.FixtureRequest,
) -> None:
    golden = json.loads(path.read_text(encoding="utf-8"))
    state: dict[str, Any] = {}
    for earlier in golden.get("after", ()):
        state = answer(ask(earlier), state, index(panasonic)).state
    reply = answer(ask(golden["question"], **golden.get("options", {})), state, index(panasonic)).reply
    said = sayable(reply)
    shown = {name: said[name] for name in FIELDS if said[name] not in (None, [], {})}
    shown["meta"] = {name: said["meta"][name] for name in META if name in said["meta"]}
    if request.config.getoption("--update-golden", default=False):
        kept = {name: golden[name] for name in ("question", "options", "after") if name in golden}
        path.write_text(json.dumps({**kept, "reply": shown}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    else:
        assert shown == golden["reply"]


@each("path", FILES, ids=lambda path: path.stem)
def test_a_golden_answer_cites_all_it_must_and_nothing_else(path: Path, intents: Intents) -> None:
    golden = json.loads(path.read_text(encoding="utf-8"))["reply"]
    if golden["status"] in ("needs_choice", "refused"):
        assert bool(golden.get("choices")) is (golden["status"] == "needs_choice")
        assert "evidence" not in golden
        return
    intent = intents.intents[golden["intent"]]
    model = Evidence if intent.lists is None else Listed
    evidence = model.model_validate(golden["evidence"])
    assert validate(golden["answer"], evidence, intent, intents).reasons == ()
    assert mandatory_ids(evidence, intent) <= set(golden["answer"]["supporting_ids"])
    assert [citation["id"] for citation in golden["citations"]] == golden["answer"]["supporting_ids"]
    assert golden["meta"]["fallback_used"] is False
    assert (golden["meta"]["coverage"], golden["meta"]["completeness_debt"]) == (1.0, 0)
    assert coverage(DecisionAnswer.model_validate(golden["answer"]), evidence, intent) == (1.0, 0)


def test_the_fixtures_that_the_seed_names_are_there() -> None:
    assert {path.stem for path in FILES} >= {
        "why_decision_panasonic_plasma",
        "why_decision_with_based_on",
        "why_decision_tags_filtering",
        "event_with_snippet_display",
        "who_decided_anchor_v1",
        "when_decided_anchor_v1",
    }
