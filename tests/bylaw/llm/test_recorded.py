"""What is recorded is played back by the fingerprint of its prompt, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bylaw.llm.port import WORDS, Completion, Deadline, NoAnswer, ask
from bylaw.llm.recorded import Recorded, Replayed
from tests.bylaw.llm.scripted import SAID, Answer, Clock, Scripted, prompt

DEADLINE = Deadline.after(5, Clock())


def reason(llm, said: str = "Is it so?") -> str:
    with pytest.raises(NoAnswer) as raised:
        llm.complete(prompt(said), DEADLINE)
    return raised.value.reason


def test_what_was_recorded_is_played_back_without_the_model(tmp_path):
    model = Scripted([SAID])
    assert Recorded(tmp_path, model).complete(prompt(), DEADLINE) == Completion(SAID, "scripted")
    assert Recorded(tmp_path, model).complete(prompt(), DEADLINE) == Completion(SAID, "scripted")
    assert len(model.seen) == 1
    assert Recorded(tmp_path).complete(prompt(), DEADLINE) == Completion(SAID, "scripted")


def test_what_was_not_recorded_is_no_answer(tmp_path):
    Recorded(tmp_path, Scripted([SAID])).complete(prompt(), DEADLINE)
    assert reason(Recorded(tmp_path), "Is it not so?") == "unrecorded"
    assert reason(Recorded(tmp_path / "nowhere")) == "unrecorded"


def test_a_failure_is_not_recorded(tmp_path):
    model = Scripted(["late", SAID])
    assert reason(Recorded(tmp_path, model)) == "late"
    assert list(tmp_path.iterdir()) == []
    assert Recorded(tmp_path, model).complete(prompt(), DEADLINE).text == SAID


def test_recording_twice_gives_the_same_bytes(tmp_path):
    for folder in ("a", "b"):
        Recorded(tmp_path / folder, Scripted([SAID])).complete(prompt(), DEADLINE)
    (one,), (two,) = (list((tmp_path / folder).iterdir()) for folder in ("a", "b"))
    assert one.name == two.name == f"test_v1-{prompt().fingerprint}.json"
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:40],
        lambda text: text.replace("Is it so?", "Is it not so?"),
        lambda text: text.replace('"temperature": 0', '"temperature": 1'),
        lambda text: json.dumps({**json.loads(text), "completion": None}),
        lambda text: json.dumps({**json.loads(text), "completion": {"text": 1, "model": "m"}}),
        lambda text: "[]",
        lambda text: "{}",
    ],
)
def test_a_recording_that_was_changed_is_no_answer(tmp_path: Path, damage):
    Recorded(tmp_path, Scripted([SAID])).complete(prompt(), DEADLINE)
    (path,) = tmp_path.iterdir()
    path.write_text(damage(path.read_text(encoding="utf-8")), encoding="utf-8")
    assert reason(Recorded(tmp_path)) == "unreadable"


def test_closing_closes_what_is_recorded_from(tmp_path):
    model = Scripted([SAID])
    Recorded(tmp_path, model).close()
    Recorded(tmp_path).close()
    assert model.is_closed


def test_an_exchange_ends_in_a_replay_as_it_ended_then():
    said = [SAID, '{"text": 1}', *(reason for reason in WORDS if reason != "unreadable")]
    exchanges = [
        ask(Scripted([line]), prompt(f"question {number}"), Answer, DEADLINE) for number, line in enumerate(said)
    ]
    papers = json.loads(json.dumps([exchange.paper() for exchange in exchanges]))
    replayed = Replayed.of(papers)
    for number, exchange in enumerate(exchanges):
        again = ask(replayed, prompt(f"question {number}"), Answer, DEADLINE)
        assert again.value == exchange.value
        assert again.paper() == exchange.paper()
    assert reason(replayed, "something else") == "unrecorded"
    assert replayed.name == "scripted"
    replayed.close()


def test_a_paper_with_a_reason_of_another_version_is_no_answer():
    paper = {"fingerprint": prompt().fingerprint, "completion": None, "error": "tired"}
    assert reason(Replayed.of([paper])) == "unrecorded"
