"""Words that say nothing by themselves: they lead up to a number, tell what is left of it, or are of a set phrase."""

from __future__ import annotations

from collections.abc import Sequence

from bot.enforcement.figures import NUMBER_WORDS
from bot.enforcement.said import Said
from bot.enforcement.senses import sense
from bylaw.language.span import listed
from bylaw.language.units import unit_of
from bylaw.language.words import Word

_SET_PHRASES = {("any", "more"), ("no", "longer"), ("any", "longer"), ("this", "time"), ("this", "case")} | {
    *(("have", "left"), ("for", "good"), ("good", "news"), ("bad", "news"), ("great", "news"), ("right", "away")),
    *(("straight", "away"), ("reach", "out"), ("reaching", "out"), ("getting", "in"), ("as", "long"), ("long", "as")),
    *(("to", "confirm"), ("can", "confirm")),
}
_WITH_AN_ACTION = {("too", "late"), ("no", "problem")}  # "you are too late for …"; alone they are an answer
_BEFORE_A_NUMBER = listed(
    "within inside between under over below above past beyond outside more less day up "
    "older younger longer shorter later earlier higher lower heavier lighter cheaper"
)
_BEHIND_A_NUMBER = {("or", "more"), ("or", "less"), ("or", "over"), ("or", "above"), ("or", "below")}
_LATE, _ADDING, _ANOTHER = listed("late early past over"), listed("add spend"), listed("another a an only just")
_REPLACING = sense("replace")


def is_joint(said: Said, word: Word) -> bool:
    """Does it only lead up to a number, or to "any more", "this time", "for good"?"""
    words = said.sentence.words
    i = words.index(word)
    before = words[i - 1].text if i else ""
    ahead = [other.text for other in words[i + 1 : i + 3]]
    phrases = _SET_PHRASES | _WITH_AN_ACTION if said.claims else _SET_PHRASES
    if (word.text == "paid" and _is_past(said, i)) or _is_rest(words, i):
        return True
    if (before, word.text) in phrases or (word.text, *ahead[:1]) in phrases:
        return True
    if (word.text, *ahead[:1]) == ("new", "one"):
        return any(sense(other.text) == _REPLACING for other in words)
    if (before, word.text) in _BEHIND_A_NUMBER and any(other.text[0].isdigit() for other in words[max(i - 3, 0) : i]):
        return True
    return word.text in _BEFORE_A_NUMBER and any(text[0].isdigit() or text in NUMBER_WORDS for text in ahead)


def _is_rest(words: Sequence[Word], i: int) -> bool:
    """Does it only say of a figure what is left of it, or what is to be added: "two days late", "add another $8"?"""
    before, ahead = words[max(i - 1, 0) : i], [word for word in words[i + 1 : i + 4] if word.text not in _ANOTHER]
    is_late = words[i].text in _LATE and bool(before) and unit_of(before[0].text) is not None
    is_more = words[i].text == "another" and words[i - 1].text in _ADDING
    is_more = is_more or (
        words[i].text == "more" and not _ADDING.isdisjoint(word.text for word in words[max(i - 3, 0) : i])
    )
    if is_more and words[i].text == "more":
        return words[i - 1].is_number
    return is_late or ((words[i].text in _ADDING or is_more) and bool(ahead) and ahead[0].is_number)


def _is_past(said: Said, i: int) -> bool:
    """Is what word *i* says told of what was done: "you've paid for", "it was paid by gift card"?"""
    before = said.sentence.words[max(i - 1, 0) : i]
    return any(word.text in ("you", "have") or _raw(said, word) in ("was", "were") for word in before)


def _raw(said: Said, word: Word) -> str:
    return said.sentence.text[word.start : word.end].casefold()
