"""Rules for what is put against something else: spans, values, numbers, how far one lies from another, its rank."""

from __future__ import annotations

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.said import Ref


def read_compared(scan: Scan) -> bool:
    """ "Compare", "versus": what is compared is decided by the whole question."""
    length = scan.starts(wording.COMPARING)
    if not length or names_record(scan):
        return False
    scan.said.compares = scan.said.compares or scan.raw(scan.at, scan.at + length)
    scan.at += length
    scan.said.compared_at.append(scan.tokens[scan.at - 1].end)
    return True


def facts_of(ref: Ref) -> Ref:
    return Ref(ref.words, ref.of("fact"), ref.near, ref.is_plural)


def names_record(scan: Scan) -> bool:
    """Is the word here, or what it begins, one of the catalogue: "price change"?"""
    return scan.lexicon.longest_at(scan.words[scan.at : scan.at + 5], 0) is not None
