"""Pull requests: opening, reading, merging; their files, labels and reviewers."""

from __future__ import annotations

from typing import Any

from tests.fakes.github.call import Answer, Call, Table, not_blank, not_too_long
from tests.fakes.github.description import Json, sample
from tests.fakes.github.repository import Changed, GitError
from tests.fakes.github.state import Pull, Refused
from tests.fakes.github.world import World


def show(world: World, pull: Pull, schema: str = "pull-request") -> Json:
    """A pull request as GitHub shows it."""
    url, page = f"{world.api}/pulls/{pull.number}", f"{world.base}/{world.slug}/pull/{pull.number}"
    body = {
        **sample(schema, world.base),
        "id": 9_000 + pull.number,
        "node_id": f"PR_{pull.number}",
        "number": pull.number,
        "title": pull.title,
        "body": pull.body,
        "state": pull.state,
        "draft": pull.draft,
        "user": world.user(pull.author),
        "labels": [show_label(world, name) for name in pull.labels],
        "requested_reviewers": [world.user(login) for login in pull.reviewers],
        "requested_teams": [_team(world, slug) for slug in pull.teams],
        "created_at": pull.created_at,
        "updated_at": pull.created_at,
        "closed_at": None if pull.state == "open" else pull.created_at,
        "merged_at": pull.created_at if pull.merged else None,
        "merge_commit_sha": pull.merge_sha,
        "url": url,
        "html_url": page,
        "issue_url": f"{world.api}/issues/{pull.number}",
        "comments_url": f"{world.api}/issues/{pull.number}/comments",
        "review_comments_url": f"{url}/comments",
        "commits_url": f"{url}/commits",
    }
    home = pull.fork or world.slug
    ends = (("head", pull.head, world.head(pull), home), ("base", pull.base, world.base_sha(pull), world.slug))
    for name, ref, sha, slug in ends:
        own = slug.split("/")[0]
        repo = {**body[name].get("repo", {}), "full_name": slug, "name": slug.split("/")[1], "fork": slug != world.slug}
        repo |= {"url": f"{world.base}/repos/{slug}", "owner": world.user(own)}
        body[name] |= {"ref": ref, "sha": sha, "label": f"{own}:{ref}", "user": world.user(own), "repo": repo}
    if schema == "pull-request":
        files = world.files(pull)
        body |= {
            "merged": pull.merged,
            "mergeable": True,
            "changed_files": len(files),
            "additions": sum(file.additions for file in files),
            "deletions": sum(file.deletions for file in files),
        }
    return body


def show_file(world: World, file: Changed, head: str) -> Json:
    """One changed file of a pull request or a comparison."""
    link = f"{world.api}/contents/{file.path}?ref={head}"
    return {
        **sample("diff-entry", world.base),
        "filename": file.path,
        "status": file.status,
        "sha": file.sha,
        "additions": file.additions,
        "deletions": file.deletions,
        "changes": file.additions + file.deletions,
        "contents_url": link,
        **({"patch": file.patch} if file.patch else {}),
        **({"previous_filename": file.previous} if file.previous else {}),
    }


def show_label(world: World, name: str) -> Json:
    """A label; one that was never made has GitHub's grey."""
    known = world.state.labels.get(name, {})
    facts = {"color": "ededed", "description": "", **known, "name": name, "url": f"{world.api}/labels/{name}"}
    return {**sample("label", world.base), **facts}


def _team(world: World, slug: str) -> Json:
    return {**sample("team", world.base), "slug": slug, "name": slug, "parent": None}


def _list(call: Call) -> Answer:
    state, head, base = call.query.get("state", "open"), call.query.get("head"), call.query.get("base")
    owner = call.world.slug.split("/")[0]
    found = [
        pull
        for pull in reversed(call.world.state.pulls.values())
        if state in ("all", pull.state)
        and head in (None, f"{pull.fork.split('/')[0] if pull.fork else owner}:{pull.head}")
        and base in (None, pull.base)
    ]
    return Answer(200, [show(call.world, pull, "pull-request-simple") for pull in found])


def _create(call: Call) -> Answer:
    world, body = call.world, call.body
    not_too_long("PullRequest", body)
    not_blank("PullRequest", body, "title")
    head = body["head"].removeprefix(f"{world.slug.split('/')[0]}:")
    tip, base = world.git.resolve(f"refs/heads/{head}"), world.git.resolve(f"refs/heads/{body['base']}")
    for name, sha in (("head", tip), ("base", base)):
        if sha is None:
            raise Refused.invalid("PullRequest", name)
    if tip == base or world.git.is_ancestor(str(tip), str(base)):
        told = f"No commits between {body['base']} and {head}"
        raise Refused(422, "Validation Failed", [{"resource": "PullRequest", "code": "custom", "message": told}])
    if any(pull.state == "open" and not pull.fork and pull.head == head for pull in world.state.pulls.values()):
        told = f"A pull request already exists for {world.slug.split('/')[0]}:{head}."
        raise Refused(422, "Validation Failed", [{"resource": "PullRequest", "code": "custom", "message": told}])
    number = world.open_pull(head, body["title"], call.token.login, body["base"])
    pull = world.state.pulls[number]
    pull.body, pull.draft = body.get("body") or "", bool(body.get("draft"))
    return Answer(201, show(world, pull))


def _edit(call: Call) -> Answer:
    pull, body = call.world.pull(call.params["pull_number"]), call.body
    not_too_long("PullRequest", body)
    for name in ("title", "body", "state", "base"):
        if name in body:
            setattr(pull, name, body[name])
    return Answer(200, show(call.world, pull))


def _merge(call: Call) -> Answer:
    world, pull = call.world, call.world.pull(call.params["pull_number"])
    head = world.head(pull)
    if pull.state != "open":
        raise Refused(405, "Pull Request is not mergeable")
    if (call.body or {}).get("sha", head) != head:
        raise Refused(409, "Head branch was modified. Review and try the merge again.")
    base, who = world.base_sha(pull), ("Ana Ito", "ana@acme.example", world.state.tick())
    try:
        tree = world.git.git("merge-tree", "--write-tree", base, head).split("\n")[0]
    except GitError:
        raise Refused(405, "Pull Request is not mergeable") from None
    sha = world.git.commit(tree, [base, head], f"Merge pull request #{pull.number}", who, who)
    world.git.set_ref(f"refs/heads/{pull.base}", sha)
    pull.state, pull.merged, pull.merge_sha = "closed", True, sha
    return Answer(200, {"sha": sha, "merged": True, "message": "Pull Request successfully merged"})


def _files(call: Call) -> Answer:
    pull = call.world.pull(call.params["pull_number"])
    head = call.world.head(pull)
    return Answer(200, [show_file(call.world, file, head) for file in call.world.files(pull)])


def _of_commit(call: Call) -> Answer:
    # Pull requests of forks are not listed here: their commits belong to the fork.
    world, sha = call.world, call.params["commit_sha"]
    found = [pull for pull in world.state.pulls.values() if not pull.fork and world.head(pull) == sha]
    return Answer(200, [show(world, pull, "pull-request-simple") for pull in found])


def _request_reviewers(call: Call) -> Answer:
    world, pull, body = call.world, call.world.pull(call.params["pull_number"]), call.body or {}
    logins, teams = body.get("reviewers", []), body.get("team_reviewers", [])
    if pull.author in logins:
        raise Refused(422, "Review cannot be requested from pull request author.")
    people = world.state.people
    if any(login not in people for login in logins) or any(f"team:{team}" not in people for team in teams):
        told = (
            "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not"
        )
        raise Refused(422, f"{told} a collaborator of the {world.slug} repository.")
    pull.reviewers += [login for login in logins if login not in pull.reviewers]
    pull.teams += [team for team in teams if team not in pull.teams]
    return Answer(201, show(world, pull, "pull-request-simple"))


def _drop_reviewers(call: Call) -> Answer:
    pull = call.world.pull(call.params["pull_number"])
    pull.reviewers = [login for login in pull.reviewers if login not in call.body.get("reviewers", [])]
    pull.teams = [team for team in pull.teams if team not in call.body.get("team_reviewers", [])]
    return Answer(200, show(call.world, pull, "pull-request-simple"))


def _reviewers(call: Call) -> Answer:
    pull = call.world.pull(call.params["pull_number"])
    users = [call.world.user(login) for login in pull.reviewers]
    return Answer(200, {"users": users, "teams": [_team(call.world, slug) for slug in pull.teams]})


# --- a pull request as an issue, and labels


def show_issue(world: World, pull: Pull) -> Json:
    """The issue that every pull request is as well."""
    link = f"{world.api}/issues/{pull.number}"
    return {
        **sample("issue", world.base),
        "number": pull.number,
        "title": pull.title,
        "body": pull.body,
        "state": pull.state,
        "user": world.user(pull.author),
        "labels": [show_label(world, name) for name in pull.labels],
        "url": link,
        "comments_url": f"{link}/comments",
        "labels_url": f"{link}/labels{{/name}}",
        "pull_request": dict.fromkeys(("url", "html_url", "diff_url", "patch_url"), f"{world.api}/pulls/{pull.number}"),
    }


def _issue(call: Call) -> Answer:
    return Answer(200, show_issue(call.world, call.world.pull(call.params["issue_number"])))


def _edit_issue(call: Call) -> Answer:
    pull, body = call.world.pull(call.params["issue_number"]), call.body or {}
    not_too_long("Issue", body)
    for name in ("title", "body", "state"):
        if name in body:
            setattr(pull, name, body[name])
    if "labels" in body:
        pull.labels = _names(body)
    return Answer(200, show_issue(call.world, pull))


def _names(body: Any) -> list[str]:
    given = body if isinstance(body, list) else (body or {}).get("labels", [])
    names = [label if isinstance(label, str) else label["name"] for label in given]
    if any(len(name) > 50 for name in names):
        raise Refused.invalid("Label", "name", "custom", "name is too long (maximum is 50 characters)")
    return list(dict.fromkeys(names))


def _labels_of(call: Call) -> Answer:
    pull = call.world.pull(call.params["issue_number"])
    return Answer(200, [show_label(call.world, name) for name in pull.labels])


def _add_labels(call: Call) -> Answer:
    pull = call.world.pull(call.params["issue_number"])
    pull.labels += [name for name in _names(call.body) if name not in pull.labels]
    for name in pull.labels:
        call.world.state.labels.setdefault(name, {})
    return _labels_of(call)


def _set_labels(call: Call) -> Answer:
    call.world.pull(call.params["issue_number"]).labels = []
    return _add_labels(call)


def _drop_labels(call: Call) -> Answer:
    call.world.pull(call.params["issue_number"]).labels = []
    return Answer(204)


def _drop_label(call: Call) -> Answer:
    pull = call.world.pull(call.params["issue_number"])
    if call.params["name"] not in pull.labels:
        raise Refused(404, "Label does not exist")
    pull.labels.remove(call.params["name"])
    return _labels_of(call)


def _labels(call: Call) -> Answer:
    return Answer(200, [show_label(call.world, name) for name in sorted(call.world.state.labels)])


def _label(call: Call) -> Answer:
    if call.params["name"] not in call.world.state.labels:
        raise Refused.missing()
    return Answer(200, show_label(call.world, call.params["name"]))


def _make_label(call: Call) -> Answer:
    name, labels = call.body["name"], call.world.state.labels
    _names({"labels": [name]})
    if name.lower() in map(str.lower, labels):
        raise Refused.invalid("Label", "name", "already_exists")
    labels[name] = {key: call.body[key] for key in ("color", "description") if call.body.get(key)}
    return Answer(201, show_label(call.world, name))


TABLE: Table = {
    ("GET", "/pulls"): _list,
    ("POST", "/pulls"): _create,
    ("GET", "/pulls/{pull_number}"): lambda call: Answer(
        200, show(call.world, call.world.pull(call.params["pull_number"]))
    ),
    ("PATCH", "/pulls/{pull_number}"): _edit,
    ("PUT", "/pulls/{pull_number}/merge"): _merge,
    ("GET", "/pulls/{pull_number}/files"): _files,
    ("GET", "/commits/{commit_sha}/pulls"): _of_commit,
    ("GET", "/pulls/{pull_number}/requested_reviewers"): _reviewers,
    ("POST", "/pulls/{pull_number}/requested_reviewers"): _request_reviewers,
    ("DELETE", "/pulls/{pull_number}/requested_reviewers"): _drop_reviewers,
    ("GET", "/issues/{issue_number}"): _issue,
    ("PATCH", "/issues/{issue_number}"): _edit_issue,
    ("GET", "/issues/{issue_number}/labels"): _labels_of,
    ("POST", "/issues/{issue_number}/labels"): _add_labels,
    ("PUT", "/issues/{issue_number}/labels"): _set_labels,
    ("DELETE", "/issues/{issue_number}/labels"): _drop_labels,
    ("DELETE", "/issues/{issue_number}/labels/{name}"): _drop_label,
    ("GET", "/labels"): _labels,
    ("POST", "/labels"): _make_label,
    ("GET", "/labels/{name}"): _label,
}
