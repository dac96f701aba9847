"""What an import of tables found, for people and for machines: rows taken, refused, gaps, overlaps, what never wins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bylaw.authored.labels import labels
from bylaw.authored.vocabulary import Vocabulary
from bylaw.logic.boxes.boxes import Box
from bylaw.logic.formula.ir import Value
from bylaw.logic.words.prose import case_in_words
from ci.importers.tables.analysis import Analysis, Overlap
from ci.importers.tables.feel import clip
from ci.importers.tables.lower import Part
from ci.importers.tables.model import Refusal, Source, Table
from ci.importers.tables.words import Words

SHOWN: Final = 5

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TableReport:
    """One table: its policies, and what its rows leave open or say twice."""

    table: Table
    parts: Sequence[Part]
    analysis: Analysis
    gaps: Sequence[Box]
    has_all_gaps: bool
    overlaps: Sequence[Overlap]
    overlap_count: int
    never: Sequence[str]
    case_count: int


def reported(table: Table, parts: Sequence[Part], analysis: Analysis, case_count: int) -> TableReport:
    """What there is to say of one table."""
    gaps, has_all = analysis.gaps()
    overlaps, count = analysis.overlaps()
    never = [row.at for row in (*analysis.empty(), *analysis.covered())]
    return TableReport(table, parts, analysis, gaps, has_all, overlaps, count, never, case_count)


def document(source: Source, reports: Sequence[TableReport], words: Words, vocabulary: Vocabulary) -> Record:
    """The report as JSON."""
    return {
        "format": source.format,
        "source": source.name,
        "tables": [_table(report, words, vocabulary) for report in reports],
        "refused": [refusal(one) for one in source.refused],
        "notices": [*source.notices, *words.notices],
    }


def refusal(one: Refusal) -> Record:
    """A refusal as JSON."""
    return {"where": one.where, "why": one.why, "help": one.help}


def _table(report: TableReport, words: Words, vocabulary: Vocabulary) -> Record:
    table, spoken = report.table, labels(vocabulary)
    return {
        "name": table.name,
        "hit_policy": table.hit_policy,
        "rows_taken": len(table.rows),
        "rows_refused": 0,
        "policies": [part.policy_id for part in report.parts],
        "outcomes": [words.outcomes[table.name, i].name for i in range(len(table.outputs))],
        "case_count": report.case_count,
        "gaps": [
            {"row": proposed(report, gap), "words": case_in_words(_case(report, gap), spoken)} for gap in report.gaps
        ],
        "has_all_gaps": report.has_all_gaps,
        "overlaps": [
            {"rows": [one.first.at, one.second.at], "words": case_in_words(one.case, spoken)} for one in report.overlaps
        ],
        "overlap_count": report.overlap_count,
        "never_wins": list(report.never),
    }


def proposed(report: TableReport, gap: Box) -> Mapping[str, str]:
    """The row that would fill a gap: a cell for each input; what it says is for people to decide."""
    facts = {column.name: report.analysis.words.facts[column.name].name for column in report.table.inputs}
    regions = gap.regions
    return {name: report.analysis.cell(fact, regions[fact]) if fact in regions else "-" for name, fact in facts.items()}


def _case(report: TableReport, gap: Box) -> Mapping[str, Value]:
    from bylaw.logic.boxes.boxes import point

    return point(gap, report.analysis.variables)


def lines(
    source: Source, reports: Sequence[TableReport], words: Words, vocabulary: Vocabulary, all_: bool
) -> Iterator[str]:
    """The report for people."""
    most = 10**9 if all_ else SHOWN
    for report in reports:
        told = _table(report, words, vocabulary)
        yield ""
        counts = f"{told['rows_taken']} rows taken, hit policy {told['hit_policy']}, {told['case_count']} cases"
        yield f"{report.table.at}: {counts}"
        yield from _list(
            "gap", [f"{gap['words'] or 'every case'}; a row for it: {_row(gap['row'])}" for gap in told["gaps"]], most
        )
        if not report.has_all_gaps:
            yield "  gaps that are not listed here: `bylaw check` tells them"
        together = [
            f"{' and '.join(one['rows'])} both hold: {one['words'] or 'in every case'}" for one in told["overlaps"]
        ]
        yield from _list("overlap", together, most, report.overlap_count)
        yield from _list(
            "never wins", [f"{at}: rows before it, or its own tests, leave it nothing" for at in report.never], most
        )
        if (hint := _whole_numbers(report)) is not None:
            yield f"  hint: {hint}"
        if not (told["gaps"] or together or report.never) and report.has_all_gaps:
            yield "  no gap, no overlap, every row can win"
    yield from refused_lines(source.refused, most)
    if notices := [*source.notices, *words.notices]:
        yield ""
        yield from _list("notice", notices, most)


def _whole_numbers(report: TableReport) -> str | None:
    """What to say where a gap lies between two neighbouring whole numbers: the column may hold nothing between."""
    for column in report.table.inputs:
        fact = report.analysis.words.facts.get(column.name)
        if fact is None or fact.type != "decimal":
            continue
        for gap in report.gaps:
            where = gap.regions.get(fact.name, ())
            ends = [(low[0], high[0]) for low, high in where] if isinstance(where, tuple) else []
            if any(isinstance(low, int) and isinstance(high, int) and high - low == 1 for low, high in ends):
                header = clip(column.name, 30)
                said = f"inputs: {{{header}: {{type: integer}}}}"
                return f"if `{header}` holds whole numbers only, say so in a mapping: {said}"
    return None


def refused_lines(refused: Sequence[Refusal], most: int = 20) -> Iterator[str]:
    """What was not taken, each with its reason and the next step."""
    if refused:
        yield ""
        yield f"not taken ({len(refused)}):"
        for one in refused[:most]:
            yield f"  {one.where}: {one.why}"
            if one.help:
                yield f"    help: {one.help}"
        if len(refused) > most:
            yield f"  and {len(refused) - most} more (--all)"


def _row(row: Mapping[str, str]) -> str:
    return " | ".join(f"{clip(name, 30)}: {cell}" for name, cell in row.items())


def _list(kind: str, told: Sequence[str], most: int, count: int | None = None) -> Iterator[str]:
    yield from (f"  {kind}: {one}" for one in told[:most])
    if (total := max(count or 0, len(told))) > min(len(told), most):
        yield f"  and {total - min(len(told), most)} more (--all)"
