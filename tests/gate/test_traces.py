"""Worked examples of rules over time, each a file: its words, its policies, and calls with what the gate must say."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bylaw.gate.decision_point import MemoryDecisionPoint, NothingOpen, call_of
from bylaw.gate.engine import Gate
from ci.loading.source import read

FOLDER = Path(__file__).with_name("traces")
DAY = datetime(2026, 11, 20, tzinfo=UTC)


def trace(path):
    return read(path.name, path.read_bytes()).data


def repository(data):
    vocabulary = {name: data[name] for name in ("facts", "actions", "outcomes") if name in data}
    return {"vocabulary": vocabulary, "policies": data["policies"], "tools": data.get("tools", {})}


def moment(step):
    hour, *rest = str(step["at"]).split(":")
    minute, second = (*rest, "0")[:2]
    passed = timedelta(days=step.get("days", 0), hours=int(hour), minutes=int(minute))
    whole, _, fraction = second.partition(".")
    return DAY + passed + timedelta(seconds=int(whole), microseconds=int((fraction or "0").ljust(6, "0")))


def play(point, steps):
    """Every step asked of *point*; what ends a step is told at once unless it says `later`."""
    known = {}
    for n, step in enumerate(steps):
        where = f"step {n + 1}: {step}"
        if "end" in step:
            if step.get("refused"):
                with pytest.raises(NothingOpen):
                    point.ended(known.get(step["end"], step["end"]), step["ok"])
            else:
                point.ended(known[step["end"]], step["ok"])
            continue
        given = {
            name: step[name] for name in ("action", "tool", "arguments", "keys", "session", "actor") if name in step
        }
        answer = point.decide(call_of(**given, at=moment(step)))
        assert answer.decision == step["expect"], f"{where}\n{answer.as_json()}"
        assert answer.is_pending is step.get("pending", False), where
        if "missing" in step:
            assert list(answer.missing) == step["missing"], where
        known[step.get("id", n)] = answer.decision_id
        if answer.is_allowed and step.get("ok", True) != "later":
            point.ended(answer.decision_id, step.get("ok", True))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_trace_is_decided_step_by_step(path, bundle):
    data = trace(path)
    gate = Gate(bundle(repository(data)))
    play(MemoryDecisionPoint(lambda: gate), data["steps"])
