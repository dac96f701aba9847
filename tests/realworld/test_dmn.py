"""The official test kit of DMN: every case that can be taken is decided exactly as the kit says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import parse

from ci.importers.tables.imported import Imported, Options, imported
from ci.importers.tables.model import TablesRefused
from tests.beside import beside
from tests.conftest import Command

KIT = beside("realworld", "dmn")

TAKEN = (
    "0004-simpletable-U",
    "0006-simpletable-P1",
    "0010-multi-output-U",
    "0017-tableTests",
    "0108-first-hitpolicy",
    "0117-multi-any-hitpolicy",
)
REFUSED = {
    "0020-vacation-days": {
        "Total Vacation Days": "it is a literal expression",
        "Extra days case 1": "COLLECT MAX",
        "Extra days case 2": "COLLECT MAX",
        "Extra days case 3": "COLLECT MAX",
        "Base Vacation Days": "it is a literal expression",
    },
    "0114-min-collect-hitpolicy": {"CarInsurance": "COLLECT MIN"},
}


def local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def below(element: Element, name: str) -> list[Element]:
    return [child for child in element if local(child) == name]


def leaves(element: Element, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """The values under a node: their path by name, their XSD type and their text."""
    for value in below(element, "value"):
        kind = next((text for key, text in value.attrib.items() if key.endswith("}type")), "xsd:string")
        yield path, kind.rpartition(":")[2], value.text or ""
    for component in below(element, "component"):
        yield from leaves(component, (*path, component.attrib["name"]))


def value(kind: str, text: str) -> Any:
    return text == "true" if kind == "boolean" else Decimal(text) if kind in ("decimal", "double", "integer") else text


def decided(bylaw: Command, root: Path, facts: Mapping[str, Any]) -> Mapping[str, Any]:
    done = bylaw("decide", "--facts", json.dumps(facts, default=float), "--root", root, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)["outcomes"]


def go_live(root: Path) -> None:
    """What a review does in the end: the line `draft: true` is taken out."""
    for path in (root / "policies").rglob("POL-*.yaml"):
        path.write_text(path.read_text(encoding="utf-8").replace("draft: true\n", ""), encoding="utf-8")


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Imported]]:
    made = {}
    for name in TAKEN:
        root = tmp_path_factory.mktemp(name)
        found = imported(KIT / name / f"{name}.dmn", root, Options(domain="kit"))
        found.plan.write()
        go_live(root)
        made[name] = root, found
    return made


@pytest.mark.parametrize("name", TAKEN)
def test_every_test_of_the_kit_is_decided_as_it_says(
    name: str, roots: dict[str, tuple[Path, Imported]], call: Command
) -> None:
    root, found = roots[name]
    facts = found.words.facts
    count = 0
    for test in below(parse(next((KIT / name).glob("*-test-*.xml"))).getroot(), "testCase"):
        given = [leaf for node in below(test, "inputNode") for leaf in leaves(node, (node.attrib["name"],))]
        case = {facts[".".join(path)].name: value(kind, text) for path, kind, text in given if ".".join(path) in facts}
        outcomes = decided(call, root, case)
        for node in below(test, "resultNode"):
            for path, kind, text in leaves(below(node, "expected")[0], ()):
                table = next(t for t in found.source.tables if t.name == node.attrib["name"])
                i = next(i for i, one in enumerate(table.outputs) if not path or one.name == path[0])
                outcome = found.words.outcomes[table.name, i]
                expected = str(value(kind, text)).lower() if kind == "boolean" else text
                assert outcomes[outcome.name]["action"] == outcome.actions[expected], (test.attrib, path)
                count += 1
    assert count >= 3


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_written_checks_without_an_error(
    name: str, roots: dict[str, tuple[Path, Imported]], call: Command
) -> None:
    done = call("check", "--root", roots[name][0], "--format", "json")
    found = json.loads(done.out)["findings"]
    assert done.code == 0 and [one["message"] for one in found if one["severity"] == "error"] == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_policy_says_is_refused_by_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(TablesRefused) as problem:
        imported(KIT / name / f"{name}.dmn", tmp_path, Options())
    told = {re.findall("`(.*)`", one.where)[0]: one.why for one in problem.value.refusals}
    assert told.keys() == REFUSED[name].keys()
    assert all(why in told[decision] for decision, why in REFUSED[name].items())
    assert list(tmp_path.iterdir()) == []


def test_no_case_of_the_kit_is_overlooked() -> None:
    assert {path.name for path in KIT.iterdir() if path.is_dir()} == {*TAKEN, *REFUSED}
