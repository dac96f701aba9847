"""A language model as the author of a short answer: it sees the envelope alone, and what it writes is held to it.

It may shorten what the evidence says, and nothing else: every sentence is one of a cited record with words left out, in
their order. What does not pass goes back with why; after that the template's words stand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.ask.proposed import provider
from bot.decisions.contract import DecisionAnswer, Document, Evidence
from bot.decisions.said import texts_of
from bot.decisions.validate import mandatory_ids, validate
from bot.index import BundleIndex
from bylaw.authored.machines.intents import Intent
from bylaw.hold.foreign import find_foreign
from bylaw.hold.standing import is_negation
from bylaw.hold.text import see
from bylaw.language.lexicon import lexicon, stem
from bylaw.language.text import Token
from bylaw.llm.guarded import Guard
from bylaw.llm.port import Deadline, Exchange, ask
from bylaw.llm.prompts import render

PROMPTS = Path(__file__).parent / "prompts"
_MOST_HINTS = 12


@dataclass(frozen=True)
class Authored:
    """What a model wrote, where it passes, and every attempt with what was said against it."""

    answer: DecisionAnswer | None
    exchanges: tuple[Exchange[DecisionAnswer], ...]
    reasons: tuple[tuple[str, ...], ...]

    def papers(self) -> Document:
        """What is kept beside the request."""
        exchanges: Document = {f"model_answer_{number}": one.paper() for number, one in enumerate(self.exchanges, 1)}
        return {**exchanges, "attempts": [list(one) for one in self.reasons]}

    def meta(self) -> Document:
        """What the reply tells about its author."""
        spoke = self.exchanges[-1].completion
        author = spoke.model if self.answer is not None and spoke is not None else "template"
        told: Document = {"author": author, "retries": len(self.exchanges) - 1, "fallback_used": self.answer is None}
        if self.answer is None:
            error = self.exchanges[-1].error
            told["fallback_reason"] = "what the language model wrote did not pass" if error is None else str(error)
        return told


def write_by_model(
    paper: Document,
    state: str,
    evidence: Evidence,
    intent: Intent,
    index: BundleIndex,
    guard: Guard,
    people: Sequence[str],
) -> Authored:
    """Have the answer of *paper*, an envelope, written by a model, within one deadline and the retries of the rules."""
    rules = index.rules.intents
    llm = provider(guard, index.rules, "write")
    deadline = Deadline.after(float(index.rules.enforcement.generation_seconds), guard.clock)
    values = {
        "envelope": paper,
        "state": state,
        "longest": rules.lengths.short_answer,
        "mandatory": sorted(mandatory_ids(evidence, intent)),
    }
    exchanges: list[Exchange[DecisionAnswer]] = []
    refused: list[tuple[str, ...]] = []
    for _ in range(1 + rules.prompt.retries):
        hints = {"hints": list(refused[-1][:_MOST_HINTS]) if refused else []}
        prompt = render(PROMPTS, "decision_answer_v1", {**values, **hints}, DecisionAnswer, rules.prompt.max_tokens)
        exchange = ask(llm, prompt, DecisionAnswer, deadline)
        exchanges.append(exchange)
        if exchange.value is None and (exchange.error is None or exchange.error.reason != "unreadable"):
            break
        reasons = ["schema:answer"]
        if exchange.value is not None:
            reasons = list(validate(exchange.value, evidence, intent, rules, people).reasons)
            if not any(reason.startswith("too_long") for reason in reasons):  # a longer one is not looked at
                reasons += unfounded(exchange.value, evidence, state)
        refused.append(tuple(reasons))
        if not reasons:
            return Authored(exchange.value, tuple(exchanges), tuple(refused))
    return Authored(None, tuple(exchanges), tuple(refused))


def unfounded(answer: DecisionAnswer, evidence: Evidence, state: str) -> Iterator[str]:
    """What of *answer* is no shortening of what the records it cites say; `state_first` where it opens otherwise."""
    if not answer.short_answer.startswith(f"{state}:"):
        yield "state_first: it has to begin with STATE and a colon"
    said = [answer.short_answer.removeprefix(state).lstrip(" :.,;")]
    said += [answer.rationale_note] if answer.rationale_note else []
    known = [one for text in texts_of(evidence, answer.supporting_ids) for one in _sentences(text)]
    for text in said:
        seen = see(text)
        if seen.source != seen.text.seen or seen.strays or next(iter(find_foreign(seen)), None):
            yield "signs: no links, no markup, no pictures, nothing that cannot be seen"
        for sentence in _sentences(text):
            if not any(_is_shortened(sentence, one) for one in known):
                yield f"unfounded: {' '.join(token.word for token in sentence)[:80]}"


def _sentences(text: str) -> Iterator[tuple[Token, ...]]:
    seen = see(text)
    for passage in seen.text.passages:
        if words := seen.words(passage.start, passage.end):
            yield words


def _is_shortened(words: Sequence[Token], source: Sequence[Token]) -> bool:
    """Is it *source* with words left out, none of which denies or alters?"""
    rest = iter([stem(token.word) for token in source])
    return all(stem(token.word) in rest for token in words) and _altering(words) == _altering(source)


def _altering(tokens: Sequence[Token]) -> Counter[str]:
    """The words that deny or alter what is said."""
    altering = lexicon()["altering"]
    return Counter(
        "not" if is_negation(token) else token.word for token in tokens if is_negation(token) or token.word in altering
    )
