"""Which of the three answers: policy, data or decision. Every answerer scores a text itself; the router only compares.

A conversation is sticky: what answers a pending question, or only makes sense after the last answer, goes to the
kind that spoke last. Where nothing matches, the bot says so and names what can be asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING, Any, get_args

from bot.conversation import AnswerKind, Choice, Question, Turn
from bylaw.language.text import clean, tokens, words_of
from bylaw.language.turns import asks_anew, asks_which, corrects, courtesy_of, replies, states

if TYPE_CHECKING:
    from bylaw.authored.machines.routing import Routing

# `Any` is the bundle's index, as the answerers know it; the frame itself never looks inside.
Score = Callable[[str, Any], float]
Answer = Callable[[Question, dict[str, Any], Any], Turn]
Topics = Callable[[Any], Sequence[str]]


def no_topics(_index: Any) -> Sequence[str]:
    """An answerer that has nothing to suggest."""
    return ()


def nothing_to_prepare(_index: Any) -> None:
    """An answerer that starts without a warm-up."""


@dataclass(frozen=True)
class Answerer:
    """One kind of answer: how well a text fits it (0 to 1), the answer itself, and example topics for a refusal.

    `prepare` builds what the first question on a bundle would otherwise wait for. `attended` is the same answer, given
    up when who asked is gone; None for one that is over before anybody goes. One that `only_computes` asks nothing of
    other systems: it is there within milliseconds, or not at all. `personal` is this one for somebody of whom something
    is remembered. Of a text that nobody told the bot, `continues` says whether it asks for something, but only behind
    what was asked before. `names` says whether something that this kind declares is called so in a text.
    """

    kind: AnswerKind
    score: Score
    answer: Answer
    topics: Topics = no_topics
    prepare: Callable[[Any], None] = nothing_to_prepare
    attended: Callable[[Event], Answer] | None = None
    only_computes: bool = False
    personal: Callable[[Answerer, Any, Any], Answerer] | None = None
    continues: Callable[[str, Mapping[str, Any], Any], bool] | None = None
    names: Callable[[str, Any], bool] | None = None

    def recalling(self, recalled: Any, index: Any) -> Answerer:
        """This one, for the person of whom this is *recalled*."""
        return self if self.personal is None else self.personal(self, recalled, index)

    def until(self, gone: Event) -> Answerer:
        """This one, for somebody who may go before the answer is there."""
        return self if self.attended is None else replace(self, answer=self.attended(gone))


@dataclass(frozen=True)
class Thresholds:
    """How sure a score must be; `interrupt` is for leaving a kind that a follow-up would belong to.

    Up to `short_words` words an utterance may continue something by how it opens. Two scores less than `alike` apart
    are alike: the person says which kind is meant.
    """

    answer: float
    interrupt: float
    short_words: int
    alike: float = 0.1


def thresholds(rules: Routing) -> Thresholds:
    """What `rules/routing.yaml` says of them."""
    return Thresholds(
        float(rules.answer_from), float(rules.interrupt_from), rules.short_words, float(rules.alike_below)
    )


@dataclass(frozen=True)
class Past:
    """What the router knows of the conversation: who answered last, and whether that answer waits for the person."""

    last_kind: str | None = None
    pending: str | None = None


@dataclass(frozen=True)
class Route:
    """The decision, its confidence, and every score, so that it can be explained. `kind` None: nobody answers."""

    kind: AnswerKind | None
    confidence: float
    reason: str
    scores: Mapping[str, float]


BOTH = "the policies and the data both answer it"
_ALIKE: tuple[AnswerKind, ...] = ("policy", "data")
_ASKED = {"policy": "what our policies say", "data": "figures from our data"}
_SIGNS = frozenset(":,;.!–—-")  # behind a single word that objects
_TITLES = {"policy": "policies", "data": "data", "decision": "decisions"}


def route(text: str, index: Any, answerers: Sequence[Answerer], edges: Thresholds, past: Past = Past()) -> Route:
    """Who answers *text*. Equal scores are settled by the order of *answerers*."""
    scores: dict[str, float] = {answerer.kind: _bounded(answerer.score(text, index)) for answerer in answerers}
    best = max(answerers, key=lambda answerer: scores[answerer.kind]).kind if answerers else None
    confidence = 0.0 if best is None else scores[best]
    last = next((answerer.kind for answerer in answerers if answerer.kind == past.last_kind), None)
    # few words in which only the last kind reads something: "bought yesterday"
    is_more = best == last and confidence >= edges.answer / 2 and len(text.split()) <= edges.short_words
    is_reply = replies(text, edges.short_words)
    if last is not None and (past.pending or is_more or is_reply):
        needed = edges.answer if asks_anew(text) and not is_reply else edges.interrupt
        is_correction = len(text.split()) <= edges.short_words and corrects(text)
        is_told = bool(past.pending) and states(text)
        if best == last or confidence < needed or is_correction or is_told:
            reason = f"answers what was asked ({past.pending})" if past.pending else "follows up on the last answer"
            return Route(last, max(confidence if best == last else 0.0, edges.interrupt), reason, scores)
        return Route(best, confidence, "a new question", scores)
    if best in _ALIKE and asks_which(text) and _are_alike(scores, edges):
        return Route(None, confidence, BOTH, scores)
    is_recognised = best is not None and confidence >= edges.answer
    if (kind := _named_alone(text, index, answerers, best if is_recognised else None)) is not None:
        return Route(kind, confidence, "only there something is called so", scores)
    if not is_recognised:
        return Route(None, confidence, "no kind of answer recognises it", scores)
    return Route(best, confidence, "the best score", scores)


def _named_alone(text: str, index: Any, answerers: Sequence[Answerer], best: AnswerKind | None) -> AnswerKind | None:
    """The decisions, where one is called what *text* says, and the *best* kind only knows how it is asked; else None.

    What is on record has a title, and people ask for it in any form; a word of the rules alone asks for nothing.
    """
    able = {one.kind: one.names for one in answerers if one.names is not None}
    if best is not None and (best not in able or able[best](text, index)):
        return None
    return "decision" if best != "decision" and "decision" in able and able["decision"](text, index) else None


def _are_alike(scores: Mapping[str, float], edges: Thresholds) -> bool:
    """Do a text's policies and its data both fit, and alike?"""
    policy, data = (scores.get(kind, 0.0) for kind in _ALIKE)
    return min(policy, data) >= edges.interrupt and abs(policy - data) < edges.alike


def which(text: str) -> tuple[Choice, ...]:
    """The kinds that *text* may be a question of; each sends it back with its kind before it."""
    return tuple(Choice(value=f"{kind}: {text}", label=f"{_ASKED[kind]}") for kind in _ALIKE)


def otherwise(text: str, index: Any, answerers: Sequence[Answerer]) -> tuple[Choice, ...]:
    """What a text that nobody recognises may be asked as all the same: of data there is a form, of policies topics."""
    kinds = {answerer.kind for answerer in answerers if any(answerer.topics(index))}
    return () if courtesy_of(text) else tuple(one for one in which(text) if one.value.partition(":")[0] in kinds)


def named_kind(text: str) -> tuple[AnswerKind, str] | None:
    """The kind that a person put before a question ("data: refunds of laptops"), and the question."""
    named, _, asked = text.partition(":")
    kind = next((one for one in get_args(AnswerKind) if one == named.strip().lower()), None)
    return (kind, asked.strip()) if kind and asked[:1].isspace() and asked.strip() else None


def chosen(text: str, offered: Sequence[Choice]) -> str:
    """The value of the choice that *text* names, by number or label; *text* itself when it names none."""
    said = text.strip().rstrip(".!)").strip().casefold()
    values = {choice.value.casefold() for choice in offered}
    if said in values:
        return text
    if said.isascii() and said.isdigit() and 1 <= int(said[:4]) <= len(offered):
        return offered[int(said[:4]) - 1].value
    return next((choice.value for choice in offered if choice.label.strip().casefold() == said), text)


def picked(text: str, offered: Sequence[Choice]) -> int | None:
    """Which choice *text* names, by number, value, label or what stands before its colon; None for none."""
    said = bare(text)
    if said.isascii() and said.isdigit() and 1 <= int(said[:4]) <= len(offered):
        return int(said[:4]) - 1
    for n, choice in enumerate(offered):
        if said in (bare(choice.value), bare(choice.label), bare(choice.label.partition(":")[0])):
            return n
    return None


def is_said(text: str, phrases: Sequence[str]) -> bool:
    """Is *text* one of the *phrases*, and nothing more?"""
    return bare(text) in {bare(phrase) for phrase in phrases}


def opens(text: str, phrases: Sequence[str]) -> bool:
    """Does *text* open with one of the *phrases*, and go on?"""
    words = f"{bare(text)} "
    return any(words.startswith(f"{bare(phrase)} ") and words != f"{bare(phrase)} " for phrase in phrases)


def objects(text: str, phrases: Sequence[str]) -> bool:
    """Does *text* open with one of the *phrases*? A single word counts where a sign or nothing follows it: a wrong item
    is no wrong answer."""
    said = tuple(tokens(clean(text)))
    first = next((k for k, one in enumerate(said) if one.word[0].isalnum()), len(said))
    for phrase in map(words_of, phrases):
        spelled = tuple(one.word for one in said[first:] if one.word[0].isalnum())[: len(phrase)]
        behind = said[first + 1].word if first + 1 < len(said) else "."
        if spelled == phrase and (len(phrase) > 1 or behind in _SIGNS):
            return True
    return False


def bare(text: str) -> str:
    """The words of *text*, as they are compared with those of a closed list."""
    return " ".join(re.findall(r"[\w'._/-]+", text.replace("’", "'").casefold())).rstrip(".")


def refusal(index: Any, answerers: Sequence[Answerer], text: str = "") -> str:
    """What to say when nobody answers *text*: the limits of the bot, in the words of its own bundle."""
    kind = courtesy_of(text)
    if kind == "thanks":
        return "You are welcome."
    lines = [
        f"- {_TITLES[answerer.kind]}: {'; '.join(found)}"
        for answerer in answerers
        if (found := [topic for topic in answerer.topics(index) if topic])
    ]
    said = "I did not recognise this as a question about our policies, our data or our decisions."
    if kind == "help":
        said = "I answer questions about our policies, our data and our decisions, and say where each answer stands."
    return "\n".join([said, "You can ask about:", *lines]) if lines else said


def _bounded(score: float) -> float:
    """A score in [0, 1]; a recogniser that says yes or no is fully sure."""
    return min(1.0, max(0.0, float(score)))
