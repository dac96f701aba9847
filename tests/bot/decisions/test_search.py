"""The lexical search: stems, confidence, and the same order every time."""

from __future__ import annotations

import random
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from bot.decisions.search import DecisionSearch, search_of, stem, terms
from bylaw.authored.decisions import Decision, Decisions
from bylaw.authored.machines.intents import Intents
from ci.loading.decision_records import Sourced, ingest
from ci.loading.rules import load_defaults
from tests.rows import each

RULES = Intents.model_validate(load_defaults()["intents"]).search


def _decision(id: str, option: str, rationale: str = "none given", **more: object) -> Decision:
    record = {"id": id, "option": option, "rationale": rationale, "timestamp": "2020-01-01", **more}
    return Decision.model_validate(record)


def _search(*decisions: Decision) -> DecisionSearch:
    return DecisionSearch({decision.id: decision for decision in decisions}, RULES)


@each(
    "forms",
    [
        ("close", "closes", "closed", "closing"),
        ("carry", "carries"),
        ("tv", "tvs"),
        ("stop", "stopped", "stopping"),
        ("box", "boxes"),
        ("loss", "losses"),
        ("sell", "selling", "sells", "sold"),
        ("leave", "leaves", "left", "leaving"),
        ("choose", "chose", "chosen", "chooses"),
        ("battery", "batteries"),
        ("policy", "policies"),
    ],
)
def test_forms_of_one_word_meet(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@each("word", ["plus", "is", "bus", "analysis", "ring", "bed", "red", "z3", "2012", "ss", "s"])
def test_words_that_only_look_inflected_stay(word: str) -> None:
    assert stem(word) == word


def test_questions_are_reduced_to_what_they_are_about() -> None:
    assert terms("Why did we decide to leave the plasma market?") == [
        stem(word) for word in ("leave", "plasma", "market")
    ]
    assert terms("who decided that, and when?") == []
    assert terms("Voltmark’s carrier's contract") == [stem(word) for word in ("voltmark", "carrier", "contract")]


@given(st.text(alphabet=st.characters(categories=["L", "N"]), max_size=30))
def test_a_stem_is_never_longer_than_its_word_and_never_empty(word: str) -> None:
    if word:
        assert 0 < len(stem(word)) <= len(word) + 1  # an irregular form may be a letter shorter: sold, sell; ran, run


def test_a_word_in_the_option_tells_more_than_one_in_the_rationale() -> None:
    search = _search(
        _decision("aaaa", "Open a warehouse", "because of plasma"),
        _decision("bbbb", "Leave plasma", "because of stock"),
    )
    hits = search.find("plasma", 2)
    assert [hit.id for hit in hits] == ["bbbb", "aaaa"]
    assert hits[0].confidence > hits[1].confidence


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


def test_confidence_falls_with_every_word_that_is_not_explained() -> None:
    search = _search(
        _decision("aaaa", "Leave plasma"), _decision("bbbb", "Open a shop"), _decision("cccc", "Close a depot")
    )
    told = [search.find(text, 1)[0].confidence for text in ("plasma", "plasma donors", "plasma donors clinic")]
    assert told == sorted(told, reverse=True)
    assert told[0] > told[1] > told[2]


def test_another_verb_costs_less_than_another_noun() -> None:
    search = _search(
        _decision("aaaa", "Leave plasma"), _decision("bbbb", "Open a shop"), _decision("cccc", "Close a depot")
    )
    assert search.find("abandon plasma", 1)[0].confidence > search.find("donate plasma", 1)[0].confidence


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


def test_a_frequent_word_reorders_what_rare_ones_found_in_a_large_corpus() -> None:
    decisions = [_decision(f"dec-{i:05d}", "Change the return rule") for i in range(3_000)]
    plain = _decision("plasma-plain", "Leave plasma")
    both = _decision("plasma-return", "Leave plasma by return")
    hits = _search(*decisions, plain, both).find("plasma return", 3)
    assert [hit.id for hit in hits[:2]] == ["plasma-return", "plasma-plain"]


def test_one_snapshot_is_indexed_once() -> None:
    one, _ = ingest([Sourced(_decision("aaaa", "Leave plasma"), "a.yaml")])
    again = Decisions.model_validate(one.model_dump(by_alias=True))
    other, _ = ingest([Sourced(_decision("aaaa", "Keep plasma"), "a.yaml")])
    assert search_of(one, RULES) is search_of(again, RULES)
    assert search_of(one, RULES) is not search_of(other, RULES)


def test_old_snapshots_are_let_go() -> None:
    first, _ = ingest([Sourced(_decision("aaaa", "Leave plasma"), "a.yaml")])
    kept = search_of(first, RULES)
    for i in range(6):
        search_of(ingest([Sourced(_decision("aaaa", f"Leave number {i}"), "a.yaml")])[0], RULES)
    assert search_of(first, RULES) is not kept


def test_other_weights_are_another_index() -> None:
    snapshot, _ = ingest([Sourced(_decision("aaaa", "Leave plasma", "shelves were empty"), "a.yaml")])
    deaf = RULES.model_copy(update={"told_elsewhere": Decimal(0)})
    (heard,), (unheard,) = (search_of(snapshot, rules).find("empty shelves", 1) for rules in (RULES, deaf))
    assert heard.confidence > unheard.confidence


def test_a_verb_of_every_decision_in_some_reason_explains_no_question() -> None:
    loader = _decision("strict-loader", "Read YAML strictly", "The usual loaders drop lines, and let the last key win.")
    carrier = _decision("drop-northline", "Drop the carrier Northline", "Parcels came late.")
    assert _search(loader).find("why did it drop", 1)[0].confidence < float(RULES.confidence_from)
    assert _search(loader, carrier).find("why did it drop", 1)[0].id == "drop-northline"
    assert _search(loader, carrier).find("why do loaders lose lines", 1)[0].confidence > float(RULES.confidence_from)
