"""Questions with what is right about their answers: `evaluation/*.yaml`, and what a suite must reach.

A repository asks its own questions here. `bylaw eval` puts them to the bot as people would and counts what it does.
"""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, StrictInt, StringConstraints, model_validator

from bylaw.authored.machines.amounts import Share
from bylaw.authored.record import Authored, AuthoredFile, Number, Word, misfit

Asked = Annotated[str, StringConstraints(min_length=1, max_length=8_000)]
Cell = StrictBool | StrictInt | Number | str | None
Expected = Literal["answer", "clarify", "form", "refuse"]


class SuiteQuestion(Authored):
    """One question and what is right: who answers (`route`), what it rests on (`reaches`), and the numbers (`rows`).

    `after` was said before in the same conversation. `sql` is how a person computes the rows; without `rows` it is
    run. `reaches` are names of metrics, entities, policies (or the beginning of their ids) or decisions. `topic`
    groups questions in a report. Dates in `rows` are ISO texts. One that is `held_out` was never looked at while
    anything was tuned, and is reported apart: only such questions say how good the answers are.
    """

    ask: Asked
    after: list[Asked] = Field(default_factory=list)
    user: Word | None = None
    topic: Word | None = None
    expect: Expected = "answer"
    route: Literal["policy", "data", "decision", "unknown"] | None = None
    reaches: list[Word] = Field(default_factory=list)
    sql: Asked | None = None
    rows: list[list[Cell]] | None = None
    ordered: StrictBool = False
    held_out: StrictBool = False

    @model_validator(mode="after")
    def _says_what_is_right(self) -> Self:
        if self.expect != "answer" and (self.sql or self.rows is not None):
            raise misfit(f"a question that expects `{self.expect}` has no rows", "expect")
        if self.expect == "answer" and self.route is None and self.sql is None and self.rows is None:
            raise misfit("nothing says what is right: give `route`, `sql`, `rows`, or another `expect`", "ask")
        return self

    @property
    def is_routing(self) -> bool:
        """Is only asked who answers, whatever the answer is?"""
        return self.route is not None and self.sql is None and self.rows is None


class Suite(AuthoredFile):
    """A file of questions that are asked at one moment, `user` where a question names nobody else.

    `warehouse` is an address, or `demo` for the generated example data of that day. A suite that is `held_out` has no
    other questions.
    """

    name: Word
    at: datetime
    user: Word = "anonymous"
    warehouse: Word | None = None
    held_out: StrictBool = False
    questions: Annotated[list[SuiteQuestion], Field(min_length=1)]

    @model_validator(mode="after")
    def _knows_its_timezone(self) -> Self:
        if self.at.tzinfo is None:
            raise misfit("the time needs a timezone, as in 2026-11-20T09:30:00Z", "at")
        return self


class Floors(Authored):
    """What a suite must reach: the share that is right, at most this share answered wrongly, and, of the questions
    that say who answers, the share that came to the right one."""

    accuracy_from: Share
    silent_wrong_up_to: Share
    routed_from: Share | None = None


class Evaluation(AuthoredFile):
    """`rules/evaluation.yaml`: the floors of every suite, and of single ones by name."""

    floors: Floors
    suites: dict[Word, Floors] = Field(default_factory=dict)

    def floors_of(self, suite: str) -> Floors:
        """What the suite of that name must reach."""
        return self.suites.get(suite, self.floors)
