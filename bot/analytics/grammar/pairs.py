"""Two things of which each has to be there: "both lakes and rivers", "took both Algebra and Logic", "either … or".

Two values of related rows are those of two rows, so the relation is taken in twice, once for each.
"""

from __future__ import annotations

from dataclasses import replace

from bot.analytics.grammar import wording
from bot.analytics.grammar.clauses import open_clause, rows_behind, rows_named
from bot.analytics.grammar.said import Narrowing, Ref, RelatedSaid
from bot.analytics.grammar.scan import Scan

_JOINED = {"both": "and", "either": "or"}


def read_pair(scan: Scan) -> bool:
    """ "Both", "either", and the word between two kinds of related rows: "lakes and rivers", "lakes nor rivers"."""
    word = scan.word()
    if word in _JOINED:
        if not is_ahead(scan, _JOINED[word]) or scan.is_time(scan.at + 1):
            return False  # "in both May and June": no row is of both
        scan.pair, scan.unpaired = word, rows_named(scan) or frozenset()
        scan.at += 1
        return True
    related = scan.said.related
    if word == "nor" and scan.is_opened and scan.quantity is not None:
        scan.at += 1  # "neither the Sociology nor the History department": the rows are still to come
        return True
    if word not in ("and", "or", "nor") or not related or not is_named_last(scan, related[-1].entity):
        return False
    found = rows_behind(scan, scan.at + 1) if word == "nor" else scan.mention(scan.at + 1)
    if found is None or not found[1].entities or set(found[1].entities) & set(related[-1].head.owners):
        return False
    is_paired = _JOINED.get(scan.pair) == word or word == "nor"
    if not is_paired and (
        word == "or" or scan.word(1) in wording.ARTICLES - {"a", "an"} or related[-1].verb is not None
    ):
        return False
    scan.head = scan.owner = related[-1].head
    scan.relative, scan.negated, scan.alternative = True, word == "nor", word == "or"
    scan.pair, scan.twin = "", related[-1].clause
    scan.at += 1
    return True


def is_named_last(scan: Scan, ref: Ref) -> bool:
    """Were these rows named right before?"""
    return (scan.last is not None and scan.last.words == ref.words) or scan.raw(scan.at - 1, scan.at) == ref.words


def is_ahead(scan: Scan, word: str) -> bool:
    """Does *word* follow in this sentence?"""
    sentence = scan.here().sentence
    return any(token.text == word for token in scan.tokens[scan.at :] if token.sentence == sentence)


def is_same_column(one: Narrowing, other: Narrowing) -> bool:
    """Do both ask for a value of one column?"""
    names = {target.name for target in one.ref.of("value", "dimension")}
    is_plain = one.operator == other.operator == "in" and not (one.negated or other.negated)
    return is_plain and bool(names & {target.name for target in other.ref.of("value", "dimension")})


def part_values(scan: Scan, new: Narrowing) -> bool:
    """ "Took both Algebra and Logic": the second value is that of another row than the first."""
    before = scan.said.conditions[-1:] if scan.pair == "both" else []
    if not before or not is_same_column(before[0], new):
        return False
    known = before[0]
    new.verb, new.role = new.verb or known.verb, new.role or known.role
    relation = [part for part in scan.said.related if part.clause == known.clause > 0]
    if known.clause == new.clause and relation:
        repeat_relation(scan, relation[0], new)
    new.is_apart = known.is_apart = True
    return True


def part_kinds(scan: Scan, related: RelatedSaid) -> None:
    """ "Have both cancelled and returned orders": each value before the rows is that of rows of its own."""
    if scan.pair != "both":
        return
    told = [part for part in scan.said.conditions[-2:] if part.is_apart]
    if len(told) == 2 and told[1].clause == related.clause and told[0].clause != related.clause:
        repeat_relation(scan, related, told[0])
    scan.pair = "" if told else scan.pair


def repeat_relation(scan: Scan, related: RelatedSaid, narrowing: Narrowing) -> None:
    open_clause(scan)
    scan.said.related.append(replace(related, clause=scan.clause))
    narrowing.clause = scan.clause
    scan.is_opened = False
