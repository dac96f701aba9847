"""A model as the reader of a case, where the plain reader found too little: it proposes, its words are held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.enforcement.author import provider
from bot.enforcement.case import Case
from bot.enforcement.judged.model_opinion import PROMPTS
from bot.enforcement.question.case.facts import is_sayable
from bot.enforcement.question.case.proposed import Held, ReadCase, held
from bot.enforcement.question.topic.recognise import topics
from bot.pii import Mask
from bylaw.authored.vocabulary import Fact
from bylaw.llm.guarded import Guard
from bylaw.llm.port import Deadline, Exchange, ask
from bylaw.llm.prompts import render


def is_needed(case: Case) -> bool:
    """Is the domain unsure, or were fewer of the facts found than the rules say is enough (seed 001)?"""
    rules = case.index.rules.enforcement
    if not case.memory.topic.is_sure(rules.classify_by_model_below):
        return True
    missing = set(case.scope.missing) - set(case.facts)
    matter = len(missing) + len(case.facts)
    return bool(matter) and len(case.facts) < rules.extract_by_model_below * matter


def propose(case: Case, guard: Guard) -> tuple[Held | None, Exchange[ReadCase]]:
    """What the model reads in the words of *case* and they bear, None where it says nothing; and what it was asked."""
    index, rules = case.index, case.index.rules.enforcement
    deadline = Deadline.after(float(rules.generation_seconds), guard.clock)
    values = {
        "text": Mask(index.rules.pii).text(case.text),
        "facts": [_shown(name, fact) for name, fact in sorted(index.vocabulary.facts.items()) if is_sayable(fact)],
        "domains": list(topics(index)),
        "asked": case.asked,
    }
    prompt = render(PROMPTS, "read_case_v1", values, ReadCase, rules.model.answer_tokens)
    exchange = ask(provider(guard, index.rules, "read"), prompt, ReadCase, deadline)
    if exchange.value is None:
        return None, exchange
    found = held(exchange.value, case.text, index.vocabulary, case.evaluator.ruleset.variables, case.today)
    return found, exchange


def _shown(name: str, fact: Fact) -> Mapping[str, Any]:
    """A declared fact as a model is told of it."""
    told: dict[str, Any] = {"fact": name, "type": fact.type, "means": fact.label or name.replace("_", " ")}
    optional = {"unit": fact.unit, "asked": fact.ask, "values": fact.values, "said": fact.phrases}
    return {**told, **{key: value for key, value in optional.items() if value}}
