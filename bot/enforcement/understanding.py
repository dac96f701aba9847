"""What a turn adds to the case: the facts in its words, the answer to what was asked, and what it is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from itertools import chain

from bot.enforcement.asked import declines, read_answer
from bot.enforcement.earlier import Told, is_correction, meant, names_back, opens_another
from bot.enforcement.facts import Read, Reading, Unclear, read_text
from bot.enforcement.lookups import lookups
from bot.enforcement.memory import Memory, continued, goes_on
from bot.enforcement.phrases import phrase_words
from bot.enforcement.proposed import Held, is_sayable, merged
from bot.enforcement.recognise import Topic, topic
from bot.index import BundleIndex
from bylaw.authored.vocabulary import Vocabulary
from bylaw.language.words import stem_of
from bylaw.logic.evaluate import Evaluator

_SHORT = 6  # words that say but a number
_OTHERWISE = re.compile(
    r"(?i)\W*(?:(?:and|but|or|so)\W+)?(?:what\W+)?(?P<told>if (?:not|(?:he|she|it|they|i|we|you)"
    r" (?:(?:is|are|was|were|do|does|did|has|have|had|would)(?:n't| not)?|(?P<verb>\w+))))\W*"
    r"|\W*(?:(?:no|nope|sorry|actually|wait|oops)\W+){1,3}(?P<denied>(?:he|she|it|they|i|we|you)"
    r" (?:is|are|was|were|do|does|did|has|have|had)(?:n't| not)?)\W*"
)
_SUPPOSED = re.compile(r"(?i)\W*(?:and )?(?:what about|how about|what if)\b")
_MORE = re.compile(r"(?i)\b(?:(?P<more>more|extra)|another (?:\w+|\d+))\b")


def understand(
    text: str,
    today: date,
    memory: Memory,
    index: BundleIndex,
    evaluator: Evaluator,
    proposed: Held | None = None,
) -> tuple[Memory, Reading, bool]:
    """The case with what *text*, said *today*, adds, the reading of it, and whether it declines what was asked."""
    vocabulary, variables = index.vocabulary, evaluator.ruleset.variables
    before, memory = memory, _recalled(text, today, memory, index, evaluator)
    asked = memory.asking
    about = _about(text, read_text(text, vocabulary, variables, today).reads, index)
    prefer = _deciding(index, evaluator, about.outcomes or memory.topic.outcomes, about.domains or memory.topic.domains)
    reading = read_text(text, vocabulary, variables, today, prefer)
    if memory.facts and goes_on(text):
        said_again = read_text(text, vocabulary, variables, today, frozenset(memory.facts))
        reading = said_again if not memory.facts.keys().isdisjoint(said_again.facts) else reading
    is_supposed = _SUPPOSED.match(text) is not None  # "what about 55?" is no answer, but another number than before
    direct = read_answer(text, asked, vocabulary, variables, today) if asked and not is_supposed else None
    if direct is None and not reading.reads:
        turned = _turned(text, memory, vocabulary) or _replaced(text, today, memory, index, evaluator)
        reading = reading if turned is None else _with(reading, turned)
    reading = _sayable(reading if proposed is None else merged(reading, proposed), vocabulary)
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
    facts = {**memory.facts, **reading.facts}
    return replace(memory, facts=facts, declined=declined, asking=None), reading, is_declined


def _sayable(reading: Reading, vocabulary: Vocabulary) -> Reading:
    """*reading* without the facts that words may not say."""
    return replace(reading, reads=tuple(read for read in reading.reads if is_sayable(vocabulary.facts[read.fact])))


def _recalled(text: str, today: date, memory: Memory, index: BundleIndex, evaluator: Evaluator) -> Memory:
    """The memory of the case that *text* goes back to or begins; *memory* where it speaks of the present one."""
    if not memory.facts:
        return memory
    name = names_back(text) if memory.earlier else None
    named = read_text(name, index.vocabulary, evaluator.ruleset.variables, today).facts if name else {}
    found = meant(text, memory.earlier, memory.now, named)
    if found is None and opens_another(text):
        found = Told(_next(memory), {}, memory.topic)
    return memory if found is None else Memory(found.facts, topic=found.topic).at(found, memory)


def _gone_on(memory: Memory, text: str, about: Topic, reading: Reading) -> Memory:
    """The memory with *text*; where that tells another case than before, with the one before among the earlier."""
    after = continued(memory, text, about, reading)
    differs = any(memory.facts.get(name, value) != value for name, value in reading.facts.items())
    is_other = bool(memory.facts) and (not after.facts or (differs and not is_correction(text)))
    return after.at(replace(after.now, number=_next(memory)), memory) if is_other else after


def _next(memory: Memory) -> int:
    return max(told.number for told in (*memory.earlier, memory.now)) + 1


def _turned(text: str, memory: Memory, vocabulary: Vocabulary) -> Read | None:
    """The only yes-or-no fact that is known, the other way: "and if not?", "what if they did?", "no, it isn't"."""
    match = _OTHERWISE.fullmatch(text)
    flags = [name for name in memory.facts if vocabulary.facts[name].type == "boolean"]
    if match is None or len(flags) != 1:
        return None
    said = vocabulary.facts[flags[0]].phrases
    called = (
        {stem_of(word) for phrase in chain(*said.values()) for word in phrase_words(phrase)}
        if isinstance(said, dict)
        else set()
    )
    if match["verb"] and stem_of(match["verb"].casefold()) not in called:
        return None
    told = "told" if match["told"] else "denied"
    return Read(flags[0], not memory.facts[flags[0]], match[told], match.start(told), match.end(told))


def _replaced(text: str, today: date, memory: Memory, index: BundleIndex, evaluator: Evaluator) -> Read | None:
    """The only number that is known, another one in its place: "and 40?", "and after one more?"."""
    vocabulary, variables = index.vocabulary, evaluator.ruleset.variables
    numbers = [name for name in sorted(memory.facts) if vocabulary.facts[name].type in ("integer", "decimal")]
    if len(numbers) != 1 or not goes_on(text) or len(text.split()) > _SHORT:
        return None
    found = read_answer(text, numbers[0], vocabulary, variables, today)
    if not isinstance(found, Read) or _MORE.search(text) is None:
        return found if isinstance(found, Read) else None
    known = memory.facts[numbers[0]]
    return replace(found, value=known + found.value)  # type: ignore[operator]  # both are numbers, by the fact's type


def _about(text: str, reads: Sequence[Read], index: BundleIndex) -> Topic:
    """What *text* is about. The words of its amounts name nothing, unless they name an action with other words."""
    about = topic(_without_amounts(text, reads), index)
    if about.is_named:
        return about
    whole = topic(text, index)
    is_action = bool(whole.actions and about.domains)
    return whole if is_action else replace(about, domains=whole.domains, confidence=whole.confidence)


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
