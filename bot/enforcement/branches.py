"""A sentence as the branches it speaks of: "with it …, without it …", "… unless you have it", "whether or not you do".

What "it" and "so" stand for is the one yes-or-no fact that was asked or supposed just before; where there is none, or
more than one, nobody knows which case is meant, and the sentence stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.enforcement.facts import Reading
from bot.enforcement.polarity import is_question
from bot.enforcement.sentences import Sentence, sentence_of
from bylaw.language.span import listed
from bylaw.language.words import AUXILIARIES, FUNCTION_WORDS, PRONOUNS, Word
from bylaw.logic.ir import Value

# How a branch begins: does it suppose what was said before (True), or its contrary? With a noun's pronoun it supposes
# that the thing is there, however it was asked for.
_OF_THE_THING: Mapping[tuple[str, ...], bool] = {
    ("with", "it"): True,
    ("with", "one"): True,
    ("without", "it"): False,
    ("without", "one"): False,
}
_OF_WHAT_WAS_SAID: Mapping[tuple[str, ...], bool] = {
    ("if", "so"): True,
    ("if", "yes"): True,
    ("if", "not"): False,
    ("if", "no"): False,
    ("otherwise",): False,
}
_CUES: Mapping[tuple[str, ...], bool] = {**_OF_THE_THING, **_OF_WHAT_WAS_SAID}
_CUE = re.compile(r"(?i)\b(?:with(?:out)? (?:it|one)|if (?:so|yes|not?)|otherwise)\b")
_UNLESS, _EITHER = ("unless",), ("whether",)
_OPEN = {
    _UNLESS: re.compile(r"(?i)\bunless\b"),
    ("whether", "or", "not"): re.compile(r"(?i)\bwhether or not\b"),
    ("no", "matter", "whether"): re.compile(r"(?i)\bno matter whether\b"),
    ("no", "matter", "if"): re.compile(r"(?i)\bno matter if\b"),
    ("regardless", "of", "whether"): re.compile(r"(?i)\bregardless of whether\b"),
    _EITHER: re.compile(r"(?i)\bwhether\b[^,.;]*\bor not\b"),
}
_SUPPOSING = ("if", "whether")
_JOINING = listed("and but or")
_PLAIN = FUNCTION_WORDS | listed("still already")

Read = Callable[[str], Reading]


Cases = tuple[tuple[Mapping[str, Value], bool], ...]  # each: what is supposed, and is it then as said or the contrary?


@dataclass(frozen=True)
class Branch:
    """A part of a sentence, and the cases that it speaks of: none where it speaks of this one.

    `is_supposed`: it says nothing of this case.
    """

    sentence: Sentence
    cases: Cases = ()
    is_supposed: bool = False


def branches(sentence: Sentence, before: Sentence | None, read: Read) -> Sequence[Branch]:
    """The parts of *sentence*, which stands behind the sentence *before*; itself where it has no branches, or asks."""
    if is_question(sentence.text):
        return (Branch(sentence),)
    if _CUE.search(sentence.text) is not None:
        return tuple(_split(sentence, before, read))
    for cue, pattern in _OPEN.items():
        if pattern.search(sentence.text) is not None:
            return _opened(sentence, cue, read) or (Branch(sentence),)
    return (Branch(sentence),)


def _split(sentence: Sentence, before: Sentence | None, read: Read) -> Iterator[Branch]:
    """The parts that begin with a cue, each with what it supposes."""
    words, starts = sentence.words, list(_cued(sentence.words))
    lead = sentence_of(sentence.text[: words[starts[0][0]].start]) if starts and starts[0][0] else before
    meant = _meant(lead, read) if starts and lead is not None else None
    if meant is None:
        yield Branch(sentence)
        return
    name, value = meant
    if starts[0][0]:
        assert lead is not None  # it has just been read
        yield Branch(lead)
    ends = [words[i].start for i, _ in starts[1:]] + [len(sentence.text)]
    for (i, cue), end in zip(starts, ends, strict=True):
        supposed = _CUES[cue] if cue in _OF_THE_THING else _CUES[cue] is value
        yield Branch(sentence_of(sentence.text[words[i].start : end]), (({name: supposed}, True),), is_supposed=True)


def is_branch(words: Sequence[Word]) -> bool:
    """Does a sentence begin with what supposes the one before it, or its contrary?"""
    return any(cue in _CUES for cue in ((words[0].text,), tuple(word.text for word in words[:2])))


def _cued(words: Sequence[Word]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Where a clause, or what an "and" joins to it, begins with a cue."""
    for i, word in enumerate(words):
        opens = i == 0 or words[i - 1].clause != word.clause or words[i - 1].text in _JOINING
        for cue in ((word.text,), tuple(other.text for other in words[i : i + 2])) if opens else ():
            if cue in _CUES:
                yield i, cue


def _meant(lead: Sentence, read: Read) -> tuple[str, bool] | None:
    """The one yes-or-no fact that *lead* asks for or supposes, as it puts it."""
    words = lead.words
    if len(words) < 2:
        return None
    text = lead.text
    if is_question(text):
        is_turned = words[0].text in AUXILIARIES and words[1].text in PRONOUNS and words[0].end < words[1].start
        subject, verb = text[words[1].start : words[1].end], text[words[0].start : words[0].end]
        text = f"{subject} {verb} {text[words[1].end :].rstrip(' ?')}" if is_turned else ""
    else:
        at = next((k for k, word in enumerate(words) if word.text in _SUPPOSING), len(words))
        inside = [word for word in words[at + 1 :] if word.clause == words[at].clause]
        text = text[inside[0].start : inside[-1].end] if inside else ""
    return _only(text, read) if text else None


def _only(text: str, read: Read) -> tuple[str, bool] | None:
    """The only fact that *text* tells, where it is one of yes or no and the text tells nothing else."""
    reading = read(text)
    if len(reading.reads) != 1 or reading.unclear:
        return None
    (found,) = reading.reads
    rest = [word.text for word in sentence_of(text).words if not found.start <= word.start < found.end]
    if not isinstance(found.value, bool) or any(word in _JOINING or word not in _PLAIN for word in rest):
        return None
    return found.fact, found.value


def _opened(sentence: Sentence, cue: tuple[str, ...], read: Read) -> Sequence[Branch]:
    """ "A unless B", "A whether or not B": A in its cases, and B; none where B is not one fact of yes or no."""
    words, size = sentence.words, len(cue)
    i = next((i for i in range(len(words)) if tuple(word.text for word in words[i : i + size]) == cue), -1)
    behind = [k for k in range(i + size, len(words)) if words[k].clause == words[i].clause]
    if i < 0 or not behind or (i > 0 and behind[-1] + 1 < len(words)):
        return ()
    end, is_either = words[behind[-1]].end, [words[k].text for k in behind[-2:]] == ["or", "not"]
    behind = behind[:-2] if is_either else behind
    if not behind or (cue == _EITHER and not is_either):
        return ()
    condition = sentence_of(sentence.text[words[behind[0]].start : words[behind[-1]].end])
    main = sentence_of(sentence.text[end:] if i == 0 else sentence.text[: words[i].start])
    meant = _only(condition.text, read)
    if meant is None or not main.words:
        return ()
    name, value = meant
    here: Cases = (({name: not value}, True), ({name: value}, False))
    alike: Cases = (({}, True), ({name: value}, True), ({name: not value}, True))
    is_unless = cue == _UNLESS
    return Branch(main, here if is_unless else alike, is_unless), Branch(condition, is_supposed=True)
