"""One source of decision tables, from its bytes to a plan of files and a report. Nothing is written here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from bylaw.authored.vocabulary import Vocabulary
from bylaw.errors import UsageError
from bylaw.language.counting import count
from ci.importers.tables import dmn, sheets
from ci.importers.tables.analysis import Analysis
from ci.importers.tables.cases import cases_of
from ci.importers.tables.files import Draft, plan
from ci.importers.tables.limits import MOST_BYTES
from ci.importers.tables.lower import Lowering
from ci.importers.tables.mapping import Mapped
from ci.importers.tables.model import Refusal, Source, TablesRefused
from ci.importers.tables.names import snake
from ci.importers.tables.report import TableReport, document, lines, refusal, refused_lines, reported
from ci.importers.tables.words import Words, vocabulary, words_of
from ci.importers.write import Plan, remembered
from ci.loading.files import FOLDERS
from ci.loading.load import load
from ci.loading.words import merged

MOST_CASES: Final = 3_000
SUFFIXES: Final[Mapping[str, str]] = {
    ".dmn": "dmn",
    ".xml": "dmn",
    ".csv": "csv",
    ".tsv": "csv",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".jsonl": "policies",
}
_DOMAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,59}")


@dataclass(frozen=True, slots=True)
class Options:
    """What a person says beside the file."""

    format: str = "auto"
    domain: str | None = None
    owner: str = "TBD"
    is_empty_any: bool = False
    force: bool = False
    mapped: Mapped = field(default_factory=Mapped)


@dataclass(frozen=True, slots=True)
class Imported:
    """What a source would become, and what is said about it."""

    source: Source
    reports: Sequence[TableReport]
    words: Words
    vocabulary: Vocabulary
    plan: Plan


def format_of(path: Path, said: str) -> str | None:
    """The format of tables that a file has; None where it has none."""
    return said if said in set(SUFFIXES.values()) else SUFFIXES.get(path.suffix.lower()) if said == "auto" else None


def bytes_of(path: Path) -> bytes:
    """What is in a file. Raises UsageError."""
    try:
        if path.is_file() and path.stat().st_size > MOST_BYTES:
            raise UsageError(f"`{path}` is larger than {MOST_BYTES:,} bytes", "split it")
        return path.read_bytes()
    except OSError as problem:
        reason = (problem.strerror or "the system gives no reason").lower()
        raise UsageError(f"`{path}` cannot be read: {reason}", "name a file") from None


def domain_of(path: Path, said: str | None) -> str:
    """The domain of the policies: the one said, or the name of the file. Raises UsageError."""
    domain = said if said is not None else snake(path.stem)[:50].rstrip("_")
    if not _DOMAIN.fullmatch(domain):
        raise UsageError(
            f"`{domain[:60]}` is no name of a domain", "letters, digits, `_` and `-`; a letter comes first"
        )
    return domain


def words_beside(root: Path, own: str) -> Vocabulary:
    """What the other files of the repository declare."""
    if not any((root / folder).exists() for folder in FOLDERS):
        return Vocabulary()
    return merged(file for file in load(root).vocabularies if file.path != own).vocabulary


def imported(path: Path, root: Path, options: Options) -> Imported:
    """The tables of the file at *path* as policies for the repository at *root*. Raises TablesRefused."""
    data, domain = bytes_of(path), domain_of(path, options.domain)
    source = _read(path, data, options)
    folder = f"policies/{domain}"
    known = words_beside(root, f"{folder}/vocabulary.yaml")
    words = words_of(source, known)
    lowering = Lowering(source, words, domain, options.owner)
    drafts: list[Draft] = []
    reports: list[TableReport] = []
    cases: list[Any] = []
    for number, table in enumerate(source.tables):
        analysis = Analysis(table, words)
        parts = lowering.parts(number, table, analysis)
        drafts += [Draft(f"{folder}/{part.policy_id}.yaml", "policy", part.record) for part in parts]
        found = cases_of(analysis, words)[: MOST_CASES - len(cases)]
        cases += found
        reports.append(reported(table, parts, analysis, len(found)))
    own = vocabulary(words, lowering.terms, known)
    drafts.insert(0, Draft(f"{folder}/vocabulary.yaml", "vocabulary", own))
    if cases:
        drafts.append(Draft(f"{folder}/cases.yaml", "cases", cases))
    whole = _joined(Vocabulary.model_validate(own), known)
    made = plan(root, drafts, f"table {domain}: {source.name}", options.force)
    return Imported(source, reports, words, whole, made)


@dataclass(frozen=True, slots=True)
class Taken:
    """Rules of others as files of the repository: the plan, what was refused, and the report as JSON and as lines."""

    format: str
    plan: Plan
    refused: Sequence[Refusal]
    document: Mapping[str, Any]
    lines: Callable[[bool], Iterator[str]]


def take(path: Path, root: Path, options: Options) -> Taken:
    """The tables or the policies of the file at *path*. Raises TablesRefused where nothing of it can be taken."""
    if format_of(path, options.format) == "policies":
        return _policies(path, root, options)
    found = imported(path, root, options)
    told = (found.source, found.reports, found.words, found.vocabulary)
    return Taken(found.source.format, found.plan, found.source.refused, document(*told), partial(lines, *told))


def _policies(path: Path, root: Path, options: Options) -> Taken:
    from ci.importers.tables import jsonl  # its checks need the lints

    origin, memory = f"policies {path.name}", remembered(root)
    own = [name for name, held in memory.items() if held.get("origin") == origin and name.endswith("/vocabulary.yaml")]
    words_at = own[0] if own else "policies/vocabulary.yaml"
    known = words_beside(root, words_at if own or not (root / words_at).exists() else "")
    found = jsonl.drafted(path, bytes_of(path), options.owner, known)
    drafts = found.drafts(own[0] if own else jsonl.vocabulary_path(found, root))
    made = plan(root, drafts, origin, options.force)
    ids = [line.policy.policy_id for line in found.lines]
    told = {
        "format": "policies",
        "source": path.name,
        "tables": [],
        "policies": ids,
        "refused": [refusal(one) for one in found.refused],
        "notices": found.notices,
    }

    def said(all_: bool) -> Iterator[str]:
        yield ""
        refused = count(len({one.where for one in found.refused}), "line")
        yield f"{path.name}: {count(len(ids), 'policy', 'policies')} taken, {refused} refused"
        yield from (f"  notice: {one}" for one in found.notices[: None if all_ else 10])
        yield from refused_lines(found.refused, 10**9 if all_ else 20)

    return Taken("policies", made, found.refused, told, said)


def _joined(own: Vocabulary, known: Vocabulary) -> Vocabulary:
    return own.model_copy(update={"facts": {**known.facts, **own.facts}})


def _read(path: Path, data: bytes, options: Options) -> Source:
    match format_of(path, options.format):
        case "dmn":
            return dmn.read(path, data, options.is_empty_any)
        case "csv" | "xlsx" as format_:
            return sheets.read(path, data, format_, options.mapped, options.is_empty_any)
        case _:
            raise TablesRefused(Refusal(path.name, "it is no DMN, CSV or XLSX", "--format says which it is"))
