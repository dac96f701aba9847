"""The answer to a fact that was asked for: "yes", "15", "electronics", "I don't know". Here the fact is known already.

So a bare number is in the fact's unit, and a value that two facts share is read for the one that was asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from itertools import dropwhile

from bot.enforcement.amounts import Misread, amount_in, days_until, measured, why_not_exact
from bot.enforcement.belonging import QUALITIES
from bot.enforcement.facts import Read, Unclear, read_text
from bot.enforcement.phrases import phrase_words
from bot.enforcement.utterance import Quantity, Utterance, utterance
from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.language.negation import CUES
from bylaw.language.quantities import unit_at
from bylaw.language.span import listed
from bylaw.language.typos import closest
from bylaw.language.units import unit_of
from bylaw.language.words import DETERMINERS, FUNCTION_WORDS, read_words
from bylaw.logic.ir import Value, ValueMisfit, Variable

_YES = listed("yes yeah yep yup y true sure correct right affirmative definitely absolutely indeed certainly obviously")
_NO = listed("no nope nah n false negative never")
_SAID_BY = ("i", "we", "you", "he", "she", "it", "they", "there")
_SURELY = listed("sure surely certainly definitely absolutely obviously clearly indeed really just already")
_REGRETS = _SURELY | listed("afraid unfortunately sadly regrettably of course i be")
_SHORT_YES = frozenset((*(f"{one} {verb}" for one in _SAID_BY for verb in ("be", "do", "have")), "of course", "do"))
_NOT_ONE = ("not yet", "not really", "not at all", "not anymore", "not any more", "not any longer", "there be none")
_SHORT_NO = frozenset((*(f"{said} not" for said in _SHORT_YES), *_NOT_ONE))
_BEHIND_NO = (FUNCTION_WORDS - DETERMINERS) | listed("think believe any really")  # "it is not | that I lost it"
_FILLERS = listed("ok okay well oh ah um uh erm hm hmm so please hi sorry actually and but")
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
_DECLINED_ALONE = frozenset(("skip", "pass", "unknown", "idk", "dunno", "unsure", "next", "n a", "na"))
_IT = re.compile(r"(?i)\b(?:it|one|them)\b")
_LONGEST = 10  # words of an answer that speaks of "it"
_SHORT = 4  # words of an answer that says little beside its number
_WHY = re.compile(
    r"(?i)\W*(?:(?:and|but|sorry|huh|hm+|wait)\W+)?(?:why|what for|how come|what does (?:that|it|this) matter"
    r"|(?:does|why does) (?:that|it|this) matter)\b|\W*\?\W*$"
)


def asks_why(text: str) -> bool:
    """Does the person ask back why it was asked, instead of an answer?"""
    return _WHY.match(text) is not None


def declines(text: str) -> bool:
    """Does the person say that they cannot or will not answer?"""
    words = [word.text for word in read_words(text)]
    if not words:
        return False
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
            direct = direct or _of_it(text, name, vocabulary, variables, today) or _in_short(said, name, fact)
        case "enum":
            direct = _value(said, name, fact)
        case _:
            direct = _amount(said, name, fact, variable)
    if direct is not None:
        return direct
    return next((unclear for unclear in reading.unclear if unclear.fact == name), None)


def _yes_or_no(said: Utterance, name: str, is_explained: bool) -> Read | Unclear | None:
    spoken = list(dropwhile(lambda word: word.text in _FILLERS, said.words))
    words = [word.text for word in spoken]
    if not words or declines(said.text):
        return None
    opening = " ".join(word for word in words if word not in _SURELY and word != "one")
    if words[-1] == "not" and _REGRETS.issuperset(words[:-1]):  # "afraid not", "certainly not"
        opening = "do not"
    is_yes = opening != "do not" and (words[0] in _YES or opening in _SHORT_YES)
    goes_on = len(words) > 3 and spoken[3].clause == spoken[0].clause and words[3] not in _BEHIND_NO
    is_no = words[0] in _NO or opening in _SHORT_NO or (" ".join(words[:3]) in _SHORT_NO and not goes_on)
    if not is_yes and not is_no:
        return None
    if is_yes and not is_explained and any(word in CUES for word in words[1:]):
        return Unclear(name, said.text.strip(), "it says yes and no")
    first = spoken[0]
    return Read(name, is_yes, said.text[first.start : first.end], first.start, first.end)


def _of_it(text: str, name: str, vocabulary: Vocabulary, variables: Mapping[str, Variable], today: date) -> Read | None:
    """ "I lost it": what was asked for is meant."""
    noun = name.partition("_")[2].replace("_", " ")
    is_meant = name.startswith("has_") and len(text.split()) <= _LONGEST and noun not in text.casefold()
    named = _IT.sub(f"the {noun}", text) if is_meant else text
    value = read_text(named, vocabulary, variables, today, (name,)).facts.get(name) if named != text else None
    return None if value is None else Read(name, value, text.strip(), *_place(text))


def _in_short(said: Utterance, name: str, fact: Fact) -> Read | None:
    """A word or two of what says yes, or of what says no: "california", "regular price"."""
    negations = [word.text for word in said.words if word.text in CUES]
    words = {word.text for word in said.words} - FUNCTION_WORDS - CUES
    if not words or len(said.words) > _SHORT or not isinstance(fact.phrases, dict):
        return None
    told = {key: [set(phrase_words(phrase)) for phrase in fact.phrases.get(key, ())] for key in ("true", "false")}
    fits = [key for key, phrases in told.items() if any(words <= one and not CUES & one - words for one in phrases)]
    if len(fits) != 1:
        return None
    return Read(name, (fits[0] == "true") is not bool(len(negations) % 2), said.text.strip(), *_place(said.text))


def _place(text: str) -> tuple[int, int]:
    start = len(text) - len(text.lstrip())
    return start, start + len(text.strip())


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
    if not found and content and len(words) <= _SHORT:
        told = set(content) - FUNCTION_WORDS  # "store" for "in a store"
        found = {value for spelling, value in spelled.items() if told and told == set(spelling) - FUNCTION_WORDS}
        found = found if len(found) == 1 else set()
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
        if not (said.stands_alone(quantity, fact.unit) or _counts(said.words[quantity.last + 1].text, fact, said)):
            return None
        return measured(quantity.value, quantity, fact, said) if quantity.exact else Misread(why_not_exact(quantity))
    if isinstance(quantity.value, date) and fact.type == "integer":
        return _days_from(quantity, fact, said)
    return amount_in(quantity, fact, said)


def _days_from(quantity: Quantity, fact: Fact, said: Utterance) -> int | None:
    """A day as the answer to how many days ago something was, or in how many it will be."""
    assert isinstance(quantity.value, date)
    phrases = fact.phrases if isinstance(fact.phrases, list) and unit_of(fact.unit or "") == "days" else []
    if any(phrase.endswith(" ago") for phrase in phrases) and quantity.value <= said.today:
        return (said.today - quantity.value).days
    return days_until(quantity.value, quantity, said) if any(" in {" in phrase for phrase in phrases) else None


def _counts(word: str, fact: Fact, said: Utterance) -> bool:
    """May a number be the answer before this word: "2 shirts", where things are counted, or "15 more or less"?"""
    if fact.unit is None:
        return len(said.words) <= _SHORT
    return word in QUALITIES or unit_at([word], 0) is not None


def _checked(name: str, value: Value, variable: Variable, said: Utterance, start: int, end: int) -> Read | Unclear:
    words = said.text[start:end].strip()
    try:
        outside = date.fromordinal(int(value)) if variable.kind == "date" else value
        return Read(name, variable.read(outside), words, start, end)
    except ValueMisfit as misfit:
        return Unclear(name, words, str(misfit).replace("`", ""))
