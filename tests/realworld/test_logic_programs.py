"""Logic programs that others wrote, with the verdict that each should get."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from bylaw.refine.feedback import check
from bylaw.refine.program import Ontology, read_program
from bylaw.refine.theory import ground
from tests.beside import beside

FOLDER = beside("realworld", "logic_programs")


def programs() -> list[dict[str, Any]]:
    found = [one for name in ("programs", "cases") for one in json.loads((FOLDER / f"{name}.json").read_text("utf-8"))]
    return [one for one in found if "logic_program" in one]


def test_each_status_core_and_premise_is_as_listed() -> None:
    found = {}
    for one in programs():
        reading = read_program(one["logic_program"])
        told = check(ground(reading), reading.notes).document()
        found[one.get("name") or one["id"]] = {key: told[key] for key in ("status", "core", "missing")}
    assert len(found) == 9
    assert found == {one.get("name") or one["id"]: one["expected_verdict"] for one in programs()}


def test_the_ontology_is_read_as_it_is() -> None:
    from bylaw.authoring import read

    ontology = Ontology.model_validate(read((FOLDER / "legal_it_v1.yaml").read_text("utf-8")))
    assert len(ontology.predicates) > 50
    for one in programs():
        if one.get("ontology"):
            reading = read_program(one["logic_program"], ontology)
            assert check(ground(reading)).document()["status"] == one["expected_verdict"]["status"]


def test_the_command_runs_them_unchanged(tmp_path: Path) -> None:
    shutil.copy(FOLDER / "programs.json", tmp_path)
    command = [sys.executable, "-m", "bylaw.cli", "formalize", "programs.json", "--json", "--root", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert told["alarm"] is None
    expected = {one["name"]: one["expected_verdict"] for one in programs() if "name" in one}
    assert {name: run["final_feedback"]["status"] for name, run in told["runs"].items()} == {
        name: verdict["status"] for name, verdict in expected.items()
    }
