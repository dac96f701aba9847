"""OpenID AuthZEN's todo scenario as policies of ours, and the API's own rules, against a real server."""

import json

import duckdb
import httpx
import pytest

from tests.beside import beside
from tests.gate.conftest import serving

PEOPLE = [
    ("CiRmZDA2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "rick@the-citadel.com", "admin evil_genius"),
    ("CiRmZDE2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "morty@the-citadel.com", "editor"),
    ("CiRmZDI2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "summer@the-smiths.com", "editor"),
    ("CiRmZDM2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "beth@the-smiths.com", "viewer"),
    ("CiRmZDQ2MTRkMy1jMzlhLTQ3ODEtYjdiZC04Yjk2ZjVhNTEwMGQSBWxvY2Fs", "jerry@the-smiths.com", "viewer"),
]
ROLES = ("viewer", "editor", "admin", "evil_genius")
IS = [{"parameter": f"is_{role}", "value": True} for role in ROLES]


def person(fact):
    return {"from": "lookup", "query": "person_by_id", "column": fact, "key": {"person_id": "subject.id"}}


OWNS = {
    "from": "lookup",
    "query": "ownership",
    "column": "owns",
    "key": {"person_id": "subject.id", "owner": "resource.properties.ownerID"},
}
BOUND = {**{f"is_{role}": person(f"is_{role}") for role in ROLES}, "owns_it": OWNS}
TODO = {
    "vocabulary": {
        "facts": {name: {"type": "boolean"} for name in (*(f"is_{role}" for role in ROLES), "owns_it")},
        "actions": {name: {} for name in ("read_user", "read_todos", "create_todo", "update_todo", "delete_todo")},
    },
    "policies": {
        "POL-TODO-001": {
            "permitted": ["read_user", "read_todos"],
            "when": [{"any_of": [{"type": "fact", **one} for one in IS]}],
        },
        "POL-TODO-002": {
            "permitted": "create_todo",
            "when": [{"any_of": [{"type": "fact", **one} for one in IS[1:]]}],
        },
        "POL-TODO-003": {
            "permitted": ["update_todo", "delete_todo"],
            "when": [IS[1], {"parameter": "owns_it", "value": True}],
        },
        "POL-TODO-004": {"permitted": "delete_todo", "when": [IS[2]]},
        "POL-TODO-005": {"permitted": "update_todo", "when": [IS[3]]},
        "POL-TODO-006": {
            "permitted": ["update_todo", "delete_todo"],
            "when": [IS[2], {"parameter": "owns_it", "value": True}],
        },
    },
    "tools": {
        f"can_{name}": {"action": name, "facts": BOUND}
        for name in ("read_user", "read_todos", "create_todo", "update_todo", "delete_todo")
    },
    "files": {
        "rules/roles.yaml": {"roles": {"anyone": {"schemas": ["house"]}}, "default_role": "anyone"},
        "context/entities/people.yaml": {
            "name": "people",
            "base_table": {"schema": "house", "table": "people"},
            "dimensions": [{"name": name} for name in ("id", "mail", "roles")],
        },
        "context/lookups/person_by_id.yaml": {
            "name": "person_by_id",
            "sql": "select "
            + ", ".join(f"contains(' ' || roles || ' ', ' {role} ') as is_{role}" for role in ROLES)
            + " from house.people where id = {person_id}",
            "parameters": {"person_id": "x"},
        },
        "context/lookups/ownership.yaml": {
            "name": "ownership",
            "sql": "select mail = {owner} as owns from house.people where id = {person_id}",
            "parameters": {"person_id": "x", "owner": "rick@the-citadel.com"},
        },
    },
}


@pytest.fixture(scope="module")
def todo(tmp_path_factory, bundle_file):
    root = tmp_path_factory.mktemp("todo")
    with duckdb.connect(str(root / "rows.duckdb")) as house:
        house.execute("create schema house")
        house.execute("create table house.people (id varchar, mail varchar, roles varchar)")
        house.executemany("insert into house.people values (?, ?, ?)", PEOPLE)
    with serving(
        root / "run", bundle_file(TODO), "--workers", "1", "--warehouse", f"duckdb:///{root / 'rows.duckdb'}"
    ) as found:
        yield found


def test_the_todo_scenario_is_decided_as_expected(todo):
    data = json.loads(beside("realworld", "gate", "authzen_todo", "decisions.json").read_text())
    wrong = []
    for row in data["evaluation"]:
        told = todo.post("/access/v1/evaluation", row["request"])
        if told.status_code != 200 or told.json()["decision"] is not row["expected"]:
            wrong.append((row["request"], told.text))
    for row in data["evaluations"]:
        told = todo.post("/access/v1/evaluations", row["request"]).json()
        if [one["decision"] for one in told["evaluations"]] != [one["decision"] for one in row["expected"]]:
            wrong.append((row["request"], told))
    assert not wrong, wrong[:3]
    assert (len(data["evaluation"]), len(data["evaluations"])) == (40, 3)


RICK, BETH = ({"type": "user", "id": PEOPLE[n][0]} for n in (0, 3))
READ, UPDATE = {"name": "can_read_todos"}, {"name": "can_update_todo"}
THING = {"type": "todo", "id": "1", "properties": {"ownerID": "beth@the-smiths.com"}}


@pytest.mark.parametrize(
    ("semantic", "subject", "actions", "said"),
    [
        (None, BETH, [READ, UPDATE, READ], [True, False, True]),
        ("execute_all", BETH, [READ, UPDATE, READ], [True, False, True]),
        ("deny_on_first_deny", BETH, [READ, UPDATE, READ], [True, False]),
        ("deny_on_first_deny", RICK, [READ, UPDATE], [True, True]),
        ("permit_on_first_permit", BETH, [UPDATE, READ, READ], [False, True]),
    ],
)
def test_a_batch_ends_where_its_semantic_says(todo, semantic, subject, actions, said):
    body = {"subject": subject, "resource": THING, "evaluations": [{"action": action} for action in actions]}
    told = todo.post(
        "/access/v1/evaluations", body | ({"options": {"evaluations_semantic": semantic}} if semantic else {})
    )
    assert [one["decision"] for one in told.json()["evaluations"]] == said
    assert all("reason" in one["context"] for one in told.json()["evaluations"] if not one["decision"])


def test_one_bad_evaluation_fails_alone_and_a_bad_request_as_a_whole(todo):
    good = {"subject": RICK, "action": READ, "resource": THING}
    told = todo.post("/access/v1/evaluations", {**good, "evaluations": [{}, {"subject": {"type": "user"}}, 7]}).json()
    assert [one["decision"] for one in told["evaluations"]] == [True, False, False]
    assert [one["context"]["error"]["status"] for one in told["evaluations"][1:]] == [400, 400]
    assert todo.post("/access/v1/evaluations", good).json()["decision"] is True
    assert todo.post("/access/v1/evaluations", {**good, "evaluations": []}).json()["decision"] is True
    for bad in (
        {},
        [],
        {**good, "subject": "rick"},
        {**good, "action": {}},
        {**good, "resource": {"type": "x"}},
        {**good, "context": 3},
    ):
        assert todo.post("/access/v1/evaluation", bad).status_code == 400, bad
    broken = {**good, "evaluations": [{}], "options": {"evaluations_semantic": "guess"}}
    assert todo.post("/access/v1/evaluations", broken).status_code == 400
    assert httpx.post(f"{todo.address}/access/v1/evaluation", content=b"{", timeout=10).status_code == 400


def test_what_is_not_bound_is_false_and_says_why(todo):
    told = todo.post(
        "/access/v1/evaluation", {"subject": RICK, "action": {"name": "can_burn"}, "resource": THING}
    ).json()
    assert (
        told["decision"] is False and told["context"]["decision"] == "deny" and "can_burn" in told["context"]["reason"]
    )
    stranger = {"subject": {"type": "user", "id": "x' or '1'='1"}, "action": READ, "resource": THING}
    assert todo.post("/access/v1/evaluation", stranger).json()["context"]["decision"] == "ask"


def test_the_endpoints_are_announced_and_a_request_keeps_its_id(todo):
    told = httpx.get(f"{todo.address}/.well-known/authzen-configuration", headers={"x-request-id": "r-7"}, timeout=10)
    assert told.headers["x-request-id"] == "r-7"
    assert told.json() == {
        "policy_decision_point": todo.address,
        "access_evaluation_endpoint": f"{todo.address}/access/v1/evaluation",
        "access_evaluations_endpoint": f"{todo.address}/access/v1/evaluations",
    }
