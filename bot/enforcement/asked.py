"""The answer to a fact that was asked for: "yes", "15", "electronics", "I don't know". Here the fact is known already.

So a bare number is in the fact's unit, and a value that two facts share is read for the one that was asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fractions import Fraction

from bot.enforcement.amounts import Misread, amount_in, measured
from bot.enforcement.facts import Read, Unclear, read_text
from bot.enforcement.phrases import phrase_words
from bot.enforcement.utterance import Quantity, Utterance, utterance
from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.language.negation import CUES
from bylaw.language.span import listed
from bylaw.language.typos import closest
from bylaw.language.words import read_words
from bylaw.logic.ir import Value, ValueMisfit, Variable

_YES = listed("yes yeah yep yup y true sure correct right affirmative definitely absolutely indeed")
_NO = listed("no nope nah n false negative never")
_SHORT_YES = frozenset(("i do", "i have", "it be", "it do", "it have", "they be", "he do", "she do", "of course"))
_SHORT_NO = frozenset(
    ("i do not", "i have not", "it be not", "it do not", "it have not", "not yet", "not really", "not at all")
)
_NOTHING = listed("none zero nothing never nil")
_DECLINED = (
    "do not know",
    "not know",
    "no idea",
    "not sure",
    "no clue",
    "can not say",
    "can not tell",
    "can not remember",
    "do not remember",
    "could not say",
    "not certain",
    "rather not",
    "prefer not",
    "not want to say",
    "not want to tell",
    "will not say",
    "will not tell",
    "not tell you",
    "refuse to",
    "none of your business",
)
_DECLINED_ALONE = listed("skip pass unknown idk dunno unsure next ?")


def declines(text: str) -> bool:
    """Does the person say that they cannot or will not answer?"""
    words = [word.text for word in read_words(text)]
    if not words:
        return text.strip().strip("?") == "" and "?" in text
    if " ".join(words) in _DECLINED_ALONE or (words[0] in ("skip", "idk", "dunno") and len(words) <= 4):
        return True
    said = f" {' '.join(words[:12])} "
    return any(f" {phrase} " in said for phrase in _DECLINED)


def read_answer(
    text: str, name: str, vocabulary: Vocabulary, variables: Mapping[str, Variable], today: date
) -> Read | Unclear | None:
    """What *text* says as the answer to the question for the fact *name*; None when it is no answer to it."""
    fact, variable = vocabulary.facts.get(name), variables.get(name)
    if fact is None or variable is None:
        return None
    reading = read_text(text, vocabulary, variables, today, prefer=(name,))
    stated = next((read for read in reading.reads if read.fact == name), None)
    if stated is not None:
        return stated
    said = utterance(text, today)
    match fact.type:
        case "boolean":
            direct = _yes_or_no(said, name, is_explained=bool(reading.reads))
        case "enum":
            direct = _value(said, name, fact)
        case _:
            direct = _amount(said, name, fact, variable)
    if direct is not None:
        return direct
    return next((unclear for unclear in reading.unclear if unclear.fact == name), None)


def _yes_or_no(said: Utterance, name: str, is_explained: bool) -> Read | Unclear | None:
    words = [word.text for word in said.words]
    if not words or declines(said.text):
        return None
    opening = " ".join(words)
    is_yes = words[0] in _YES or opening in _SHORT_YES
    is_no = words[0] in _NO or opening in _SHORT_NO or " ".join(words[:3]) in _SHORT_NO
    if not is_yes and not is_no:
        return None
    if is_yes and not is_explained and any(word in CUES for word in words[1:]):
        return Unclear(name, said.text.strip(), "it says yes and no")
    first = said.words[0]
    return Read(name, is_yes, said.text[first.start : first.end], first.start, first.end)


def _value(said: Utterance, name: str, fact: Fact) -> Read | Unclear | None:
    """The enum value that was named, everyday words like "other" included."""
    words = tuple(word.text for word in said.words)
    spelled = {phrase_words(text): value for value, names in sorted(fact.values.items()) for text in (value, *names)}
    content = phrase_words(said.text) if len(said.text) <= 200 else words
    found = {spelled[content]} if content in spelled else set()
    if not found and len(words) <= 12:
        found = {value for spelling, value in spelled.items() if _contains(content, spelling)}
    if not found and len(words) <= 6:
        near = closest(" ".join(content), (" ".join(spelling) for spelling in spelled))
        found = {spelled[tuple(near.split(" "))]} if near is not None else set()
    whole = said.text.strip()
    if len(found) > 1:
        return Unclear(name, whole, "it names more than one")
    if not found or any(word in ("not", "no") for word in words[:-1]):
        return None
    start = said.text.index(whole)
    return Read(name, found.pop(), whole, start, start + len(whole))


def _contains(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(words[i : i + len(part)] == part for i in range(len(words) - len(part) + 1))


def _amount(said: Utterance, name: str, fact: Fact, variable: Variable) -> Read | Unclear | None:
    words = [word.text for word in said.words]
    if not said.quantities and fact.type != "date" and len(words) <= 4 and any(word in _NOTHING for word in words):
        return _checked(name, 0, variable, said, 0, len(said.text))
    found: dict[Value, Quantity] = {}
    reason = ""
    for quantity in said.quantities:
        value = _in_unit_of(fact, quantity, said)
        if isinstance(value, Misread):
            reason = value.reason
        elif value is not None:
            found.setdefault(value, quantity)
    if len(found) > 1:
        return Unclear(name, said.text.strip(), "it names more than one")
    if not found:
        return Unclear(name, said.text.strip(), reason) if reason else None
    value, quantity = next(iter(found.items()))
    return _checked(name, value, variable, said, quantity.start, quantity.end)


def _in_unit_of(fact: Fact, quantity: Quantity, said: Utterance) -> Value | Misread | None:
    if isinstance(quantity.value, int | Fraction) and fact.type in ("integer", "decimal"):
        following = quantity.last + 1
        alone = following >= len(said.words) or said.stands_alone(quantity, fact.unit) or len(said.words) <= 4
        if not alone:
            return None
        return (
            measured(quantity.value, quantity, fact, said)
            if quantity.exact
            else Misread("it gives a bound or a range, not one value")
        )
    return amount_in(quantity, fact, said)


def _checked(name: str, value: Value, variable: Variable, said: Utterance, start: int, end: int) -> Read | Unclear:
    words = said.text[start:end].strip()
    try:
        outside = date.fromordinal(int(value)) if variable.kind == "date" else value
        return Read(name, variable.read(outside), words, start, end)
    except ValueMisfit as misfit:
        return Unclear(name, words, str(misfit).replace("`", ""))
