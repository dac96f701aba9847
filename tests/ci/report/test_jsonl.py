"""What a machine reads: one document, with the fields of the contract."""

import json
from decimal import Decimal
from fractions import Fraction

from ci.findings import Finding, Place
from ci.loading.source import parse
from ci.proofs.answers import Answered
from ci.report.jsonl import render
from tests.rows import each

SOURCES = {"a.yaml": parse("a.yaml", "a: 1\nb:\n  - c\n")}
FINDING = Finding(
    "conflict",
    "two policies „contradict“ each other",
    Place("a.yaml", ("b", 0)),
    policies=("POL-A-001", "POL-A-002"),
    rules=("r1", "r2"),
    help="narrow one",
    related=((Place("a.yaml", ("a",), on_key=True), "the other"),),
    counterexample={"facts": {"days": 12, "share": Decimal("0.50")}, "words": "12 days", "at": "2026-01-31"},
    status="COUNTEREXAMPLE",
    detail={"count": 3},
)


def test_a_finding_has_the_fields_of_the_contract() -> None:
    document = json.loads(render([FINDING], SOURCES))
    assert document == {
        "findings": [
            {
                "id": "conflict",
                "severity": "error",
                "message": "two policies „contradict“ each other",
                "path": "a.yaml",
                "line": 3,
                "column": 5,
                "policies": ["POL-A-001", "POL-A-002"],
                "rules": ["r1", "r2"],
                "counterexample": {"facts": {"days": 12, "share": "0.5"}, "words": "12 days", "at": "2026-01-31"},
                "status": "COUNTEREXAMPLE",
                "help": "narrow one",
                "related": [{"path": "a.yaml", "line": 1, "column": 1, "message": "the other"}],
                "detail": {"count": 3},
                "fingerprint": FINDING.fingerprint,
                "existing": False,
            }
        ],
        "questions": [],
        "summary": {"errors": 1, "warnings": 0, "notices": 0, "existing": 0, "total": 1, "omitted": 0},
    }


def test_no_findings_are_a_document_too() -> None:
    text = render([], {})
    assert json.loads(text) == {
        "findings": [],
        "questions": [],
        "summary": {"errors": 0, "warnings": 0, "notices": 0, "existing": 0, "total": 0, "omitted": 0},
    }
    assert text.endswith("}\n")


@each(
    ("case", "shown"),
    [
        (None, None),
        ({"days": 12}, {"facts": {"days": 12}}),
        ({"facts": {"days": 12}}, {"facts": {"days": 12}}),
        ({"words": "every case"}, {"facts": {}, "words": "every case"}),
        ({"facts": {"share": Fraction(1, 3)}}, {"facts": {"share": "1/3"}}),
    ],
)
def test_a_counterexample_always_says_its_facts(case: dict[str, object] | None, shown: object) -> None:
    finding = Finding("gap", "m", Place("a.yaml"), counterexample=case)
    assert json.loads(render([finding], {}))["findings"][0]["counterexample"] == shown


def test_what_was_there_before_is_marked_and_not_counted_as_new() -> None:
    old = Finding("gap", "old", Place("a.yaml"), severity="warning")
    document = json.loads(render([FINDING, old], SOURCES, {old.fingerprint}))
    assert [finding["existing"] for finding in document["findings"]] == [False, True]
    assert document["summary"] == {"errors": 1, "warnings": 0, "notices": 0, "existing": 1, "total": 2, "omitted": 0}


def test_the_same_findings_are_the_same_bytes_and_plain_ascii() -> None:
    assert render([FINDING], SOURCES) == render([FINDING], SOURCES)
    assert render([FINDING], SOURCES).isascii()


def test_beyond_its_bytes_a_document_leaves_out_findings_and_says_how_many() -> None:
    many = [Finding("gap", f"number {i}", Place("a.yaml"), severity="error") for i in range(50)]
    text = render(many, SOURCES, most_bytes=5_000)
    document = json.loads(text)
    told = len(document["findings"])
    assert 0 < told < 50
    assert len(text) < 5_500
    assert document["summary"]["omitted"] == 50 - told
    assert document["summary"]["errors"] == document["summary"]["total"] == 50


def test_what_is_new_is_never_left_out_for_what_was_there() -> None:
    old = [Finding("gap", f"old {i}", Place("a.yaml"), severity="error") for i in range(50)]
    text = render([*old, FINDING], SOURCES, {finding.fingerprint for finding in old}, most_bytes=2_000)
    assert json.loads(text)["findings"][0]["id"] == "conflict"


def test_how_questions_were_answered_stands_beside_the_findings() -> None:
    asked = (Answered("gap", 2, 1), Answered("conflict", 3, 0, 0, 1, (("too many", 1),)))
    document = json.loads(render([], {}, questions=asked))
    assert [list(answered.values())[:6] for answered in document["questions"]] == [
        ["gap", 3, 2, 1, 0, 0],
        ["conflict", 4, 3, 0, 0, 1],
    ]
    assert document["questions"][1]["reasons"] == [{"reason": "too many", "count": 1}]
