"""A language model as the author of an answer that is decided already: it writes, the checks read, and only what
passes is said. Whatever else happens, within one deadline for all of it, the plain writer's words stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from bot.ask.proposed import provider
from bot.claims.model import ModelReader, shown
from bot.claims.models import MOST_CLAIMS, Claim, read_claims
from bot.enforcement.case import Case
from bot.enforcement.judged.checks.result import AnswerDraft, Judge
from bot.enforcement.judged.model_opinion import PROMPTS, judge
from bot.enforcement.judged.reading import found_in
from bot.enforcement.judged.verdict import ComplianceDecision, verdict
from bot.enforcement.scaffold import Scaffold, scaffold
from bot.enforcement.writing.write import listing
from bot.index import BundleIndex
from bot.pii import Mask
from bylaw.errors import UsageError
from bylaw.llm.guarded import Guard
from bylaw.llm.port import LLM, Deadline, Exchange, ask
from bylaw.llm.prompts import render

_NOT_PASSED = "what the language model wrote did not pass the checks"
_LINKS = ("://", "www.", "](")
_OWN_WORDS = frozenset({"unanswered", "uncovered"})


def _or_none(said: object, _: ValidatorFunctionWrapHandler) -> tuple[Claim, ...]:
    """The claims, none where they are none: then the text is read as if it came alone."""
    try:
        return read_claims(said)
    except UsageError:
        return ()


class Written(BaseModel):
    """What the model wrote, what it says it stated and cited, and what its text claims."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    text: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
    actions: list[str]
    policies: list[str]
    claims: Annotated[tuple[Claim, ...], Field(max_length=MOST_CLAIMS), WrapValidator(_or_none)] = ()


@dataclass(frozen=True)
class Authored:
    """How it ended: the text to say, or None with the reason why the plain writer speaks; and what led there."""

    text: str | None
    reason: str
    model: str
    exchanges: tuple[Exchange[Any], ...] = ()
    verdicts: tuple[ComplianceDecision, ...] = ()

    def papers(self) -> dict[str, Any]:
        """What is kept beside the request: every exchange, and the verdict on every attempt."""
        exchanges = {f"model_{number}": one.paper() for number, one in enumerate(self.exchanges, start=1)}
        verdicts = {f"attempt_{number}": one.model_dump(mode="json") for number, one in enumerate(self.verdicts, 1)}
        return {**exchanges, **verdicts}

    def meta(self) -> dict[str, Any]:
        """What the reply tells about its author."""
        told: dict[str, Any] = {"author": self.model if self.text is not None else "plain writer"}
        return {**told, "fallback_used": self.text is None, **({"fallback_reason": self.reason} if self.reason else {})}


def by_model(
    plan: Scaffold, llm: LLM, deadline: Deadline, question: str, index: BundleIndex, hints: Sequence[str] = ()
) -> Exchange[Written]:
    """What *llm* makes of *plan*, in one attempt. *hints* say what was wrong with the last one."""
    values = {**shown(index), "scaffold": plan, "question": question, "hints": list(hints)}
    limits = index.rules.enforcement.model
    tokens = limits.answer_tokens + limits.read_tokens  # the text, and its claims
    return ask(llm, render(PROMPTS, "answer_v2", values, Written, tokens), Written, deadline)


def write(case: Case, draft: AnswerDraft, guard: Guard) -> Authored:
    """Have *case* answered by a model; *draft* is what the plain writer makes of it."""
    return _Attempts(case, draft, guard).run()


class _Attempts:
    """The loop of seed 001, action routing: write, check, and write again with what was wrong."""

    def __init__(self, case: Case, draft: AnswerDraft, guard: Guard) -> None:
        self.rules = draft.index.rules.enforcement
        self.case, self.draft = case, draft
        self.llm = provider(guard, draft.index.rules, "write")
        self.deadline = Deadline.after(float(self.rules.generation_seconds), guard.clock)
        self.opinion = opinion_of(draft.index, guard, self.deadline)
        self.mask = Mask(draft.index.rules.pii)
        self.plan = scaffold(draft)
        self.exchanges = self.opinion.exchanges
        self.verdicts: list[ComplianceDecision] = []

    def run(self) -> Authored:
        retries = self.rules.retries_for(self.draft.domain)
        left = {"auto_correct": retries.auto_correct, "regenerate": retries.regenerate}
        hints: tuple[str, ...] = ()
        question = self.mask.text(self.draft.query)
        while True:
            exchange = by_model(self.plan, self.llm, self.deadline, question, self.draft.index, hints)
            self.exchanges.append(exchange)
            if exchange.value is None:
                return self._ended(None, str(exchange.error))
            text, action, hints = self._read(exchange.value)
            if action == "pass":
                return self._ended(text, "")
            if not left.get(action):
                return self._ended(None, _NOT_PASSED)
            left[action] -= 1

    def _read(self, written: Written) -> tuple[str, str, tuple[str, ...]]:
        """The whole text, what becomes of it, and what to tell the model if it may try again."""
        text = written.text.strip()
        if wrong := tuple(misstated(self.plan, written)):
            return text, "regenerate", wrong
        said = found_in(self.case, text, reader=self.opinion.reader, own=written.claims)
        found = verdict(replace(self.draft, text=text, judge=self.opinion.judge, found=said))
        self.verdicts.append(found)
        held = [broken for broken in found.violations if broken.kind not in _OWN_WORDS]
        action = "regenerate" if found.action == "pass" and held else found.action
        order = "DO NOT repeat this: {}" if action == "regenerate" else "Put this right: {}"
        why = [broken.message for broken in found.violations] or [check.detail for check in found.checks]
        return text, action, tuple(order.format(message) for message in why)

    def _ended(self, text: str | None, reason: str) -> Authored:
        written = [one.completion.model for one in self.exchanges if isinstance(one.value, Written) and one.completion]
        return Authored(
            text, reason, written[-1] if written else self.llm.name, tuple(self.exchanges), tuple(self.verdicts)
        )


def judge_of(
    index: BundleIndex, llm: LLM, deadline: Deadline, kept: Callable[[Exchange[Any]], object] = lambda _: None
) -> Judge:
    """The judge that the checks may ask, until *deadline*; each exchange is handed to *kept*."""
    mask, tokens = Mask(index.rules.pii), index.rules.enforcement.model.judge_tokens

    def opinion(query: str, answer: str, rules: Sequence[str]) -> float | None:
        score, exchange = judge(llm, mask.text(query), mask.text(answer), rules, deadline, tokens)
        kept(exchange)
        return score

    return opinion


@dataclass(frozen=True)
class Opinion:
    """A judge for one answer (none without a model), and what it was asked."""

    judge: Judge | None = None
    reader: ModelReader | None = None
    exchanges: list[Exchange[Any]] = field(default_factory=list)

    def papers(self) -> dict[str, Any]:
        """What is kept beside the verdict."""
        return {f"model_{number}": one.paper() for number, one in enumerate(self.exchanges, start=1)}


def opinion_of(index: BundleIndex, guard: Guard | None, deadline: Deadline | None = None) -> Opinion:
    """The opinion that *guard*'s model may give of one answer, until *deadline* or within the time for a stage."""
    if guard is None:
        return Opinion()
    rules, exchanges = index.rules.enforcement, list[Exchange[Any]]()
    deadline = deadline or Deadline.after(float(rules.generation_seconds), guard.clock)
    reader = ModelReader(
        llm=provider(guard, index.rules, "read"),
        deadline=deadline,
        tokens=rules.model.read_tokens,
        readings=rules.readings,
        repairs=rules.repairs,
        mask=Mask(index.rules.pii).text,
        kept=exchanges.append,
    )
    return Opinion(
        judge_of(index, provider(guard, index.rules, "judge"), deadline, exchanges.append), reader, exchanges
    )


def misstated(plan: Scaffold, written: Written) -> Iterator[str]:
    """Where the model itself says that it did not say what was decided, or says what no answer may hold."""
    stated, cited = set(written.actions), set(written.policies)
    if missing := sorted(plan.actions - stated):
        yield f"State also: {listing(missing)}."
    if invented := sorted(stated - plan.actions):
        yield f"DO NOT state: {listing(invented)[:200]}."
    if not cited or cited - plan.policies:
        yield f"Cite only, and at least one of: {listing(sorted(plan.policies))}."
    if any(mark in written.text for mark in _LINKS):
        yield "DO NOT write links."
    if any(not char.isprintable() and char != "\n" for char in written.text):
        yield "DO NOT write characters that cannot be seen."
