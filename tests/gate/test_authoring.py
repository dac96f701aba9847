"""What people get for their tools: a draft, figures of the gate, and recorded calls decided anew."""

import copy
import json
import sys

import pytest

from bylaw.cli import main
from tests.gate.conftest import write
from tests.gate.shop import REFUND, SHOP


@pytest.fixture
def bylaw(monkeypatch, capsys):
    def run(*words):
        monkeypatch.setattr(sys, "argv", ["bylaw", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return run


LISTED = {
    "jsonrpc": "2.0",
    "result": {
        "tools": [
            {
                "name": "fullRefund",
                "description": "Pays back.",
                "inputSchema": {"properties": {"purchase_amount": {}, "customer_id": {}, "note": {}}},
            },
            {"name": "verify", "inputSchema": {"properties": {"customer_id": {}}}},
        ]
    },
}


def test_a_servers_list_becomes_a_draft_that_keeps_what_is_there(bylaw, tmp_path):
    bare = {name: value for name, value in SHOP.items() if name != "tools"}
    root, manifest = write(tmp_path / "root", bare), tmp_path / "tools.json"
    manifest.write_text(json.dumps(LISTED))
    code, out, _ = bylaw("import", "mcp", manifest, "--output", root)
    assert code == 0 and "2 tools written" in out and "`fullRefund` takes `note`" in out
    text = (root / "rules" / "tools.yaml").read_text()
    assert (
        "purchase_amount: {from: argument, name: purchase_amount, unit: USD}" in text
        and "keys: {customer_id: customer_id}" in text
    )
    assert "action: full_refund" in text and "action: verify\n" in text
    LISTED["result"]["tools"].append({"name": "third"})
    manifest.write_text(json.dumps(LISTED))
    bylaw("import", "mcp", manifest, "--output", root)
    assert (root / "rules" / "tools.yaml").read_text() == text + '  "third":\n    action: third\n'
    assert bylaw("import", "mcp", tmp_path / "nothing.json", "--output", root)[0] == 2
    assert bylaw("import", "dbt", manifest)[0] == 2


@pytest.mark.parametrize(
    ("schemas", "drafted"),
    [
        ([{"type": "integer"}], "keys:\n  order_id: {type: integer}\ntools:"),
        ([{"type": "string", "format": "uuid"}], "keys:\n  order_id: {type: uuid}\ntools:"),
        ([{"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"}], 'order_id: {type: text, pattern: "[A-Z]{2}-[0-9]+"}\n'),
        ([{"type": "string", "pattern": "[A-Z]"}], None),
        ([{"type": "string", "pattern": "^(?=A)A$"}], None),
        ([{"type": "string"}], None),
        ([{"type": "integer"}, {"type": "string"}], None),
        (["?"], None),
    ],
)
def test_a_draft_takes_the_type_of_a_key_from_the_schema_that_tells_it(bylaw, tmp_path, schemas, drafted):
    listed = [{"name": f"t{n}", "inputSchema": {"properties": {"order_id": one}}} for n, one in enumerate(schemas)]
    (tmp_path / "tools.json").write_text(json.dumps({"tools": listed}))
    root = write(tmp_path / "root", {name: value for name, value in SHOP.items() if name != "tools"})
    _, out, _ = bylaw("import", "mcp", tmp_path / "tools.json", "--output", root)
    text = (root / "rules" / "tools.yaml").read_text()
    assert drafted in text if drafted else text.startswith("# yaml") and "\nkeys:" not in text
    assert ("nothing says how `order_id` is spelled" in out) is (drafted is None)
    assert "schema" not in {
        one["id"] for one in json.loads(bylaw("check", "--root", root, "--format", "json")[1])["findings"]
    }


def test_the_figures_of_the_gate_and_recorded_calls_under_another_version(bylaw, monkeypatch, tmp_path, bundle_file):
    monkeypatch.chdir(tmp_path)
    asked = ("decide", "--bundle", bundle_file(SHOP), "--session-facts", '{"confirmed": true}', "--session", "s")
    bylaw(*asked, "--tool", "verify", "--facts", '{"customer_id": "c9"}')
    bylaw(*asked, "--tool", "issue_refund", "--arguments", json.dumps({**REFUND, "kind": "credit"}))
    bylaw(*asked, "--tool", "tell")
    bylaw(*asked, "--tool", "trial_refund", "--facts", '{"customer_id": "c8"}')
    _, out, _ = bylaw("stats", "--gate", "--json", "--root", tmp_path)
    found = json.loads(out)["gate"]
    assert found["decisions"] == 4
    assert found["tools"]["issue_refund"] == {"allow": 1} and found["tools"]["tell"] == {"deny": 1}
    assert found["shadow_would_have_stopped"] == {"trial_refund": {"deny": 1}}
    assert found["policies"]["POL-PRIVACY-001"] == {"deny": 1}
    assert "issue_refund: 1 allow" in bylaw("stats", "--gate", "--root", tmp_path)[1]
    head = copy.deepcopy(SHOP)
    head["policies"]["POL-REFUND-001"]["when"][0]["value"] = 2
    base, head = write(tmp_path / "base", SHOP), write(tmp_path / "head", head)
    _, out, _ = bylaw("diff", base, head, "--json", "--audit", f"sqlite:///{tmp_path / '.bylaw' / 'store.db'}")
    told = json.loads(out)["recorded"]
    assert (told["answers"], told["different"]) == (4, 1)
    assert (told["kinds"][0]["call"], told["kinds"][0]["before"], told["kinds"][0]["after"]) == (
        "store_credit",
        "allow",
        "deny",
    )
