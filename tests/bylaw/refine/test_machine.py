"""When the loop stops, row by row, and what it makes of the history."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import yaml

from bylaw.refine.history import MOST_CHARACTERS, digest
from bylaw.refine.ledger import Judged, add_to_ledger, is_off, read_ledger, tallies
from bylaw.refine.machine import Limits, Mark, best, next_move, oscillations
from bylaw.refine.outcome import ALARM, alarm
from bylaw.refine.proposers import Attempt
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("machine.yaml").read_text(encoding="utf-8"))


def mark(said: dict[str, Any]) -> Mark:
    return Mark(**said)


@each("row", ROWS)
def test_what_follows(row: dict[str, Any]) -> None:
    history = [mark(one) for one in row["history"]]
    assert next_move(history, Limits(**row.get("limits", {}))) == row["move"]
    assert best(history) == row.get("best", 0)
    assert oscillations(history) == row.get("oscillations", 0)


def test_every_stop_has_a_row() -> None:
    assert {row["move"] for row in ROWS} == {
        "refine",
        "entailed",
        "refuted",
        "no_improvement",
        "regression",
        "oscillation",
        "max_iterations",
        "budget",
        "refused",
        "no_proposal",
    }


def test_no_history_is_endless() -> None:
    rng = random.Random(1)
    for _ in range(500):
        limits = Limits(rng.randrange(4), rng.choice(["fail_fast", "auto_retry", "fallback_to_v1"]))
        history = [Mark("0")]
        while next_move(history, limits) == "refine":
            kind = rng.random()
            history.append(
                Mark(is_refused=True)
                if kind < 0.3
                else Mark(str(rng.randrange(9)), missing_links=rng.randrange(5), fidelity=rng.choice([0.5, 1.0]))
            )
            assert len(history) <= limits.max_iterations + 3
        assert history[best(history)].key >= history[0].key


def test_a_long_history_is_told_within_its_bound() -> None:
    refused = Attempt(Mark(is_refused=True), None, problems=("no " * 1_000,) * 9)
    assert len(digest([refused] * 1_000)) <= MOST_CHARACTERS
    assert digest([refused] * 1_000).splitlines()[-1].startswith("999: refused")


def test_a_proposer_that_does_harm_is_asked_no_more(tmp_path: Path) -> None:
    for number in range(50):
        add_to_ledger(tmp_path, Judged("large", "3.1", corrected=number % 3 == 0, introduced=number % 2))
        add_to_ledger(tmp_path, Judged("small", "3.1", corrected=1, introduced=0))
        assert is_off(read_ledger(tmp_path), "large", "3.1", 50) is (number == 49)
    assert not is_off(read_ledger(tmp_path), "small", "3.1", 50)
    assert not is_off(read_ledger(tmp_path), "large", "3.2", 50)
    assert [(one.proposer, one.runs, one.corrected, one.introduced) for one in tallies(read_ledger(tmp_path))] == [
        ("large", 50, 17, 25),
        ("small", 50, 50, 0),
    ]


def test_a_ledger_that_somebody_spoilt_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    add_to_ledger(tmp_path, Judged("a", "1", 1, 0))
    path = tmp_path / ".bylaw" / "refine" / "ledger.jsonl"
    path.write_text(path.read_text() + '{"proposer": "a"\n[1]\n', encoding="utf-8")
    assert len([*read_ledger(tmp_path)]) == 1


def test_a_batch_that_never_decides_anything_is_an_alarm() -> None:
    open_ = ["consistent_no_entailment", "inconsistent"]
    assert alarm([open_, open_]) == ALARM
    assert alarm([open_, ["consistent_no_entailment", "consistent_entails"]]) is None
    assert alarm([]) is None
