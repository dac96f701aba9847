"""Rules for how often something was done: "customers who ordered more than 5 times", "reviewed only once"."""

from __future__ import annotations

from collections.abc import Mapping

from bot.analytics.grammar import wording
from bot.analytics.grammar.clauses import COMPARED, open_clause, return_to_owner, take_head
from bot.analytics.grammar.said import DoneSaid, Ref
from bot.analytics.grammar.scan import Scan
from bylaw.semantic.query import Comparison

_OFTEN: Mapping[str, int] = {"once": 1, "twice": 2, "thrice": 3}
_GOES_ON = frozenset(
    ("a", "an", "per", "as", "each", "every", "the", "more", "less", "fewer", "higher", "that", "what")
)
_EXACTLY = frozenset(("only", "just", "exactly"))


def read_occasions(scan: Scan) -> bool:
    """What was done, told by its verb, and how many times: so many rows that have such a date."""
    take_head(scan)
    place = scan.at + (scan.word() in _EXACTLY)
    done = scan.lexicon.done_at(scan.words, place)
    if done is None or scan.head is None or scan.negated or scan.only:
        return False
    length, targets = done
    often = occasions_at(scan, place + length)
    if often is None:
        return False
    after, comparison, count = often
    if place > scan.at and comparison != "=":
        return False  # "only ordered more than twice"
    first, verb = scan.at, Ref(scan.raw(place, place + length), targets)
    return_to_owner(scan, first)
    open_clause(scan)
    scan.said.done.append(DoneSaid(scan.head, verb, False, scan.clause, comparison, count))
    scan.say(first, after, "filter", f"{verb.words} {comparison} {count}")
    scan.last, scan.relative, scan.is_opened, scan.at = verb, False, False, after
    return True


def occasions_at(scan: Scan, place: int) -> tuple[int, Comparison, int] | None:
    """ "At least twice", "5 or more times": the place behind it, how it is compared, and with how many."""
    comparison: Comparison = "="
    found = scan.phrase(wording.COMPARISONS, place)
    if found is not None and found[1] in COMPARED:
        comparison, place = COMPARED[found[1]], place + found[0]
    elif scan.at_word(place) in _EXACTLY:
        place += 1
    if (count := _OFTEN.get(scan.at_word(place))) is not None:
        return _behind(scan, place + 1, comparison, count)
    if place >= len(scan.tokens):
        return None
    token = scan.tokens[place]
    number = token.number if token.kind == "number" else wording.NUMBERS.get(token.text)
    after = scan.phrase(wording.AFTERWARDS, place + 1)
    if after is not None and scan.at_word(place + 1 + after[0]) == "time" and comparison == "=":
        comparison, place = COMPARED[after[1]], place + after[0]
    if not isinstance(number, int) or number < 0 or scan.at_word(place + 1) != "time":
        return None
    return _behind(scan, place + 2, comparison, number)


def _behind(scan: Scan, place: int, comparison: Comparison, count: int) -> tuple[int, Comparison, int] | None:
    """ "Twice or more". "Twice a week" and "three times as much" say something else."""
    after = scan.phrase(wording.AFTERWARDS, place)
    if after is not None and comparison == "=":
        return place + after[0], COMPARED[after[1]], count
    return None if scan.at_word(place) in _GOES_ON else (place, comparison, count)
