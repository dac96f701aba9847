"""`bylaw ask --items`: what a caller says that a question says, held against its words."""

import json
from pathlib import Path

import pytest

ROOT = str(Path(__file__).parents[3])
TEXT = "net revenue by region last quarter"
ITEMS = [
    {"kind": "asks", "name": "net_revenue", "quote": "net revenue"},
    {"kind": "group", "name": "customers.region", "quote": "by region"},
    {"kind": "time", "quote": "last quarter"},
]


@pytest.fixture
def ask(call):
    return lambda *more: call("ask", *more, "--root", ROOT, "--at", "2026-11-20T10:00:00+00:00")


def test_items_in_a_file_are_answered(ask, tmp_path):
    file = tmp_path / "items.json"
    file.write_text(json.dumps(ITEMS))
    reply = ask(TEXT, "--items", f"@{file}", "--warehouse", "demo", "--json").json
    assert (reply["status"], reply["reading"]["by"]) == ("answered", "given")
    assert reply["columns"] == ["region", "net_revenue"]


def test_what_is_left_over_is_named_and_the_form_is_offered(ask):
    reply = ask("net revenue by mood", "--items", json.dumps(ITEMS[:1]), "--json").json
    assert (reply["status"], reply["form"] is None) == ("needs_choice", False)
    assert "mood" in reply["text"]


@pytest.mark.parametrize(
    ("items", "more", "complaint"),
    [
        ("[", (), "not JSON"),
        ('[{"kind": "asks", "nmae": "net_revenue"}]', (), "nmae"),
        (json.dumps(ITEMS), ("--kind", "policy"), "`group` is no kind of item"),
        ("@nowhere.json", (), "nowhere.json"),
        ('{"items": 3}', (), "a list"),
    ],
)
def test_items_that_are_none_are_wrong_usage(ask, items, more, complaint):
    found = ask(TEXT, "--items", items, *more)
    assert found.code == 2 and complaint in found.err


def test_a_sum_in_several_units_is_a_form_that_may_be_sent_as_it_is(ask):
    asked = ("total cost local in 2026", "--as", "jo", "--warehouse", "demo", "--json")
    shown = ask(*asked).json
    picked = {field["name"]: field["chosen"] for field in shown["form"]["fields"]}
    assert shown["status"] == "needs_choice" and picked["by"] == ["ad_spend.currency"]
    form = {"metrics": picked["metrics"], "by": picked["by"], "period": "in 2026"}
    sent = ask("--form", json.dumps(form), "--as", "jo", "--warehouse", "demo", "--json").json
    assert sent["status"] == "answered" and len(sent["rows"]) == 3


@pytest.mark.parametrize(
    ("text", "kind"), [("cancel", "policy"), ("Cancel my order", "policy"), ("delete all orders", "refusal")]
)
def test_words_of_a_rule_ask_for_it_and_command_nothing(ask, text, kind):
    assert ask(text, "--warehouse", "demo", "--json").json["kind"] == kind
