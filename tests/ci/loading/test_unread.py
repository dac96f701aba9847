"""Files of context/ that cannot be read: what is left out stops nothing, what touches numbers is never left out."""

import json
from pathlib import Path

import pytest

DECISION = "context/decisions/decisions/return-window-30-days-2025.yaml"
ENTITY, METRIC = "context/entities/orders.yaml", "context/metrics/revenue.yaml"
DECIDED = ("decide", "--facts", '{"days_since_purchase": 12, "has_receipt": true}', "--json")
LEFT_OUT = {
    DECISION: "id: return-window-30-days-2025\noption: thirty days\n",  # no rationale
    "context/glossary/sale.yaml": "term: sale\nmean: [\n",
    "context/guides/sales.yaml": "- 1\n",
    "context/verified_queries/top.yaml": "name: top\n",
}


@pytest.fixture
def root(tmp_path: Path, call) -> Path:
    assert call("init", tmp_path / "r").code == 0
    return tmp_path / "r"


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def unread(root: Path) -> list[dict[str, object]]:
    document = json.loads((root / ".bylaw" / "compiled_policy_bundle.json").read_text())
    found: list[dict[str, object]] = document["bundle_metadata"].get("unread", [])
    return found


@pytest.mark.parametrize("path", LEFT_OUT)
def test_what_is_left_out_stops_nothing_and_is_told(path, root, call):
    before = call(*DECIDED, "--root", root)
    write(root, path, LEFT_OUT[path])
    assert call("check", "--root", root).code == 1
    done = call(*DECIDED, "--root", root)
    assert (done.code, done.json) == (0, before.json)
    assert path in done.err and "left out" in done.err
    assert [(one["path"], one["touches"]) for one in unread(root)] == [(path, [])]
    compiled = call("compile", "--root", root, "-o", root.parent / "out")
    assert (root.parent / "out" / "compiled_policy_bundle.json").exists() and path in compiled.err
    asked = call("ask", "--root", root, "how many orders last month?")
    assert "COUNT(*)" in asked.out


def test_a_number_is_not_given_without_a_trap_of_its_table(root, call):
    write(
        root,
        "context/gotchas/tests.yaml",
        "id: test-orders\ntrap: test orders count\napplies_to: [orders]\nfilter: x\n",
    )
    asked = call("ask", "--root", root, "how many orders last month?")
    assert "SELECT" not in asked.out and "cannot be read" in asked.out and "context/gotchas/tests.yaml:4" in asked.out
    assert call(*DECIDED, "--root", root).code == 0
    stopped = call("compile", "--root", root, "-o", root.parent / "out")
    assert stopped.code == 1 and not (root.parent / "out").exists()


def test_a_trap_of_which_nothing_can_be_read_may_be_of_any_table(root, call):
    write(root, "context/gotchas/tests.yaml", "id: [\n")
    assert "SELECT" not in call("ask", "--root", root, "how many orders last month?").out
    assert unread(root)[0]["touches"] is None


@pytest.mark.parametrize(
    ("path", "question"), [(METRIC, "revenue last month?"), (ENTITY, "how many orders last month?")]
)
def test_what_is_not_there_is_not_answered_about(path, question, root, call):
    write(root, path, (root / path).read_text() + "colour: blue\n")
    asked = call("ask", "--root", root, question)
    assert "SELECT" not in asked.out and f"{path}:" in asked.out and "cannot be read" in asked.out


def test_a_key_twice_is_an_entity_that_is_not_all_there(root, call):
    write(root, ENTITY, (root / ENTITY).read_text() + "description: other rows\n")
    assert "SELECT" not in call("ask", "--root", root, "how many orders last month?").out


def test_a_folder_that_is_misspelt_may_hold_anything(root, call):
    write(root, "context/gotcha/tests.yaml", "id: x\n")
    assert "SELECT" not in call("ask", "--root", root, "how many orders last month?").out


@pytest.mark.parametrize("path", ["rules/roles.yaml", "context/calendar.yaml", "context/lookups/one.yaml"])
def test_without_its_rules_nothing_is_compiled(path, root, call):
    write(root, path, "roles: [\n")
    done = call(*DECIDED, "--root", root)
    assert done.code == 2 and path in done.json["error"]["message"]
