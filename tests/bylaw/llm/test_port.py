"""An answer is exactly what was asked for, or there is none."""

from __future__ import annotations

import json
from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from bylaw.canonical import fingerprint
from bylaw.llm.port import WORDS, Completion, Deadline, Exchange, NoAnswer, Prompt, ask, in_words
from tests.bylaw.llm.scripted import SAID, Answer, Clock, Scripted, prompt
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("answers.yaml").read_text(encoding="utf-8"))


class Says:
    name = "says"

    def __init__(self, text: str) -> None:
        self.text = text

    def complete(self, prompt: Prompt, deadline: Deadline) -> Completion:
        return Completion(self.text, self.name)

    def close(self) -> None: ...


def asked(text: str) -> Exchange[Answer]:
    return ask(Says(text), prompt(), Answer, Deadline.after(1, Clock()))


@each("row", ROWS, ids=lambda row: row["title"])
def test_what_counts_as_an_answer(row):
    exchange = asked(row["says"])
    if "text" in row:
        assert exchange.value == Answer(text=row["text"], sure=True)
        assert exchange.error is None
    else:
        assert exchange.value is None
        assert exchange.error is not None
        assert (exchange.error.reason, exchange.error.detail) == ("unreadable", row["wrong"])
    assert exchange.paper()["completion"]["text"] == row["says"]


@given(st.text())
def test_whatever_a_model_says_is_an_answer_or_none(text):
    exchange = asked(text)
    assert (exchange.value is None) == (exchange.error is not None)


@given(st.text(max_size=20), st.booleans())
def test_every_right_answer_is_read(text, sure):
    assert asked(json.dumps({"text": text, "sure": sure})).value == Answer(text=text, sure=sure)


def test_what_is_wrong_with_an_answer_is_told_without_its_words():
    error = asked('{"text": "the secret", "sure": "the secret"}').error
    assert error is not None
    assert "secret" not in f"{error} {error.detail}"


def test_a_deadline_that_has_passed_asks_nobody():
    clock, model = Clock(), Scripted([SAID])
    deadline = Deadline.after(2, clock)
    clock.at += 2
    exchange = ask(model, prompt(), Answer, deadline)
    assert exchange.error is not None and exchange.error.reason == "late"
    assert model.seen == []


def test_a_deadline_counts_down():
    clock = Clock()
    deadline = Deadline.after(5, clock)
    clock.at += 2
    assert deadline.left == 3


def test_every_reason_is_said_in_plain_words():
    for reason in WORDS:
        assert str(NoAnswer(reason)) == WORDS[reason]


def test_a_prompt_has_the_fingerprint_of_all_that_is_said():
    one = prompt()
    assert one.fingerprint == fingerprint(one.document())
    others = [
        prompt("Is it not so?"),
        Prompt("test_v2", one.system, one.user, one.schema, one.max_tokens),
        Prompt(one.id, "Be long.", one.user, one.schema, one.max_tokens),
        Prompt(one.id, one.system, one.user, {}, one.max_tokens),
        Prompt(one.id, one.system, one.user, one.schema, 7),
    ]
    assert len({other.fingerprint for other in [one, *others]}) == 6
    assert prompt().fingerprint == one.fingerprint


def test_temperature_is_no_choice():
    assert prompt().document()["temperature"] == 0


def test_the_same_exchange_is_kept_in_the_same_bytes():
    assert fingerprint(asked(SAID).paper()) == fingerprint(asked(SAID).paper())
    failed = ask(Scripted(["unreachable"]), prompt(), Answer, Deadline.after(1, Clock()))
    assert failed.paper() == {
        "fingerprint": prompt().fingerprint,
        "prompt": prompt().document(),
        "completion": None,
        "error": "unreachable",
    }


def test_the_demand_for_a_schema_is_the_same_every_time():
    assert in_words({"b": 1, "a": 2}) == in_words({"a": 2, "b": 1})
