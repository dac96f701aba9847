"""The router contract of seed 002 (R4): "Why did Panasonic exit plasma?" in words, to the whole response."""

from __future__ import annotations

from collections.abc import Callable

from bot.answerers import answerers
from bot.conversation import Question
from bot.decisions.answer import answer
from bot.index import BundleIndex
from bot.router import route, thresholds
from bylaw.authored.decisions import Decisions

TEXT = "Why did Panasonic exit plasma?"


def test_the_question_goes_to_the_decisions_and_comes_back_whole(
    panasonic: Decisions, index: Callable[[Decisions], BundleIndex], ask: Callable[..., Question]
) -> None:
    known = index(panasonic)
    way = route(TEXT, known, answerers(None), thresholds(known.rules.routing))
    assert way.kind == "decision"
    reply = answer(ask(TEXT), {}, known).reply
    assert reply.intent == "why_decision"
    assert reply.evidence is not None
    assert set(reply.evidence["allowed_ids"]) >= {"panasonic-exit-plasma-2012", "pan-e2", "trans-pan-2010-2012"}
    assert reply.answer is not None
    assert set(reply.answer) >= {"short_answer", "supporting_ids"}
    assert reply.completeness_flags == {"has_preceding": True, "has_succeeding": True, "event_count": 1}
    assert reply.meta is not None
    assert reply.meta["function_calls"] == ["search_similar", "get_graph_neighbors"]  # B1
    assert set(reply.meta) >= {
        "policy_id", "prompt_id", "retries", "latency_ms", "prompt_fingerprint", "snapshot_etag", "fallback_used"
    }  # fmt: skip


def test_what_a_decision_was_based_on_and_led_to_points_both_ways(panasonic: Decisions) -> None:
    for one in panasonic.decisions.values():
        for other in one.based_on:
            ends = {(move.from_, move.to) for move in panasonic.transitions.values()}
            assert (other, one.id) in ends
            shared = set(one.transitions) & set(panasonic.decisions[other].transitions)
            assert shared
