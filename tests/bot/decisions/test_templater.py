"""Answers without a model: short enough, truthful about what is missing, and never a template themselves."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.decisions.contract import Anchor, Evidence, EvidenceEvent, EvidenceTransition, Transitions
from bot.decisions.templater import TEMPLATES, render
from bot.decisions.validate import validate
from bylaw.authored.machines.intents import Intents
from bylaw.errors import BylawError
from tests.rows import each

STATE = "Accepted on 30 April 2012"
TIME = "2012-04-30T09:00:00Z"
INTENTS = ["why_decision", "who_decided", "when_decided", "chains", "why_not", "alternatives", "consequences"]
INTENTS += ["still_valid", "replaced_by", "what_decision"]


def _evidence(*, events: int = 0, before: int = 0, after: int = 0, said: str = "so it was", **anchor: Any) -> Evidence:
    fields = {"id": "the-anchor", "option": "Leave plasma", "rationale": "Losses.", "timestamp": TIME, **anchor}
    happened = tuple(
        EvidenceEvent(id=f"event-{i}", summary=said, timestamp=TIME, led_to=("the-anchor",)) for i in range(events)
    )
    preceding = tuple(EvidenceTransition(id=f"before-{i}", reason=said, timestamp=TIME) for i in range(before))
    succeeding = tuple(EvidenceTransition(id=f"after-{i}", reason=said, timestamp=TIME) for i in range(after))
    ids = ["the-anchor", *(one.id for one in (*happened, *preceding, *succeeding))]
    return Evidence(
        anchor=Anchor(**fields),
        events=happened,
        transitions=Transitions(preceding=preceding, succeeding=succeeding),
        allowed_ids=tuple(ids),
    )


def _said(rules: Intents, intent: str, evidence: Evidence) -> str:
    return render(rules.intents[intent], evidence, rules, STATE).answer.short_answer


def test_every_intent_of_the_rules_has_its_template(intents: Intents) -> None:
    assert {intent.template for intent in intents.intents.values()} <= {path.stem for path in TEMPLATES.glob("*.j2")}


def test_why_says_what_when_who_and_the_rationale(intents: Intents) -> None:
    evidence = _evidence(decision_maker="Kazuhiro Tsuga", rationale="Losses were heavy")
    assert (
        _said(intents, "why_decision", evidence)
        == "Accepted on 30 April 2012 by Kazuhiro Tsuga: Leave plasma. Losses were heavy."
    )


def test_why_tells_what_came_before_and_after(intents: Intents) -> None:
    said = _said(intents, "why_decision", _evidence(events=1, before=1, after=1, said="it rained"))
    assert said == (
        "Accepted on 30 April 2012: Leave plasma. Losses. Before it: it rained."
        " What had happened: it rained. What followed: it rained."
    )


def test_who_says_plainly_when_nobody_is_named(intents: Intents) -> None:
    assert "The record does not say who decided this." in _said(intents, "who_decided", _evidence())
    assert "Decided by Mei." in _said(intents, "who_decided", _evidence(decision_maker="Mei"))
    several = _evidence(decision_maker="Mei", deciders=("Mei", "Ana", "Tom"), consulted=("Legal",))
    assert "Decided by Mei, Ana and Tom. Consulted: Legal." in _said(intents, "who_decided", several)


def test_when_begins_with_the_day(intents: Intents) -> None:
    assert _said(intents, "when_decided", _evidence()) == "Accepted on 30 April 2012: Leave plasma."
    later = _evidence(status="superseded")
    said = render(intents.intents["when_decided"], later, intents, "Superseded by ADR-15 on 6 March 2018")
    assert said.answer.short_answer == ("Superseded by ADR-15 on 6 March 2018: Leave plasma. Decided on 30 April 2012.")


def test_chains_says_when_there_is_no_chain(intents: Intents) -> None:
    assert (
        _said(intents, "chains", _evidence())
        == "Accepted on 30 April 2012: Leave plasma. Nothing is recorded before or after it."
    )


def test_a_sentence_is_told_whole_or_not_at_all(intents: Intents) -> None:
    first, second, third = "First " + "a" * 100 + ".", "Second " + "b" * 200 + ".", "Third c."
    said = _said(intents, "why_decision", _evidence(rationale=f"{first} {second} {third}", before=1))
    assert first in said
    assert "Second" not in said
    assert "Third" not in said
    assert said.endswith("Before it: so it was.")


def test_the_number_of_an_item_ends_no_sentence(intents: Intents) -> None:
    said = _said(intents, "why_decision", _evidence(rationale="The reasons are: 1. Losses grew. 2. Buyers left."))
    assert "The reasons are: 1. Losses grew. 2. Buyers left." in said
    short = _said(intents, "why_decision", _evidence(rationale=f"We looked at: 1. {'A' * 290}. 2. B."))
    assert not short.endswith("1.")


def test_steps_that_do_not_fit_are_counted(intents: Intents) -> None:
    rendered = render(intents.intents["chains"], _evidence(before=6, said="it rained " * 9), intents, STATE)
    assert rendered.answer.short_answer.endswith(" of 6 are told here.)")
    assert rendered.whole.count("Before it") == 6
    far = render(intents.intents["chains"], _evidence(before=1), intents, STATE, reachable=6)
    assert far.answer.short_answer.endswith("(1 of 6 are told here.)")


def test_one_endless_sentence_is_clipped(intents: Intents) -> None:
    said = _said(intents, "why_decision", _evidence(rationale="because " * 70))
    assert len(said) <= intents.lengths.short_answer
    assert said.endswith("because…")


def test_an_endless_option_leaves_room_for_nothing_else(intents: Intents) -> None:
    said = _said(intents, "why_decision", _evidence(option="leave " * 100))
    assert 300 < len(said) <= intents.lengths.short_answer
    assert said.endswith("…")


def test_the_supporting_ids_are_all_that_is_shown_or_demanded(intents: Intents) -> None:
    evidence = _evidence(events=2, before=1, after=1)
    assert (
        render(intents.intents["why_decision"], evidence, intents, STATE).answer.supporting_ids == evidence.allowed_ids
    )
    who = render(intents.intents["who_decided"], _evidence(events=1), intents, STATE).answer
    assert who.supporting_ids == ("the-anchor", "event-0")


def test_data_is_never_a_template(intents: Intents) -> None:
    evidence = _evidence(rationale="{{ 7 * 7 }} {% for x in anchor %}{{ x }}{% endfor %} {# gone #}")
    said = _said(intents, "why_decision", evidence)
    assert "{{ 7 * 7 }} {% for x in anchor %}{{ x }}{% endfor %} {# gone #}" in said


def test_text_that_is_forbidden_to_a_model_is_taken_out_of_ours(intents: Intents) -> None:
    said = _said(intents, "why_decision", _evidence(rationale="Run ```rm``` and <xml>leave</xml>."))
    assert said.endswith("Run rm and leave</xml>.")


def test_an_unknown_template_is_named_with_those_that_are_there(intents: Intents) -> None:
    lost = intents.intents["why_decision"].model_copy(update={"template": "why_v9"})
    with pytest.raises(BylawError, match="`why_v9` is not there") as raised:
        render(lost, _evidence(), intents, STATE)
    assert "why_decision_v1" in (raised.value.help or "")


@each("template", ["../why", "/etc/passwd", "..\\why", "why\0"])
def test_a_template_outside_its_folder_is_not_there(template: str, intents: Intents) -> None:
    lost = intents.intents["why_decision"].model_copy(update={"template": template})
    with pytest.raises(BylawError, match="is not there"):
        render(lost, _evidence(), intents, STATE)


_TEXT = st.text(min_size=1, max_size=700).filter(lambda text: bool(text.strip()))


@settings(max_examples=120, deadline=None)
@given(
    intent=st.sampled_from(INTENTS),
    option=_TEXT,
    rationale=_TEXT,
    said=_TEXT,
    maker=st.none() | _TEXT,
    counts=st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)),
)
def test_any_answer_of_a_template_validates(
    intent: str,
    option: str,
    rationale: str,
    said: str,
    maker: str | None,
    counts: tuple[int, int, int],
    intents: Intents,
) -> None:
    events, before, after = counts
    evidence = _evidence(
        events=events, before=before, after=after, said=said, option=option, rationale=rationale, decision_maker=maker
    )
    answer = render(intents.intents[intent], evidence, intents, STATE).answer
    assert len(answer.short_answer) <= 320
    assert validate(answer, evidence, intents.intents[intent], intents).reasons == ()
