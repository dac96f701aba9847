"""A model as the first to say what a text says: it proposes items, and code holds every one of them.

One call a text and as many repairs as the rules allow, with the declared words that matter for it and the schema once.
What the model does not answer, the plain reader reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from bot.agents import errand
from bot.index import BundleIndex
from bot.pii import Mask
from bylaw.authored.machines.agents import Task
from bylaw.authored.machines.rules import Rules
from bylaw.hold.hold import Ground, hold
from bylaw.hold.item import Item, Proposal, Reading, misfit_of
from bylaw.hold.text import see
from bylaw.hold.words import Index, stems_of
from bylaw.llm.guarded import Guard, Limits
from bylaw.llm.port import LLM, WORDS, Deadline, Exchange, ask
from bylaw.llm.prompts import render

_MOST_SHOWN = 9_000  # characters of declared words in one prompt: with everything else under 4,000 tokens
_MOST_REFUSED = 12  # that a repair is told of

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Row = tuple[Mapping[str, Any], str]  # a declared name as a model is told of it, and the name


class ProposedItem(BaseModel):
    """One thing that a text says; which kinds there are depends on the text."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    kind: Name
    quote: Annotated[str, StringConstraints(min_length=1, max_length=400)]
    name: Name
    operator: Name | None = None
    value: bool | int | float | str | None = None
    unit: Name | None = None


class ReadQuestion(BaseModel):
    """What a model reads in a text; `unknown` are stretches of it that no declared name means."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    items: Annotated[tuple[ProposedItem, ...], Field(max_length=60)] = ()
    unknown: Annotated[tuple[Annotated[str, StringConstraints(max_length=400)], ...], Field(max_length=60)] = ()


@dataclass(frozen=True)
class Read:
    """The reading of a text and what the model was asked for it, call by call."""

    reading: Reading | None
    exchanges: tuple[Exchange[ReadQuestion], ...]

    @property
    def fallback(self) -> str | None:
        """Why the model did not read it, in words; None where it did."""
        error = self.exchanges[-1].error if self.exchanges else None
        is_told = error is not None and error.reason != "off" and self.reading is None
        return WORDS[error.reason] if error is not None and is_told else None

    def papers(self) -> Mapping[str, Any]:
        """What is kept beside the request."""
        names = ("model_read", "model_read_again")
        return {name: exchange.paper() for name, exchange in zip(names, self.exchanges, strict=False)}


@dataclass(frozen=True)
class Reader:
    """A prompt that asks a model for items: its template in a folder, and what else it is told."""

    folder: Path
    prompt_id: str
    more: Mapping[str, Any]


def provider(guard: Guard, rules: Rules, task: Task) -> LLM:
    """The model of *guard* for *task*, under the limits of *rules*."""
    use = rules.enforcement.model
    return guard.under(Limits(use.failures, float(use.rest_seconds), use.at_once), errand(rules.agents, task))


def read_by_model(text: str, ground: Ground, rows: Iterable[Row], index: BundleIndex, guard: Guard, by: Reader) -> Read:
    """What a model proposes that *text* says, held; no reading where it proposes nothing or gives no answer.

    *rows* are the declared names that it may mean. What is refused goes back as often as the rules allow, with why.
    """
    rules = index.rules.enforcement
    deadline = Deadline.after(float(rules.generation_seconds), guard.clock)
    llm = provider(guard, index.rules, "read")
    values: dict[str, Any] = {
        "text": Mask(index.rules.pii).text(text),
        "names": list(nearest(text, rows, ground.index)),
        "refused": [],
        **by.more,
    }
    exchanges: list[Exchange[ReadQuestion]] = []
    best: Reading | None = None
    for _attempt in range(1 + rules.repairs):
        prompt = render(by.folder, by.prompt_id, values, ReadQuestion, rules.model.answer_tokens)
        exchange = ask(llm, prompt, ReadQuestion, deadline)
        exchanges.append(exchange)
        if exchange.value is None:
            break
        reading, misfits = _held(text, exchange.value, ground)
        if best is None or len(reading.refused) < len(best.refused):
            best = reading
        refused = [f"{one.item.written()}: {one.why}" for one in reading.refused] + misfits
        if not refused:
            break
        values = {**values, "refused": refused[:_MOST_REFUSED]}
    is_silent = best is None or not (best.held or best.unknown)
    return Read(None if is_silent else best, tuple(exchanges))


def _held(text: str, said: ReadQuestion, ground: Ground) -> tuple[Reading, list[str]]:
    """What a model said, held, and why some of it is no item at all."""
    items: list[Item] = []
    misfits: list[str] = []
    for one in said.items:
        given = one.model_dump(exclude_none=True)
        try:
            item = Item.model_validate(given)
        except ValueError:
            misfits.append(f"{given}: this is no item")
            continue
        problem = misfit_of(item, ground.kind)
        if problem is None:
            items.append(item)
        else:
            misfits.append(f"{given}: {problem}")
    return hold(text, Proposal(tuple(items), said.unknown), ground, "model"), misfits


def nearest(text: str, rows: Iterable[Row], words: Index) -> Iterator[Mapping[str, Any]]:
    """Declared names as a model is told of them: of *rows* those that share the most telling words with *text*, as many
    as fit.
    """
    seen = see(text)
    stems = [stems_of(token.word) for token in seen.words(0, len(seen.text.seen))]
    said = frozenset[str]().union(*stems)
    rows = list(rows)
    own = {name: words.speaking_of(name) & said for _, name in rows}
    rarity: dict[str, int] = {}
    for _, name in rows:
        for one in own[name]:
            rarity[one] = rarity.get(one, 0) + 1
    ranked = sorted(rows, key=lambda row: (-sum(1 / rarity[one] for one in sorted(own[row[1]])), row[1]))
    left = _MOST_SHOWN
    chosen: list[Row] = []
    for row in ranked:
        left -= len(str(row[0]))
        if left < 0 and chosen:
            break
        chosen.append(row)
    yield from (row for row, _ in sorted(chosen, key=lambda row: (str(row[0]["kind"]), row[1])))
