"""A decision graph is walked by known facts only, read back as it was written, and drawn without surprises."""

from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.formula.ir import And, Atom, Compare, Ref, Variable
from bylaw.logic.words.graph import Graph, Node, from_json, graph_problems, mermaid, test_text, traverse, walk
from tests.rows import each

test_text.__test__ = False  # its name is a claim about tests of facts, not a test

DATA = yaml.safe_load(Path(__file__).with_name("graph.yaml").read_text(encoding="utf-8"))
WORDS = {
    name: Variable(name, declared["kind"], tuple(declared.get("values", ())), declared.get("minimum"))
    for name, declared in DATA["variables"].items()
}
WALKS = [(row["graph"], case) for row in DATA["graphs"] for case in row.get("walks", ())]


@each("row", DATA["graphs"], ids=lambda row: row["name"])
def test_what_is_wrong_with_a_graph_is_said(row):
    assert graph_problems(row["graph"]) == row["problems"]


@each(("graph", "case"), WALKS, ids=lambda part: str(part.get("facts", ""))[:60])
def test_a_case_walks_as_far_as_its_facts_lead(graph, case):
    found = walk(from_json(graph, WORDS), case["facts"])
    assert list(found.path) == case["path"]
    assert found.terminal == case.get("terminal")
    assert list(found.missing) == case.get("missing", [])
    assert traverse(from_json(graph, WORDS), case["facts"]) == case["path"]


def test_a_graph_reads_back_as_it_was_written():
    whole = next(row["graph"] for row in DATA["graphs"] if row["name"] == "nodes with tests")
    graph = from_json(whole, WORDS)
    written = graph.to_json()
    assert from_json(written, WORDS) == graph
    assert written["nodes"]["early"] == {"type": "condition", **whole["nodes"]["early"]}
    assert "truncated" not in written


def test_a_truncated_graph_says_so_and_reads_back():
    graph = Graph(
        "R1", {"R1": Node(Atom("has_receipt", "==", True), "refund", "nothing")}, ("nothing", "refund"), WORDS, True
    )
    assert graph.to_json()["truncated"] is True
    assert from_json(graph.to_json(), WORDS) == graph


@each(
    ("test", "expected"),
    [
        (Atom("has_receipt", "==", True), "has_receipt"),
        (Atom("has_receipt", "==", False), "has_receipt=false"),
        (Atom("days", "<=", 30), "days<=30"),
        (Atom("bought", "<", 739647), "bought<2026-01-31"),
        (Atom("category", "==", "in-store"), "category=in-store"),
        (Atom("category", "!=", "other"), "category!=other"),
        (Atom("category", "in", ("in-store", "other")), "category=in-store|other"),
        (Compare(Ref("refund_amount"), "<=", Ref("price")), "refund_amount<=price"),
        (And((Atom("days", "<=", 30), Atom("has_receipt", "==", True))), "(days<=30)∧(has_receipt=true)"),
    ],
)
def test_a_question_is_named_by_its_test(test, expected):
    assert test_text(test, WORDS) == expected


def test_a_question_of_many_facts_is_answered_by_its_name():
    both = And((Atom("has_receipt", "==", True), Atom("days", "<=", 30)))
    graph = Graph("R1", {"R1": Node(both, "refund", "nothing")}, ("nothing", "refund"), WORDS)
    assert walk(graph, {"has_receipt": False}).path == ("R1=false",)
    assert walk(graph, {"has_receipt": True}).missing == ("days",)
    assert walk(graph, {"has_receipt": True, "days": 3}).terminal == "refund"


def test_the_drawing_names_every_node_and_both_answers():
    graph = from_json(DATA["graphs"][0]["graph"], WORDS)
    assert mermaid(graph) == (
        "flowchart TD\n"
        '  n0{"has_receipt"}\n'
        '  n1{"within_30_days"}\n'
        '  n2{"under_50"}\n'
        '  t0["full_refund"]\n'
        '  t1["mgr_approval"]\n'
        '  t2["store_credit"]\n'
        '  t3["reject"]\n'
        "  n0 -- yes --> n1\n"
        "  n0 -- no --> n2\n"
        "  n1 -- yes --> t0\n"
        "  n1 -- no --> t1\n"
        "  n2 -- yes --> t2\n"
        "  n2 -- no --> t3\n"
    )


def test_names_cannot_break_the_drawing():
    graph = Graph('a"]; click', {'a"]; click': Node(None, "<b>", "x")}, ("<b>", "x"))
    text = mermaid(graph)
    assert 'n0{"a#34;#93;#59; click"}' in text
    assert 't0["#60;b#62;"]' in text


def test_the_same_question_at_two_places_is_drawn_with_the_same_words():
    nodes = {
        "receipt": Node(None, "late", "late#2"),
        "late": Node(None, "refund", "gate#2"),
        "late#2": Node(None, "nothing", "refund"),
        "gate#2": Node(None, "refund", "nothing"),
    }
    text = mermaid(Graph("receipt", nodes, ("nothing", "refund")))
    assert text.count('{"late"}') == 2
    assert '{"gate#35;2"}' in text, "a name of the author's own"


names = st.sampled_from("abcdef")


@given(
    names,
    st.dictionaries(
        names, st.fixed_dictionaries({"true": st.sampled_from("abcdefxy"), "false": st.sampled_from("xyz")})
    ),
    st.lists(st.sampled_from("xyza"), max_size=4),
)
@settings(max_examples=300, deadline=None)
def test_any_graph_is_judged_and_a_sound_one_ends_every_walk(root, nodes, terminals):
    data = {"root": root, "nodes": nodes, "terminals": terminals}
    words = {name: Variable(name, "boolean") for name in "abcdef"}
    problems = graph_problems(data)
    for answer in (True, False):
        found = walk(from_json(data, words), dict.fromkeys("abcdef", answer))
        if not problems:
            assert found.terminal in terminals
