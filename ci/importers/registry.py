"""The table of formats that are imported: who claims a file, and who reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bylaw.authored.machines.enforcement import Pii
from bylaw.errors import UsageError
from ci.importers.draft import ContextDraft
from ci.importers.personal import hide_personal
from ci.importers.phrases import propose_phrases
from ci.importers.registries import kep, pep, rfc
from ci.importers.semantic import cortex, dbt, foreign, lookml, metricflow, ossie, wren
from ci.importers.semantic.foreign import Foreign
from ci.loading.commits.revision import Revision
from ci.loading.load import read


@dataclass(frozen=True, slots=True)
class Importer:
    """One format. `files` are the ends of the names that a folder is searched for."""

    claims: Callable[[Foreign], bool]
    import_: Callable[[Sequence[Foreign], ContextDraft], None]
    files: tuple[str, ...] = (".yaml", ".yml")


IMPORTERS: Mapping[str, Importer] = {
    "dbt": Importer(dbt.claims, dbt.import_, ("manifest.json", "catalog.json")),
    "wren": Importer(wren.claims, wren.import_, (".yaml", ".yml", ".md", "mdl.json")),
    "cortex": Importer(cortex.claims, cortex.import_),
    "ossie": Importer(ossie.claims, ossie.import_),
    "lookml": Importer(lookml.claims, lookml.import_, (".lkml",)),
    "metricflow": Importer(metricflow.claims, metricflow.import_),
    "pep": Importer(pep.claims, pep.import_, (".rst", ".txt")),
    "kep": Importer(kep.claims, kep.import_, ("kep.yaml", "README.md")),
    "rfc": Importer(rfc.claims, rfc.import_, (".md",)),
}


def drafted(
    target: Path, format_: str, schema: str, dialect: str | None, pii: Pii | None = None
) -> tuple[str, ContextDraft]:
    """The format of *target* and what it says, held to the lints; *pii* are the shapes of what is personal.

    Raises UsageError where nothing can be read.
    """
    name, files = _found(target) if format_ == "auto" else (format_, _read(target, format_))
    if not any(IMPORTERS[name].claims(file) for file in files):
        raise UsageError(f"`{target}` holds nothing of the format `{name}`", "name another --format, or another file")
    draft = ContextDraft(schema, dialect)
    IMPORTERS[name].import_(files, draft)
    hide_personal(draft, pii or read(Path(), [], Revision(), None).rules.pii)
    draft.checked()
    propose_phrases(draft)
    draft.checked()
    return name, draft


def _read(target: Path, format_: str) -> list[Foreign]:
    """The files of a format. A manifest of dbt lies in `target/` where its project is named."""
    wanted = IMPORTERS[format_].files
    if format_ == "dbt" and (target / "target" / "manifest.json").is_file():
        return foreign.read(target / "target", wanted)
    return foreign.read(target, wanted)


def _found(target: Path) -> tuple[str, list[Foreign]]:
    """The one format of *target*. Raises UsageError where there is none, or more than one."""
    if not target.exists():
        raise UsageError(
            f"there is no file or folder `{target}`",
            "name what is there: dbt, for one, writes target/manifest.json with `dbt parse`",
        )
    if _is_database(target):
        raise UsageError(f"`{target}` is a database of DuckDB", f"read it with `bylaw import duckdb:///{target}`")
    claimed: dict[str, list[Foreign]] = {}
    problem: UsageError | None = None
    for name in IMPORTERS:
        try:
            files = _read(target, name)
        except UsageError as found:
            problem = found
            continue
        if any(IMPORTERS[name].claims(file) for file in files):
            claimed[name] = files
    for whole in ("dbt", "wren"):  # the rest of such a project is what these two are built from
        if whole in claimed:
            return whole, claimed[whole]
    if len(claimed) == 1:
        return claimed.popitem()
    if claimed:
        raise UsageError(
            f"`{target}` holds several formats: {', '.join(claimed)}",
            "name one with --format, or a folder further down",
        )
    if problem is not None:
        raise problem
    if target.is_dir() and (target / "dbt_project.yml").is_file():
        raise UsageError(
            f"`{target}` is a project of dbt without its manifest", "`dbt parse` writes target/manifest.json"
        )
    if _lists_tools(target):
        raise UsageError(
            f"`{target}` is the list of tools of an MCP server", f"draft its bindings with `bylaw import mcp {target}`"
        )
    known = ", ".join((*IMPORTERS, "dmn", "csv", "xlsx", "policies"))
    raise UsageError(f"`{target}` is in no format that is known", f"known formats: {known}; --format says which")


def _lists_tools(target: Path) -> bool:
    """Is it what an MCP server answers to tools/list?"""
    if not target.is_file():
        return False
    from ci.importers.mcp import listed_tools

    try:
        return bool(listed_tools(target).tools)
    except UsageError:
        return False


def _is_database(target: Path) -> bool:
    """Is it a file of DuckDB? Its twelve first bytes say so, whatever it is called."""
    if not target.is_file():
        return False
    with target.open("rb") as file:
        return file.read(12)[8:] == b"DUCK"
