"""The reply to a fact that was asked for: "yes", "15", "electronics", "I don't know". Here the fact is known already.

So a bare number is in the fact's unit, and a value that two facts share is read for the one that was asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from bot.enforcement.question.case.amounts import Misread
from bot.enforcement.question.case.facts import Read, Unclear, read_reply, read_text
from bot.enforcement.question.case.mentions import said_by, words_of
from bot.enforcement.question.case.numbers import BOUND
from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.language.lexicon import closed, content, lexicon, stem
from bylaw.language.text import parse
from bylaw.language.text import words_of as plain_words
from bylaw.language.typos import closest
from bylaw.logic.formula.ir import Value, ValueMisfit, Variable

_LONGEST = 10  # words of a reply that says nothing but yes or no, or names a value
_SHORT = 4  # words of a reply that says little beside its number
_NOTHING = closed("nothing")


def asks_why(text: str) -> bool:
    """Does the person ask back why it was asked, instead of a reply?"""
    said = _words(text)
    return bool(text.strip() and not said) or any(lexicon()["querying"].at(said, i) for i in range(min(2, len(said))))


def declines(text: str) -> bool:
    """Does the person say that they cannot or will not answer?"""
    said = _words(text)[:12]
    found = [*lexicon()["declining"].find(said)]
    return any(behind - first > 1 or len(said) <= _SHORT for first, behind in found)


def read_answer(
    text: str, name: str, vocabulary: Vocabulary, variables: Mapping[str, Variable], today: date
) -> Read | Unclear | None:
    """What *text* says as the reply to the question for the fact *name*; None when it is none."""
    fact, variable = vocabulary.facts.get(name), variables.get(name)
    if fact is None or variable is None:
        return None
    reading = read_text(text, vocabulary, variables, today, (name,))
    stated = next((read for read in reading.reads if read.fact == name), None)
    if stated is not None:
        return stated
    unclear = next((one for one in reading.unclear if one.fact == name), None)
    match fact.type:
        case "boolean":
            found = _yes_or_no(text, bool(reading.reads)) if not declines(text) else None
            if isinstance(found, bool):  # what follows may tell more
                return _checked(name, found, variable, text, _written(text)[0])
            value: Value | Misread | None = found if found is not None else _in_short(text, name, fact)
        case "enum":
            value = _named(text, fact)
        case _:
            return unclear or _amount(text, name, vocabulary, variables, today)
    if isinstance(value, Misread):
        return Unclear(name, text.strip(), value.reason, value.tests)
    return unclear if value is None else _checked(name, value, variable, text)


def _written(text: str) -> list[str]:
    """The words of *text* as they are written."""
    return re.findall(r"[\w'’]+", text)


def _words(text: str) -> list[str]:
    return [word.word for word in words_of(parse(text))]


def _yes_or_no(text: str, is_explained: bool) -> bool | Misread | None:
    """The yes or no that a reply begins with, or all of whose words only say that it is so."""
    lex, said = lexicon(), _words(text)
    while said and said[0] in lex["opening"]:
        said = said[1:]
    if not said or text.rstrip().endswith("?"):
        return None
    denied = lex["negation"].any_in(said)
    left = content(
        word for word in said if not any(word in lex[name] for name in ("negation", "affirming", "courtesy"))
    )
    if lex["denying"].at(said, 0) or (denied and not left and len(said) <= _LONGEST):
        return False
    if lex["affirming"].at(said, 0):
        takes_back = denied or lex["refusal"].any_in(said[1:])
        return Misread("it says yes and no") if takes_back and not is_explained else True
    is_said = any(word in lex.auxiliaries or word in ("do", "have", "be") for word in said)
    return True if is_said and not left and len(said) <= _LONGEST else None


def _in_short(text: str, name: str, fact: Fact) -> bool | None:
    """A word or two of what says yes, or of what says no: "lost it", "regular price"."""
    said = _words(text)
    told = content(word for word in said if word not in lexicon()["negation"])
    if not told or len(said) > _LONGEST or text.rstrip().endswith("?"):
        return None
    own = content(plain_words(f"{name} {fact.label or ''} {fact.ask or ''}"))
    negation = lexicon()["negation"]
    phrases = [(value, plain_words(phrase)) for value, phrase, _ in said_by(name, fact)]
    fits = set()
    for value, words in phrases:
        bare = content(word for word in words if word not in negation)
        if told == bare or (told < bare and bare - told <= own and not told <= own):
            fits.add(value is not negation.any_in(words))
    is_denied = any(word in negation for word in said)
    return fits.pop() is not is_denied if len(fits) == 1 else None


def _named(text: str, fact: Fact) -> str | Misread | None:
    """The value of a category that was named, everyday words like "other" included."""
    said = [stem(word) for word in _words(text) if word not in lexicon()["determining"]]
    spelled: dict[tuple[str, ...], str] = {}
    for value, synonyms in fact.values.items():
        for name in (value.replace("_", " "), *synonyms):
            spelled[tuple(stem(word) for word in plain_words(name) if word not in lexicon()["determining"])] = value
    if tuple(said) in spelled:
        return spelled[tuple(said)]
    if lexicon()["negation"].any_in(_words(text)) or len(said) > _LONGEST or text.rstrip().endswith("?"):
        return None
    found = {value for words, value in spelled.items() if _contains(said, words)}
    if not found and len(said) <= _SHORT:
        told = content(_words(text))
        found = {value for words, value in spelled.items() if told and told == content(words)}
    if not found and len(said) <= _SHORT:
        near = closest(" ".join(_words(text)), (one for value in fact.values for one in (value, *fact.values[value])))
        found = {value for value, names in fact.values.items() if near in (value, *names)}
    return found.pop() if len(found) == 1 else Misread("it names more than one") if found else None


def _contains(words: list[str], part: tuple[str, ...]) -> bool:
    return bool(part) and any(tuple(words[i : i + len(part)]) == part for i in range(len(words)))


def _amount(
    text: str, name: str, vocabulary: Vocabulary, variables: Mapping[str, Variable], today: date
) -> Read | Unclear | None:
    """The only number or day of a reply."""
    said = _words(text)
    if variables[name].kind != "date" and 0 < len(said) <= _SHORT and any(word in _NOTHING for word in said):
        return _checked(name, 0, variables[name], text)
    found = read_reply(text, name, vocabulary, variables, today)
    values = dict.fromkeys(value for value, _ in found if not isinstance(value, Misread))
    if len(values) > 1:
        return Unclear(name, text.strip(), BOUND)
    if values:
        value, words = next((value, words) for value, words in found if not isinstance(value, Misread))
        return _checked(name, value, variables[name], text, words)
    misread = found[0][0] if found else None
    return Unclear(name, text.strip(), misread.reason, misread.tests) if isinstance(misread, Misread) else None


def _checked(name: str, value: Value, variable: Variable, text: str, words: str | None = None) -> Read | Unclear:
    quoted = (words or text).strip()
    start = max(text.find(quoted), 0)
    try:
        raw = date.fromordinal(int(value)) if variable.kind == "date" else value
        return Read(name, variable.read(raw), quoted, start, start + len(quoted))
    except ValueMisfit as misfit:
        return Unclear(name, quoted, str(misfit).replace("`", ""))
