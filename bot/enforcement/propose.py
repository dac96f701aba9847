"""What a model is told of the declared words of policies, where it is the first to read a policy question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.ask.proposed import Read, Reader, Row, read_by_model
from bot.enforcement.judged.model_opinion import PROMPTS
from bot.enforcement.question.bounds import is_sayable
from bot.index import BundleIndex
from bylaw.authored.vocabulary import Vocabulary
from bylaw.hold.hold import Ground
from bylaw.llm.guarded import Guard


def read_case_by_model(text: str, ground: Ground, index: BundleIndex, guard: Guard, asked: str | None) -> Read:
    """What a model proposes that *text* says, held. *asked* is the fact that the person was asked for."""
    by = Reader(PROMPTS, "read_question_v1", {"asked": asked})
    return read_by_model(text, ground, _rows(index.vocabulary), index, guard, by)


def _rows(vocabulary: Vocabulary) -> Iterator[Row]:
    for name, outcome in vocabulary.outcomes.items():
        yield _shown("outcome", name, outcome.label, phrases=outcome.phrases), name
    for name, action in vocabulary.actions.items():
        if action.same_as is None:
            more = {"of": action.outcome} if action.outcome else {}
            yield _shown("action", name, action.label, phrases=action.phrases, **more), name
    for name, fact in vocabulary.facts.items():
        if is_sayable(fact):
            told = {"type": fact.type, "unit": fact.unit, "values": fact.values}
            yield _shown("fact", name, fact.label, phrases=fact.phrases, **told), name


def _shown(kind: str, name: str, label: str | None, **more: Any) -> Mapping[str, Any]:
    told = {key: value for key, value in more.items() if value}
    return {"kind": kind, "name": name, "means": label or name.replace("_", " "), **told}
