"""A question, token by token → what it says. One rule a kind of phrase; the first that fits takes its words.

No word is skipped because it is not understood: what no rule takes is named as unknown. Nothing is looked up beyond
the lexicon here; which of several readings is meant is decided later, from the whole question.
"""

from __future__ import annotations

from collections.abc import Callable

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.clauses import read_negation, read_relation
from bot.analytics.reader.grammar.conditions import (
    read_comparison,
    read_literal,
    read_time,
    read_unit,
    read_weekend,
)
from bot.analytics.reader.grammar.names import read_named
from bot.analytics.reader.grammar.places import leave_role
from bot.analytics.reader.grammar.quantities import (
    read_aggregate,
    read_all_of,
    read_amount,
    read_counts,
    read_each,
    read_grain,
    read_top,
)
from bot.analytics.reader.grammar.ratios import finish, read_ratio
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.grammar.verbs import read_verb
from bot.analytics.reader.grammar.wholes import (
    read_asking,
    read_definition,
    read_direction,
    read_filler,
    read_noise,
    read_of_these,
    read_or,
    read_order,
    read_rows,
)
from bot.analytics.reader.said import Said
from bylaw.language.words import FUNCTION_WORDS

_NARROWING = ("value", "condition", "flag", "metric")  # what changes the rows or the number of an answer
_ADDING_NOTHING = wording.FILLERS | wording.GRAINS.keys() | FUNCTION_WORDS


def parse(scan: Scan) -> Said:
    """Read everything."""
    while scan.at < len(scan.tokens):
        if scan.at and scan.here().sentence != scan.tokens[scan.at - 1].sentence:
            end_sentence(scan)
        if not any(rule(scan) for rule in RULES):
            leave_unknown(scan)
    end_sentence(scan)
    scan.said.unknown += foretold(scan)
    scan.said.doubts += unsaid(scan)
    return scan.said


def unsaid(scan: Scan) -> list[str]:
    """The values, conditions, flags and metrics that a rule passed over: "orders that were completed in 2025".

    A word that a date is declared to be told by ("placed") is that date's, and a period is one of time.
    """
    found, at = [], 0
    while at < len(scan.words):
        known = scan.lexicon.longest_at(scan.words[at : at + scan.lexicon.longest], 0)
        length = known[0] if known is not None else 1
        words = scan.words[at : at + length]
        is_declared = known is not None and any(target.kind in _NARROWING for target in known[1])
        is_plain = scan.tokens[at].kind == "word" and not scan.told & {*range(at, at + length)}
        if is_declared and is_plain and not _ADDING_NOTHING.issuperset(words) and not scan.lexicon.moment_at(words, 0):
            found.append(scan.raw(at, at + length))
        at += length
    return found


def leave_unknown(scan: Scan) -> None:
    token = scan.here()
    if token.kind != "mark" or (token.text in wording.SIGNS and scan.tokens[scan.at - 1].kind in ("quoted", "number")):
        scan.said.unknown.append(token.raw)
    scan.at += 1


def foretold(scan: Scan) -> list[str]:
    """The words that ask what is yet to be: "how many orders will we have in December". Data tell what has been."""
    if not (scan.said.times or scan.said.counts):
        return []
    return [token.raw for at, token in enumerate(scan.tokens) if is_to_come(scan, at)]


def is_to_come(scan: Scan, at: int) -> bool:
    """Is it "will" there, and not the Will of "the orders of Will Smith", or the "to" of "are we going to have"?"""
    token = scan.tokens[at]
    if token.text == "will":
        return at == 0 or not token.raw.istitle()
    return (scan.at_word(at - 1), token.text) == ("going", "to") and scan.at_word(at + 1) in wording.COMING


def end_sentence(scan: Scan) -> None:
    """What waits for its object and never gets one was not understood."""
    leave_role(scan)
    if scan.negated:
        scan.said.unknown.append("not")
    if scan.quantity is not None:
        scan.said.unknown.append("than")
    if scan.counting is not None and not (scan.said.numbers or scan.quotient):
        scan.said.unknown.append(scan.counting)
    if scan.agg is not None or scan.aggs:
        scan.said.unknown.append(scan.agg_words)
    finish(scan)
    scan.aggs = []
    scan.counting = scan.agg = scan.quantity = scan.ranked_agg = None
    scan.each = scan.agent = scan.asks = scan.relative = scan.negated = scan.ranking = scan.ordering = False
    scan.alternative, scan.is_none = False, False
    scan.narrowing, scan.verb, scan.owner = None, None, None
    scan.clause, scan.is_opened = 0, False


Rule = Callable[[Scan], bool]

RULES: tuple[Rule, ...] = (
    read_time,
    read_noise,
    read_definition,
    read_order,
    read_direction,
    read_of_these,
    read_ratio,
    read_unit,
    read_counts,
    read_weekend,
    read_top,
    read_comparison,
    read_grain,
    read_all_of,
    read_verb,
    read_named,
    read_rows,
    read_aggregate,
    read_literal,
    read_each,
    read_negation,
    read_relation,
    read_asking,
    read_or,
    read_amount,
    read_filler,
)
