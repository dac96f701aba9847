"""The providers by name, and one contract for all of them: an answer or NoAnswer, before the deadline."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bylaw.errors import UsageError
from bylaw.llm.guarded import Limits
from bylaw.llm.port import Deadline, ask
from bylaw.llm.registry import PROVIDERS, Off, open_llm
from bylaw.llm.wanted import Given, Wanted
from tests.bylaw.llm.scripted import SAID, Answer, prompt
from tests.fakes.llm import KEY, MODEL, FakeLLM
from tests.rows import each

LIMITS = Limits(3, 30, 4)


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeLLM]:
    with FakeLLM(SAID) as server:
        yield server


def recorded(fake: FakeLLM, folder: Path) -> Wanted:
    given = Given(f"openai:{MODEL}", fake.openai, KEY)
    guard = open_llm(Wanted("recorded", given, folder, is_recording=True), time.monotonic)
    ask(guard.under(LIMITS), prompt(), Answer, Deadline.after(30, time.monotonic))
    guard.close()
    return Wanted("recorded", folder=folder)


WANTED: dict[str, Callable[[FakeLLM, Path], Wanted]] = {
    "none": lambda fake, folder: Wanted(),
    "recorded": recorded,
    "model": lambda fake, folder: Wanted("model", Given(f"openai:{MODEL}", fake.openai, KEY)),
}


def test_every_provider_is_held_to_the_contract():
    assert set(WANTED) == set(PROVIDERS)


@pytest.mark.parametrize("provider", sorted(WANTED))
def test_a_provider_answers_or_says_why_not(provider, fake, tmp_path):
    guard = open_llm(WANTED[provider](fake, tmp_path), time.monotonic)
    llm = guard.under(LIMITS)
    exchange = ask(llm, prompt(), Answer, Deadline.after(30, time.monotonic))
    if provider == "none":
        assert exchange.error is not None and exchange.error.reason == "off"
    else:
        assert exchange.value == Answer(text="yes", sure=True)
    assert llm.name
    late = ask(llm, prompt("another"), Answer, Deadline.after(0, time.monotonic))
    assert late.error is not None and late.error.reason == "late"
    guard.close()


def test_no_model_is_the_default_and_no_error():
    guard = open_llm(Wanted(), time.monotonic)
    assert isinstance(guard.llm, Off)
    assert guard.under(LIMITS).name == "none"


@each(
    ("wanted", "said"),
    [
        (Wanted("clippy"), "`clippy` is no provider"),
        (Wanted("recorded"), "need a folder"),
        (Wanted("model"), "is no language model"),
        (Wanted("recorded", folder=Path(), is_recording=True), "is no language model"),
    ],
)
def test_what_cannot_be_opened_is_wrong_usage(wanted, said):
    with pytest.raises(UsageError, match=said):
        open_llm(wanted, time.monotonic)
