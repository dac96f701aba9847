"""Whose a number is: the fact's that its words name, or some other event's ("it broke 3 days ago") or sum's ("a fee").

A number that nothing but its unit gives to a fact is its only where the clause speaks of nothing unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date

from bot.enforcement.utterance import PEOPLE, Quantity, Utterance
from bylaw.language.money import Money
from bylaw.language.span import listed
from bylaw.language.units import Duration, unit_of
from bylaw.language.words import AUXILIARIES, CONJUNCTIONS, DETERMINERS, FUNCTION_WORDS, PRONOUNS, Word, stem_of

_EVENTS = listed(
    "break broke broken start began begin stop call told tell ask wrote write sent send went came said speak spoke "
    "talk see saw heard hear met left lost fell gave read died quit crash cancel complain apply happen moved"
)
_PLANS = listed("will would can could may might should shall want wish return bring come visit need exchange")
_BUYING = listed(
    "buy bought buying purchase purchased purchasing get got gotten receive received own owned sell sold pay paid pick "
    "picked acquired order ordered ship shipped deliver delivered arrive arrived cost spend spent charge charged worth"
)
_THINGS = listed(  # said of any wish and any case
    "want wish like return returned returning bring brought take took give back up off refund exchange please client "
    "cust customer lady guy man woman buyer person user one reason quick question thank thanks hi hello hey"
)
_GOODS = listed("thing item product article unit order sale case price total amount sum value policy rule")
QUALITIES = listed(  # and of any number
    "roughly around approx approximately circa ca exactly only almost nearly maybe ok okay well today yesterday day "
    "week month year hour full new brand old same over under than more less least most ever total each set pair mine "
    "yours eligible allowed possible far too long late much many even though both else status tier level now wait "
    "sorry mean meant actually make correction scratch"
)
_KNOWN = listed("the those these your our")
_STATES = listed(
    "hundred indeed interested supposed allowed used opened sealed unsealed unopened branded refurbished boxed priced"
)
_FEES = listed(
    "fee shipping ship delivery postage tax vat deposit surcharge charge handling tip repair install installation "
    "insurance warranty salary rent bill fine penalty budget restocking commission wrapping "
    "instalment installment"
)
_COMMON = FUNCTION_WORDS | PEOPLE | _THINGS | _GOODS | QUALITIES | _BUYING
_VERBS_OF_FEES = listed("ship charge")  # "they charge 30 dollars" tells a price
_DIFFERENCES = listed("less cheaper more dearer off extra short longer earlier later late early over past down upfront")
_RATES = listed("monthly weekly yearly daily hourly")
_BETWEEN = AUXILIARIES | listed("of cost costs charged")  # what is paid for, and the sum
_PER = listed("a per every each")
_OF_THEM = listed("worth of at valued priced")
INSTEAD = frozenset((("instead", "of"), ("rather", "than"), ("opposed", "to")))
_BACK_THEN = listed("then in when at")
_UP_TO = listed("before until till by")
_FROM_OR_UP_TO = _UP_TO | listed("after since")
_TOWARDS = listed("for to in of on as")
_ASIDE = CONJUNCTIONS | PRONOUNS | listed("plus with without including incl excluding excl if")
_MADE_FOR = listed(  # "phone case"
    "number call line bag case cover sleeve stand holder mount strap bill contract show remote protector"
)
_OF_STUFF = listed("price cost value ounce gram kilo bar piece ring made kind rate supply")
_SPEAKERS = listed("i we he she they")
_BESIDE_A_VERB = DETERMINERS | AUXILIARIES | listed("not also already just now still")
_SERVICES = listed(
    "price fee charge case matter link page website site webshop login password system server form button code email "
    "internet wifi"
)
_REACH = 8  # words of a clause on either side of a number


def is_other_event(said: Utterance, used: Sequence[int], quantity: Quantity) -> bool:
    """Does something else happen between the words *used* and the number: "bought it and it broke 3 days ago"?"""
    within = range(min(used[0], quantity.first), max(used[-1], quantity.last))
    words = said.words
    return any(_is_event(words, i) or words[i].text in _PLANS for i in within if i not in used)


def _is_event(words: Sequence[Word], i: int) -> bool:
    text = words[i].text
    if text in _EVENTS:
        return True
    is_past = len(text) > 4 and text.endswith("ed") and text not in _STATES and text not in _BUYING
    return is_past and (not i or words[i - 1].text not in DETERMINERS)  # "a scratched phone" is a thing


def is_alone(said: Utterance, quantity: Quantity, known: Collection[int]) -> bool:
    """Does the clause of the number speak of nothing unknown? *known* are the places of words that say something."""
    if _is_known_length(said, quantity):
        return False
    words, clause = said.words, said.words[quantity.first].clause
    near = range(max(quantity.first - _REACH, 0), min(quantity.last + _REACH + 1, len(words)))
    here = [i for i in near if words[i].clause == clause and not quantity.first <= i <= quantity.last]
    is_day = isinstance(quantity.value, Duration) and quantity.value.is_ago  # "today" is said of anything
    if is_day and len(words) > quantity.last - quantity.first + 1 and not any(words[i].text in _BUYING for i in here):
        return False
    if isinstance(quantity.value, Money):
        return all(i in known or _is_common(words[i]) or words[i].text in _FEES for i in here)
    return all((i in known or _is_common(words[i])) and not _is_event(words, i) for i in here)


def _is_known_length(said: Utterance, quantity: Quantity) -> bool:
    """Is it a length that everybody knows of: "the sixty days are over"?"""
    before = said.words[quantity.first - 1].text if quantity.first else ""
    return isinstance(quantity.value, Duration) and not quantity.value.is_ago and before in _KNOWN


def _is_common(word: Word) -> bool:
    return word.text in _COMMON


def is_fee(said: Utterance, used: Sequence[int], quantity: Quantity, after: Collection[str] = ()) -> bool:
    """Is it a sum beside the price: "plus $5 shipping", "$40 for the delivery", "the repair costs 80 dollars"?"""
    if not isinstance(quantity.value, Money):
        return False
    words, clause = said.words, said.words[quantity.first].clause
    i = min(used[0], quantity.first) - 1
    while i >= 0 and words[i].clause == clause and (words[i].text in _BETWEEN):
        i -= 1
    if i >= 0 and words[i].clause == clause and words[i].text in _FEES - _VERBS_OF_FEES:
        return True
    of = quantity.first - 1  # "paid in 3 instalments of $200"
    if of > 0 and words[of].text == "of" and words[of - 1].text in _FEES and of - 1 not in used:
        return True
    if used[-1] > quantity.last:
        return False  # the words of a phrase stand behind it
    behind = quantity.last + 1
    following = [word.text for word in words[behind : behind + 4] if word.clause == clause]
    if following and following[0] in _TOWARDS:
        following = [text for text in following[1:] if text not in DETERMINERS]
    if following[:1] and (following[0] in FUNCTION_WORDS or following[0][0].isdigit() or following[0] in _ASIDE):
        return False
    return any(text in _FEES and text not in after for text in following[:2])


def is_difference(said: Utterance, quantity: Quantity, after: Collection[str] = (), used: Collection[int] = ()) -> bool:
    """Is it by how much more ("20 dollars less"), or how often ("$20 a month"), or up to when ("before today")?

    *after*: the words of the phrase behind the number, *used*: the places of all its words ("runs until {value}").
    """
    before = said.words[quantity.first - 1].text if quantity.first else ""
    is_bound = before in _FROM_OR_UP_TO and (before in _UP_TO or isinstance(quantity.value, date))
    if is_bound and quantity.first - 1 not in used:
        return True
    behind = quantity.last + 1
    if behind >= len(said.words) or said.words[behind].clause != said.words[quantity.last].clause:
        return False
    text, following = said.words[behind].text, said.words[behind + 1 : behind + 2]
    if text == "back" and isinstance(quantity.value, Money):  # "wants 120 dollars back", not "60 dollars back then"
        return not following or following[0].text not in _BACK_THEN
    is_rate = text in _RATES or (text in _PER and following and unit_of(following[0].text) is not None)
    if is_rate and isinstance(quantity.value, Money):
        return not any(unit_of(word) is not None for word in after)
    return text in _DIFFERENCES and text not in after


def is_of_counted(said: Utterance, used: Sequence[int], counted: Collection[int]) -> bool:
    """Is it what things are worth that are counted, too: "3 vouchers worth $10"? *counted* are the places of these."""
    return used[0] - 1 in counted and said.words[used[0]].text in _OF_THEM


def is_other_thing(
    said: Utterance,
    used: Sequence[int],
    nouns: Collection[str],
    known: Collection[int],
    claims: Iterable[Sequence[str]],
) -> bool:
    """Is a value only a part of the name of something else: "gold necklace", "phone number", "cancel the order"?

    *nouns*: what the longer names of the value go on with; *claims*: the names of actions that begin with its word.
    """
    words, behind = said.words, used[-1] + 1
    following = None if said.ends_clause(used[-1]) else words[behind].text
    if following in _MADE_FOR and said.text[words[behind].start : words[behind].end].casefold() == following:
        return True  # in the singular: "the phone shows" is a verb
    if not nouns:
        return False
    if following not in nouns and _is_stuff(words, used[0]):
        return True
    if following is None or following in FUNCTION_WORDS:
        stems = {stem_of(word.text) for word in words}
        if not stems.isdisjoint(map(stem_of, nouns)):
            return False
        is_claimed = any(len(claim) > 1 and (following is None or stem_of(claim[1]) in stems) for claim in claims)
        return is_claimed or following in DETERMINERS or following in PRONOUNS - _SPEAKERS
    return following in _FEES | _GOODS or not (
        following in nouns or behind in known or _is_common(words[behind]) or _is_event(words, behind)
    )


def _is_stuff(words: Sequence[Word], i: int) -> bool:
    """Is word *i* what something is made of, or what is sold: "an ounce of gold", "the price of gold"?"""
    return i > 1 and words[i - 1].text == "of" and words[i - 2].text in _OF_STUFF


def is_of_service(said: Utterance, used: Sequence[int], own: Collection[str]) -> bool:
    """Is it said of no thing at all: "the link is broken"? *own* are words that the fact itself is told in."""
    i = used[0] - 1
    while i >= 0 and said.words[i].text in _BESIDE_A_VERB:
        i -= 1
    is_near = i >= 0 and said.words[i].clause == said.words[used[0]].clause
    return is_near and said.words[i].text in _SERVICES - frozenset(own)
