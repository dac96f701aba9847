"""What a turn adds to the case: the facts in its words, the answer to what was asked, and what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.conversation import Question
from bot.enforcement.asked import declines, read_answer
from bot.enforcement.facts import Read, Reading, Unclear, read_text
from bot.enforcement.lookups import lookups
from bot.enforcement.memory import Memory, continued
from bot.enforcement.recognise import topic
from bot.index import BundleIndex
from bylaw.logic.evaluate import Evaluator


def understand(
    question: Question, memory: Memory, index: BundleIndex, evaluator: Evaluator
) -> tuple[Memory, Reading, bool]:
    """The case with what this turn adds to it, the reading of this turn, and whether it declines what was asked."""
    text, today = question.text, index.local(question.asked_at).date()
    vocabulary, variables, asked = index.vocabulary, evaluator.ruleset.variables, memory.asking
    about = topic(_without_amounts(text, read_text(text, vocabulary, variables, today).reads), index)
    prefer = _deciding(index, evaluator, about.outcomes or memory.topic.outcomes, about.domains or memory.topic.domains)
    reading = read_text(text, vocabulary, variables, today, prefer)
    direct = read_answer(text, asked, vocabulary, variables, today) if asked else None
    is_declined = asked is not None and not isinstance(direct, Read) and declines(text)
    if direct is not None and not is_declined:
        reading = _with(reading, direct)
    if asked and is_declined:
        memory = replace(memory, declined=(*memory.declined, asked))
    elif not isinstance(direct, Read):
        memory = continued(memory, text, about, reading)
    declined = tuple(dict.fromkeys(name for name in memory.declined if name not in reading.facts))
    facts = {**memory.facts, **reading.facts}
    return replace(memory, facts=facts, declined=declined, asking=None), reading, is_declined


def _without_amounts(text: str, reads: Sequence[Read]) -> str:
    """The text without the words that give a number: "an order of $30" need not be about orders."""
    for read in sorted(reads, key=lambda read: -read.start):
        if any(char.isdigit() for char in read.words):
            text = f"{text[: read.start]} {text[read.end :]}"
    return text


def _with(reading: Reading, direct: Read | Unclear) -> Reading:
    """*reading* with the answer to the asked fact in the place of what else was read for it."""
    reads = tuple(read for read in reading.reads if read.fact != direct.fact)
    unclear = tuple(one for one in reading.unclear if one.fact != direct.fact)
    if isinstance(direct, Unclear):
        return Reading(reads, (direct, *unclear), reading.mentioned)
    # the words of an answer belong to the fact that was asked, and to no other
    apart = tuple(read for read in reads if read.end <= direct.start or direct.end <= read.start)
    return Reading((direct, *apart), unclear, reading.mentioned)


def _deciding(
    index: BundleIndex, evaluator: Evaluator, outcomes: Sequence[str], domains: Sequence[str]
) -> frozenset[str]:
    """The facts that decide these outcomes, or those that the rules of the likeliest domain use."""
    found = lookups(index)
    if outcomes:
        return frozenset().union(*(found.deciding.get(outcome, ()) for outcome in outcomes))
    return found.facts_of(found.of_domain(domains[0], evaluator)) if domains else frozenset()
