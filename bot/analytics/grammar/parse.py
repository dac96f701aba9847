"""A question, token by token → what it says. One rule a kind of phrase; the first that fits takes its words.

No word is skipped because it is not understood: what no rule takes is named as unknown. Nothing is looked up beyond
the lexicon here; which of several readings is meant is decided later, from the whole question.
"""

from __future__ import annotations

from collections.abc import Callable

from bot.analytics.grammar import wording
from bot.analytics.grammar.clauses import read_negation, read_relation
from bot.analytics.grammar.comparing import read_changed, read_compared, read_its_sides, read_less, read_rank
from bot.analytics.grammar.conditions import (
    read_between,
    read_comparison,
    read_literal,
    read_numbers_between,
    read_only,
    read_proper,
    read_quantity_first,
    read_time,
    read_weekend,
)
from bot.analytics.grammar.counterparts import read_counterparts
from bot.analytics.grammar.cycles import read_cycle, read_days
from bot.analytics.grammar.durations import read_duration
from bot.analytics.grammar.firsts import read_first, read_its_date, read_placed, read_several
from bot.analytics.grammar.happened import read_happened, read_otherwise
from bot.analytics.grammar.measured import read_unit
from bot.analytics.grammar.moments import read_apart, read_done
from bot.analytics.grammar.names import read_named
from bot.analytics.grammar.occasions import read_occasions
from bot.analytics.grammar.ordinals import read_ordinal
from bot.analytics.grammar.pairs import read_pair
from bot.analytics.grammar.places import leave_role
from bot.analytics.grammar.quantities import (
    read_aggregate,
    read_all_of,
    read_amount,
    read_counts,
    read_each,
    read_grain,
    read_on_average,
    read_top,
)
from bot.analytics.grammar.ratios import finish, read_ratio
from bot.analytics.grammar.recalled import read_end_first, read_recalled, read_total
from bot.analytics.grammar.said import Said
from bot.analytics.grammar.scan import Scan
from bot.analytics.grammar.superlatives import read_superlative
from bot.analytics.grammar.typical import read_typical
from bot.analytics.grammar.verbs import read_verb
from bot.analytics.grammar.wholes import (
    read_asking,
    read_bare_count,
    read_definition,
    read_direction,
    read_extent,
    read_filler,
    read_frequent,
    read_mark,
    read_moving,
    read_noise,
    read_of_these,
    read_or,
    read_order,
    read_over_time,
    read_rows,
)


def parse(scan: Scan) -> Said:
    """Read everything."""
    while scan.at < len(scan.tokens):
        if scan.at and scan.here().sentence != scan.tokens[scan.at - 1].sentence:
            end_sentence(scan)
        if not any(rule(scan) for rule in RULES):
            leave_unknown(scan)
    end_sentence(scan)
    scan.said.unknown += foretold(scan)
    return scan.said


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
    if scan.only:
        scan.said.unknown.append("only")
    if scan.comparing is not None or scan.quantity is not None:
        scan.said.unknown.append("than")
    if scan.counting is not None and not (scan.said.numbers or scan.quotient):
        scan.said.unknown.append(scan.counting)
    if scan.agg is not None or scan.summary is not None or scan.aggs:
        scan.said.unknown.append(scan.agg_words)
    if scan.over is not None:
        scan.said.unknown.append(scan.over)
    finish(scan)
    scan.only, scan.aggs = False, []
    scan.counting = scan.agg = scan.comparing = scan.quantity = scan.summary = scan.ranked_agg = None
    scan.over = None
    scan.each = scan.agent = scan.asks = scan.relative = scan.negated = scan.ranking = scan.ordering = False
    scan.alternative, scan.is_none, scan.pair = False, False, ""
    scan.narrowing, scan.verb, scan.owner = None, None, None
    scan.clause, scan.twin, scan.is_opened = 0, 0, False


Rule = Callable[[Scan], bool]

RULES: tuple[Rule, ...] = (
    read_numbers_between,
    read_time,
    read_apart,
    read_duration,
    read_occasions,
    read_only,
    read_ordinal,
    read_superlative,
    read_first,
    read_several,
    read_placed,
    read_its_date,
    read_noise,
    read_definition,
    read_rank,
    read_order,
    read_direction,
    read_end_first,
    read_of_these,
    read_pair,
    read_ratio,
    read_frequent,
    read_unit,
    read_moving,
    read_extent,
    read_less,
    read_changed,
    read_compared,
    read_its_sides,
    read_over_time,
    read_on_average,
    read_counts,
    read_cycle,
    read_days,
    read_weekend,
    read_top,
    read_between,
    read_typical,
    read_counterparts,
    read_comparison,
    read_quantity_first,
    read_grain,
    read_all_of,
    read_happened,
    read_done,
    read_verb,
    read_named,
    read_rows,
    read_bare_count,
    read_total,
    read_aggregate,
    read_literal,
    read_each,
    read_otherwise,
    read_negation,
    read_relation,
    read_asking,
    read_or,
    read_amount,
    read_filler,
    read_proper,
    read_recalled,
    read_mark,
)
