"""A retail policy set that nobody here wrote: it checks without an error, compiles, and all its cases hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.beside import beside

RETAIL = beside("realworld", "policies", "retail")
DAY = "2026-06-01"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory, call: Callable[..., Any]) -> Path:
    out = tmp_path_factory.mktemp("retail")
    done = call("compile", "--root", RETAIL, "-o", out, "--at", DAY)
    assert (done.code, done.out) == (0, ""), done.err
    return out / "compiled_policy_bundle.json"


def cases() -> list[dict[str, Any]]:
    files = sorted(RETAIL.glob("policies/*/cases.yaml"))
    return [case for path in files for case in yaml.safe_load(path.read_text(encoding="utf-8"))]


def test_it_checks_without_an_error(call: Callable[..., Any]) -> None:
    done = call("check", "--root", RETAIL, "--format", "json", "--at", DAY)
    assert (done.code, done.err) == (0, "")
    assert done.json["summary"]["errors"] == 0


def test_nothing_of_it_is_left_out_of_the_bundle(bundle: Path) -> None:
    document = json.loads(bundle.read_text(encoding="utf-8"))
    assert len(document["policies"]) == sum(1 for _ in RETAIL.glob("policies/*/POL-*.yaml"))
    states = {policy["processing_status"]["formalization"] for policy in document["policies"].values()}
    assert states == {"complete"}


def test_every_case_holds_on_the_bundle(bundle: Path, call: Callable[..., Any]) -> None:
    """Asked as people ask, from the compiled bundle and not from the YAML."""
    wrong = []
    for case in cases():
        facts = json.dumps(case["facts"], default=str)
        done = call("decide", "--bundle", bundle, "--facts", facts, "--json", "--at", str(case.get("at", DAY)))
        assert (done.code, done.err) == (0, ""), case["name"]
        for key, expected in case["expect"].items():
            found = done.json[key] if key in ("required", "prohibited", "permitted") else done.json["outcomes"][key]
            told = sorted(found) if isinstance(found, list) else found["action"]
            if told != (sorted(expected) if isinstance(expected, list) else expected):
                wrong.append(f"{case['name']}: {key} is {told}, not {expected}")
    assert len(cases()) > 50
    assert wrong == []
