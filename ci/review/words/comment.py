"""A finding as a comment on its line: the verdict first, then the case, both lines, what to do, and what to paste."""

from __future__ import annotations

from collections.abc import Mapping

from bylaw.language.counting import count
from ci.review.computed.document import FoundItem, ReviewDocument, Suggestion
from ci.review.words.markdown import Markdown, block, coded, filled, joined, said
from ci.review.words.view import Setting, side

LONGEST = 60_000  # GitHub takes 65,536 letters; the rest is for whoever posts it
# How long one text of a body may be, and how many places it names: tried until all of it fits.
_LENGTHS = ((4_000, 100), (1_500, 50), (500, 20), (150, 8))
RANK: Mapping[str, int] = {"error": 0, "warning": 1, "notice": 2}
_WORDS: Mapping[str, str] = {"error": "Error", "warning": "Warning", "notice": "Note"}


def body(finding: FoundItem, document: ReviewDocument, setting: Setting) -> str:
    """The comment, as long as it may be. Its first line tells the next run which finding it is about."""
    for most, most_places in _LENGTHS:
        text = _body(finding, document, setting, most, most_places)
        if len(text) <= LONGEST:
            break
    return text


def _body(finding: FoundItem, document: ReviewDocument, setting: Setting, most: int, most_places: int) -> str:
    is_clash = finding.is_clash
    own = finding.side if is_clash else None
    places = [side(own, finding.at, document, setting, most)] if is_clash else []
    places += [side(spot.note, spot, document, setting, most) for spot in finding.related[:most_places]]
    entry = finding.case.entry if finding.case is not None else ""
    words = finding.case.words if finding.case is not None and (is_clash or not _tells_case(finding)) else ""
    return filled(
        "comment_v1",
        {
            "marker": Markdown(f"<!-- bylaw:finding {finding.fingerprint} -->"),
            "verdict": verdict(finding, most),
            "case_words": said(words, most) if words else None,
            "places": places,
            "more_places": max(0, len(finding.related) - most_places),
            "cause": _cause(finding),
            "help": said(finding.help, most) if finding.help else None,
            "suggestion": _suggestion(finding, most),
            "entry": _entry(entry, most),
            "footer": joined(Markdown(f"{finding.severity} "), coded(finding.id), " ", coded(finding.fingerprint)),
        },
    )


def cases_body(print_: str, fix: Suggestion) -> str:
    """Cases that are missing, to be taken over with one click: they say what is decided today."""
    added = count(sum(line.startswith("- ") for line in fix.lines[1:]), "case")
    return filled(
        "comment_v1",
        {
            "marker": Markdown(f"<!-- bylaw:finding {print_} -->"),
            "verdict": said(f"{added} would show more of what the changed policies decide, as decided today.", 300),
            "case_words": None,
            "places": [],
            "more_places": 0,
            "cause": None,
            "help": said("take them over where today's decision is the one that is meant.", 300),
            "suggestion": block("\n".join(fix.lines), "suggestion"),
            "entry": None,
            "footer": joined(Markdown("missing cases "), coded(print_)),
        },
    )


def verdict(finding: FoundItem, most: int) -> Markdown:
    """What is wrong, in one sentence; of a contradiction who wins and by which step."""
    if not finding.is_clash:
        return joined(Markdown(f"**{_WORDS[finding.severity]}:** "), said(finding.message, most))
    names = " and ".join(f"`{name}`" for name in finding.policies[:2])
    is_own = len(finding.policies) < 2
    who = f"policy {names} contradicts itself" if is_own else f"policies {names} contradict each other"
    return joined(Markdown("**Contradiction:** "), said(f"{who}: {ending(finding)}", most), ".")


def ending(finding: FoundItem) -> str:
    """Who wins a contradiction and by which step, or why nobody does."""
    return finding.ending or ("nobody wins" if finding.id == "conflict" else "one of them wins")


def name_of(id: str) -> str:
    """`unknown-fact` as a title: `unknown fact`."""
    return id.replace("-", " ")


def _tells_case(finding: FoundItem) -> bool:
    return finding.case is None or finding.case.words in finding.message or finding.id == "failing-case"


def _cause(finding: FoundItem) -> Markdown | None:
    if finding.pairs < 2:
        return None
    about = f" about `{finding.subject}`" if finding.subject else ""
    return said(f"{count(finding.pairs, 'pair')} of rules contradict each other{about} for this one cause.", 1_000)


def _suggestion(finding: FoundItem, most: int) -> Markdown | None:
    """The right lines, for one click. Only for the very line the comment stands on."""
    found = finding.suggestion
    if found is None or (found.path, found.end_line) != (finding.at.path, finding.at.line):
        return None
    text = "\n".join(found.lines)
    return block(text, "suggestion") if len(text) <= 4 * most and found.line == found.end_line else None


def _entry(entry: str, most: int) -> Markdown | None:
    """The case as YAML, whole or not at all: half of one is no case."""
    if not entry:
        return None
    if len(entry) > 2 * most:
        return said(f"It has {len(entry):,} letters: `bylaw check --format json` gives it out.", 300)
    return block(entry.rstrip("\n"), "yaml")
