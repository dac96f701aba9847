"""What people get for their tools: a draft, figures of the gate, and recorded calls decided anew."""

import copy
import json
import sys

import pytest
import yaml

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
    code, _, error = bylaw("import", manifest, "--output", root)
    assert code == 2 and f"bylaw import mcp {manifest}" in error


@pytest.mark.parametrize("made", ["schemas", "bylaw/schemas", None])
def test_the_first_line_of_a_draft_leads_to_the_schema_in_its_repository(bylaw, tmp_path, made):
    root, manifest = tmp_path / "root", tmp_path / "tools.json"
    (root / "policies").mkdir(parents=True)
    if made is not None:
        assert bylaw("schema", "-o", root / made)[0] == 0
    manifest.write_text(json.dumps(LISTED))
    assert bylaw("import", "mcp", manifest, "--output", root)[0] == 0
    for path in ("rules/tools.yaml", "policies/tools/vocabulary.yaml"):
        first = (root / path).read_text().splitlines()[0].removeprefix("# yaml-language-server: $schema=")
        assert ((root / path).parent / first).is_file()
        assert (root / path).parent.joinpath(first).resolve().parent == root / (made or "schemas")


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


PAGE = {
    "nextCursor": "page-2",
    "tools": [
        {"name": "pay-out", "inputSchema": {"properties": {"amount": {"type": "number", "minimum": 0}}}},
        {"name": "pay_out", "inputSchema": {"properties": {"amount": {"type": "number", "minimum": 0}}}},
        {"name": "pay_out", "inputSchema": {"properties": {"other": {"type": "boolean"}}}},
        {
            "name": "look-up",
            "annotations": {"readOnlyHint": True},
            "inputSchema": {
                "properties": {
                    "in-stock": {"type": "boolean"},
                    "size": {"type": "string", "enum": ["small", "large"]},
                    "day": {"type": "string", "format": "date"},
                    "amount": {"type": "string"},
                    "words": {"type": "string"},
                    "within_window": {"type": "boolean"},
                    "order_id": {"type": "integer"},
                }
            },
        },
        {
            "name": "9 lives!",
            "description": 'say "no": or # not',
            "inputSchema": {"properties": {"true": {"type": "boolean"}}},
        },
        {"name": "ünïcode", "inputSchema": "?"},
        {"name": "null"},
        {"name": "a\nb"},
        {"title": "no name"},
        7,
    ],
}


def imported(bylaw, tmp_path, page):
    (tmp_path / "tools.json").write_text(json.dumps(page))
    root = tmp_path / "root"
    if not root.is_dir():
        write(root, {name: value for name, value in SHOP.items() if name != "tools"})
    return root, bylaw("import", "mcp", tmp_path / "tools.json", "--output", root)[1]


def test_a_page_of_odd_tools_is_drafted_whole_and_checks_clean(bylaw, tmp_path):
    root, out = imported(bylaw, tmp_path, PAGE)
    drafted = yaml.safe_load((root / "rules" / "tools.yaml").read_text())["tools"]
    assert {name: one["action"] for name, one in drafted.items()} == {
        "pay-out": "pay_out",
        "pay_out": "pay_out_2",
        "look-up": "look_up",
        "9 lives!": "call_9_lives",
        "ünïcode": "n_code",
        "null": "null",
    }
    assert "`pay-out` and `pay_out` would both be `pay_out`" in out
    assert "`pay_out` is listed twice" in out and "the list goes on (`nextCursor`)" in out
    assert "tool 8 of the list has no name" in out and "tool 10 of the list has no name" in out
    found = json.loads(bylaw("check", "--root", root, "--format", "json")[1])["findings"]
    assert [one["message"] for one in found if one["path"] in ("rules/tools.yaml", "policies/tools/vocabulary.yaml")
            and one["severity"] == "error"] == []  # fmt: skip


def test_arguments_are_proposed_as_facts_and_bound(bylaw, tmp_path):
    root, out = imported(bylaw, tmp_path, PAGE)
    words = yaml.safe_load((root / "policies" / "tools" / "vocabulary.yaml").read_text())
    assert words["facts"] == {
        "amount": {"type": "decimal", "minimum": 0},
        "in_stock": {"type": "boolean"},
        "day": {"type": "date"},
        "size": {"type": "enum", "values": {"small": [], "large": []}},
        "true": {"type": "boolean"},
    }
    look = yaml.safe_load((root / "rules" / "tools.yaml").read_text())["tools"]["look-up"]
    assert look["facts"]["in_stock"] == {"from": "argument", "name": "in-stock"}
    assert look["keys"] == {"order_id": "order_id"}
    for name in ("amount", "words", "within_window"):
        assert f"`look-up` takes `{name}`, which is bound to no fact" in out


def test_what_only_reads_is_told_from_what_may_change_something(bylaw, tmp_path):
    root, out = imported(bylaw, tmp_path, PAGE)
    assert "`look-up` means `look_up`, which only reads, says the server" in out
    assert "`pay-out` means `pay_out`, which may change something" in out
    text = (root / "rules" / "tools.yaml").read_text()
    assert '  # the server says that it only reads (readOnlyHint)\n  "look-up":' in text


def test_the_next_page_is_added_and_an_edited_vocabulary_is_left_alone(bylaw, tmp_path):
    root, _ = imported(bylaw, tmp_path, PAGE)
    words = root / "policies" / "tools" / "vocabulary.yaml"
    _, out = imported(bylaw, tmp_path, {"tools": [{"name": "second"}], "nextCursor": "page-3"})
    assert "no longer lists" not in out
    assert {"pay_out", "second"} <= set(yaml.safe_load(words.read_text())["actions"])
    words.write_text(words.read_text() + "# mine\n")
    _, out = imported(bylaw, tmp_path, {"tools": [{"name": "third"}]})
    assert "declare `third: " in out and "the server no longer lists `second`" in out
    assert words.read_text().endswith("# mine\n") and "third" not in words.read_text()


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
