"""The repository and its people, the App and its installation, workflow runs and what they uploaded."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from tests.fakes.github.access import App, Token
from tests.fakes.github.call import Answer, Call, Table
from tests.fakes.github.description import Json, sample
from tests.fakes.github.state import Artifact, Refused, WorkflowRun
from tests.fakes.github.world import World

HOUR = 3_600


def _repository(call: Call) -> Answer:
    world = call.world
    owner, name = world.slug.split("/")
    body = sample("full-repository", world.base)
    facts = {"full_name": world.slug, "name": name, "owner": world.user(owner), "default_branch": "main", "id": 42}
    can = call.token.may("write", "contents")
    rights = {"pull": True, "push": can, "admin": False, "maintain": False, "triage": can}
    return Answer(200, {**body, **facts, "url": world.api, "permissions": rights})


def _user(call: Call) -> Answer:
    if call.token.is_app:
        raise call.token.denied()
    person = call.world.user(call.token.login)
    return Answer(200, {**sample("public-user", call.world.base), **person})


def _person(call: Call) -> Answer:
    login = call.params["username"]
    known = {*call.world.state.people, *(token.login for token in call.world.tokens.values())}
    if login not in known:
        raise Refused.missing()
    return Answer(200, {**sample("public-user", call.world.base), **call.world.user(login)})


def _permission(call: Call) -> Answer:
    login = call.params["username"]
    held = call.world.state.people.get(login)
    if held is None:
        raise Refused(404, f"{login} is not a user")
    user = {**call.world.user(login), "role_name": held, "permissions": {"pull": True, "push": held != "read"}}
    return Answer(200, {"permission": held, "role_name": held, "user": user | {"permissions": _rights(held)}})


def _rights(level: str) -> Json:
    order = ("read", "write", "admin")
    rank = order.index(level)
    return {"pull": True, "triage": rank > 0, "push": rank > 0, "maintain": rank > 1, "admin": rank > 1}


def _rate_limit(call: Call) -> Answer:
    own = {"limit": 5_000, "used": 1, "remaining": 4_999, "reset": int(time.time()) + HOUR}
    body = sample("rate-limit-overview", call.world.base)
    body["resources"] |= {"core": own, "search": own}
    return Answer(200, {**body, "rate": own})


# --- the App: these are asked with a signed web token, not with an access token


def show_app(world: World, app: App) -> Json:
    """An App as it sees itself."""
    body = sample("integration", world.base)
    return {**body, "id": app.id, "slug": app.slug, "name": app.slug, "permissions": dict(app.permissions)}


def show_installation(world: World, app: App) -> Json:
    """Where an App is installed."""
    own = {"id": app.installation, "app_id": app.id, "app_slug": app.slug, "permissions": dict(app.permissions)}
    tokens = f"{world.base}/app/installations/{app.installation}/access_tokens"
    account = world.user(world.slug.split("/")[0])
    return {**sample("installation", world.base), **own, "access_tokens_url": tokens, "account": account}


def issue_token(world: World, app: App) -> Answer:
    """A token of the installation, good for an hour."""
    value = f"ghs_{len(world.tokens):036d}"
    world.tokens[value] = Token(value, f"{app.slug}[bot]", "app", app.permissions, app.id)
    until = datetime.fromtimestamp(time.time() + HOUR, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = {**sample("installation-token", world.base), "token": value, "expires_at": until}
    return Answer(201, {**body, "permissions": dict(app.permissions), "repository_selection": "selected"})


# --- workflow runs


def show_run(world: World, run: WorkflowRun) -> Json:
    """A workflow run. That of a fork names no pull request: `pull_requests` is empty, as with GitHub."""
    body, home = sample("workflow-run", world.base), run.head_repository
    near = [pull for pull in world.state.pulls.values() if not pull.fork and world.head(pull) == run.head_sha]
    named = [
        {
            "id": 9_000 + pull.number,
            "number": pull.number,
            "url": f"{world.api}/pulls/{pull.number}",
            "head": {
                "ref": pull.head,
                "sha": world.head(pull),
                "repo": {"id": 42, "url": world.api, "name": "policies"},
            },
            "base": {
                "ref": pull.base,
                "sha": world.base_sha(pull),
                "repo": {"id": 42, "url": world.api, "name": "policies"},
            },
        }
        for pull in near
    ]
    body["head_repository"] |= {"full_name": home, "name": home.split("/")[1], "fork": home != world.slug}
    body["head_repository"] |= {"url": f"{world.base}/repos/{home}", "owner": world.user(home.split("/")[0])}
    return {
        **body,
        "id": run.id,
        "name": run.name,
        "event": run.event,
        "head_branch": run.head_branch,
        "head_sha": run.head_sha,
        "status": "completed",
        "conclusion": run.conclusion,
        "url": f"{world.api}/actions/runs/{run.id}",
        "artifacts_url": f"{world.api}/actions/runs/{run.id}/artifacts",
        "pull_requests": named if home == world.slug else [],
        "created_at": run.created_at,
        "updated_at": run.created_at,
    }


def show_artifact(world: World, artifact: Artifact) -> Json:
    """What a run uploaded."""
    url = f"{world.api}/actions/artifacts/{artifact.id}"
    run = world.state.runs[artifact.run]
    facts = {
        "id": artifact.id,
        "name": artifact.name,
        "size_in_bytes": len(artifact.content),
        "expired": artifact.expired,
    }
    near = {"id": run.id, "repository_id": 42, "head_repository_id": 42, "head_branch": run.head_branch}
    links = {"url": url, "archive_download_url": f"{url}/zip"}
    return {**sample("artifact", world.base), **facts, **links, "workflow_run": near | {"head_sha": run.head_sha}}


def _run(call: Call) -> WorkflowRun:
    run = call.world.state.runs.get(call.number("run_id"))
    if run is None:
        raise Refused.missing()
    return run


def _runs(call: Call) -> Answer:
    world, sha = call.world, call.query.get("head_sha")
    found = [show_run(world, run) for run in world.state.runs.values() if sha in (None, run.head_sha)]
    return Answer(200, {"total_count": len(found), "workflow_runs": found}, paged="workflow_runs")


def _artifacts(call: Call) -> Answer:
    run, name, world = _run(call), call.query.get("name"), call.world
    mine = [one for one in world.state.artifacts.values() if one.run == run.id and name in (None, one.name)]
    shown = [show_artifact(world, one) for one in mine]
    return Answer(200, {"total_count": len(shown), "artifacts": shown}, paged="artifacts")


def _artifact(call: Call) -> Artifact:
    artifact = call.world.state.artifacts.get(call.number("artifact_id"))
    if artifact is None:
        raise Refused.missing()
    return artifact


def _download(call: Call) -> Answer:
    artifact = _artifact(call)
    if call.params["archive_format"] != "zip":
        raise Refused.missing()
    if artifact.expired:
        raise Refused(410, "Artifact has expired")
    # The storage is another host; it lets in whoever has the address, and refuses a second credential.
    return Answer(302, headers={"Location": f"{call.world.base}/_storage/{artifact.id}.zip"})


TABLE: Table = {
    ("GET", ""): _repository,
    ("GET", "/user"): _user,
    ("GET", "/users/{username}"): _person,
    ("GET", "/collaborators/{username}/permission"): _permission,
    ("GET", "/rate_limit"): _rate_limit,
    ("GET", "/actions/runs"): _runs,
    ("GET", "/actions/runs/{run_id}"): lambda call: Answer(200, show_run(call.world, _run(call))),
    ("GET", "/actions/runs/{run_id}/artifacts"): _artifacts,
    ("GET", "/actions/artifacts/{artifact_id}"): lambda call: Answer(200, show_artifact(call.world, _artifact(call))),
    ("GET", "/actions/artifacts/{artifact_id}/{archive_format}"): _download,
}
