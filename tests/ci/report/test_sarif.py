"""SARIF 2.1.0: the document fits the standard's own model, and says of each finding what the check knows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bylaw.authored.machines.rules import ReportCaps
from ci.findings import SEVERITIES, Finding, Place
from ci.help.page import page
from ci.loading.rules import load_defaults
from ci.report.report import Report
from ci.report.sarif import FINGERPRINT, LEVELS, document
from tests.rows import each

Command = Callable[..., Any]


def fits(text: str) -> None:
    """Hold *text* to the standard's own model."""
    from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif  # heavy

    Sarif.model_validate_json(text)


def run_of(findings: Sequence[Finding], **more: Any) -> dict[str, Any]:
    """The one run of the document, held to the standard's model first."""
    text = document(Report(findings, {}, **more))
    fits(text)
    (run,) = json.loads(text)["runs"]
    found: dict[str, Any] = run
    return found


def finding(id: str = "gap", message: str = "m", path: str = "a.yaml", **more: Any) -> Finding:
    return Finding(id, message, Place(path, line=2, column=3), **more)


@each("id", SEVERITIES)
def test_every_id_makes_a_valid_rule_with_its_page(id: str) -> None:
    run = run_of([finding(id)])
    (rule,) = run["tool"]["driver"]["rules"]
    told = page(id)
    assert told is not None
    assert rule["id"] == id
    assert rule["defaultConfiguration"]["level"] == LEVELS[SEVERITIES[id]]
    assert told.todo in rule["help"]["markdown"]
    assert ("**Bad:**" in rule["help"]["markdown"]) == bool(told.why)
    (result,) = run["results"]
    assert (result["ruleId"], result["ruleIndex"]) == (id, 0)


def test_a_result_says_where_how_bad_and_who_it_is() -> None:
    one = finding(
        "conflict",
        "they differ",
        severity="warning",
        help="narrow one",
        policies=("POL-A-001", "POL-A-002"),
        related=((Place("b c.yaml", line=7), "the other side"),),
        counterexample={"facts": {"days": 5}},
    )
    (result,) = run_of([one])["results"]
    assert result["level"] == "warning"
    assert result["message"]["text"] == "they differ\nhelp: narrow one"
    assert result["partialFingerprints"] == {FINGERPRINT: one.fingerprint}
    (place,) = result["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "a.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 2, "startColumn": 3},
    }
    (other,) = result["relatedLocations"]
    assert other["physicalLocation"]["artifactLocation"]["uri"] == "b%20c.yaml"
    assert other["message"]["text"] == "the other side"
    assert result["properties"]["policies"] == ["POL-A-001", "POL-A-002"]
    assert result["properties"]["counterexample"] == {"facts": {"days": 5}}
    assert "baselineState" not in result


def test_rules_are_told_once_and_results_name_them() -> None:
    run = run_of([finding("gap", "1"), finding("conflict", "2"), finding("gap", "3")])
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == ["conflict", "gap"]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])


def test_against_a_base_what_was_there_is_unchanged_and_comes_last() -> None:
    old, new = finding(message="old"), finding(message="new")
    run = run_of([old, new], existing=frozenset((old.fingerprint,)), has_base=True)
    told = [(result["message"]["text"], result["baselineState"]) for result in run["results"]]
    assert told == [("new", "new"), ("old", "unchanged")]


def test_a_place_below_the_top_of_git_is_named_from_there() -> None:
    (result,) = run_of([finding()], folder="teams/shop/")["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "teams/shop/a.yaml"


def test_beyond_its_bytes_a_document_says_how_many_it_leaves_out() -> None:
    caps = load_defaults()["ci"]["report"] | {"json_bytes": 5_000}
    run = run_of([finding(message=f"number {i}") for i in range(50)], caps=ReportCaps.model_validate(caps))
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert 0 < len(run["results"]) < 50
    assert note["message"]["text"].startswith(f"left out: {50 - len(run['results'])} findings")


words = st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from(
    ["[x](https://e.example)", "{0}", "../../etc"]
)


@given(message=words, path=words.filter(bool))
def test_whatever_a_file_says_the_document_is_valid_and_makes_no_link(message: str, path: str) -> None:
    (result,) = run_of([finding(message=message, path=path)])["results"]
    assert "](" not in result["message"]["text"]


def test_the_command_prints_one_document_and_nothing_else(company: Any, bylaw: Command, call: Command) -> None:
    done = bylaw("check", "--root", company.root, "--format", "sarif")
    assert (done.code, done.err) == (1, "")
    assert done.out.isascii()
    fits(done.out)
    assert len(done.json["runs"][0]["results"]) == 9
    assert call("check", "--root", company.root, "--format", "sarif").out == done.out
