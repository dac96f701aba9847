"""The fake GitHub refuses what the real one refuses, says why in its words, and answers as its description says."""

from __future__ import annotations

import copy
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.fakes.github.access import ALL, READ
from tests.fakes.github.description import match
from tests.fakes.github.graphql import schema
from tests.fakes.github.repository import GitRepository
from tests.fakes.github.server import TABLE, FakeGitHub
from tests.fakes.github.state import State
from tests.rows import each

pytestmark = pytest.mark.slow

ROWS = yaml.safe_load(Path(__file__).with_name("github_refusals.yaml").read_text(encoding="utf-8"))
LINES = [f"k{i}: {i}\n" for i in range(1, 41)]
CLIENT = httpx.Client(verify=False, timeout=20)
THREADS = """
query($number: Int!, $after: String) {
  repository(owner: "acme", name: "policies") {
    pullRequest(number: $number) {
      reviewThreads(first: 2, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { id isResolved isOutdated line path comments(first: 10) { nodes { databaseId body author { login } } } }
      }
    }
  }
}
"""


def changed(line: int, text: str) -> str:
    return "".join([*LINES[: line - 1], f"{text}\n", *LINES[line:]])


def furnish(github: FakeGitHub) -> FakeGitHub:
    """Two pull requests, the second in conflict with main; a comment, a review, a check run, an expired artifact."""
    github.commit("main", {"policies/a.yaml": "".join(LINES), "policies/b.yaml": "b: 1\n"})
    github.commit("feature", {"policies/a.yaml": changed(20, "k20: changed"), "policies/new.yaml": "n: 1\n"})
    github.commit("clash", {"policies/b.yaml": "b: 2\n"})
    github.git.set_ref("refs/heads/same", github.git.resolve("refs/heads/main"))
    github.open_pull("feature")
    github.open_pull("clash")
    github.commit("main", {"policies/b.yaml": "b: 3\n"})
    github.state.labels["bylaw"] = {}
    return github


@pytest.fixture
def shop(github: FakeGitHub) -> FakeGitHub:
    """The pull requests of `furnish`, for this test alone."""
    return furnish(github)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FakeGitHub, dict[str, Any]]]:
    """The same for all refusals: what is refused changes nothing."""
    repository = GitRepository.create(tmp_path_factory.mktemp("hub") / "hub.git")
    with FakeGitHub(git=repository) as fake:
        furnish(fake)
        yield fake, names_in(fake)
    assert (fake.defects, fake.unknown) == ([], [])


def send(github: FakeGitHub, token: str | None, request: str, body: Any = None, raw: str | None = None):
    method, _, path = request.partition(" ")
    headers = {"Authorization": f"token {token}"} if token else {}
    content = raw if raw is not None else json.dumps(body) if body is not None else None
    url = github.base + re.sub(r"^R\b", "/repos/acme/policies", path)
    return CLIENT.request(method, url, content=content, headers=headers)


def filled(value: Any, names: dict[str, Any]) -> Any:
    """*value* with {head}, {long:N} and {annotations:N} put in."""
    if isinstance(value, dict):
        return {key: filled(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, names) for inner in value]
    if not isinstance(value, str):
        return value
    if long := re.fullmatch(r"\{long:(\d+)\}", value):
        return "x" * int(long[1])
    if many := re.fullmatch(r"\{annotations:(\d+)\}", value):
        one = {"path": "a", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "m"}
        return [one] * int(many[1])
    return re.sub(r"\{(\w+)\}", lambda found: str(names[found[1]]), value)


def names_in(github: FakeGitHub) -> dict[str, Any]:
    author, app = github.token(), github.token(kind="app", login="other[bot]", app=7)
    head = github.head(github.state.pulls[1])
    run = github.add_run(1)
    expired = github.add_artifact(run.id, "old", {"a.json": "{}"})
    expired.expired = True
    made = {
        "comment": send(github, author, "POST R/issues/1/comments", {"body": "hello"}),
        "review": send(github, author, "POST R/pulls/1/reviews", {"event": "COMMENT", "body": "hello"}),
        "check": send(github, app, "POST R/check-runs", {"name": "theirs", "head_sha": head}),
    }
    commits = {"head": head, "main": github.git.resolve("refs/heads/main"), "other": github.head(github.state.pulls[2])}
    return {**commits, **{name: answer.json()["id"] for name, answer in made.items()}, "expired": expired.id}


def answer_to(github: FakeGitHub, row: dict[str, Any], names: dict[str, Any]) -> httpx.Response:
    kind = row.get("token", "personal")
    known: dict[str, str | None] = {"none": None, "wrong": "ghp_wrong"}
    permissions = READ if row.get("may") == "read" else ALL
    token = known[kind] if kind in known else github.token(kind=kind, permissions=permissions)
    return send(github, token, filled(row["send"], names), filled(row.get("body"), names), row.get("raw"))


REFUSED = [row for row in ROWS if row["status"] >= 400]
ALLOWED = [row for row in ROWS if row["status"] < 400]


@each("row", REFUSED, ids=[row["title"] for row in REFUSED])
def test_github_refuses(untouched, row):
    github, names = untouched
    before = (copy.deepcopy(github.state), github.git.refs("refs/"))
    answer = answer_to(github, row, names)
    assert answer.status_code == row["status"], answer.text
    assert row["says"] in json.dumps(answer.json(), ensure_ascii=False).replace('\\"', '"')
    after = (github.state, github.git.refs("refs/"))
    assert [vars_of(before[0]), before[1]] == [vars_of(after[0]), after[1]]


def vars_of(state: State) -> dict[str, Any]:
    return {name: value for name, value in vars(state).items() if not name.startswith("_")}


@pytest.mark.parametrize("row", ALLOWED, ids=[row["title"] for row in ALLOWED])
def test_github_allows(shop, row):
    assert answer_to(shop, row, names_in(shop)).status_code == row["status"]


def test_what_is_answered_is_described():
    for method, path in TABLE:
        whole = path if path.startswith(("/user", "/rate_limit")) else f"/repos/acme/policies{path}"
        assert match(method, re.sub(r"\{(\w+)\}", "1", whole)), f"{method} {path}"


def test_a_resource_that_the_fake_does_not_have_is_noted(shop):
    assert send(shop, shop.token(), "GET R/branches").status_code == 404
    assert shop.unknown == ["GET /repos/acme/policies/branches"]
    shop.unknown.clear()


def test_an_answer_that_is_not_as_described_is_noted(shop, monkeypatch):
    shop.state.pulls[1].title = 7
    send(shop, shop.token(), "GET R/pulls/1")
    assert shop.defects == ["GET /repos/{owner}/{repo}/pulls/{pull_number} -> 200: $.title 7 is not of type 'string'"]
    shop.defects.clear()


def test_the_diff_is_gits(shop):
    files = send(shop, shop.token(), "GET R/pulls/1/files").json()
    assert [(file["filename"], file["status"], file["additions"], file["deletions"]) for file in files] == [
        ("policies/a.yaml", "modified", 1, 1),
        ("policies/new.yaml", "added", 1, 0),
    ]
    checkout = shop.clone(shop.git.path.parent / "checkout")
    assert (checkout / "policies" / "b.yaml").read_text() == "b: 3\n"


def test_lists_come_in_pages(shop):
    token = shop.token()
    for number in range(5):
        send(shop, token, "POST R/issues/1/comments", {"body": f"comment {number}"})
    url, seen = f"{shop.base}/repos/acme/policies/issues/1/comments?per_page=2", []
    while url:
        answer = CLIENT.get(url, headers={"Authorization": f"token {token}"})
        seen.append([comment["body"] for comment in answer.json()])
        url = answer.links.get("next", {}).get("url")
    assert seen == [["comment 0", "comment 1"], ["comment 2", "comment 3"], ["comment 4"]]


def comment_on(github: FakeGitHub, token: str, line: int, body: str) -> int:
    head = github.head(github.state.pulls[1])
    place = {"path": "policies/a.yaml", "line": line, "side": "RIGHT"}
    return send(github, token, "POST R/pulls/1/comments", {"body": body, "commit_id": head, **place}).json()["id"]


def ask(github: FakeGitHub, token: str, query: str, **variables: Any) -> Any:
    return send(github, token, "POST /graphql", {"query": query, "variables": variables}).json()


def test_a_comment_moves_with_its_line_and_is_outdated_when_the_line_changes(shop):
    token = shop.token()
    moving, changing = comment_on(shop, token, 22, "moves"), comment_on(shop, token, 20, "changes")
    shop.commit("feature", {"policies/a.yaml": "k0: 0\n" + changed(20, "k20: changed again")})
    comments = {one["id"]: one for one in send(shop, token, "GET R/pulls/1/comments").json()}
    assert (comments[moving]["line"], comments[moving]["original_line"]) == (23, 22)
    assert (comments[changing]["line"], comments[changing]["position"]) == (None, None)
    threads = ask(shop, token, THREADS, number=1)["data"]["repository"]["pullRequest"]["reviewThreads"]["nodes"]
    assert [(thread["isOutdated"], thread["line"]) for thread in threads] == [(False, 23), (True, None)]


def test_threads_come_in_pages_with_their_answers(shop):
    app = shop.token(kind="app", login="bylaw[bot]", app=1)
    first, *_ = [comment_on(shop, app, line, f"line {line}") for line in (18, 19, 20)]
    send(shop, app, f"POST R/pulls/1/comments/{first}/replies", {"body": "an answer"})
    page = ask(shop, app, THREADS, number=1)["data"]["repository"]["pullRequest"]["reviewThreads"]
    said = [[comment["body"] for comment in thread["comments"]["nodes"]] for thread in page["nodes"]]
    assert (said, page["pageInfo"]["hasNextPage"]) == ([["line 18", "an answer"], ["line 19"]], True)
    assert page["nodes"][0]["comments"]["nodes"][0]["author"]["login"] == "bylaw"  # without [bot], unlike REST
    rest = ask(shop, app, THREADS, number=1, after=page["pageInfo"]["endCursor"])
    assert len(rest["data"]["repository"]["pullRequest"]["reviewThreads"]["nodes"]) == 1


RESOLVE = "mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { isResolved } } }"
NO_CONTENTS = {**ALL, "contents": "read"}


@pytest.mark.parametrize(
    ("kind", "permissions", "refused"),
    [
        ("personal", ALL, None),
        ("workflow", ALL, None),
        ("workflow", NO_CONTENTS, "Resource not accessible by integration"),
        ("personal", NO_CONTENTS, None),
        ("fine-grained", READ, "Resource not accessible by personal access token"),
    ],
)
def test_a_thread_is_resolved_by_who_may(shop, kind, permissions, refused):
    thread = f"PRRT_{comment_on(shop, shop.token(), 20, 'x')}"
    answer = ask(shop, shop.token(kind=kind, permissions=permissions), RESOLVE, id=thread)
    if refused:
        assert answer["errors"][0]["type"] == "FORBIDDEN"
        assert answer["errors"][0]["message"] == refused
        assert not shop.state.resolved
    else:
        assert answer["data"]["resolveReviewThread"]["thread"]["isResolved"] is True


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("{ viewer { login } nonsense }", "Cannot query field 'nonsense'"),
        ('{ repository(owner: "acme", name: "no") { id } }', "Could not resolve to a Repository"),
        (
            'mutation { resolveReviewThread(input: {threadId: "PRRT_9"}) { clientMutationId } }',
            "Could not resolve to a",
        ),
        (THREADS.replace("first: 2, ", "").replace("$number", "1").replace("query(1: Int!, ", "query("), "`first`"),
        (
            THREADS.replace("first: 2", "first: 101").replace("$number: Int!, ", "").replace("$number", "1"),
            "limit of 100",
        ),
    ],
)
def test_a_query_that_github_would_not_answer(shop, query, says):
    assert says in ask(shop, shop.token(), query)["errors"][0]["message"]


def test_a_comment_can_be_minimized(shop):
    token = shop.token()
    comment = send(shop, token, "POST R/issues/1/comments", {"body": "old"}).json()
    query = "mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { clientMutationId } }"
    assert "errors" not in ask(shop, token, query, id=comment["node_id"])
    assert shop.state.comments[comment["id"]].minimized == "outdated"
    assert "minimizeComment" in schema().mutation_type.fields


FAULTS = [
    ("unavailable", 503, False),
    ("gateway", 502, False),
    ("secondary_limit", 403, False),
    ("primary_limit", 403, False),
    ("refused", 422, False),
    ("cut_before", None, False),
    ("cut_after", None, True),
]


@pytest.mark.parametrize(("kind", "status", "had_effect"), FAULTS, ids=[kind for kind, *_ in FAULTS])
def test_a_fault_happens_as_often_as_it_was_ordered(shop, kind, status, had_effect):
    token = shop.token()
    shop.fail(kind, times=1, on="POST .*/comments$", seconds=7)
    assert send(shop, token, "GET R/pulls/1").status_code == 200
    try:
        answer = send(shop, token, "POST R/issues/1/comments", {"body": "x"})
    except httpx.TransportError:
        assert status is None
    else:
        assert answer.status_code == status
        assert answer.headers.get("Retry-After") == ("7" if kind == "secondary_limit" else None)
        assert (answer.headers["X-RateLimit-Remaining"] == "0") == (kind == "primary_limit")
    assert shop.requests[-1].had_effect == had_effect
    assert len(shop.comments_of(1)) == had_effect
    assert send(shop, token, "POST R/issues/1/comments", {"body": "x"}).status_code == 201
    assert shop.writes() == [f"POST /issues/1/comments {status or 0}", "POST /issues/1/comments 201"]


def test_a_fork_names_no_pull_request_and_is_found_by_its_branch(shop):
    shop.commit("idea", {"policies/c.yaml": "c: 1\n"}, fork="eve/policies")
    number = shop.open_pull("idea", author="eve", fork="eve/policies")
    run = shop.add_run(number)
    token = shop.token(kind="workflow")
    told = send(shop, token, f"GET R/actions/runs/{run.id}").json()
    assert (told["pull_requests"], told["head_repository"]["full_name"]) == ([], "eve/policies")
    found = send(shop, token, "GET R/pulls?head=eve:idea").json()
    assert [(pull["number"], pull["head"]["sha"]) for pull in found] == [(number, told["head_sha"])]
    assert send(shop, token, f"GET R/commits/{told['head_sha']}/pulls").json() == []


def test_an_artifact_lies_where_no_second_credential_is_taken(shop):
    artifact = shop.add_artifact(shop.add_run(1).id, "review", {"review.json": "{}"})
    token = shop.token(kind="workflow")
    moved = send(shop, token, f"GET R/actions/artifacts/{artifact.id}/zip")
    assert moved.status_code == 302
    assert CLIENT.get(moved.headers["Location"], headers={"Authorization": f"token {token}"}).status_code == 401
    content = CLIENT.get(moved.headers["Location"]).content
    assert zipfile.ZipFile(io.BytesIO(content)).read("review.json") == b"{}"


def test_annotations_add_up(shop):
    token = shop.token(kind="workflow")
    fifty = filled("{annotations:50}", {})
    output = {"title": "t", "summary": "s", "annotations": fifty}
    start = {"name": "bylaw", "head_sha": shop.head(shop.state.pulls[1]), "output": output}
    check = send(shop, token, "POST R/check-runs", start).json()
    edited = send(shop, token, f"PATCH R/check-runs/{check['id']}", {"output": output}).json()
    assert edited["output"]["annotations_count"] == 100
    assert len(send(shop, token, f"GET R/check-runs/{check['id']}/annotations?per_page=100").json()) == 100


def test_a_merge_is_a_real_merge(shop):
    token = shop.token()
    merged = send(shop, token, "PUT R/pulls/1/merge", {}).json()
    assert len(shop.git.read_commit(merged["sha"]).parents) == 2
    assert send(shop, token, "GET R/pulls/1").json()["merged"] is True
    assert shop.git.blob_at("refs/heads/main", "policies/new.yaml")
