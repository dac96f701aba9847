"""The one comment below a pull request: what changes, what contradicts what, who decides, how policies decide now.

Each part shows as many rows as rules/ci.yaml lets it, fewer where the whole would not fit, and says how many it leaves
out. Where nothing is to be said it is empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bylaw.language.counting import count
from ci.findings import ID_OF_GATES
from ci.recorded import calls_in_words
from ci.report.changes import remarks
from ci.review.computed.document import (
    FoundItem,
    GoverningDecision,
    OutcomeChange,
    PolicyGraph,
    RecordedAnswers,
    ReviewDocument,
    Spot,
)
from ci.review.words.comment import LONGEST, RANK, ending
from ci.review.words.markdown import Markdown, block, cell, coded, drawn, filled, html_code, joined, said
from ci.review.words.view import Setting, place

_MARKER = Markdown("<!-- bylaw:summary -->")
MOST_DRAWING = 40_000  # letters of a drawing; GitHub draws none beyond 50,000
MOST_HANDLES = 10
_GATE = "this changes what is checked: "  # the heading says it


@dataclass(frozen=True, slots=True)
class _Room:
    """How much is shown: rows of a part, letters of a text, and drawings."""

    rows: int
    letters: int
    graphs: int
    has_cases: bool = True


def summary(document: ReviewDocument, setting: Setting, omitted: int) -> str:
    """The summary, as long as it may be; empty where there is nothing to say."""
    if not has_news(document) and setting.is_bound:
        return ""
    text = ""
    for room in _rooms(setting):
        text = _summary(document, setting, omitted, room)
        if len(text) <= LONGEST:
            break
    return text


def has_news(document: ReviewDocument) -> bool:
    """Is there anything that a reviewer would want to know?"""
    counts = document.counts
    is_found = counts.error or counts.warning or counts.notice or document.change_count
    is_heard = document.recorded is not None and document.recorded.not_under_base
    return bool(is_found or is_heard or document.unknown or document.open_questions or document.decisions)


def headline(document: ReviewDocument, setting: Setting) -> str:
    """The verdict in one plain sentence without a word of the files."""
    counts = document.counts
    apart: Counter[str] = Counter(finding.severity for finding in document.gates)
    if document.change_severity is not None:
        apart[document.change_severity] += document.change_count
    kinds = (
        (counts.error, "error", "error"),
        (counts.warning, "warning", "warning"),
        (counts.notice, "notice", "note"),
    )
    left = [(max(0, number - apart[kind]), noun) for number, kind, noun in kinds]
    told = [count(number, f"new {noun}") for number, noun in left if number]
    clashes = sum(finding.id == "conflict" and finding.severity == "error" for finding in document.new)
    if clashes and clashes == left[0][0]:
        told[0] = f"{count(clashes, 'new contradiction')} to decide"
    elif clashes and left[0][0]:
        told[0] += f", {clashes:,} of them {'a contradiction' if clashes == 1 else 'contradictions'} to decide"
    found = ", ".join(told) or ("no other findings" if document.gates else "no new findings")
    first = "" if setting.is_bound else "not verified: nobody trusted has computed this; "
    first += "this changes what is checked; " if document.gates else ""
    return f"{first}{found}; {_outcomes(document)}"


def _outcomes(document: ReviewDocument) -> str:
    kinds = count(document.change_count, "kind of case changes outcome", "kinds of cases change outcome")
    if not document.nothing_else_changes:
        return f"{kinds if document.change_count else 'no change of outcome was found'}, and more may"
    return f"{kinds}, no other does" if document.change_count else f"no case changes outcome{_remarks(document)}"


def _remarks(document: ReviewDocument) -> str:
    return f" ({remarks(document.only_comments_in)[2:]})" if document.only_comments_in else ""


def _rooms(setting: Setting) -> Iterator[_Room]:
    """From the roomiest to the tightest; the last one fits whatever a document may hold."""
    rows, graphs = setting.rules.rows, setting.rules.graphs
    yield _Room(rows, 600, graphs)
    yield _Room(rows, 300, graphs)
    yield _Room(rows, 300, 0)
    yield _Room(min(rows, 20), 200, 0, has_cases=False)
    yield _Room(min(rows, 8), 100, 0, has_cases=False)
    yield _Room(min(rows, 3), 50, 0, has_cases=False)


def _summary(document: ReviewDocument, setting: Setting, omitted: int, room: _Room) -> str:
    gates = document.gates
    told = [finding for finding in document.new if finding.id != ID_OF_GATES]
    new = sorted(told, key=lambda finding: (RANK[finding.severity], finding.at.path, finding.at.line))
    clashes = [finding for finding in new if finding.is_clash]
    others = [finding for finding in new if finding not in clashes]
    open_ = [finding for finding in new if finding.owners and finding.id == "conflict"]
    values: dict[str, Any] = {
        "marker": _MARKER,
        "title": said(_capital(headline(document, setting)), 1_000),
        "about": _about(document, omitted),
        "gates": [_gate(finding, document, setting, room) for finding in gates[: room.rows]],
        "more_gates": len(gates[room.rows :]),
        "gate_handles": _handles(gates, document, setting),
        "changes": [_change(change, room) for change in document.changes[: room.rows]],
        "more_changes": document.change_count - len(document.changes[: room.rows]),
        "narrowed": [said(line, room.letters) for line in document.narrowed[: room.rows]],
        "more_narrowed": len(document.narrowed[room.rows :]),
        "nothing_else": _nothing_else(document),
        "unknown": [said(reason, room.letters) for reason in document.unknown[: room.rows]],
        "more_unknown": len(document.unknown[room.rows :]),
        "recorded": None if document.recorded is None else _recorded(document.recorded, room),
        "conflicts": [_clash(finding, document, setting, room) for finding in clashes[: room.rows]],
        "more_conflicts": len(clashes[room.rows :]),
        **_decide(open_, document, setting, room),
        "findings": [_row(finding, document, setting, room) for finding in others[: room.rows]],
        "findings_title": "Other new findings" if clashes else "New findings",
        "more_findings": _left_out(others[room.rows :], document),
        "decisions": [_decision(one, document, setting, room) for one in document.decisions[: room.rows]],
        "more_decisions": len(document.decisions[room.rows :]),
        **_graphs(document.graphs, document, setting, room),
        **_cases(document, room),
        "open_questions": [_question(question, room) for question in document.open_questions[: room.rows]],
        "footer": _footer(document),
    }
    return filled("summary_v1", values)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _about(document: ReviewDocument, omitted: int) -> Markdown:
    parts = [f"{document.head_sha[:12]} against {document.base_sha[:12]}"]
    parts.append(f"{count(document.policy_count, 'policy', 'policies')}, asked for {document.at}")
    if document.counts.existing:
        parts.append(f"{count(document.counts.existing, 'finding')} from before this change, stopping nothing")
    if omitted:
        parts.append(f"{count(omitted, 'more finding')} would be a comment of its own, beyond the cap of rules/ci.yaml")
    if document.is_dirty:
        parts.append("files that are not committed took part")
    return said("; ".join(parts) + ".", 2_000)


# ---- what the change does to its own checks -------------------------------------------------------------------------


def _gate(finding: FoundItem, document: ReviewDocument, setting: Setting, room: _Room) -> Markdown:
    message = finding.message.removeprefix(_GATE)
    return joined(said(message, room.letters), " (", place(finding.at, document, setting, room.letters), ")")


def _handles(found: Sequence[FoundItem], document: ReviewDocument, setting: Setting) -> Markdown | None:
    """The accounts that the trusted branch names for the places of *found*."""
    spots = (spot for finding in found for spot in (finding.at, *finding.related))
    named = (setting.owners.of(document.folder + spot.path) for spot in spots)
    handles = dict.fromkeys(handle for names in named for handle in names)
    # The only words of a review that GitHub acts on; they come from the trusted branch alone.
    return Markdown(" ".join(list(handles)[:MOST_HANDLES])) if handles else None


# ---- outcomes -------------------------------------------------------------------------------------------------------


def _change(change: OutcomeChange, room: _Room) -> dict[str, Markdown]:
    return {
        "subject": cell(change.subject, room.letters),
        "case": cell(_region(change), room.letters),
        "before": _held(change.before, change.by_before, room),
        "after": _held(change.after, change.by_after, room),
    }


def _region(change: OutcomeChange) -> str:
    """All the cases of a row, and one of them."""
    words = change.case.words
    return f"{change.where}, for example {words}" if change.where and words else change.where or words or "every case"


def _held(what: str, by: Sequence[str], room: _Room) -> Markdown:
    """What holds and by whom; where several speak at once, nobody wins."""
    if len(by) > 1:
        told = "; ".join(by[:3]) + (f"; {len(by) - 3} more" if len(by) > 3 else "")
        return joined(Markdown("**nobody wins**<br>"), cell(told, room.letters))
    held = joined(Markdown("**"), cell(what, room.letters), Markdown("**"))
    return joined(held, Markdown("<br>"), cell(by[0].partition(" ")[0], room.letters)) if by else held


def _nothing_else(document: ReviewDocument) -> Markdown | None:
    if document.nothing_else_changes:
        return Markdown("Proved: no other case changes outcome.") if document.change_count else None
    return Markdown("Whether any other case changes outcome is **not known**:")


def _recorded(found: RecordedAnswers, room: _Room) -> Markdown:
    """How many recorded answers would be different, how many by this change, and the first of them."""
    told = f"{found.different:,} of {count(found.answers, 'recorded answer')} would be different"
    if found.different:
        told += f", {f'{found.not_under_base:,} of them' if found.not_under_base else 'none'} by this change"
    shown = [coded(name, room.letters) for name in found.examples[: room.rows]]
    left = found.different - len(shown)
    named = f": {', '.join(shown)}{f' and {left:,} more' if left else ''}" if shown else ""
    rest = f" Left out, because the case was redacted or not recorded: {found.left_out:,}." if found.left_out else ""
    calls = calls_in_words(found.calls)
    return Markdown(f"{told}{named}.{f' **{calls}.**' if calls else ''}{rest}")


# ---- findings -------------------------------------------------------------------------------------------------------


def _clash(finding: FoundItem, document: ReviewDocument, setting: Setting, room: _Room) -> Markdown:
    about = joined(Markdown("**"), said(finding.subject or "", room.letters), Markdown("**: "))
    words = finding.case.words if finding.case is not None else ""
    other = finding.related[0]
    sides = [
        joined(said(note or "", room.letters), " (", place(spot, document, setting, room.letters), ")")
        for note, spot in ((finding.side, finding.at), (other.note, other))
    ]
    also = [spot.note for spot in finding.related[1:] if ", " in spot.note]
    more = f"; {finding.pairs:,} pairs of rules for this one cause" if finding.pairs > 1 else ""
    more += "".join(f"; also {note}" for note in also)
    return joined(
        about if finding.subject else Markdown(""),
        *((said(words, room.letters), ": ") if words else ()),
        sides[0],
        ", ",
        sides[1],
        "; ",
        said(f"{ending(finding)}{more}", room.letters * (1 + len(also))),
    )


def _row(finding: FoundItem, document: ReviewDocument, setting: Setting, room: _Room) -> Markdown:
    return joined(
        Markdown(f"**{'note' if finding.severity == 'notice' else finding.severity}** "),
        coded(finding.id),
        " ",
        place(finding.at, document, setting, room.letters),
        ": ",
        said(finding.message, room.letters),
    )


def _decision(one: GoverningDecision, document: ReviewDocument, setting: Setting, room: _Room) -> Markdown:
    """A record about files of the change: whether it holds first, then what it says and about which of them."""
    state = f"superseded by {', '.join(one.superseded_by)}" if one.superseded_by else one.status
    day = f", {one.decided_on}" if one.decided_on else ""
    shown = [coded(path, room.letters) for path in one.paths[: min(3, room.rows)]]
    left = one.path_count - len(shown)
    files = ", ".join(shown) + (f" and {count(left, 'more file')}" if left else "")
    return joined(
        Markdown("**"),
        said(f"{state}{day}", room.letters),
        Markdown("** "),
        place(Spot(path=one.record, line=1), document, setting, room.letters),
        " ",
        said(one.option, room.letters),
        Markdown(f": {files}"),
    )


def _left_out(rest: Sequence[FoundItem], document: ReviewDocument) -> str | None:
    """How many findings of which kind are not in the list, those included that the document itself leaves out."""
    kinds = Counter(finding.id for finding in rest)
    counts = document.counts
    unsent = counts.error + counts.warning + counts.notice - document.change_count - len(document.new)
    told = [f"{number:,} `{id}`" for id, number in sorted(kinds.items())]
    told += [f"{unsent:,} that the review does not carry"] if unsent > 0 else []
    return f"{sum(kinds.values()) + max(0, unsent):,} more: {', '.join(told)}" if told else None


def _decide(open_: Sequence[FoundItem], document: ReviewDocument, setting: Setting, room: _Room) -> dict[str, Any]:
    """Every contradiction that nobody wins goes to the owners of its policies, each group of owners once."""
    asked: dict[tuple[str, ...], list[str]] = {}
    for finding in open_:
        asked.setdefault(tuple(finding.owners), []).append(" and ".join(finding.policies[:2]))
    rows = [
        joined(Markdown("**"), said(" and ".join(owners), room.letters), Markdown("**: "), said(_some(cases), 600))
        for owners, cases in sorted(asked.items())
    ]
    spots = {document.folder + spot.path for finding in open_ for spot in (finding.at, *finding.related)}
    unnamed = sorted(path for path in spots if not setting.owners.of(path)) if setting.owners.lines else []
    if unnamed:
        told = f"nobody is named in CODEOWNERS for {_some([f'`{path}`' for path in unnamed])}: ask them yourself"
        rows.append(said(told, 1_000))
    return {
        "decide": rows[: room.rows],
        "more_decide": len(rows[room.rows :]),
        "handles": _handles(open_, document, setting),
    }


def _some(cases: Sequence[str]) -> str:
    unique = list(dict.fromkeys(cases))
    more = f"; {len(unique) - 5} more" if len(unique) > 5 else ""
    return "; ".join(unique[:5]) + more


# ---- graphs, cases, the rest ----------------------------------------------------------------------------------------


def _graphs(found: Sequence[PolicyGraph], document: ReviewDocument, setting: Setting, room: _Room) -> dict[str, Any]:
    drawings: list[dict[str, Markdown]] = []
    too_large: list[PolicyGraph] = []
    for graph in found:
        picture = drawn(graph) if 0 < graph.node_count <= setting.rules.nodes and graph.nodes else None
        if picture is None or len(picture) > MOST_DRAWING:
            too_large += [graph] if graph.node_count else []
        elif len(drawings) < room.graphs:
            drawings.append({"name": html_code(graph.policy_id), "drawn": picture})
    sent = sum(graph.node_count == 0 for graph in found)
    left = document.graph_count - len(drawings) - sent
    why = f", {len(too_large)} of them too large to draw" if too_large else ""
    more = f"{count(left, 'more decision graph')} not drawn here{why}: `bylaw explain ID` says a policy in words."
    return {"graphs": drawings, "more_graphs": said(more, 600) if left > 0 else None}


def _cases(document: ReviewDocument, room: _Room) -> dict[str, Any]:
    told = document.coverage
    if told is None or not told.after.count:
        return {"coverage": None, "missing": None, "missing_title": ""}
    before = f", before {told.before.covered} of {told.before.count}" if told.before.count else ""
    covered = f"{told.after.covered} of {told.after.count} things that cases can show of them"
    said_ = said(f"Cases of the changed policies: {covered} are shown{before}.", 600)
    noun = count(document.missing_case_count, "more case would", "more cases would")
    text = document.missing_cases.rstrip("\n")
    is_shown = bool(text) and room.has_cases
    rest = f" {noun} show the rest: `bylaw cases --missing` writes them." if not is_shown else ""
    return {
        "coverage": joined(said_, rest) if document.missing_case_count else said_,
        "missing": block(text, "yaml") if is_shown else None,
        "missing_title": f"{noun} show the rest",
    }


def _question(question: Any, room: _Room) -> Markdown:
    counts = ((question.undecided, "undecided"), (question.skipped, "skipped"))
    told = " and ".join(f"{number:,} {how}" for number, how in counts if number)
    why = f" ({', '.join(question.why)})" if question.why else ""
    return said(f"{question.question}: {told} of {question.asked:,}{why}", room.letters)


def _footer(document: ReviewDocument) -> Markdown:
    if document.etag is not None:
        return joined("bundle of this commit: ", coded(document.etag))
    return said(f"no bundle etag: {document.without_etag or 'nothing was compiled'}", 400)
