"""`bylaw check --warehouse`: the same findings in every format, with waivers, a base and exit codes like all others."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

DOCUMENT = yaml.safe_load(Path(__file__).with_name("measures.yaml").read_text(encoding="utf-8"))
DAY = ("--at", "2026-06-15")
BROKEN = "(2, 'US', NULL), (2, 'EU', NULL)"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """The shop with a customer that comes twice: an error on two lines."""
    root = tmp_path / "shop"
    for name, text in DOCUMENT["base"].items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    sql = DOCUMENT["data"].replace("(2, 'US', NULL)", BROKEN)
    duckdb.connect(str(tmp_path / "rows.duckdb")).execute(sql).close()
    return root


@pytest.fixture
def checked(shop: Path, call: Callable[..., Any]) -> Callable[..., Any]:
    def check(*words: object) -> Any:
        return call("check", "--root", shop, "--warehouse", f"duckdb://{shop.parent}/rows.duckdb", *DAY, *words)

    return check


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


def test_text_shows_the_line(checked: Callable[..., Any]) -> None:
    done = checked()
    assert done.code == 1
    assert "--> context/entities/orders.yaml:17:24\n  17 |     relationship_type: many_to_one" in done.out
    assert "declared many_to_one; up to 2 rows per `customer_id`: `order_count` would be ×1.3" in done.out
    assert done.out.endswith("5 files: 2 errors\n")


def test_json_holds_the_factor(checked: Callable[..., Any]) -> None:
    done = checked("--format", "json")
    found = {finding["id"]: finding for finding in done.json["findings"]}
    assert set(found) == {"relationship-cardinality", "key-violated"}
    assert (found["key-violated"]["path"], found["key-violated"]["line"]) == ("context/entities/customers.yaml", 3)


@pytest.mark.parametrize(
    ("format_", "part"),
    [
        ("github", "::error file=context/entities/orders.yaml,line=17,col=24,title=relationship-cardinality::declared"),
        ("sarif", '"ruleId": "relationship-cardinality"'),
    ],
)
def test_every_format_tells_it(format_: str, part: str, checked: Callable[..., Any]) -> None:
    done = checked("--format", format_)
    assert done.code == 1
    assert part in (json.dumps(json.loads(done.out)) if format_ == "sarif" else done.out)


def test_a_severity_of_the_rules_holds(checked: Callable[..., Any], shop: Path) -> None:
    (shop / "rules").mkdir()
    rules = 'severities: {relationship-cardinality: warning, key-violated: "off"}\n'
    (shop / "rules" / "ci.yaml").write_text(rules, encoding="utf-8")
    done = checked("--format", "json")
    assert done.code == 0
    assert [(finding["id"], finding["severity"]) for finding in done.json["findings"]] == [
        ("relationship-cardinality", "warning")
    ]


def test_a_waiver_accepts_it_and_is_not_idle_without_a_warehouse(
    checked: Callable[..., Any], shop: Path, call: Callable[..., Any]
) -> None:
    entries = [
        {"finding": finding["fingerprint"], "id": finding["id"], "until": "2026-12-31", "because": "known", "by": "ana"}
        for finding in checked("--format", "json").json["findings"]
    ]
    (shop / "rules").mkdir()
    (shop / "rules" / "waivers.yaml").write_text(yaml.safe_dump({"waivers": entries}), encoding="utf-8")
    with_rows = checked("--format", "json")
    assert (with_rows.code, {finding["severity"] for finding in with_rows.json["findings"]}) == (0, {"notice"})
    without = call("check", "--root", shop, *DAY, "--format", "json")
    assert (without.code, without.json["findings"]) == (0, [])


def test_a_waiver_of_what_the_rows_no_longer_show_is_idle(checked: Callable[..., Any], shop: Path) -> None:
    entry = {"finding": "0" * 16, "id": "key-violated", "until": "2026-12-31", "because": "known", "by": "ana"}
    (shop / "rules").mkdir()
    (shop / "rules" / "waivers.yaml").write_text(yaml.safe_dump({"waivers": [entry]}), encoding="utf-8")
    assert "idle-waiver" in {finding["id"] for finding in checked("--format", "json").json["findings"]}


def test_with_a_base_only_a_file_that_changed_fails(checked: Callable[..., Any], shop: Path) -> None:
    git(shop, "init", "-q")
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "first")
    assert checked("--base", "HEAD").code == 0
    entity = shop / "context" / "entities" / "orders.yaml"
    entity.write_text(entity.read_text(encoding="utf-8") + "owner: Sales\n", encoding="utf-8")
    done = checked("--base", "HEAD", "--format", "json")
    assert done.code == 1
    assert {finding["id"]: finding["existing"] for finding in done.json["findings"]} == {
        "relationship-cardinality": False,
        "key-violated": True,
    }


def test_recorded_columns_go_into_the_bundle(
    checked: Callable[..., Any], shop: Path, call: Callable[..., Any], tmp_path: Path
) -> None:
    def versions() -> Any:
        done = call("compile", "--root", shop, "-o", tmp_path / "out", *DAY)
        assert done.code == 0, done.err
        bundle = json.loads((tmp_path / "out" / "compiled_policy_bundle.json").read_text(encoding="utf-8"))
        return bundle["bundle_metadata"]["schema_versions"]

    before = versions()
    assert set(before) == {"orders", "customers"}
    assert [version["measured"] for version in before.values()] == [None, None]
    checked("--record")
    after = versions()
    assert {name: version["declared"] for name, version in after.items()} == {
        name: version["declared"] for name, version in before.items()
    }
    assert all(len(version["measured"]) == 16 for version in after.values())
    assert [version["columns"] for version in before.values()] == [None, None]
    assert all(version["columns"] == sorted(version["columns"]) != [] for version in after.values())
    entity = shop / "context" / "entities" / "customers.yaml"
    entity.write_text(entity.read_text(encoding="utf-8").replace("pii: [email]", "pii: [email, phone]"))
    assert versions()["customers"]["declared"] != after["customers"]["declared"]


def test_columns_are_recorded_beside_errors_which_stay_errors(checked: Callable[..., Any], shop: Path) -> None:
    done = checked("--record")
    assert done.code == 1
    assert done.err == (
        "recorded the columns of 2 tables in context/.measured.json\n"
        "  keys, joins and values are no part of it: 2 errors stand, and the record makes none of it good\n"
    )
    assert checked("--record").out == checked().out == done.out
    held = json.loads((shop / "context" / ".measured.json").read_text(encoding="utf-8"))
    assert set(held["entities"]["customers"]) == {"customer_id", "region", "email"}
    assert "recorded" not in checked().err


def test_a_table_that_is_not_there_and_a_warehouse_that_is_gone_are_not_recorded(
    checked: Callable[..., Any], shop: Path, call: Callable[..., Any]
) -> None:
    with duckdb.connect(str(shop.parent / "rows.duckdb")) as connection:
        connection.execute("DROP TABLE shop.orders")
    assert "the columns of 1 table in context/.measured.json, none of orders\n" in checked("--record").err
    before = (shop / "context" / ".measured.json").read_bytes()
    duckdb.connect(str(shop.parent / "empty.duckdb")).close()
    for gone in ("postgresql://reader@127.0.0.1:1/shop", f"duckdb://{shop.parent}/empty.duckdb"):
        done = call("check", "--root", shop, "--warehouse", gone, *DAY, "--record")
        assert done.err.endswith("nothing was recorded: no table could be looked at\n")
    assert (shop / "context" / ".measured.json").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--record",), "name it with `--warehouse`"),
        (("--warehouse", "oracle://x"), "no warehouse serves the address"),
        (("--warehouse", "duckdb:///no/such/file.duckdb"), "there is no database file"),
    ],
)
def test_wrong_usage_is_said(words: tuple[str, ...], says: str, shop: Path, call: Callable[..., Any]) -> None:
    done = call("check", "--root", shop, *DAY, *words)
    assert done.code == 2
    assert says in done.err


def test_the_measures_of_a_large_set_are_told_with_their_lines(checked: Callable[..., Any], shop: Path) -> None:
    """Of more than 300 policies the check reads the words only; the context is read for the rows alone."""
    folder = shop / "policies" / "many"
    folder.mkdir(parents=True)
    (shop / "policies" / "vocabulary.yaml").write_text("facts:\n  n: {type: integer}\nactions:\n  go: {}\n", "utf-8")
    for i in range(301):
        policy = {
            "policy_id": f"POL-MANY-{i:03d}",
            "conditions": [{"type": "amount_threshold", "parameter": "n", "operator": "==", "value": i}],
            "actions": [{"type": "required", "action": "go"}],
            "metadata": {"domain": "many", "source": "a book", "owner": "Sales"},
        }
        (folder / f"POL-MANY-{i:03d}.yaml").write_text(yaml.safe_dump(policy), encoding="utf-8")
    done = checked("--format", "json", "--no-cache", "--executor", "serial")
    found = {finding["id"]: (finding["path"], finding["line"]) for finding in done.json["findings"]}
    assert found["relationship-cardinality"] == ("context/entities/orders.yaml", 17)
