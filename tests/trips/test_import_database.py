"""A database that nobody here designed for it: imported, checked, asked. No model, no edit by hand, on both engines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from click.testing import CliRunner

from bylaw.cli import load_verb
from bylaw.errors import UsageError
from bylaw.warehouses.registry import open_warehouse
from tests.fakes import postgresql

LAB = (Path(__file__).parent / "lab.sql").read_text(encoding="utf-8")
AT = "2026-01-15T12:00:00"
# A question in the words of the drafted context, and the figures that a person finds by hand.
QUESTIONS = [
    ("how many requests were there in March 2025?",
     "SELECT count(*) FROM lab.requests WHERE ordered_at >= '2025-03-01' AND ordered_at < '2025-04-01'"),
    ("number of requests by priority",
     "SELECT prio, count(*) FROM lab.requests GROUP BY prio"),
    ("number of patients by ward name",
     "SELECT w.ward_nm, count(*) FROM lab.tbl_patient p LEFT JOIN lab.ward w USING (ward_cd) GROUP BY 1"),
    ("total charge by department",
     "SELECT t.dept, sum(l.charge) FROM lab.request_line l JOIN lab.test_catalog t USING (test_cd) GROUP BY 1"),
    ("total amount in February 2025",
     "SELECT sum(amount) FROM lab.fct_invoices WHERE issued LIKE '2025-02-%'"),
    ("average value of results in 2025",
     "SELECT avg(val) FROM lab.results WHERE resulted_at >= '2025-01-01' AND resulted_at < '2026-01-01'"),
    ("number of urgent requests by month in 2025",
     "SELECT CAST(date_trunc('month', ordered_at) AS DATE), count(*) FROM lab.requests WHERE prio = 'urgent' "
     "AND ordered_at < '2026-01-01' GROUP BY 1"),
    ("top 3 wards by number of patients",
     "SELECT w.ward_nm, count(*) FROM lab.tbl_patient p JOIN lab.ward w USING (ward_cd) GROUP BY 1 ORDER BY 2 DESC, 1 "
     "LIMIT 3"),
    ("number of devices by maker",
     "SELECT maker, count(*) FROM lab.device GROUP BY 1"),
    ("average list price by department",
     "SELECT dept, avg(list_price) FROM lab.test_catalog GROUP BY 1"),
]  # fmt: skip

SHORT = re.compile(r"`(?:requests\.st|(?:average|total)_(?:qty|val|turnaround_hrs))`")


@pytest.fixture(scope="module")
def lab_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The database in a file that is called as its schema is."""
    folder = tmp_path_factory.mktemp("lab")
    with duckdb.connect(str(folder / "other.duckdb")) as connection:
        connection.execute(LAB)
    (folder / "other.duckdb").rename(folder / "lab.duckdb")
    return f"duckdb://{folder}/lab.duckdb"


@pytest.fixture(scope="module")
def lab_server() -> Iterator[str]:
    if (why := postgresql.missing()) is not None:
        pytest.skip(why)
    with postgresql.cluster() as server:
        engine = postgresql.new_database(server, "lab")
        with engine.connect() as connection:
            connection.exec_driver_sql(LAB)
        engine.dispose()
        yield f"{server}lab"


@pytest.fixture(params=["lab_file", "lab_server"])
def url(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(request.param)
    return found


def run(*arguments: str, code: int = 0) -> str:
    verb, *rest = arguments
    result = CliRunner().invoke(load_verb(verb), rest, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


def test_import_check_and_ten_questions(url: str, tmp_path: Path) -> None:
    told = json.loads(run("import", url, "--output", str(tmp_path), "--json"))
    assert {file["state"] for file in told["files"]} == {"new"}
    assert told["not_carried_over"] == []
    checked = json.loads(run("check", "--root", str(tmp_path), "--warehouse", url, "--format", "json"))
    assert {finding["id"] for finding in checked["findings"]} == {"unaskable"}  # `qty` is no word that people ask by
    assert all(SHORT.search(finding["message"]) for finding in checked["findings"])
    warehouse = open_warehouse(url)
    with chdir(tmp_path):
        wrong = [
            question for question, sql in QUESTIONS if not is_right(asked(url, question), warehouse.run(sql, 99).rows)
        ]
    warehouse.close()
    assert wrong == []


def asked(url: str, question: str) -> list[list[Any]]:
    reply = json.loads(run("ask", question, "--root", ".", "--warehouse", url, "--at", AT, "--json"))
    return [list(row) for row in reply["rows"]]


def is_right(rows: list[list[Any]], meant: tuple[tuple[Any, ...], ...]) -> bool:
    return bool(rows) and sorted(map(spelled, rows)) == sorted(map(spelled, meant))


def spelled(row: Any) -> list[str]:
    """A row to be compared: numbers to two places, everything else as text."""
    return [f"{float(cell):.2f}" if str(cell).replace(".", "", 1).isdigit() else str(cell)[:16] for cell in row]


def entity(root: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((root / "context" / "entities" / f"{name}.yaml").read_text("utf-8"))
    return found


def test_what_is_drafted_says_on_what_it_rests_and_shows_no_personal_value(url: str, tmp_path: Path) -> None:
    run("import", url, "--output", str(tmp_path))
    patient, lines, results = entity(tmp_path, "patient"), entity(tmp_path, "request_line"), entity(tmp_path, "results")
    assert patient["pii"] == ["first_nm", "last_nm", "contact", "birth_dt"]
    assert lines["primary_key"]["columns"] == ["req_no", "line_no"]
    (join,) = results["relationships"]
    assert [pair["left_column"] for pair in join["relationship_columns"]] == ["req_no", "line_no"]
    assert {one["name"]: one["right_entity"] for one in entity(tmp_path, "requests")["relationships"]} == {
        "requested_by": "clinician",
        "reviewed_by": "clinician",
        "requests_to_patient": "patient",
    }
    written = "".join(path.read_text("utf-8") for path in tmp_path.rglob("*") if path.suffix in (".yaml", ".json"))
    assert "@" not in written.replace("@mail_address", "") and "Given" not in written and "7946" not in written
    text = (tmp_path / "context" / "entities" / "patient.yaml").read_text("utf-8")
    assert "# by its name and its values: 250 of 300 rows name one, 50 none; all are found; up to 50 share one" in text


def test_again_it_changes_nothing_and_an_edit_stays(url: str, tmp_path: Path) -> None:
    run("import", url, "--output", str(tmp_path))
    path = tmp_path / "context" / "entities" / "ward.yaml"
    edited = path.read_text("utf-8").replace("one row per ward", "a ward of the hospital")
    path.write_text(edited, "utf-8")
    own = tmp_path / "context" / "entities" / "device.yaml"
    run("import", url, "--output", str(tmp_path))
    assert path.read_text("utf-8") == edited
    (tmp_path / "context" / ".imported.json").unlink()
    own.write_text(own.read_text("utf-8").replace("one row per device", "an analyser"), "utf-8")
    told = run("import", url, "--output", str(tmp_path), "--tables", "device", code=1)
    assert "it was not imported, so it is yours" in told and "-description: an analyser" in told
    assert "an analyser" in own.read_text("utf-8")


def test_a_dry_run_writes_nothing_and_tables_are_chosen(url: str, tmp_path: Path) -> None:
    told = json.loads(run("import", url, "--output", str(tmp_path), "--tables", "dev*,lab.ward", "--dry-run", "--json"))
    named = {file["path"].rpartition("/")[2] for file in told["files"] if "entities" in file["path"]}
    assert named == {"device.yaml", "device_test.yaml", "ward.yaml"}
    assert list(tmp_path.iterdir()) == []


def test_no_such_schema_names_what_is_there(url: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as told:
        run("import", url, "--output", str(tmp_path), "--schema", "other")
    assert "lab.device" in (told.value.help or "")
