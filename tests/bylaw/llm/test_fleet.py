"""Which of several models takes a task, in what order they are asked, and what is told of those who were not."""

from __future__ import annotations

from bylaw.errors import UsageError
from bylaw.llm.fleet import Fleet
from bylaw.llm.guarded import Candidate, Errand, Limits
from bylaw.llm.port import Deadline, ask
from tests.bylaw.llm.scripted import SAID, Answer, Clock, Scripted, prompt

LIMITS = Limits(failures=2, rest_seconds=30, at_once=4)
SMALL, LARGE = Candidate("small", "ollama:s", 1000), Candidate("large", "openai:l", 3000)
WRITE = Errand("write", (SMALL, LARGE), 4000)
SURE, OTHER = SAID, '{"text": "no", "sure": true}'


class Yard:
    """Models by agent, a clock, and the fleet that opens them."""

    def __init__(self, **scripts) -> None:
        self.clock = Clock()
        self.models = {name: Scripted(list(script), f"test:{name}") for name, script in scripts.items()}
        self.opened = []
        self.fleet = Fleet(self._open, self.clock)

    def _open(self, candidate):
        self.opened.append(candidate.agent)
        if candidate.agent not in self.models:
            raise UsageError("the libraries for language models are not installed", "install `bylaw-policies[llm]`")
        return self.models[candidate.agent]

    def ask(self, user="Is it so?", errand=WRITE, seconds=10.0):
        llm = self.fleet.under(LIMITS, errand)
        return ask(llm, prompt(user), Answer, Deadline.after(seconds, self.clock))


def told(exchange):
    choice = exchange.paper()["choice"]
    return choice["agent"], [(one["agent"], one["reason"]) for one in choice["passed_over"]]


def test_the_first_one_takes_it_and_no_other_is_even_opened():
    yard = Yard(small=[SURE], large=[OTHER])
    exchange = yard.ask()
    assert exchange.value == Answer(text="yes", sure=True)
    assert exchange.paper()["choice"] == {"task": "write", "agent": "small", "model": "test:small", "passed_over": []}
    assert yard.opened == ["small"]


def test_the_next_one_takes_what_the_first_does_not_answer():
    yard = Yard(small=["unreachable"], large=[OTHER])
    exchange = yard.ask()
    assert exchange.value == Answer(text="no", sure=True)
    assert told(exchange) == ("large", [("small", "unreachable")])


def test_one_that_failed_too_often_is_passed_over_without_being_asked_until_it_has_rested():
    yard = Yard(small=["overloaded", "overloaded", SURE], large=[OTHER])
    assert [told(yard.ask(f"{i}"))[1] for i in range(3)] == [
        [("small", "overloaded")], [("small", "overloaded")], [("small", "resting")],
    ]  # fmt: skip
    assert len(yard.models["small"].seen) == 2
    yard.clock.at += 31
    assert told(yard.ask("again")) == ("small", [])


def test_one_that_cannot_be_opened_is_passed_over():
    yard = Yard(large=[OTHER])
    assert told(yard.ask()) == ("large", [("small", "unopened")])


def test_one_that_takes_longer_than_what_is_left_is_not_asked():
    yard = Yard(small=["late"], large=[OTHER])
    exchange = yard.ask(seconds=2.0)
    assert exchange.value is None
    assert str(exchange.error) == "the language model did not answer in time"
    assert told(exchange) == (None, [("small", "late"), ("large", "late")])
    assert yard.models["large"].seen == []


def test_one_that_hangs_leaves_time_for_the_next():
    yard = Yard(small=["late"], large=[OTHER])
    seen = []
    yard.models["small"].complete = lambda prompt, deadline: (
        seen.append(deadline.left) or Scripted(["late"]).complete(prompt, deadline)
    )
    yard.ask(seconds=60.0)
    assert seen == [4.0], "the time of the task, not of the whole stage"


def test_where_nobody_is_able_the_plain_path_is_told_why():
    exchange = Yard().ask(errand=Errand("judge", (), 0))
    assert str(exchange.error) == "no language model that is registered can do this in time"
    assert exchange.paper()["choice"] == {"task": "judge", "agent": None, "model": None, "passed_over": []}


def test_a_prompt_that_was_answered_once_is_answered_the_same_again():
    yard = Yard(small=["overloaded", SURE], large=[OTHER])
    assert yard.ask().value == yard.ask().value == Answer(text="no", sure=True)
    assert len(yard.models["small"].seen) == 1


def test_closing_closes_every_model_that_was_opened():
    yard = Yard(small=["busy"], large=[OTHER])
    yard.ask()
    yard.fleet.close()
    assert all(model.is_closed for model in yard.models.values())
