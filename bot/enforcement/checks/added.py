"""What an answer adds that no rule asks for: a duty of whoever asks, and when, where or for what alone it holds.

"You need to show it first", "…, but not this week", "… for one of them". Each word of them is common; none is a ground.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile

from bot.enforcement.said import Said
from bot.enforcement.senses import sense, stem
from bylaw.language.span import listed
from bylaw.language.words import AUXILIARIES, PREPOSITIONS, PRONOUNS, Word

Ruled = Collection[tuple[frozenset[str], bool]]  # the stems of a text of the rules, and whether it denies

_DUTIES = listed("must need should ought required obliged supposed")
_TO = listed("have ought required obliged supposed")  # a duty only before "to"
_ORDERS = listed("show bring confirm check read wait")
_CONTACTS = listed("contact ask write call reach")
_BEFORE_AN_ORDER = listed("please just first then simply kindly now and but or also so")
_ASKING = listed("if whether in case should")  # "if you need anything else"
_SAYING = listed(
    "know note remember see understand say tell inform apologise apologize mention admit explain mind hear worry ask"
)
_EMPTY = AUXILIARIES | listed("first then please again though quickly briefly simply beforehand go")
_GROUNDS = listed("before until because as since so")
_OBJECTS = listed("item product purchase order thing back store shop")
_NO = listed("no not never")
_TIMES = listed("morning afternoon evening weekend month tomorrow tonight")
_WISHED = listed("nice good great lovely wonderful pleasant rest")
_THIS = listed("this that the")
_APART = PREPOSITIONS - {"as", "of"} | listed("this every today now always each")
_PAYING = listed("cash money full")
_PASSING = frozenset(map(sense, ("lock", "pause", "hold")))
_PAID = listed("pay paid")
_ONCE = listed("once after when if")
_BUT = listed("but though only just")


def _any_of(words: Collection[str]) -> re.Pattern[str]:
    return re.compile(rf"(?i)\b(?:{'|'.join(sorted(words))})s?\b")


def duties(said: Said, ruled: Ruled, held: Sequence[tuple[frozenset[str], bool]]) -> Iterator[Word]:
    """What somebody is said to have to do, or not to have to, beside what is read: "you need to show it".

    *held* are the stems of each yes-or-no fact of the case, and whether it has it: a receipt may be shown, and one that
    is not there is a ground to refuse.
    """
    words = said.sentence.words
    if said.is_question or _MARK.search(said.sentence.text) is None:
        return
    left = {*said.silent, *said.beside}
    is_refused = any(not claim.gives for claim in said.claims)
    near = [own for own, has in held if has or is_refused]
    for clause in said.sentence.clauses:
        for i in clause:
            if words[i] not in left or not _is_duty(words, clause, i):
                continue
            if is_refused and words[min(i + 1, len(words) - 1)].text in ("not", "never"):
                continue  # "you must not send it": what is refused is read
            until = takewhile(
                lambda k: words[k].text not in _GROUNDS, range(i + (words[i].text not in _ORDERS), clause.stop)
            )
            rest = [words[k] for k in until if words[k] in left]
            done = [word for word in rest if stem(word.text) and word.text not in _EMPTY]
            if PRONOUNS.isdisjoint(words[k].text for k in clause if k < i) and words[i].text not in _ORDERS | _CONTACTS:
                if any(words[k].is_number for k in clause):
                    continue  # "they have to come back within 15 days" is for the figures
                done += [words[k] for k in clause if k < i and words[k] in left and stem(words[k].text)]
            is_denied = any(words[k].text in _NO for k in clause if i - 3 <= k < i)
            if done and done[0].text not in _SAYING and not _is_asked_for(done, is_denied, ruled, near):
                yield words[i]
                return


def _is_duty(words: Sequence[Word], clause: range, i: int) -> bool:
    """Does word *i* make it a duty of somebody, or order it?"""
    text, before = words[i].text, [words[k].text for k in clause if k < i]
    after = [words[k].text for k in clause if k > i]
    if text in _ORDERS:
        return all(other in _BEFORE_AN_ORDER for other in before)
    if text == "need" and before[-1:] == ["no"]:
        return True
    if text in _CONTACTS:
        return "first" in after and all(other in _BEFORE_AN_ORDER for other in before)
    if text not in _DUTIES | {"have"} or (text in _TO and after[:1] != ["to"]):
        return False
    return before != [] and _ASKING.isdisjoint(before)


def _is_asked_for(done: Sequence[Word], is_denied: bool, ruled: Ruled, held: Sequence[frozenset[str]]) -> bool:
    """Is it what a rule says in these words, or to bring what the case has, or the thing itself?"""
    stems = frozenset(found for word in done if (found := stem(word.text)) is not None)
    if any(stems <= rule and is_denied is denied for rule, denied in ruled):
        return True
    if is_denied:
        return False
    objects = frozenset(found for word in done[1:] if word.text not in _OBJECTS and (found := stem(word.text)))
    is_thing = done[0].text == "bring" and not objects
    return is_thing or (bool(objects) and any(objects <= own for own in held))


def restrictions(said: Said) -> Iterator[Word]:
    """When, where and for what alone it is given: "in the morning", "but not this week", "for one of them"."""
    if _NARROWING.search(said.sentence.text) is None:
        return
    words = said.sentence.words
    texts = [word.text for word in words]
    is_of_outcome = _DUTIES.isdisjoint(texts) and all(claim.outcome for claim in said.claims)
    is_passing = "instead" in texts or not _PASSING.isdisjoint(map(sense, texts))
    for i, word in enumerate(words):
        before = "".join(texts[i - 1 : i]) if i and words[i - 1].clause == word.clause else ""
        after = "".join(texts[i + 1 : i + 2]) if i + 1 < len(words) and words[i + 1].clause == word.clause else ""
        if (
            (word.text in _TIMES and before not in _WISHED)
            or (word.text == "week" and before == "this")
            or (word.text == "day" and before in _THIS and texts[i - 2 : i - 1] == ["on"])
            or (word.text == "now" and before == "for" and not is_passing)
            or (word.text == "one" and (before == "for" or after in ("of", "time")))
            or (word.text == "first" and not after and is_of_outcome)
            or (word.text == "you" and before in _ONCE and not _PAID.isdisjoint(texts[i + 1 : i + 4]))
            or (word.text == "not" and before in ("", *_BUT) and after in _APART and _is_left_out(words, i))
        ):
            yield word


def _is_left_out(words: Sequence[Word], i: int) -> bool:
    """Does the "not" at word *i* begin what it does not hold for? "Not in cash" only says how it is not paid."""
    return all(word.text not in _PAYING for word in words[i + 1 : i + 4] if word.clause == words[i].clause)


# what is looked for at all, before the words are
_MARK = _any_of(_DUTIES | _ORDERS | _CONTACTS | listed("have has had d"))
_NARROWING = _any_of(_TIMES | listed("week day now one not t first paid pay"))
