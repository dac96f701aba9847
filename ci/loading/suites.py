"""The suites of questions in a repository's `evaluation/`, and the floors that `rules/evaluation.yaml` sets them."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from bylaw.authored.machines.suites import Evaluation, Suite
from bylaw.errors import UsageError
from ci.findings import Finding
from ci.loading.rules import effective, load_defaults
from ci.loading.schema.schema_findings import fitted
from ci.loading.source import Source, Unreadable, locate, read

FOLDER = "evaluation"
M = TypeVar("M", bound=BaseModel)


def load(root: Path) -> tuple[tuple[Suite, ...], Evaluation]:
    """Every suite of the repository at *root* by the name of its file, and the floors.

    Raises UsageError where there is none, and at the first value that does not fit.
    """
    paths = sorted((root / FOLDER).glob("*.yaml"))
    if not paths:
        raise UsageError(f"`{root}` has no suites of questions", f"they are read from `{FOLDER}/*.yaml`")
    suites = tuple(_fitting(Suite, source := _source(root, path), source.data) for path in paths)
    return suites, _floors(root)


def elsewhere(path: Path) -> Suite:
    """The suite in the file at *path*, wherever a team keeps it. Raises UsageError as `load` does."""
    source = _source(path.parent, path)
    return _fitting(Suite, source, source.data)


def _floors(root: Path) -> Evaluation:
    default, path = load_defaults()["evaluation"], root / "rules" / "evaluation.yaml"
    if not path.is_file():
        return Evaluation.model_validate(default)
    source = _source(root, path)
    return _fitting(Evaluation, source, effective("evaluation", default, source.data))


def _source(root: Path, path: Path) -> Source:
    name = path.relative_to(root).as_posix()
    try:
        return read(name, path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read `{name}`: {error.strerror or error}") from None
    except Unreadable as problem:
        raise UsageError(f"{name}:{problem.line}:{problem.column}: {problem.message}", problem.help) from None


def _fitting(model: type[M], source: Source, data: object) -> M:
    record, findings = fitted(model, data, source.path)
    if record is None:
        raise _misfit(source, findings[0])
    return record


def _misfit(source: Source, finding: Finding) -> UsageError:
    line, column = locate(source, finding.at.route, finding.at.on_key)
    return UsageError(f"{source.path}:{line}:{column}: {finding.message}", finding.help)
