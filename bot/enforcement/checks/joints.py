"""Small words that change what is given: "within the price", "credit that must be spent today", "or the price".

None of them names anything by itself, so nothing that is read by its stem notices them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from bot.enforcement.figures import NUMBER_WORDS
from bot.enforcement.polarity import is_giving
from bot.enforcement.said import Said
from bot.enforcement.senses import sense, stem
from bylaw.language.span import listed
from bylaw.language.words import AUXILIARIES, DETERMINERS, PREPOSITIONS, PRONOUNS, Word

_SUMS = listed("price amount value sum total cost")
_OF_A_SUM = listed("full whole entire complete purchase total original regular same exact product item paid")
_LEADS = listed("of for off back worth match keep save our") | PRONOUNS | AUXILIARIES
_SAYING = listed("afraid sorry say tell told confirm mean think believe know note see hope expect so glad happy please")
_ASSENTS = listed("fine good great perfect nice ok okay alright right correct possible allowed permitted true yes")
_DEGREES = listed("all too quite perfectly totally absolutely completely also very really just still just")
_WHAT = listed("it that this everything all these those anything")
_ANSWERS = listed("no yes")
_OF_AN_ANSWER = listed("be firm clear hard definite final simple plain big short")
_OURS, _US = listed("us me"), listed("we i")
_GETTING = listed("get receive obtain")
_ENDS = listed("first last next")
_ENDING = frozenset(map(sense, ("close", "erase", "end")))
_TURNS = {
    *(("at", "first"), ("so", "on"), ("then", "some"), ("on", "us"), ("on", "house")),
    *(("best", "case"), ("on", "condition")),
    *(("so", "say"), ("say", "so"), ("said", "so"), ("by", "check"), ("write", "to")),
    *(("free", "of"), ("free", "to"), ("i", "hope"), ("i", "guess"), ("i", "suppose"), ("we", "hope"), ("i", "assume")),
}
_MAYBE = listed("may might should")
_FINDING = listed("we i they")
_BEFORE_ASKING = listed("please just should must can may could to") | {""}
_OUR_WORK = frozenset(map(sense, ("repair", "replace", "refund", "reimburse", "erase", "lock")))
_CHARGES = frozenset(map(sense, ("fee", "postage", "deposit")))
_BARE = PRONOUNS | AUXILIARIES | {"not"}
_THEIRS = listed("yours mine ours theirs")
_UNRULED = listed("apply applies matter count hold")
_WISHED = listed("wish like want please prefer")
_WHOLE = listed("whole full entire total")
_NEWS = listed("detail information question help time")
_HELPING = listed("help assist")
_REFUSING = listed("not unable never")
_AS = listed("as because since if when and")
_ONE_MORE = listed("a an another some")
_OTHERWISE = listed("or alternatively")


def limits(said: Said) -> Iterator[Word]:
    """What makes less of what is given, or another thing, or gives it to somebody else."""
    yield from _narrowed(said)
    yield from _turned(said)


def _turned(said: Said) -> Iterator[Word]:
    """Who pays or gets it the wrong way round, when it was, and what is only hoped: "we pay the fee", "you had"."""
    words, text = said.sentence.words, said.sentence.text
    is_charge = not _CHARGES.isdisjoint(sense(word.text) for word in words)
    for i, word in enumerate(words):
        after = words[i + 1].text if i + 1 < len(words) and words[i + 1].clause == word.clause else ""
        before = words[i - 1].text if i and words[i - 1].clause == word.clause else ""
        raw = text[word.start : word.end].casefold()
        verb = "".join(_verb_behind(words, i))
        is_turn = (word.text, after) in _TURNS and " " not in raw  # an idiom says more than its first word
        if (
            is_turn
            or (raw == "had" and word in said.beside and not said.is_conditional and after not in ("to", "be"))
            or (word.text == "ask" and after == "for" and before in _BEFORE_ASKING)
            or (word.text in _US and ("pay", "for") in pairwise(other.text for other in words[i + 1 : i + 6]))
            or (is_charge and (raw == "paid" or (word.text in _US and verb == "pay")))
            or (word.text in _US and verb in _GETTING)
            or (word.text == "you" and verb and sense(verb) in _OUR_WORK and not _is_passive(words, i))
            or (word.text in _MAYBE and verb in _GETTING)
            or (raw in ("was", "were") and after == "to")
        ):
            yield words[i + 1] if is_turn else word
    for clause in said.sentence.clauses[1:]:
        texts = [words[i].text for i in clause]
        if said.claims and len(texts) > 1 and texts[0] in PRONOUNS and texts[-1] == "not" and set(texts) <= _BARE:
            yield words[clause[0]]  # "they get it, you do not"


def _narrowed(said: Said) -> Iterator[Word]:
    """What stands beside what is given and makes it less, or another: "below the price", "that can only be …"."""
    words = said.sentence.words
    for i, word in enumerate(words):
        before = [other.text for other in words[:i] if other.clause == word.clause]
        if word.text == "our" and "cost" in [other.text for other in words[i + 1 : i + 3]]:
            yield word  # "at our own cost"
        elif word.text in _SUMS and not (word.text == "cost" and _is_bound(words, i)):
            while before and (before[-1] in _OF_A_SUM or before[-1] in DETERMINERS):
                before.pop()
            lead = "".join(before[-1:])
            if i + 1 < len(words) and words[i + 1].clause == word.clause and words[i + 1].text in _FINDING:
                yield words[i + 1]  # "the price we find"
            is_subject = lead in _AS and [other.text for other in words[i + 1 : i + 2]] == ["be"]
            if (lead and lead not in _LEADS and not is_giving(lead) and not is_subject) or before[-2:] == [
                "not",
                "worth",
            ]:
                yield word
        elif word.text in _OURS and before and is_giving(before[-1]):
            yield word  # "you pay us …"
        elif (
            word.text == "good" and before[-1:] == ["for"] and _ENDING.isdisjoint(sense(other.text) for other in words)
        ):
            yield word  # "paused for good"
        elif word.text in _ENDS and before and before[-1] in DETERMINERS and not _is_counted(words, i):
            yield word  # "free for the first parcel"
        elif word.text == "that" and before and before[-1] not in _SAYING:
            after = [other for other in words[i + 1 :] if other.clause == word.clause]
            is_verb = after[:1] != [] and after[0].text in AUXILIARIES
            if is_verb and any(other in said.beside and stem(other.text) for other in after):
                yield word


def _is_bound(words: Sequence[Word], i: int) -> bool:
    """Does a figure stand behind word *i*, or what leads up to one: "costs more than $50"?"""
    behind = words[i + 1 : i + 4]
    return any(other.is_number and other.clause == words[i].clause for other in behind)


def _verb_behind(words: Sequence[Word], i: int) -> Iterator[str]:
    """The first word behind word *i* that is no auxiliary, or none."""
    rest = (other.text for other in words[i + 1 : i + 4] if other.clause == words[i].clause)
    yield from islice((text for text in rest if text not in AUXILIARIES and text != "have"), 1)


def _is_passive(words: Sequence[Word], i: int) -> bool:
    """Does a "be" stand between the subject at word *i* and its verb: "you will be refunded"?"""
    return any(other.text == "be" for other in words[i + 1 : i + 4])


def _is_counted(words: Sequence[Word], i: int) -> bool:
    return any(other.is_number or other.text in NUMBER_WORDS for other in words[i + 1 : i + 2])


def _is_harmless_more(words: Sequence[Word], i: int) -> bool:
    """Is it "any more", "more than 15 days", "more details"?"""
    before, after = (words[k].text if 0 <= k < len(words) else "" for k in (i - 1, i + 1))
    is_number = any(other.is_number or other.text in NUMBER_WORDS for other in words[max(i - 3, 0) : i + 5])
    return before in ("any", "no") or is_number or after in _NEWS


def assents(said: Said) -> Iterator[Word]:
    """What says yes or no to who knows what: "that is fine", "the answer is no". What was possible is no more."""
    sentence, words = said.sentence, said.sentence.words
    for i, word in enumerate(words):
        before = [other for other in words[max(i - 5, 0) : i] if other.clause == word.clause]
        after = next((other.text for other in words[i + 1 : i + 2] if other.clause == word.clause), "")
        if word.text in _THEIRS or (word.text in _UNRULED and "not" in {other.text for other in before}):
            yield word  # "it is yours", "the rule does not apply"
        elif word.text in _WISHED and [other.text for other in before[-2:]] == ["as", "you"]:
            yield word
        elif word.text in _SUMS and not said.claims and before and before[-1].text in _WHOLE:
            yield word  # "ask for the whole amount"
        elif word.text == "more" and not said.claims and not _is_harmless_more(words, i):
            yield word
        elif word.text in _ANSWERS and before and (not after or after in PREPOSITIONS):
            is_so = before[-1].text == "so" and word.text == "no" and any(claim.gives for claim in said.claims)
            if is_so or before[-1].text in DETERMINERS or before[-1].text in _OF_AN_ANSWER:
                yield word
        elif word.text == "be" and [other.text for other in before] == ["here"] and after in DETERMINERS:
            yield word  # "here is your data"
        elif word.text in _HELPING and not _REFUSING.isdisjoint(other.text for other in before[-4:]):
            yield word  # "we cannot help you"
        elif word.text == "anything" and [other.text for other in before[-2:]] == ["not", "do"]:
            yield word
        elif word.text in _ASSENTS:
            while before and before[-1].text in _DEGREES:
                before.pop()
            verb = "".join(sentence.text[other.start : other.end] for other in before[-1:])
            subject = before[-2].text if len(before) > 1 else ""
            if subject in _WHAT and before[-1].text == "be" and verb.casefold() != "was":
                yield word


def alternatives(said: Said) -> Iterator[Word]:
    """What is put beside what is given, or in its place, and names no action: "or the price", "and the amount"."""
    if not said.claims:
        return
    words, silent = said.sentence.words, set(said.silent)
    for i, word in enumerate(words):
        if word not in silent:
            continue
        opens = i > 0 and (words[i - 1].clause != word.clause or words[i - 1] not in silent)
        ahead = [other.text for other in words[i + 1 : i + 3]]
        is_more = word.text == "plus" and ahead[:1] and (ahead[0] in DETERMINERS or ahead[0][0].isdigit())
        is_sum = word.text == "and" and not (_SUMS | _OF_A_SUM).isdisjoint(ahead)
        is_thing = word.text == "and" and ahead[:1] and ahead[0] in _ONE_MORE and not _has_verb(words, i)
        if opens and (word.text in _OTHERWISE or is_more or is_sum or is_thing):
            yield word


def _has_verb(words: Sequence[Word], i: int) -> bool:
    """Does a verb of its own stand behind word *i*: "and a manager has to …"?"""
    return any(other.text in AUXILIARIES for other in words[i + 1 :] if other.clause == words[i].clause)
