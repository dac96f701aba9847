"""A model as the first reader of a data question: it proposes items, and code holds every one of them.

One call a question and at most as many repairs as the rules allow, with the names that matter for it, and the schema
once. What it proposes passes the same compiler, gate and rules as everything else.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from bot.agents import errand
from bot.ask.query.reading import HeldQuery, hold_question
from bot.ask.query.shown import lines_of
from bot.index import BundleIndex
from bot.pii import Mask
from bylaw.hold.hold import Ground
from bylaw.hold.item import HeldItem, Item, Proposal, misfit_of
from bylaw.llm.guarded import Guard, Limits
from bylaw.llm.port import Deadline, Exchange, ask
from bylaw.llm.prompts import render
from bylaw.semantic.compiler import Compiler

PROMPTS = Path(__file__).parent / "prompts"
_MOST_REFUSED = 12  # that a repair is told of
Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Scalar = bool | int | float | str


class ProposedItem(BaseModel):
    """One thing that a question says."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    kind: Word
    quote: Annotated[str, StringConstraints(min_length=1, max_length=400)] | None = None
    name: Word | None = None
    operator: Word | None = None
    value: Scalar | list[Scalar] | None = None
    unit: Word | None = None
    of: Annotated[list[ProposedItem], Field(max_length=20)] = []
    any_of: Annotated[list[ProposedItem], Field(max_length=20)] = []


class ReadData(BaseModel):
    """What a model reads in a question; `unknown` are stretches of it that no listed name means."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    items: Annotated[tuple[ProposedItem, ...], Field(max_length=60)] = ()
    unknown: Annotated[tuple[Annotated[str, StringConstraints(max_length=400)], ...], Field(max_length=60)] = ()


@dataclass(frozen=True)
class Proposed:
    """What a question means to a model, held; None where nothing can be read. And everything that was said."""

    held: HeldQuery | None
    reason: str
    model: str
    exchanges: tuple[Exchange[ReadData], ...]

    @property
    def is_whole(self) -> bool:
        """May what it read run?"""
        return self.held is not None and self.held.is_whole

    def papers(self) -> dict[str, Any]:
        """What is kept beside the request."""
        last = self.exchanges[-1]
        said = None if last.value is None else last.value.model_dump(mode="json", exclude_defaults=True)
        proposal = {"model": self.model, "prompt": last.prompt.fingerprint, "proposal": said}
        models = {f"model_{number}": one.paper() for number, one in enumerate(self.exchanges, 1)}
        return {**models, "proposal": {**proposal, "refused": self.reason or None}}

    def meta(self, author: str | None = None) -> dict[str, Any]:
        """What the reply tells about who read the question."""
        told = author or (self.model if self.is_whole else "reader")
        reason = {"fallback_reason": self.reason} if self.reason else {}
        return {"author": told, "fallback_used": not self.is_whole, **reason}


@dataclass(frozen=True)
class AskedOfModel:
    """What a model is asked about. `heard` are words that say how the answer is to be given, `previous` the query that
    the question goes on from.
    """

    text: str
    today: date
    heard: tuple[str, ...] = ()
    previous: dict[str, Any] | None = None


def propose(asked: AskedOfModel, index: BundleIndex, ground: Ground, compiler: Compiler, guard: Guard) -> Proposed:
    """What a model makes of a question; what does not hold goes back to it with the objections.

    Raises nothing of the model's: a late, silent or broken one is a `Proposed` without a reading.
    """
    rules = index.rules.autonomy.proposals
    assert rules is not None, "no model is asked without rules for it"
    job = errand(index.rules.agents, "query")
    llm = guard.under(Limits(rules.failures, float(rules.rest_seconds), rules.at_once), job)
    seconds = max([float(rules.seconds), *(one.seconds for one in job.candidates if one.seconds is not None)])
    deadline = Deadline.after(seconds, guard.clock)
    masked = Mask(index.rules.pii).text(asked.text)
    lines = lines_of(ground.index, index.bundle.context).nearest(masked, rules.catalogue_bytes)
    values: dict[str, Any] = {"names": lines, "today": asked.today.isoformat(), "question": masked}
    values |= {"previous": asked.previous, "refused": [], "proposed": None}
    exchanges: list[Exchange[ReadData]] = []
    best: HeldQuery | None = None
    reason, author = "", llm.name
    for _ in range(1 + rules.repairs):
        exchange = ask(llm, render(PROMPTS, "read_data_v1", values, ReadData, rules.answer_tokens), ReadData, deadline)
        exchanges.append(exchange)
        author = exchange.completion.model if exchange.completion else author
        if exchange.value is None:
            reason = reason or str(exchange.error)
            break
        held, refused = _hold(exchange.value, asked, ground, compiler)
        best = held if best is None or len(held.objections()) < len(best.objections()) else best
        if not refused:
            return Proposed(held, "", author, tuple(exchanges))
        reason = f"what the language model proposed does not hold: {held.objections()[0]}"
        if exchange.value.unknown or deadline.left <= 0:  # it said itself that it cannot: nothing to mend
            break
        said = exchange.value.model_dump(mode="json", exclude_defaults=True)
        values = {**values, "proposed": said, "refused": refused[:_MOST_REFUSED]}
    return Proposed(best, reason, author, tuple(exchanges))


def _hold(said: ReadData, asked: AskedOfModel, ground: Ground, compiler: Compiler) -> tuple[HeldQuery, list[str]]:
    """What a model said, held, and why it cannot run as it is. Without a quote a model picks nothing."""
    items: list[Item] = []
    misfits: list[HeldItem] = []
    for one in said.items:
        try:
            item = Item.model_validate(one.model_dump(exclude_defaults=True))
        except ValueError:
            misfits.append(HeldItem(Item(kind=one.kind, quote=one.quote, name=one.name), "refused", "this is no item"))
            continue
        problem = misfit_of(item, "data") or ("it has no quote" if item.quote is None else None)
        if problem is None:
            items.append(item)
        else:
            misfits.append(HeldItem(item, "refused", problem))
    proposal = Proposal(tuple(items), said.unknown, tuple(misfits))
    held = hold_question(asked.text, proposal, ground, compiler, "model", asked.heard)
    return held, held.objections(is_for_people=False)
