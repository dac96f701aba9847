"""What a commit is told: check runs with their annotations (Apps only) and commit statuses (any token)."""

from __future__ import annotations

import re

from tests.fakes.github.call import Answer, Call, Table, not_too_long
from tests.fakes.github.description import Json, sample
from tests.fakes.github.state import CheckRun, Refused, Status
from tests.fakes.github.world import World

MOST_ANNOTATIONS = 50
LONGEST_OUTPUT = 65_535
LONGEST_DESCRIPTION = 140
MOST_STATUSES = 1_000


def show_check(world: World, check: CheckRun) -> Json:
    """A check run as GitHub shows it."""
    url = f"{world.api}/check-runs/{check.id}"
    body = sample("check-run", world.base)
    return {
        **body,
        "id": check.id,
        "node_id": f"CR_{check.id}",
        "head_sha": check.sha,
        "name": check.name,
        "external_id": check.external_id,
        "details_url": check.details_url,
        "status": check.status,
        "conclusion": check.conclusion,
        "started_at": check.started_at,
        "completed_at": check.completed_at,
        "url": url,
        "html_url": f"{world.base}/{world.slug}/runs/{check.id}",
        "check_suite": {"id": check.app},
        "output": {
            "title": check.title,
            "summary": check.summary,
            "text": check.text,
            "annotations_count": len(check.annotations),
            "annotations_url": f"{url}/annotations",
        },
    }


def _create(call: Call) -> Answer:
    world, body = call.world, call.body
    if world.git.resolve(body["head_sha"]) != body["head_sha"]:
        raise Refused(422, f"No commit found for SHA: {body['head_sha']}")
    if body.get("status") == "completed" and not body.get("conclusion"):
        raise Refused(422, "Invalid request.\n\nA completed check run needs a conclusion.")
    _check_output(body.get("output"))
    state = world.state
    app = call.token.app or 0
    check = CheckRun(state.next_id(), app, body["head_sha"], body["name"], body.get("started_at") or state.tick())
    _write(call, check)
    state.checks[check.id] = check
    return Answer(201, show_check(world, check))


def _edit(call: Call) -> Answer:
    check = _check(call)
    if check.app != call.token.app:
        told = f"Invalid app_id `{call.token.app}` - check run can only be modified by the GitHub App that created it."
        raise Refused(403, told)
    _check_output((call.body or {}).get("output"))
    _write(call, check)
    return Answer(200, show_check(call.world, check))


def _check_output(output: Json | None) -> None:
    """Raise Refused for what no check run shows."""
    if output is None:
        return
    for name in ("summary", "text"):
        not_too_long("CheckRun", output, name, LONGEST_OUTPUT)
    annotations = output.get("annotations") or []
    if len(annotations) > MOST_ANNOTATIONS:
        told = f"No more than {MOST_ANNOTATIONS} items are allowed; {len(annotations)} were supplied."
        raise Refused(422, f"Invalid request.\n\n{told}")
    for annotation in annotations:
        not_too_long("CheckAnnotation", annotation, "title", 255)
        not_too_long("CheckAnnotation", annotation, "message", 65_536)
        not_too_long("CheckAnnotation", annotation, "raw_details", 65_536)
        has_columns = "start_column" in annotation or "end_column" in annotation
        if annotation["end_line"] < annotation["start_line"]:
            raise Refused.invalid("CheckAnnotation", "end_line", "custom", "end_line must not precede start_line")
        if has_columns and annotation["start_line"] != annotation["end_line"]:
            raise Refused.invalid("CheckAnnotation", "start_column", "custom", "columns are for a single line")


def _write(call: Call, check: CheckRun) -> None:
    body = call.body or {}
    for name in ("name", "external_id", "details_url", "status", "conclusion", "started_at", "completed_at"):
        if name in body:
            setattr(check, name, body[name])
    if check.conclusion:
        check.status = "completed"
        check.completed_at = check.completed_at or call.world.state.tick()
    output = body.get("output") or {}
    for name in ("title", "summary", "text"):
        if name in output:
            setattr(check, name, output[name])
    # Annotations are added to those of earlier requests, never replaced.
    check.annotations += output.get("annotations") or []


def _check(call: Call) -> CheckRun:
    check = call.world.state.checks.get(call.number("check_run_id"))
    if check is None:
        raise Refused.missing()
    return check


def _annotations(call: Call) -> Answer:
    empty = dict.fromkeys(("start_column", "end_column", "title", "raw_details"))
    link = f"{call.world.api}/contents/x"
    return Answer(200, [{**empty, "blob_href": link, **annotation} for annotation in _check(call).annotations])


def _checks(call: Call) -> Answer:
    sha = call.world.git.resolve(call.params["ref"])
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {call.params['ref']}")
    name, found = call.query.get("check_name"), call.world.checks_of(sha)
    if call.query.get("filter", "latest") == "latest":
        found = list({(check.app, check.name): check for check in found}.values())
    shown = [show_check(call.world, check) for check in found if name in (None, check.name)]
    return Answer(200, {"total_count": len(shown), "check_runs": shown}, paged="check_runs")


def _show_status(world: World, status: Status, schema: str = "status") -> Json:
    facts = {
        "id": status.id,
        "node_id": f"SC_{status.id}",
        "state": status.state,
        "context": status.context,
        "description": status.description,
        "target_url": status.target_url,
        "created_at": status.created_at,
        "updated_at": status.created_at,
    }
    creator = {"creator": world.user(status.author)} if schema == "status" else {}
    return {**sample(schema, world.base), **facts, **creator}


def _create_status(call: Call) -> Answer:
    world, body, sha = call.world, call.body, call.params["sha"]
    if not re.fullmatch(r"[0-9a-f]{40}", sha) or world.git.resolve(sha) != sha:
        raise Refused(422, f"No commit found for SHA: {sha}")
    not_too_long("Status", body, "description", LONGEST_DESCRIPTION)
    context, state = body.get("context") or "default", world.state
    if sum(one.sha == sha and one.context == context for one in state.statuses.values()) >= MOST_STATUSES:
        raise Refused.invalid("Status", "context", "custom", "This SHA and context has reached the maximum.")
    told, link = body.get("description"), body.get("target_url")
    status = Status(state.next_id(), sha, body["state"], context, told, link, call.token.login, state.tick())
    state.statuses[status.id] = status
    return Answer(201, _show_status(world, status))


def _combined(call: Call) -> Answer:
    world = call.world
    sha = world.git.resolve(call.params["ref"])
    if sha is None:
        raise Refused.missing()
    latest = {one.context: one for one in world.state.statuses.values() if one.sha == sha}
    states = [one.state for one in latest.values()]
    verdict = "failure" if {"failure", "error"} & set(states) else "success"
    if not states or "pending" in states:
        verdict = "pending" if verdict == "success" else verdict
    shown = [_show_status(world, one, "simple-commit-status") for one in latest.values()]
    body = {**sample("combined-commit-status", world.base), "sha": sha, "state": verdict}
    return Answer(200, {**body, "total_count": len(shown), "statuses": shown}, paged="statuses")


TABLE: Table = {
    ("POST", "/check-runs"): _create,
    ("GET", "/check-runs/{check_run_id}"): lambda call: Answer(200, show_check(call.world, _check(call))),
    ("PATCH", "/check-runs/{check_run_id}"): _edit,
    ("GET", "/check-runs/{check_run_id}/annotations"): _annotations,
    ("GET", "/commits/{ref}/check-runs"): _checks,
    ("POST", "/statuses/{sha}"): _create_status,
    ("GET", "/commits/{ref}/status"): _combined,
}
