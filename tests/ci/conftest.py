"""A small repository on the disk, made of the files that a row names."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ci.findings import Finding
from ci.loading.load import Workspace, load

AT = date(2026, 6, 15)


def write_files(root: Path, files: Mapping[str, str | bytes | None]) -> Path:
    """Write *files* under *root*; None means: no such file."""
    for name, text in files.items():
        if text is None:
            continue
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


@pytest.fixture
def workspace_of(tmp_path: Path) -> Callable[..., Workspace]:
    """Loads a repository made of the given files, for the day AT."""

    def load_files(*layers: Mapping[str, str | bytes | None]) -> Workspace:
        files: dict[str, str | bytes | None] = {}
        for layer in layers:
            files.update(layer)
        return load(write_files(tmp_path, files), at=AT)

    return load_files


@pytest.fixture
def told() -> Callable[[Workspace, Iterable[Finding]], list[dict[str, Any]]]:
    """Findings as rows write them: id, `path:line:column`, message, and what else there is."""

    def rows(workspace: Workspace, findings: Iterable[Finding]) -> list[dict[str, Any]]:
        found = []
        for finding in findings:
            line, column = workspace.position(finding.at)
            row: dict[str, Any] = {
                "id": finding.id,
                "at": f"{finding.at.path}:{line}:{column}",
                "says": finding.message,
            }
            if finding.help:
                row["help"] = finding.help
            if finding.related:
                row["related"] = [
                    "{}:{}:{}".format(place.path, *workspace.position(place)) for place, _ in finding.related
                ]
            found.append(row)
        return found

    return rows
