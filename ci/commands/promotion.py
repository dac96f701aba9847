"""A change of one field, written into the YAML file where it stands, and what the check says before and after.

The edit is made in a copy: the repository itself is never written to.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from bylaw import authoring
from bylaw.errors import UsageError
from ci.check import Checked, check
from ci.commands import fresh
from ci.loading.commits.revision import folder

_SCHEMA = "# yaml-language-server: $schema=../../bylaw/schemas/{name}.schema.json\n"
_NOT_COPIED = shutil.ignore_patterns(".git", ".bylaw", ".venv", "node_modules", "*.duckdb", "*.db")


@dataclass(frozen=True)
class Edit:
    """One field of one file: `path` inside the repository, what stands in it, and what is to."""

    path: str
    field: str
    old: Any
    new: Any
    is_added: bool = False  # one more item of a list
    record: Mapping[str, Any] | None = None  # a whole new file


@dataclass(frozen=True)
class Edited:
    """The files as they are to be, the bundle that they compile to, and what the check says before and after.

    Paths are those of the git repository, of which the policies may be one folder.
    """

    files: Mapping[str, str]
    before: Mapping[str, str | None]
    bundle: Path
    new_findings: tuple[str, ...]
    cases_before: str
    cases_after: str


def edited(root: Path, edit: Edit, directory: Path, today: date) -> Edited:
    """Make *edit* in a copy of *root*. Raises UsageError where it no longer fits, or does not check clean."""
    path = _inside(root, edit.path)
    text = path.read_text(encoding="utf-8") if path.is_file() else None
    written, name = _written(text, edit), f"{folder(root)}{edit.path}"
    copy = directory / "after"
    shutil.copytree(root, copy, ignore=_NOT_COPIED)
    (copy / edit.path).parent.mkdir(parents=True, exist_ok=True)
    (copy / edit.path).write_text(written, encoding="utf-8")
    one, two = check(root, None, today), check(copy, None, today)
    known = {finding.fingerprint for finding in one.findings}
    new = [finding for finding in two.findings if finding.fingerprint not in known]
    if broken := [finding.message for finding in new if finding.severity == "error"]:
        raise UsageError(f"the change does not check clean: {broken[0]}", "reject it, or edit the file by hand")
    told = tuple(f"{finding.severity}[{finding.id}]: {finding.message}" for finding in new)
    bundle = fresh.bundle(copy, directory / "bundle", today)
    return Edited({name: written}, {name: text}, bundle, told, _cases(one), _cases(two))


def _inside(root: Path, path: str) -> Path:
    """The file at *path*, which lies under *root* and in its context, whatever links lead elsewhere."""
    found = (root / path).resolve()
    if not found.is_relative_to((root / "context").resolve()) or found.suffix not in (".yaml", ".yml"):
        raise UsageError(f"`{path}` is no file of the context")
    return found


def _written(text: str | None, edit: Edit) -> str:
    if edit.record is not None:
        if text is not None:
            raise UsageError(f"`{edit.path}` is there already")
        return _SCHEMA.format(name="gotcha") + authoring.dump(dict(edit.record))
    if text is None:
        raise UsageError(f"`{edit.path}` is not there any more", "is --root the repository that the bundle came from?")
    now = authoring.read(text).get(edit.field)
    if (now or None) != (edit.old or None):
        raise UsageError(f"`{edit.field}` of `{edit.path}` says something else by now", "the correction is stale")
    if edit.is_added and now:
        return authoring.add_item(text, (edit.field,), edit.new)
    value = [edit.new] if edit.is_added else edit.new
    if now is None:
        return authoring.add_key(text, (), edit.field, value)
    return authoring.set_value(text, (edit.field,), value)


def _cases(checked: Checked) -> str:
    """`412 of 412 cases hold`."""
    asked = [one for one in checked.answers if one.question == "failing-case"]
    count, wrong = sum(one.asked for one in asked), sum(one.counterexamples for one in asked)
    return f"{count - wrong} of {count} cases hold"
