"""`bylaw cases` over small repositories: what is counted, what is missing, and what can be pasted."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
import yaml

from bylaw.authored.policies import Case
from ci.coverage.cases import surveyed
from ci.loading.load import load
from ci.loading.source import parse
from ci.pipeline import check

HERE = Path(__file__).parent
ROWS = yaml.safe_load((HERE / "cases.yaml").read_text(encoding="utf-8"))
DAY = date(2026, 6, 15)


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def repository(root: Path, row: dict) -> Path:
    policies = {
        f"policies/refund/{name}.yaml": yaml.safe_dump(
            {
                "policy_id": name,
                "metadata": {"source": "handbook", "owner": "Shop", "domain": "refund", **policy.pop("metadata", {})},
                **policy,
            }
        )
        for name, policy in json.loads(json.dumps(row["policies"])).items()
    }
    cases = {"policies/refund/cases.yaml": yaml.safe_dump(row["cases"])} if row.get("cases") else {}
    words = {"policies/vocabulary.yaml": yaml.safe_dump(ROWS["vocabulary"])}
    return written(root, {**words, **policies, **cases, **row.get("files", {})})


def report_of(root: Path):
    return surveyed(load(root, DAY, DAY), DAY, DAY)


def tallies(report) -> dict[str, str]:
    total = json.loads(report.json())["total"]
    return {kind: f"{part['covered']}/{part['count']}" for kind, part in total.items() if part["count"]}


@pytest.mark.parametrize("row", ROWS["rows"], ids=lambda row: row["title"])
def test_a_repository_is_covered_as_far_as_its_row_says(tmp_path, row):
    report = report_of(repository(tmp_path, row))
    assert tallies(report) == row["covered"]
    told = json.loads(report.json())
    assert [goal["words"] for goal in told["open"]] == row.get("open", [])
    assert [goal["words"] for goal in told["impossible"]] == row.get("impossible", [])
    missing = [{key: case[key] for key in ("facts", "expect")} for case in told["missing"]]
    assert missing == row.get("missing", [])


@pytest.mark.parametrize("row", ROWS["rows"], ids=lambda row: row["title"])
def test_what_is_missing_can_be_pasted_and_covers_the_rest(tmp_path, row):
    root = repository(tmp_path, row)
    text = report_of(root).yaml()
    path = root / "policies" / "refund" / "cases.yaml"
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    if not text:
        return
    assert text.startswith("# policies/refund/cases.yaml\n")
    for case in parse("cases.yaml", text).data:
        Case.model_validate(case)
    path.write_text(before + text, encoding="utf-8")
    assert "failing-case" not in {finding.id for finding in check(load(root, DAY, DAY), DAY).findings}
    after = report_of(root)
    assert after.share == 1.0
    assert after.yaml() == ""


def test_the_same_repository_gives_the_same_text(tmp_path):
    root = repository(tmp_path, ROWS["rows"][0])
    assert report_of(root).yaml() == report_of(root).yaml()
    assert report_of(root).json() == report_of(root).json()


def test_a_share_is_not_rounded_up():
    from ci.coverage.words import percent

    assert percent((999, 1000)) == "99 %"
    assert percent((1000, 1000)) == "100 %"
    assert percent((29, 100)) == "29 %"
    assert percent((0, 0)) == "-"


@pytest.mark.parametrize(("threshold", "code"), [("0.1", 0), ("0.9", 1), ("0", 0)])
def test_below_the_threshold_the_verb_fails_and_says_so(tmp_path, call, threshold, code):
    root = repository(tmp_path, ROWS["rows"][1])
    written(root, {"rules/ci.yaml": f"case_coverage_threshold: {threshold}\n"})
    done = call("cases", "--root", root, "--at", DAY.isoformat())
    assert done.code == code, done.err
    assert ("lies below the 90 %" in done.out) == bool(code)
    missing = call("cases", "--missing", "--root", root, "--at", DAY.isoformat())
    assert missing.code == 0
    assert parse("cases.yaml", missing.out).data
    as_json = call("cases", "--json", "--root", root, "--at", DAY.isoformat())
    assert (as_json.code, as_json.json["is_below_threshold"]) == (code, bool(code))


def test_the_table_is_what_people_read(tmp_path, call):
    root = repository(tmp_path, ROWS["rows"][1])
    shown = call("cases", "--root", root, "--at", DAY.isoformat()).out
    assert shown.splitlines() == [
        "policy          rules  boundaries  regions  exceptions  covered",
        "POL-REFUND-001    1/2         0/2      1/2           -     33 %",
        "total             1/2         0/2      1/2           -     33 %",
        "",
        "1 more case would show the rest: `bylaw cases --missing` writes them",
    ]


def test_our_own_cases_reach_what_our_rules_ask_for():
    root = Path(__file__).parents[3]
    day = date(2026, 11, 20)
    report = surveyed(load(root, day, day), day, day)
    told = json.loads(report.json())["total"]
    assert not report.is_below
    assert told["rules"]["covered"] == told["rules"]["count"]
    assert told["boundaries"]["covered"] == told["boundaries"]["count"]
