"""The graph of a policy's rules says in every case what its guards say, with no question too many."""

from fractions import Fraction
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings

from bylaw.bundle import CompiledPath
from bylaw.canonical import canonical_json
from bylaw.logic.boxes.boxes import Box, domain, point
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.asking import Asking
from bylaw.logic.formula.codec import decode
from bylaw.logic.formula.expressions import parse_expression
from bylaw.logic.formula.ir import And, Atom, Compare, ConditionalRule, Effect, Or, Ref, Source, Variable, names
from bylaw.logic.formula.notation import infix
from bylaw.logic.words.graph import NOTHING, from_json, graph_problems, test_text, walk
from ci.formalize.graph import build_graph
from ci.formalize.paths import compiled_paths
from ci.formalize.stage import formalize
from ci.loading.derived.variables import variables
from ci.loading.load import load
from tests.bylaw.logic.worlds import VARIABLES, cases, rules
from tests.rows import each

test_text.__test__ = False  # its name is a claim about tests of facts, not a test

DATA = yaml.safe_load(Path(__file__).with_name("graph.yaml").read_text(encoding="utf-8"))
WORDS = {
    name: Variable(
        name, declared["kind"], tuple(declared.get("values", ())), declared.get("minimum"), declared.get("maximum")
    )
    for name, declared in DATA["variables"].items()
}
KINDS = {"takes": "outcome", "requires": "required", "forbids": "prohibited", "allows": "permitted"}


def written(row):
    """The rules of a row, guards as its author wrote them."""
    (kind,) = KINDS.keys() & row.keys()
    effect = Effect(KINDS[kind], row[kind], "refund" if kind == "takes" else None)
    return ConditionalRule(
        row["id"], "POL-X-001", "x", effect, parse_expression(row["when"], WORDS), 3, Source("x.yaml")
    )


def told(path):
    """A compiled path on one line: rule, facts with their tests, action."""
    steps = []
    for step in path["path"]:
        tests = [
            f"({infix(decode(test, WORDS), WORDS)})"
            if "left" in test
            else f"{test['op']}{str(test['value']).lower() if isinstance(test['value'], bool) else test['value']}"
            for test in step["tests"]
        ]
        steps.append(f"{step['var']} {' '.join(tests)}")
    return [path["rule_id"], *steps, path["leaf_action"]]


ORDER = Asking(WORDS, {}, ()).place


@each("row", DATA["policies"], ids=lambda row: row["name"])
def test_the_graph_of_a_policy(row):
    graph = build_graph([written(rule) for rule in row["rules"]], WORDS, row.get("steps", ())).to_json()
    assert {**graph, "nodes": {name: [node["true"], node["false"]] for name, node in graph["nodes"].items()}} == row[
        "graph"
    ]
    assert graph_problems(graph) == []
    for name, node in graph["nodes"].items():
        assert node["type"] == "condition"
        assert test_text(decode(node["test"], WORDS), WORDS) == name.partition("#")[0]


@each("row", DATA["policies"], ids=lambda row: row["name"])
def test_the_paths_through_a_policy(row):
    paths = compiled_paths([written(rule) for rule in row["rules"]], WORDS, ORDER)
    assert [told(path) for path in paths] == row["paths"]
    assert all(CompiledPath.model_validate(path).policy_id == "POL-X-001" for path in paths)


# ---- every case -----------------------------------------------------------------------------------------------------


def expected(found, case):
    """What plain evaluation of the guards says, as a terminal is named."""
    rank = {"outcome": 0, "required": 1, "prohibited": 2, "permitted": 3}
    holding = {rule.effect for rule in found if truth(rule.guard, case)}
    ordered = sorted(holding, key=lambda effect: (rank[effect.kind], effect.action))
    return "+".join(effect.text for effect in ordered) or NOTHING


@given(rules(most=4, leaves=3))
@settings(max_examples=400, deadline=None)
def test_the_graph_ends_where_the_guards_end_in_every_case(found):
    graph = build_graph(found, VARIABLES)
    assert not graph.truncated
    assert graph_problems(graph.to_json()) == []
    for case in few(found):
        assert walk(graph, case).terminal == expected(found, case)


def few(found):
    """Every case over the facts of the rules; of very many, an even choice."""
    spoken = names(And(tuple(rule.guard for rule in found)))
    everything = list(cases(spoken))
    return everything[:: max(1, len(everything) // 400)]


@given(rules(most=4, leaves=3))
@settings(max_examples=150, deadline=None)
def test_no_walk_asks_twice_and_no_node_has_one_way_out(found):
    graph = build_graph(found, VARIABLES)
    assert all(node.true != node.false for node in graph.nodes.values())
    kept = {(node.test, node.true, node.false) for node in graph.nodes.values()}
    assert len(kept) == len(graph.nodes)
    for case in few(found)[:20]:
        path = walk(graph, case).path
        assert len(set(path)) == len(path)


@given(rules(most=4, leaves=3))
@settings(max_examples=100, deadline=None)
def test_the_graph_survives_its_json_and_does_not_depend_on_the_order_of_rules(found):
    graph = build_graph(found, VARIABLES)
    text = canonical_json(graph.to_json())
    assert text == canonical_json(build_graph(found, VARIABLES).to_json())
    assert text == canonical_json(build_graph(tuple(reversed(found)), VARIABLES).to_json())
    again = from_json(graph.to_json(), VARIABLES)
    for case in few(found)[:20]:
        assert walk(again, case) == walk(graph, case)


@given(rules(most=3, leaves=3, with_compare=False))
@settings(max_examples=100, deadline=None)
def test_unknown_facts_stop_the_walk_at_a_question_about_them(found):
    graph = build_graph(found, VARIABLES)
    for case in few(found)[:10]:
        for left_out in case:
            known = {name: value for name, value in case.items() if name != left_out}
            stopped = walk(graph, known)
            assert stopped.terminal is not None or stopped.missing == (left_out,)
            assert walk(graph, case).path[: len(stopped.path)] == stopped.path


@given(rules(most=3, leaves=4))
@settings(max_examples=250, deadline=None)
def test_a_case_satisfies_a_path_exactly_when_it_satisfies_the_guard(found):
    paths = compiled_paths(found, VARIABLES, Asking(VARIABLES, {}, ()).place)
    for case in few(found):
        for rule in found:
            mine = [path["path"] for path in paths if path["rule_id"] == rule.rule_id]
            assert any(all(passes(step, case) for step in path) for path in mine) == truth(rule.guard, case)


def passes(step, case):
    """Does the case pass the tests of one step? A test without a fact of its own is about the step's."""
    whole = {"var", "left", "all", "any", "not"}
    tests = [test if test.keys() & whole else {"var": step["var"], **test} for test in step["tests"]]
    return all(truth(decode(test, VARIABLES), case) for test in tests)


# ---- the repository's own policies ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ours():
    return load(Path(__file__).parents[3])


@pytest.fixture(scope="module")
def words(ours):
    return variables(ours.vocabulary)


@pytest.fixture(scope="module")
def records(ours, words):
    return [record for record in formalize(ours, words)[0] if record.rules]


def completed(case, words):
    """The case with some value for every fact that its author left out."""
    unknown = Box({name: domain(word) for name, word in words.items() if name not in case})
    return {**point(unknown, words), **case}


def test_the_graphs_of_our_own_policies_are_whole_and_sound(records, words):
    for record in records:
        graph = build_graph(record.rules, words)
        assert not graph.truncated, record.policy.policy_id
        assert graph_problems(graph.to_json()) == []
        assert from_json(graph.to_json(), words) == graph


def test_our_own_policies_end_where_their_guards_end_in_the_cases_their_authors_thought_of(ours, records, words):
    cases = [
        {name: words[name].read(value) for name, value in entry.case.facts.items() if name in words}
        for entry in ours.cases
    ]
    ends = set()
    for record in records:
        graph = build_graph(record.rules, words)
        for case in cases:
            whole = completed(case, words)
            end = walk(graph, whole).terminal
            ends.add(end)
            assert end == expected(record.rules, whole), record.policy.policy_id
            found = walk(graph, case)
            assert found.terminal in (None, end)
            assert not set(found.missing) & case.keys()
    assert len(ends) > 20


# ---- limits ---------------------------------------------------------------------------------------------------------

MANY = {f"n{i:02d}": Variable(f"n{i:02d}", "boolean") for i in range(40)}


def parity_like(count):
    """Pairs of facts far apart in the order: a diagram that doubles with every pair."""
    flags = sorted(MANY)
    pairs = [And((Atom(flags[i], "==", True), Atom(flags[i + count], "==", True))) for i in range(count)]
    return ConditionalRule("R1", "POL-X-001", "x", Effect("required", "act"), Or(tuple(pairs)), 3, Source("x.yaml"))


def test_a_graph_that_nobody_could_read_becomes_a_row_of_rules():
    other = ConditionalRule(
        "R2", "POL-X-001", "x", Effect("prohibited", "act"), Atom("n00", "==", True), 3, Source("x.yaml")
    )
    graph = build_graph([parity_like(15), other], MANY)
    assert graph.truncated
    assert graph.root == "R1"
    assert [(node.true, node.false) for node in graph.nodes.values()] == [("act", "R2"), ("not:act", "nothing")]
    assert graph_problems(graph.to_json()) == []
    everything = dict.fromkeys(MANY, False)
    assert walk(graph, everything).path == ("R1=false", "n00=false")
    assert walk(graph, {**everything, "n00": True}).terminal == "not:act"
    assert walk(from_json(graph.to_json(), MANY), {**everything, "n00": True, "n15": True}).terminal == "act"


def test_the_number_of_nodes_is_the_callers_choice():
    assert not build_graph([parity_like(3)], MANY).truncated
    assert build_graph([parity_like(3)], MANY, max_nodes=4).truncated


def test_a_guard_of_too_many_boxes_is_one_path_with_its_formula():
    rule = parity_like(15)
    wide = [Or((Atom(f"n{2 * i:02d}", "==", True), Atom(f"n{2 * i + 1:02d}", "==", True))) for i in range(10)]
    rule = ConditionalRule("R1", "POL-X-001", "x", rule.effect, And(tuple(wide)), 3, rule.source)
    (path,) = compiled_paths([rule], MANY, Asking(MANY, {}, ()).place)
    assert [step["var"] for step in path["path"]] == ["n00"]
    assert decode(path["path"][0]["tests"][0], MANY) == rule.guard


def test_a_third_is_written_exactly():
    third = ConditionalRule(
        "R1", "POL-X-001", "x", Effect("required", "act"), Atom("price", "<=", Fraction(1, 3)), 3, Source("x.yaml")
    )
    (node,) = build_graph([third], WORDS).to_json()["nodes"].values()
    assert node["test"] == {"var": "price", "op": "<=", "value": "1/3"}
    (path,) = compiled_paths([third], WORDS, ORDER)
    assert path["path"] == [{"var": "price", "tests": [{"op": "<=", "value": "1/3"}]}]


def test_equalities_between_facts_are_one_question_however_they_are_written():
    def rule(id, action, guard):
        return ConditionalRule(id, "POL-X-001", "x", Effect("required", action), guard, 3, Source("x.yaml"))

    same = Compare(Ref("price"), "==", Ref("refund_amount"))
    other = Compare(Ref("refund_amount"), "!=", Ref("price"))
    graph = build_graph([rule("R1", "pay", same), rule("R2", "ask", other)], WORDS)
    assert [(node.true, node.false) for node in graph.nodes.values()] == [("pay", "ask")]
