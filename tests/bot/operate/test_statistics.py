"""What `bylaw stats` makes of the store."""

import json
from pathlib import Path

from click.testing import CliRunner

from bylaw.cli import bylaw, load_verb

COMPANY = Path(__file__).parents[2] / "company"


def run(*args: str) -> tuple[int, str]:
    done = CliRunner().invoke(bylaw, list(args), standalone_mode=False)
    return (done.exception and 1) or 0, done.stdout


def test_what_nobody_covers_is_listed_with_how_often_and_whom_to_ask(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    bundle = str(tmp_path / "out" / "compiled_policy_bundle.json")
    CliRunner().invoke(load_verb("compile"), ["--root", str(COMPANY), "-o", str(tmp_path / "out")])
    for text in (
        "Who may sign contracts?",
        "Is there a loyalty programme?",
        "who may sign contracts",
        "Must we check the brakes?",
    ):
        run("ask", text, "--bundle", bundle, "--json")
    told = json.loads(run("stats", "--uncovered", "--json")[1])["uncovered"]
    assert told["questions"] == 3
    first, second = told["missing"]
    assert (first["words"], first["count"], second["count"]) == (["contract", "sign"], 2, 1)
    assert first["owners"]
    shown = run("stats")[1]
    assert "4 questions" in shown
    assert "“Who may sign contracts?”" in shown


def test_an_offer_that_was_picked_is_no_missing_policy(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    bundle = str(tmp_path / "out" / "compiled_policy_bundle.json")
    CliRunner().invoke(load_verb("compile"), ["--root", str(COMPANY), "-o", str(tmp_path / "out")])
    for reply in ("1", "something else", None):
        told = json.loads(run("ask", "Is there a fee for singing?", "--bundle", bundle, "--json")[1])
        assert told["status"] == "needs_choice"
        if reply is not None:
            run("ask", reply, "--session", told["session_id"], "--bundle", bundle, "--json")
    assert json.loads(run("stats", "--uncovered", "--json")[1])["uncovered"]["questions"] == 2


def test_nothing_is_missing_where_nothing_was_asked(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed, said = run("stats", "--uncovered")
    assert failed
    assert not said
