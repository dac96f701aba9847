"""The table of measures, and one survey of a repository: read only, bounded, whatever the warehouse does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from bylaw.errors import UsageError
from bylaw.warehouses.port import WarehouseError
from bylaw.warehouses.registry import open_warehouse
from ci.findings import Finding, Place
from ci.loading.load import Workspace
from ci.measured import columns, confirmations, keys, recorded, values
from ci.measured.survey import Gone, Survey

MEASURES: tuple[Callable[[Survey], Iterator[Finding]], ...] = (
    columns.tables,  # first: the others look at the tables that are there
    columns.columns,
    columns.types,
    columns.personal,
    keys.keys,
    keys.joins,
    values.enums,
    values.filters,
    values.freshness,
    recorded.drift,
    confirmations.confirmations,
)


@dataclass(frozen=True, slots=True)
class Measured:
    """What the rows say, and the names of the entities whose columns were written down."""

    findings: tuple[Finding, ...]
    recorded: tuple[str, ...] = ()


def measure(workspace: Workspace, url: str, at: date, record: bool = False) -> Measured:
    """What the rows at *url* say about the context. *record*: also write down the columns that are there.

    What is written down is what is there, whatever else is found: a broken key is no reason not to know the columns.

    A warehouse that cannot be reached, or goes away, is one finding. Raises UsageError for an address nobody serves.
    """
    seconds = workspace.rules.ci.warehouse.seconds
    found: list[Finding] = []
    written: tuple[str, ...] = ()
    try:
        warehouse = open_warehouse(url, statement_seconds=seconds)
    except UsageError:
        raise
    except WarehouseError as problem:
        return Measured((_lost(workspace, problem.lasting),))
    survey = Survey(workspace, warehouse, at)
    try:
        for one in MEASURES:
            found.extend(one(survey))
        if record:
            written = recorded.write(survey, workspace.root)
            found = [finding for finding in found if finding.id != "schema-drift"]
    except Gone as problem:
        found.append(_lost(workspace, str(problem)))
    except WarehouseError as problem:
        found.append(_lost(workspace, problem.lasting))
    finally:
        warehouse.close()
    return Measured(tuple(_placed(finding, workspace) for finding in found), written)


def _lost(workspace: Workspace, why: str) -> Finding:
    first = min(workspace.context.entities, default=None)
    path = workspace.context.paths.get(f"entities/{first}", "context") if first is not None else "context"
    place = Place(path, ("base_table",)) if first is not None else Place(path, line=1, column=1)
    return Finding("unmeasured", f"the warehouse does not answer, so the rest was not measured: {why}", place)


def _placed(finding: Finding, workspace: Workspace) -> Finding:
    """With its line: of a large repository the text is not at hand when it is told."""
    line, column = workspace.position(finding.at)
    return replace(finding, at=replace(finding.at, line=line, column=column))
