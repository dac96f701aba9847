"""What people get wrong: each mistake leads with one finding, which says the line, the reason and the next step.

The repository that they are made in is a clinic, written from the handbook alone.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

CLINIC = Path(__file__).resolve().parents[1] / "examples" / "clinic"
ROWS = yaml.safe_load(Path(__file__).with_name("mistakes.yaml").read_text(encoding="utf-8"))
LEADING = re.compile(r"\A(?:error|warning)\[([a-z-]+)\]: (.*)\n  --> (.*):(\d+):\d+\n(?:.*\n)*?  help: (.*)\n")


def test_there_are_many_and_no_two_are_alike() -> None:
    assert len({(row["file"], row["from"], row["to"]) for row in ROWS}) == len(ROWS) >= 60


@pytest.mark.parametrize("row", ROWS, ids=[row["title"] for row in ROWS])
def test_a_mistake_leads_with_its_line_its_reason_and_the_next_step(row: dict[str, Any], tmp_path: Path, call) -> None:
    root = tmp_path / "clinic"
    shutil.copytree(CLINIC, root)
    path = root / row["file"]
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    assert row["from"] in text
    path.write_text(row["to"] if row["from"] == "" else text.replace(row["from"], row["to"], 1), encoding="utf-8")
    done = call("check", "--root", root, "--at", "2026-11-24", "--no-cache")
    found = LEADING.match(done.out.partition("\n\n")[0] + "\n")
    assert found is not None, done.out
    assert (found[1], f"{found[3]}:{found[4]}") == (row["id"], row["at"])
    assert row["says"] in found[2] and row["help"] in found[5]


def test_two_words_that_only_look_alike_are_told_apart_by_their_code_points(tmp_path: Path, call) -> None:
    """An editor of one system writes é as one character, that of another as two."""
    root = tmp_path / "clinic"
    shutil.copytree(CLINIC, root)
    words, policy = root / "policies/vocabulary.yaml", root / "policies/records/POL-RECORDS-001.yaml"
    whole, apart = "b\u00e9b\u00e9", "b\u00e9be\u0301"
    words.write_text(words.read_text("utf-8").replace("patient: [],", f"patient: [], {whole}: [],"), "utf-8")
    policy.write_text(policy.read_text("utf-8").replace("value: patient", f"value: {apart}"), "utf-8")
    done = call("check", "--root", root, "--at", "2026-11-24", "--no-cache")
    told = f"did you mean `{whole}`? The two only look alike: here U+0065 U+0301, declared U+00E9; copy the declared"
    assert told in done.out


def test_one_value_may_stand_where_a_list_does(tmp_path: Path, call) -> None:
    root = tmp_path / "clinic"
    shutil.copytree(CLINIC, root)
    policy = root / "policies/records/POL-RECORDS-001.yaml"
    written = policy.read_text("utf-8").replace("requester, value: patient", "requester, operator: in, value: patient")
    policy.write_text(written, "utf-8")
    assert call("check", "--root", root, "--at", "2026-11-24", "--no-cache").code == 0


def test_the_clinic_is_clean_and_its_cases_show_everything(call) -> None:
    assert call("check", "--root", CLINIC, "--at", "2026-11-24", "--no-cache").code == 0
    assert "100 %" in call("cases", "--root", CLINIC, "--at", "2026-11-24").out.strip().splitlines()[-1]


@pytest.mark.slow
def test_every_small_wrong_edit_of_the_clinic_is_noticed(call) -> None:
    done = call("cases", "--mutants", "--root", CLINIC, "--at", "2026-11-24")
    assert done.code == 0 and "noticed by no case" not in done.out
