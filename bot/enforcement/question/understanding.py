"""What a turn adds to the case: the facts in its words, the answer to what was asked, and what it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from bot.enforcement.question.case.bounds import Bound, bounds_in, is_within
from bot.enforcement.question.case.days import Days, ToldDays, named_days, told_days
from bot.enforcement.question.case.facts import Read, Reading, Unclear, is_sayable, read_text
from bot.enforcement.question.case.mentions import phrases_of, words_of
from bot.enforcement.question.case.numbers import BOUND
from bot.enforcement.question.case.replies import declines, read_answer
from bot.enforcement.question.earlier import EarlierCase, is_correction, meant, names_back, opens_another
from bot.enforcement.question.memory import Memory, continued, goes_on
from bot.enforcement.question.topic.covered import coverage, named_lightly
from bot.enforcement.question.topic.offers import SOMETHING_ELSE, picked, topic_of
from bot.enforcement.question.topic.recognise import Topic, bound, naming, topic
from bot.enforcement.question.topic.scope import asked_about
from bot.index import BundleIndex
from bylaw.language.lexicon import closed, content
from bylaw.language.text import parse
from bylaw.language.text import words_of as words_of_text
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import Variable

_ONE = timedelta(days=1)
_NUMBERS = frozenset(("integer", "decimal"))
_DOUBTING = closed("doubting")
_SHORT = 6  # words that say but a number
_SUPPOSED = re.compile(r"(?i)\W*(?:and )?(?:what about|how about|what if)\b")


def understand(
    text: str,
    today: date,
    memory: Memory,
    index: BundleIndex,
    evaluator: Evaluator,
) -> tuple[Memory, Reading, bool]:
    """The case with what *text*, said *today*, adds, the reading of it, and whether it declines what was asked."""
    vocabulary, variables = index.vocabulary, evaluator.ruleset.variables
    pick, memory = picked(text, memory.offered, index), replace(memory, offered=())
    if pick is not None:
        is_none = pick == SOMETHING_ELSE
        return replace(memory, topic=memory.topic if is_none else topic_of(pick, index), asking=None), Reading(), False
    before, memory = memory, _recalled(text, today, memory, index, evaluator)
    asked, day = memory.asking, today.toordinal()
    first = read_text(text, vocabulary, variables, today)
    about = _about(text, first.reads, index)
    subject = about if about.is_named or not memory.topic.is_named else memory.topic
    matter, near = asked_about(subject, first.facts, index, evaluator, day)
    reading = read_text(text, vocabulary, variables, today, matter, near)
    is_supposed = _SUPPOSED.match(text) is not None  # "what about 55?" is no answer, but another number than before
    direct = read_answer(text, asked, vocabulary, variables, today) if asked and not is_supposed else None
    if direct is None and not any(vocabulary.facts[read.fact].type in _NUMBERS for read in reading.reads):
        replaced = _replaced(text, reading, today, memory, index, evaluator)
        reading = reading if replaced is None else _with(reading, replaced)
    is_declined = asked is not None and not isinstance(direct, Read) and declines(text)
    if isinstance(direct, Read) and not is_sayable(vocabulary.facts[direct.fact]):
        direct = None
    if direct is not None and not is_declined:
        reading = _with(reading, direct)
    if asked and is_declined:
        memory = replace(memory, declined=(*memory.declined, asked))
    elif memory.number != before.number:
        memory = replace(memory, topic=about if about.is_named else memory.topic)
    elif not isinstance(direct, Read):
        memory = _gone_on(memory, text, about, reading)
    declined = tuple(dict.fromkeys(name for name in memory.declined if name not in reading.facts))
    bounds, facts = _bounds(memory, reading, variables), {**memory.facts, **reading.facts}
    again = {one.fact for one in reading.unclear if one.reason != BOUND} | bounds.keys()
    facts = {name: value for name, value in facts.items() if name not in again or name in reading.facts}
    told = told_days(text, today, reading.reads)
    days = memory.days if told is None else None if told.days == Days(today, today + _ONE) else told.days
    # "today" says nothing that is not so without it
    unused = tuple(words for words in _unused(text, reading, told) if words.casefold() != "today")
    reading = replace(reading, unused=unused)
    memory = replace(memory, facts=facts, declined=declined, asking=None, days=days, bounds=bounds)
    return memory, reading, is_declined


def _bounds(memory: Memory, reading: Reading, variables: Mapping[str, Variable]) -> dict[str, Bound]:
    """What is told of facts without a value: before, and now. A bound around the value that is known tells nothing."""
    now = {
        name: bound
        for name, bound in bounds_in(reading.unclear).items()
        if name not in memory.facts or not is_within(memory.facts[name], bound, variables[name])
    }
    told = {*reading.facts, *(one.fact for one in reading.unclear)}
    return {**{name: bound for name, bound in memory.bounds.items() if name not in told}, **now}


def _unused(text: str, reading: Reading, told: ToldDays | None) -> Iterator[str]:
    """What was told and not used: the words of *reading*, and the days that are neither a fact's nor the case's."""
    named = [
        (start, end)
        for start, end in named_days(text)
        if not any(read.start < end and start < read.end for read in reading.reads)
    ]
    others = [words for words in reading.unused if not any(words in text[start:end] for start, end in named)]
    yield from others
    for start, end in named:
        day = text[start:end].rstrip(".")
        is_used = told is not None and told.begins <= start < told.ends
        if not is_used and not any(day in words for words in others):
            yield day


def _recalled(text: str, today: date, memory: Memory, index: BundleIndex, evaluator: Evaluator) -> Memory:
    """The memory of the case that *text* goes back to or begins; *memory* where it speaks of the present one."""
    if not memory.facts:
        return memory
    name = names_back(text) if memory.earlier else None
    named = read_text(name, index.vocabulary, evaluator.ruleset.variables, today).facts if name else {}
    found = meant(text, memory.earlier, memory.now, named)
    if found is None and opens_another(text):
        found = EarlierCase(_next(memory), {}, memory.topic)
    return memory if found is None else Memory(found.facts, topic=found.topic).at(found, memory)


def _gone_on(memory: Memory, text: str, about: Topic, reading: Reading) -> Memory:
    """The memory with *text*; where that tells another case than before, with the one before among the earlier."""
    after = continued(memory, text, about, reading)
    differs = any(memory.facts.get(name, value) != value for name, value in reading.facts.items())
    is_other = bool(memory.facts) and (not after.facts or (differs and not is_correction(text)))
    return after.at(replace(after.now, number=_next(memory)), memory) if is_other else after


def _next(memory: Memory) -> int:
    return max(told.number for told in (*memory.earlier, memory.now)) + 1


def _replaced(
    text: str, reading: Reading, today: date, memory: Memory, index: BundleIndex, evaluator: Evaluator
) -> Read | Unclear | None:
    """The only number that is known, another one in its place: "and 40?", "40". Unclear where it is not for sure."""
    vocabulary, variables = index.vocabulary, evaluator.ruleset.variables
    numbers = [name for name in sorted({*memory.facts, *memory.bounds}) if vocabulary.facts[name].type in _NUMBERS]
    if len(numbers) != 1 or len(text.split()) > _SHORT or (memory.asking and not goes_on(text)):
        return None
    found = read_answer(text, numbers[0], vocabulary, variables, today)
    if found is None or (isinstance(found, Unclear) and found.reason == BOUND and not found.tests):
        return None
    others = content(words_of_text(text)) - content(words_of_text(" ".join((*reading.unused, *_DOUBTING))))
    return found if goes_on(text) or not others else None


def _about(text: str, reads: Sequence[Read], index: BundleIndex) -> Topic:
    """What *text* is about: what its words name beside those that tell the case, else what all of them do."""
    rest = text
    for read in sorted(reads, key=lambda read: -read.start):
        rest = f"{rest[: read.start]} {rest[read.end :]}"
    about, whole = topic(rest, index), topic(text, index)
    if about.is_named:
        return replace(about, confidence=max(about.confidence, whole.confidence))
    if whole.is_named:
        return whole
    words = coverage(text, reads, index).asked
    found = phrases_of(index.vocabulary).by_kind(words_of(parse(text)))
    found += tuple(name for name, _ in named_lightly(text, index))
    return naming(bound(whole, text, words, index), found, index)


def _with(reading: Reading, direct: Read | Unclear) -> Reading:
    """*reading* with the answer to the asked fact in the place of what else was read for it."""
    reads = tuple(read for read in reading.reads if read.fact != direct.fact)
    unclear = tuple(one for one in reading.unclear if one.fact != direct.fact)
    if isinstance(direct, Unclear):
        return replace(reading, reads=reads, unclear=(direct, *unclear))
    # the words of an answer belong to the fact that was asked, and to no other
    apart = tuple(read for read in reads if read.end <= direct.start or direct.end <= read.start)
    unused = tuple(words for words in reading.unused if words not in direct.words and direct.words not in words)
    return replace(reading, reads=(direct, *apart), unclear=unclear, unused=unused)
