"""Importing into a repository: new, again, after the source changed, after a person did, after both."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bylaw.errors import UsageError
from ci.importers.draft import ContextDraft
from ci.importers.write import MEMORY, Plan, plan

ORDERS = {
    "name": "orders",
    "description": "one row per order",
    "base_table": {"schema": "shop", "table": "orders"},
    "dimensions": [{"name": "status"}, {"name": "channel"}],
}
PATH = "context/entities/orders.yaml"


def draft(*entities: dict[str, Any]) -> ContextDraft:
    made = ContextDraft()
    for entity in entities or (ORDERS,):
        made.add("entities", dict(entity), "source")
    return made


def imported(root: Path, *entities: dict[str, Any], origin: str = "dbt manifest.json", force: bool = False) -> Plan:
    made = plan(root, draft(*entities), origin, force)
    made.write()
    return made


def states(made: Plan) -> dict[str, str]:
    return {entry.path: entry.state for entry in made.entries}


def test_a_new_file_points_its_editor_at_a_schema_that_is_there(tmp_path: Path) -> None:
    assert states(imported(tmp_path)) == {PATH: "new"}
    first, *rest = (tmp_path / PATH).read_text(encoding="utf-8").splitlines()
    assert first == "# yaml-language-server: $schema=../../schemas/entity.schema.json"
    assert (tmp_path / "schemas" / "entity.schema.json").is_file()
    assert rest[0] == "name: orders"


def test_again_it_is_unchanged_byte_by_byte(tmp_path: Path) -> None:
    imported(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert states(imported(tmp_path)) == {PATH: "unchanged"}
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_file_that_nobody_edited_follows_its_source(tmp_path: Path) -> None:
    imported(tmp_path)
    made = imported(tmp_path, {**ORDERS, "description": "orders", "dimensions": [{"name": "status"}]})
    (entry,) = made.entries
    assert (entry.state, entry.notes) == ("updated", ("nobody had edited it",))
    assert "channel" not in (tmp_path / PATH).read_text(encoding="utf-8")


def test_an_edit_and_a_change_of_the_source_both_hold(tmp_path: Path) -> None:
    imported(tmp_path)
    path = tmp_path / PATH
    edited = path.read_text(encoding="utf-8").replace(
        "  - name: status\n", "  - name: status # ours\n    synonyms: [state]\n"
    )
    path.write_text(edited, encoding="utf-8")
    made = imported(tmp_path, {**ORDERS, "dimensions": [*ORDERS["dimensions"], {"name": "region"}]})
    (entry,) = made.entries
    assert (entry.state, entry.notes) == ("updated", ("dimensions",))
    assert path.read_text(encoding="utf-8") == edited + "  - name: region\n"
    assert states(imported(tmp_path, {**ORDERS, "dimensions": [*ORDERS["dimensions"], {"name": "region"}]})) == {
        PATH: "unchanged"
    }


def test_where_both_changed_the_edit_stays_and_is_told_until_it_is_forced(tmp_path: Path) -> None:
    imported(tmp_path)
    path = tmp_path / PATH
    path.write_text(path.read_text(encoding="utf-8").replace("one row per order", "each order"), encoding="utf-8")
    theirs = {**ORDERS, "description": "all orders"}
    (entry,) = imported(tmp_path, theirs).entries
    assert entry.state == "kept"
    assert entry.notes == ('description stays as it is here; the source says `"all orders"`',)
    assert "-description: each order\n+description: all orders" in entry.diff
    assert "each order" in path.read_text(encoding="utf-8")
    assert states(imported(tmp_path, theirs, force=True)) == {PATH: "updated"}
    assert "all orders" in path.read_text(encoding="utf-8")


def test_a_file_that_was_not_imported_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / PATH
    path.parent.mkdir(parents=True)
    path.write_text("name: orders # by hand\nbase_table: {schema: a, table: b}\n", encoding="utf-8")
    (entry,) = imported(tmp_path).entries
    assert entry.state == "kept"
    assert entry.notes == ("it was not imported, so it is yours (--force takes what the source says into it)",)
    assert path.read_text(encoding="utf-8").startswith("name: orders # by hand")
    assert states(imported(tmp_path, force=True)) == {PATH: "updated"}
    assert path.read_text(encoding="utf-8").startswith(
        "name: orders # by hand\nbase_table: {schema: shop, table: orders}"
    )


def test_a_record_is_found_where_a_person_moved_it(tmp_path: Path) -> None:
    path = tmp_path / "context" / "entities" / "sales" / "orders.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("name: orders\nbase_table: {schema: a, table: b}\n", encoding="utf-8")
    assert states(imported(tmp_path)) == {"context/entities/sales/orders.yaml": "kept"}
    assert not (tmp_path / PATH).exists()


def test_a_file_that_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    imported(tmp_path)
    (tmp_path / PATH).write_text("name: [orders\n", encoding="utf-8")
    (entry,) = imported(tmp_path, {**ORDERS, "description": "x"}).entries
    assert entry.state == "kept"
    assert entry.notes[0].startswith("the file is no valid YAML")


def test_what_the_source_no_longer_says_is_left_and_told(tmp_path: Path) -> None:
    customers = {"name": "customers", "base_table": {"schema": "shop", "table": "customers"}}
    imported(tmp_path, ORDERS, customers)
    made = imported(tmp_path, ORDERS)
    assert made.gone == ("context/entities/customers.yaml",)
    assert (tmp_path / "context/entities/customers.yaml").is_file()
    (tmp_path / "context/entities/customers.yaml").unlink()
    assert imported(tmp_path, ORDERS).gone == ()
    assert "customers" not in (tmp_path / MEMORY).read_text(encoding="utf-8")


def test_another_source_does_not_miss_what_this_one_wrote(tmp_path: Path) -> None:
    imported(tmp_path)
    other = {"name": "visits", "base_table": {"schema": "web", "table": "visits"}}
    assert imported(tmp_path, other, origin="lookml visits").gone == ()


def test_planning_writes_nothing(tmp_path: Path) -> None:
    plan(tmp_path / "new", draft(), "dbt manifest.json")
    assert not (tmp_path / "new").exists()


def test_a_repository_of_its_own_schemas_is_pointed_at(tmp_path: Path) -> None:
    (tmp_path / "bylaw" / "schemas").mkdir(parents=True)
    imported(tmp_path)
    first = (tmp_path / PATH).read_text(encoding="utf-8").splitlines()[0]
    assert first.endswith("$schema=../../bylaw/schemas/entity.schema.json")
    assert not (tmp_path / "schemas").exists()


def test_a_link_out_of_the_repository_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "root" / "context").mkdir(parents=True)
    (tmp_path / "root" / "context" / "entities").symlink_to(tmp_path / "out")
    with pytest.raises(UsageError, match="leads out of"):
        imported(tmp_path / "root")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("said", ["", "[]", '{"files": []}', '{"files": {"a": 1}}', '{"files": {"a": {"record": []}}}'])
def test_a_memory_that_is_none_is_wrong_usage(said: str, tmp_path: Path) -> None:
    (tmp_path / "context").mkdir()
    (tmp_path / MEMORY).write_text(said, encoding="utf-8")
    with pytest.raises(UsageError, match="is no memory of an import"):
        imported(tmp_path)


def test_a_file_where_the_repository_should_be_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        plan(tmp_path / "a", draft(), "x")


def test_an_import_that_was_stopped_can_be_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files are there, the memory is not: they are as the source says, so nothing is a person's."""
    imported(tmp_path)
    (tmp_path / MEMORY).unlink()
    assert states(imported(tmp_path)) == {PATH: "unchanged"}
    assert json.loads((tmp_path / MEMORY).read_text(encoding="utf-8"))["files"][PATH]["record"]["name"] == "orders"


# ---- the command


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "shop.yaml"
    path.write_text(
        "name: shop\ntables:\n  - name: orders\n    base_table: {database: x, schema: shop, table: orders}\n"
        "    dimensions: [{name: status, expr: status}]\n"
        "    facts: [{name: amount, expr: amount, default_aggregation: sum}]\n",
        encoding="utf-8",
    )
    return path


def test_the_command_says_what_it_wrote_and_what_not(source: Path, tmp_path: Path, call: Callable[..., Any]) -> None:
    done = call("import", source, "--output", tmp_path / "repo")
    assert done.code == 0
    assert done.out == (
        f"read as cortex; written to {tmp_path}/repo:\n"
        "  new      context/entities/orders.yaml\n"
        "  new      context/metrics/amount.yaml\n"
        "\nnot carried over (1):\n"
        "  the warehouse's address names it\n"
        "    shop.yaml: tables[0].base_table.database\n"
    )
    assert call("check", "--root", tmp_path / "repo").code == 0
    again = call("import", source, "--output", tmp_path / "repo", "--json")
    assert (again.code, [file["state"] for file in again.json["files"]]) == (0, ["unchanged", "unchanged"])
    assert again.json["not_carried_over"][0]["why"] == "the warehouse's address names it"


def test_what_goes_by_a_name_alone_is_listed_for_review(source: Path, tmp_path: Path, call: Callable[..., Any]) -> None:
    text = source.read_text(encoding="utf-8")
    source.write_text(
        text.replace("expr: status}", "expr: status}, {name: currency, expr: currency}"), encoding="utf-8"
    )
    repo = tmp_path / "repo"
    said = "shop.yaml: tables[0]: `amount` is in the unit that `currency` says (`unit_column`), by its name"
    assert said in call("import", source, "--output", repo, "--json").json["to_review"]
    assert f"\nto review (1):\n  {said}\n" in call("import", source, "--output", repo).out
    written = (repo / PATH).read_text(encoding="utf-8")
    assert "  # in the unit that `currency` says, by its name: people know better\n  - name: amount\n" in written
    assert call("check", "--root", repo).code == 0
    (repo / PATH).write_text(written.replace("    unit_column: currency\n", ""), encoding="utf-8")
    call("import", source, "--output", repo)
    assert "unit_column" not in (repo / PATH).read_text(encoding="utf-8"), "what a person took away stays away"


def test_a_dry_run_shows_the_difference_and_writes_nothing(
    source: Path, tmp_path: Path, call: Callable[..., Any]
) -> None:
    call("import", source, "--output", tmp_path / "repo")
    before = (tmp_path / "repo" / PATH).read_bytes()
    source.write_text(
        source.read_text(encoding="utf-8").replace("name: orders\n", "name: orders\n    description: all\n")
    )
    done = call("import", source, "--output", tmp_path / "repo", "--dry-run")
    assert done.code == 0
    assert "would be written to" in done.out
    assert "           +description: all\n" in done.out
    assert (tmp_path / "repo" / PATH).read_bytes() == before


def test_an_edit_that_is_kept_is_exit_code_one(source: Path, tmp_path: Path, call: Callable[..., Any]) -> None:
    call("import", source, "--output", tmp_path / "repo")
    path = tmp_path / "repo" / PATH
    path.write_text(path.read_text(encoding="utf-8") + "description: mine\n", encoding="utf-8")
    assert call("import", source, "--output", tmp_path / "repo").code == 0
    source.write_text(
        source.read_text(encoding="utf-8").replace("name: orders\n", "name: orders\n    description: all\n")
    )
    done = call("import", source, "--output", tmp_path / "repo")
    assert done.code == 1
    assert "description stays as it is here" in done.out
    assert "description: mine" in path.read_text(encoding="utf-8")
    assert call("import", source, "--output", tmp_path / "repo", "--force").code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("nowhere.yaml",), "there is no file or folder"),
        (("{source}", "--format", "ossie"), "holds nothing of the format `ossie`"),
        (("{source}", "--format", "lotus"), "Invalid value for '--format'"),
        (("{source}", "--schema", "a b"), "is no name of a schema"),
        (("{source}", "--dialect", "klingon"), "is no dialect that sqlglot knows"),
        ((), "Missing argument"),
    ],
)
def test_wrong_usage_is_said(words: tuple[str, ...], says: str, source: Path, call: Callable[..., Any]) -> None:
    done = call("import", *(said.format(source=source) for said in words))
    assert done.code == 2
    assert says in done.err
    assert "Traceback" not in done.err


def test_a_schema_that_no_role_may_read_is_said_with_the_line_that_grants_it(
    source: Path, tmp_path: Path, call: Callable[..., Any]
) -> None:
    """`init --bare` grants no schema: an import into it would be answered to nobody, without a word."""
    root = tmp_path / "bare"
    assert call("init", root, "--bare").code == 0
    done = call("import", source, "--output", root)
    (line,) = [line for line in done.out.splitlines() if line.startswith("no role may read")]
    assert line.startswith("no role may read `") and "in rules/roles.yaml write, for one: employee: {schemas: [" in line
    granted = line.partition("for one: ")[2]
    roles = root / "rules" / "roles.yaml"
    roles.write_text(roles.read_text().replace("employee: {schemas: []}", granted))
    again = call("import", source, "--output", root, "--json")
    assert again.json["granted_to_nobody"] == []
    assert "no role" not in call("import", source, "--output", tmp_path / "without rules").out
