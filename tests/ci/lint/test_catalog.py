"""Each way in which a catalogue can be unsound is told, at its line; a sound one is left in peace."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
import yaml

from ci.lint.catalog import catalog
from ci.loading.load import load
from tests.rows import each

DOCUMENT = yaml.safe_load(Path(__file__).with_name("catalog.yaml").read_text(encoding="utf-8"))
ROOT = Path(__file__).parents[3]


@each("row", DOCUMENT["rows"], ids=lambda row: row["title"])
def test_the_catalogue_is_told_what_is_wrong(row, workspace_of, told):
    files = dict(DOCUMENT["base"])
    for path, (old, new) in row["change"].items():
        assert old in files[path], "the row changes nothing"
        files[path] = files[path].replace(old, new)
    workspace = workspace_of(files)
    assert [finding.message for finding in workspace.findings] == []
    assert told(workspace, catalog(workspace)) == row["told"]


@pytest.mark.parametrize("root", [ROOT, ROOT / "ci" / "template"], ids=["this repository", "the template"])
def test_our_own_catalogue_is_sound(root):
    workspace = load(root, today=date(2026, 11, 20))
    assert [finding.message for finding in catalog(workspace)] == []


def test_every_kind_of_finding_is_one_of_the_contract():
    from ci.findings import SEVERITIES

    assert {told["id"] for row in DOCUMENT["rows"] for told in row["told"]} <= set(SEVERITIES)


def test_an_empty_catalogue_has_no_findings(workspace_of):
    assert list(catalog(workspace_of({"context/calendar.yaml": "week_start: monday\n"}))) == []
