"""The lexical search over records of every kind: what tells more, filters, and the same order every time."""

from __future__ import annotations

import random

from bot.decisions.search import RecordSearch, terms
from bylaw.authored.decisions import Decision, Decisions
from bylaw.authored.machines.intents import Intents
from ci.loading.rules import load_defaults

RULES = Intents.model_validate(load_defaults()["intents"]).search


def _decision(id: str, option: str, rationale: str = "none given", **more: object) -> Decision:
    record = {"id": id, "option": option, "rationale": rationale, "timestamp": "2020-01-01", **more}
    return Decision.model_validate(record)


def _search(*decisions: Decision) -> RecordSearch:
    return RecordSearch(Decisions(decisions={decision.id: decision for decision in decisions}), RULES)


def test_a_word_in_the_option_tells_more_than_one_in_the_rationale() -> None:
    search = _search(
        _decision("aaaa", "Open a warehouse", "because of plasma"),
        _decision("bbbb", "Leave plasma", "because of stock"),
    )
    hits = search.find("plasma", 2)
    assert [hit.id for hit in hits] == ["bbbb", "aaaa"]
    assert hits[0].score > hits[1].score


def test_tags_and_the_decision_maker_are_searched_too() -> None:
    search = _search(
        _decision("aaaa", "Leave plasma", tags=["televisions"]),
        _decision("bbbb", "Open a shop", decision_maker="Mei Tanaka"),
    )
    assert search.find("televisions", 1)[0].id == "aaaa"
    assert search.find("tanaka", 1)[0].id == "bbbb"


def test_the_id_is_searched_word_by_word() -> None:
    search = _search(_decision("voltmark-tv_exit-2014", "Leave plasma"), _decision("bbbb", "Open a shop"))
    assert [hit.id for hit in search.find("voltmark 2014", 2)] == ["voltmark-tv_exit-2014"]


def test_a_rare_word_decides_over_a_frequent_one() -> None:
    others = [_decision(f"return-{i}", f"Change return rule number {i}") for i in range(10)]
    search = _search(*others, _decision("plasma-exit", "Leave plasma"))
    assert search.find("return plasma", 1)[0].id == "plasma-exit"


def test_equal_matches_come_in_the_order_of_their_ids() -> None:
    decisions = [_decision(f"twin-{i}", "Leave plasma") for i in range(5)]
    random.Random(7).shuffle(decisions)
    assert [hit.id for hit in _search(*decisions).find("plasma", 5)] == [f"twin-{i}" for i in range(5)]


def test_the_order_of_the_records_changes_no_score() -> None:
    decisions = [_decision(f"dec-{i}", f"Option {i} about plasma and stock", f"reason {i % 3}") for i in range(20)]
    assert _search(*decisions).find("plasma option 7", 5) == _search(*reversed(decisions)).find("plasma option 7", 5)


def test_words_nobody_uses_find_nothing() -> None:
    assert _search(_decision("aaaa", "Leave plasma")).find("mars landing", 3) == []
    assert _search(_decision("aaaa", "Leave plasma")).find("", 3) == []
    assert _search().find("plasma", 3) == []


def test_a_rare_word_is_found_before_a_frequent_one_in_a_large_corpus() -> None:
    decisions = [_decision(f"dec-{i:05d}", "Change the return rule") for i in range(3_000)]
    plain = _decision("plasma-plain", "Leave plasma")
    both = _decision("plasma-return", "Leave plasma by return")
    hits = _search(*decisions, plain, both).find("plasma return", 3)
    assert {hit.id for hit in hits[:2]} == {"plasma-return", "plasma-plain"}


def test_events_and_transitions_are_found_too_and_filters_hold(panasonic: Decisions) -> None:
    search = RecordSearch(panasonic, RULES)
    kinds = {(hit.kind, hit.id) for hit in search.find("plasma panels batteries", 9)}
    assert {("event", "pan-e2"), ("transition", "trans-pan-2010-2012")} <= kinds
    assert {hit.kind for hit in search.find("plasma", 9, ("event",))} == {"event"}
    tagged = search.find("plasma", 9, fits=lambda record: "losses" in record.tags)
    assert [hit.id for hit in tagged] == ["pan-e2"]


def test_words_that_only_join_find_nothing() -> None:
    assert terms("which of these, and why?") == []
