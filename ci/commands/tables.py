"""`bylaw import` of rules that are rules already: decision tables and lines of policies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ci.importers.tables.imported import Options
    from ci.importers.tables.model import Refusal
    from ci.importers.write import Plan

FORMATS = ("dmn", "csv", "xlsx", "policies")


def is_of_rules(source: Path, format_: str) -> bool:
    """Is it a table or lines of policies, by what was said or by the name of the file?"""
    from ci.importers.tables.imported import format_of

    return format_ in FORMATS or format_of(source, format_) is not None


def import_rules(path: Path, root: Path, options: Options, dry_run: bool, all_: bool, as_json: bool) -> tuple[str, int]:
    """Take the tables of the file at *path* into the repository at *root*: what is told of it, and the exit code.

    Raises UsageError where nothing can be taken and no JSON is asked for.
    """
    from bylaw.errors import UsageError
    from ci.importers.tables.imported import take
    from ci.importers.tables.model import TablesRefused
    from ci.importers.tables.report import refusal

    try:
        found = take(path, root, options)
    except TablesRefused as problem:
        if as_json:
            refused = [refusal(one) for one in problem.refusals]
            error = {"message": f"nothing of `{path}` was taken", "help": refused[0]["help"]}
            told = {
                "source": path.name,
                "dry_run": dry_run,
                "error": error,
                "tables": [],
                "refused": refused,
                "files": [],
            }
            return json.dumps(told, indent=2, ensure_ascii=False), 2
        raise UsageError(
            f"nothing of `{path}` was taken: {_first(problem.refusals)}", problem.refusals[0].help
        ) from None
    if not dry_run:
        found.plan.write()
    is_kept = any(entry.state == "kept" for entry in found.plan.entries)
    code = 1 if found.refused or is_kept or _has_failing_gap(found.document, root) else 0
    if as_json:
        files = [{"path": e.path, "state": e.state, "notes": list(e.notes), "diff": e.diff} for e in found.plan.entries]
        whole = {**found.document, "dry_run": dry_run, "files": files, "left": list(found.plan.gone)}
        return json.dumps(whole, indent=2, ensure_ascii=False, default=str), code
    files_told = _files(found.format, found.plan, dry_run, all_)
    return "\n".join([*files_told, *found.lines(all_), *_next(root, found.plan, dry_run)]), code


def _has_failing_gap(document: Mapping[str, Any], root: Path) -> bool:
    """Has a table a gap, where a gap fails the check of the repository?"""
    from ci.findings import SEVERITIES
    from ci.loading.load import rules_of

    if not any(table.get("gaps") for table in document.get("tables", ())):
        return False
    return rules_of(root).ci.severities.get("gap", SEVERITIES["gap"]) == "error"


def _first(refused: Sequence[Refusal]) -> str:
    """The refusals as one message, the first of many."""
    shown = [f"{one.where}: {one.why}" for one in refused[:20]]
    more = f"\n  and {len(refused) - 20} more (--json lists all)" if len(refused) > 20 else ""
    return shown[0] if len(refused) == 1 else "".join(f"\n  {one}" for one in shown) + more


def _files(format_: str, plan: Plan, dry_run: bool, all_: bool) -> Iterator[str]:
    yield f"read as {format_}; {'would be written to' if dry_run else 'written to'} {plan.root}:"
    for state in ("new", "updated", "removed", "kept"):
        entries = [entry for entry in plan.entries if entry.state == state]
        for entry in entries if all_ else entries[:12]:
            yield f"  {state:<8} {entry.path}"
            yield from (f"           {note}" for note in entry.notes[:5])
            if entry.diff and (dry_run or state == "kept"):
                yield from (f"           {line}" for line in entry.diff.splitlines()[:40])
        if len(entries) > 12 and not all_:
            yield f"  {state:<8} and {len(entries) - 12} more (--all)"
    same = sum(entry.state == "unchanged" for entry in plan.entries)
    if same:
        yield f"  {same} {'file is' if same == 1 else 'files are'} as the source says"
    for path in plan.gone:
        why = "its rows are gone from the source, and it was edited here"
        yield f"  left     {path}: {why}; delete it if that is meant"


def _next(root: Path, plan: Plan, dry_run: bool) -> Iterator[str]:
    if not dry_run and any(entry.state == "new" for entry in plan.entries):
        yield ""
        yield f"All of it is a draft: checked, and never compiled. Next: bylaw check --root {root}"
