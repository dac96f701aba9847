"""A draft in one line: the question, what else is known, the answer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from bot.enforcement.assemble import case_of
from bot.enforcement.judged.checks.result import AnswerDraft, Judge
from bot.enforcement.judged.reading import draft_of, found_in
from bot.index import BundleIndex
from bot.request.cases import read_facts

MakeDraft = Callable[..., AnswerDraft]


@pytest.fixture(scope="session")
def drafted(own: BundleIndex) -> MakeDraft:
    def make(query: str, answer: str, facts: dict[str, Any] | None = None, judge: Judge | None = None) -> AnswerDraft:
        case = case_of(query, date(2026, 11, 20), {}, own, own.evaluator, read_facts(facts or {}, own))
        return draft_of(case, answer, judge, found_in(case, answer))

    return make
