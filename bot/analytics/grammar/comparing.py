"""Rules for what is put against something else: spans, values or numbers, and how far one lies from another."""

from __future__ import annotations

from bot.analytics.grammar import wording
from bot.analytics.grammar.scan import Scan


def read_compared(scan: Scan) -> bool:
    """ "Compare", "versus": what is compared is decided by the whole question."""
    length = scan.starts(wording.COMPARING)
    if not length or names_record(scan):
        return False
    scan.said.compares = scan.said.compares or scan.raw(scan.at, scan.at + length)
    scan.at += length
    scan.said.compared_at.append(scan.tokens[scan.at - 1].end)
    return True


def read_changed(scan: Scan) -> bool:
    """ "How much did it grow", "percent change", "difference between": of two spans, or of two numbers."""
    found = scan.phrase(wording.CHANGED)
    if found is None or names_record(scan):
        return False
    length, kind = found
    said = scan.said
    known = said.change or kind
    said.change = known if known == kind or kind == "both" else kind
    said.change_words = scan.raw(scan.at, scan.at + length)
    scan.say(scan.at, scan.at + length, "calculation", "growth" if kind == "growth" else "change")
    scan.at += length
    if scan.word() == "between":
        scan.at += 1
    return True


def names_record(scan: Scan) -> bool:
    """Is the word here, or what it begins, one of the catalogue: "price change"?"""
    return scan.lexicon.longest_at(scan.words[scan.at : scan.at + 5], 0) is not None
