"""Who says what a policy question says: a form or caller, a choice that was offered, a reply, a model, the matcher.

Whoever proposes, the holder holds. Where a model and the matcher both read the whole text and differ, both are kept:
the person says which is meant.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from bot.ask.ground import ground_for
from bot.ask.matcher.match import match
from bot.conversation import Choice
from bot.enforcement.assemble import UNUSABLE, tell_facts
from bot.enforcement.question import offers
from bot.enforcement.question.asking import is_no_question
from bot.enforcement.question.carrying import NEW_CASE, split_beginning
from bot.enforcement.question.memory import Memory, load
from bot.enforcement.question.replies import declines, read_reply
from bot.index import BundleIndex
from bylaw.hold.hold import Ground, confirm, hold
from bylaw.hold.item import Item, Proposal, Reading, Stretch, read_items
from bylaw.language.turns import goes_on

if TYPE_CHECKING:
    from bylaw.llm.guarded import Guard

CONFIRM, INSTEAD, OTHER = "confirm", "instead", "other"
_NUMBERS = ("integer", "decimal")
PENDING = "pending"  # of a conversation's state: the readings that wait to be confirmed
YES = Choice(value=CONFIRM, label="Yes, that is my question")
NO = Choice(value=OTHER, label="No, something else")
NOT_ASKED = Choice(value=OTHER, label="That is not what I asked")


@dataclass(frozen=True)
class QuestionRead:
    """What a turn says. `instead` is the other whole reading of the same words, where there is one."""

    text: str
    reading: Reading
    instead: Reading | None = None
    is_doubted: bool = False  # do a model and the matcher differ on whether anything is asked?
    is_declined: bool = False
    is_other: bool = False
    is_anew: bool = False  # is what came before the last turn not to be carried over?
    papers: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)


def read_question(
    text: str, today: date, state: Mapping[str, Any], index: BundleIndex, llm: Guard | None, items: object
) -> QuestionRead:
    """What *text*, said in the conversation that *state* carries, says."""
    ground = ground_for(index, "policy", today)
    is_anew, text = split_beginning(text)
    if is_anew and not text:
        return QuestionRead(NEW_CASE.label, Reading("given"), is_anew=True)
    if (waiting := _confirmed(text, state, ground)) is not None:
        return waiting
    if items is not None:
        return QuestionRead(text, hold(text, read_items(items, "policy"), ground, "given"))
    memory = load(state, index.ruleset.variables)
    picked = offers.picked(text, memory.offered, index)
    is_other = _says(text, NO, NOT_ASKED) or text.strip().casefold() == offers.SOMETHING_ELSE
    if picked == offers.SOMETHING_ELSE or (is_other and PENDING in state):
        return QuestionRead(text, Reading("given"), is_other=True)
    if picked is not None:
        reading = hold(text, Proposal((Item(kind="asks", name=picked),)), ground, "given")
        return QuestionRead(text, replace(reading, residue=(), not_used=()))
    proposal = match(text, ground)
    if any(one.kind == "asks" for one in proposal.items):
        reading = hold(text, proposal, ground, "matcher")
    else:
        if memory.asking is not None and declines(text):
            reading = replace(hold(text, proposal, ground, "matcher"), residue=(), not_used=())
            return QuestionRead(text, reading, is_declined=True)
        replies = (read_reply(text, fact, proposal.items, ground) for fact in _answered(text, memory, index))
        if (reply := next(filter(None, replies), None)) is not None:
            return QuestionRead(text, _beside(reply) if is_no_question(text) else reply)
        reading = hold(text, proposal, ground, "matcher")
        if memory.topic.is_named and is_no_question(text):
            reading = _beside(reading)
    return QuestionRead(text, reading) if llm is None else _by_model(text, reading, ground, index, llm, memory.asking)


def _answered(text: str, memory: Memory, index: BundleIndex) -> Iterator[str]:
    """The facts that *text* may be the answer to: the one that was asked for, and, where it goes on with the case, the
    only number that the case has.
    """
    if memory.asking is not None and not text.rstrip().endswith("?"):
        yield memory.asking
    facts = index.vocabulary.facts
    numbers = [name for name in sorted({*memory.facts, *memory.bounds}) if facts[name].type in _NUMBERS]
    if len(numbers) == 1 and (goes_on(text) or is_no_question(text)):
        yield numbers[0]


def _beside(reading: Reading) -> Reading:
    """The reading of words that ask nothing: what is left over of them is only not used."""
    left: tuple[Stretch, ...] = tuple(sorted((*reading.residue, *reading.not_used), key=lambda one: one.start))
    return replace(reading, residue=(), not_used=left)


def _says(text: str, *choices: Choice) -> bool:
    said = text.strip().casefold()
    return any(said in (one.value, one.label.casefold()) for one in choices)


def _confirmed(text: str, state: Mapping[str, Any], ground: Ground) -> QuestionRead | None:
    """The reading that *text* confirms; None where nothing waits, or it is something new."""
    waiting = state.get(PENDING)
    if not isinstance(waiting, Mapping) or not waiting.get("items"):
        return None
    is_first = _says(text, YES) or text.strip().casefold() == "yes"
    key = "items" if is_first else INSTEAD
    if not is_first and not (text.strip().casefold() == INSTEAD and waiting.get(INSTEAD)):
        return None
    asked = str(waiting.get("text", ""))
    reading = hold(asked, read_items(list(waiting.get(key, ())), "policy"), ground, "given")
    return QuestionRead(asked, confirm(replace(reading, residue=())))


# ---- a model and the matcher ----------------------------------------------------------------------------------------


def _by_model(
    text: str, matched: Reading, ground: Ground, index: BundleIndex, llm: Guard, asking: str | None
) -> QuestionRead:
    from bot.enforcement.propose import read_case_by_model  # only where a model is configured

    read = read_case_by_model(text, ground, index, llm, asking)
    papers = read.papers()
    if read.reading is None:
        meta = {} if read.fallback is None else {"reading_fallback": read.fallback}
        return QuestionRead(text, matched, papers=papers, meta=meta)
    if not _is_whole(matched):
        return QuestionRead(text, read.reading, papers=papers)
    if _said(read.reading, index) == _said(matched, index):
        return QuestionRead(text, replace(read.reading, by="both"), papers=papers)
    if not _asks(read.reading):
        return QuestionRead(text, matched, is_doubted=True, papers=papers)
    return QuestionRead(text, read.reading, matched, papers=papers)


def _asks(reading: Reading) -> frozenset[str]:
    return frozenset(one.item.named or "" for one in reading.items if one.item.kind == "asks")


def _is_whole(reading: Reading) -> bool:
    """Does it ask something, and use all that it reads and every word?"""
    is_used = all(one.status != "refused" and not one.weaknesses & UNUSABLE for one in reading.held)
    return bool(_asks(reading)) and is_used and not (reading.residue or reading.not_used)


def _said(reading: Reading, index: BundleIndex) -> Hashable:
    """What a reading comes down to: what is asked, and what the facts that are used tell."""
    told = tell_facts(reading, index)
    asked = frozenset(map(index.vocabulary.canonical, _asks(reading)))
    bounds = frozenset((name, bound.tests) for name, bound in told.bounds.items())
    return asked, frozenset((one.fact, one.value) for one in told.reads), bounds
