"""Git through HTTP: blobs, trees, commits, refs, contents, comparisons. Everything is a real git object."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from tests.fakes.github.call import Answer, Call, Table
from tests.fakes.github.description import Json, sample
from tests.fakes.github.pulls import show_file
from tests.fakes.github.repository import Commit, GitError
from tests.fakes.github.state import Refused
from tests.fakes.github.world import World

MODES = ("100644", "100755", "120000")


def show_commit(world: World, sha: str) -> Json:
    """A commit of the git data API."""
    commit = world.git.read_commit(sha)
    url = f"{world.api}/git/commits/{sha}"
    return {
        **sample("git-commit", world.base),
        "sha": sha,
        "url": url,
        "html_url": f"{world.base}/{world.slug}/commit/{sha}",
        "message": commit.message,
        **_people(commit),
        "tree": {"sha": commit.tree, "url": f"{world.api}/git/trees/{commit.tree}"},
        "parents": [
            {"sha": parent, "url": f"{world.api}/git/commits/{parent}", "html_url": f"{world.base}/{world.slug}"}
            for parent in commit.parents
        ],
        "verification": _UNSIGNED,
    }


_UNSIGNED = {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}


def _people(commit: Commit) -> Json:
    def show(person: tuple[str, str, str]) -> Json:
        return dict(zip(("name", "email", "date"), person, strict=True))

    return {"author": show(commit.author), "committer": show(commit.committer)}


def show_full_commit(world: World, sha: str, with_files: bool = False) -> Json:
    """A commit of the repository API: the same, with its people as users, and with its files on demand."""
    commit = world.git.read_commit(sha)
    url = f"{world.api}/commits/{sha}"
    body = {
        **sample("commit", world.base),
        "sha": sha,
        "node_id": f"C_{sha}",
        "url": url,
        "html_url": f"{world.base}/{world.slug}/commit/{sha}",
        "author": None,
        "committer": None,
        "parents": [{"sha": parent, "url": f"{world.api}/commits/{parent}"} for parent in commit.parents],
    }
    facts = {**_people(commit), "message": commit.message, "tree": {"sha": commit.tree, "url": f"{world.api}/x"}}
    body["commit"] |= facts | {"url": f"{world.api}/git/commits/{sha}", "verification": _UNSIGNED}
    if with_files and commit.parents:
        body["files"] = [show_file(world, file, sha) for file in world.git.diff(commit.parents[0], sha)]
    return body


# --- blobs, trees, commits


def _create_blob(call: Call) -> Answer:
    text, encoding = call.body["content"], call.body.get("encoding", "utf-8")
    try:
        content = base64.b64decode(text, validate=False) if encoding == "base64" else text.encode()
    except (binascii.Error, UnicodeEncodeError):
        raise Refused(422, "content is not valid Base64") from None
    sha = call.world.git.write(content)
    return Answer(201, {"sha": sha, "url": f"{call.world.api}/git/blobs/{sha}"})


def _blob(call: Call) -> Answer:
    try:
        content = call.world.git.read_blob(call.params["file_sha"])
    except GitError:
        raise Refused.missing() from None
    url = f"{call.world.api}/git/blobs/{call.params['file_sha']}"
    coded = base64.encodebytes(content).decode()
    facts = {"sha": call.params["file_sha"], "node_id": "B_1", "size": len(content), "url": url}
    return Answer(200, {**facts, "content": coded, "encoding": "base64"})


def _create_tree(call: Call) -> Answer:
    git, body = call.world.git, call.body
    base = body.get("base_tree")
    if base is not None:
        base = git.resolve(base, "tree")
        if base is None:
            raise Refused(404, "Not Found")
    changes, modes = {}, {}
    held = {path for path, *_ in git.read_tree(base, recursive=True)} if base else set()
    for entry in body["tree"]:
        path = entry["path"]
        if not path or path.startswith("/") or any(part in ("", ".", "..", ".git") for part in path.split("/")):
            raise Refused(422, "tree.path contains a malformed path component")
        if "sha" in entry and entry["sha"] is None:
            if path not in held:
                raise Refused(422, "GitRPC::BadObjectState")
            changes[path] = None
            continue
        sha = entry.get("sha") or git.write(entry.get("content", "").encode())
        if git.resolve(sha, "blob") is None:
            raise Refused(422, f"tree.sha {sha} is not a valid blob")
        changes[path], modes[path] = sha, entry["mode"]
    return Answer(201, _show_tree(call.world, git.tree(base, changes, modes)))


def _show_tree(world: World, sha: str, recursive: bool = False) -> Json:
    entries = []
    for path, mode, kind, own, size in world.git.read_tree(sha, recursive):
        entry: Json = {"path": path, "mode": mode, "type": kind, "sha": own, "url": f"{world.api}/git/{kind}s/{own}"}
        entries.append(entry | ({"size": size} if kind == "blob" else {}))
    return {"sha": sha, "url": f"{world.api}/git/trees/{sha}", "tree": entries, "truncated": False}


def _tree(call: Call) -> Answer:
    sha = call.world.git.resolve(call.params["tree_sha"], "tree")
    if sha is None:
        raise Refused.missing()
    return Answer(200, _show_tree(call.world, sha, "recursive" in call.query))


def _person(call: Call, given: Json | None) -> tuple[str, str, str]:
    now = call.world.state.tick()
    given = given or {"name": call.token.login, "email": f"{call.token.login}@users.noreply.example"}
    return given["name"], given["email"], given.get("date") or now


def _create_commit(call: Call) -> Answer:
    git, body = call.world.git, call.body
    if git.resolve(body["tree"], "tree") is None:
        raise Refused(422, "Tree SHA does not exist")
    parents = body.get("parents", [])
    if any(git.resolve(parent) != parent for parent in parents):
        raise Refused(422, "Parent SHA does not exist or is not a commit object")
    author = _person(call, body.get("author"))
    committer = _person(call, body["committer"]) if body.get("committer") else author
    return Answer(201, show_commit(call.world, git.commit(body["tree"], parents, body["message"], author, committer)))


def _git_commit(call: Call) -> Answer:
    sha = call.world.git.resolve(call.params["commit_sha"])
    if sha is None or sha != call.params["commit_sha"]:
        raise Refused.missing()
    return Answer(200, show_commit(call.world, sha))


# --- refs and branches


def _show_ref(world: World, ref: str, sha: str) -> Json:
    target = {"type": "commit", "sha": sha, "url": f"{world.api}/git/commits/{sha}"}
    return {"ref": ref, "node_id": f"REF_{ref}", "url": f"{world.api}/git/{ref}", "object": target}


def _ref(call: Call) -> Answer:
    ref = f"refs/{call.params['ref']}"
    sha = call.world.git.refs(ref).get(ref)
    if sha is None:
        raise Refused.missing()
    return Answer(200, _show_ref(call.world, ref, sha))


def _matching(call: Call) -> Answer:
    found = call.world.git.refs(f"refs/{call.params['ref']}")
    return Answer(200, [_show_ref(call.world, ref, sha) for ref, sha in found.items()])


def _create_ref(call: Call) -> Answer:
    git, ref, sha = call.world.git, call.body["ref"], call.body["sha"]
    try:
        git.git("check-ref-format", ref)
    except GitError:
        raise Refused(422, f"{ref} is not a valid ref name.") from None
    if not re.match(r"refs/[^/]+/", ref):
        raise Refused(422, "Reference name must start with 'refs/' and have at least two slashes.")
    if git.resolve(sha) != sha:
        raise Refused(422, "Object does not exist")
    if ref in git.refs(ref):
        raise Refused(422, "Reference already exists")
    git.set_ref(ref, sha)
    return Answer(201, _show_ref(call.world, ref, sha))


def _edit_ref(call: Call) -> Answer:
    git, ref, sha = call.world.git, f"refs/{call.params['ref']}", call.body["sha"]
    held = git.refs(ref).get(ref)
    if held is None:
        raise Refused(422, "Reference does not exist")
    if git.resolve(sha) != sha:
        raise Refused(422, "Object does not exist")
    if not call.body.get("force") and not git.is_ancestor(held, sha):
        raise Refused(422, "Update is not a fast forward")
    git.set_ref(ref, sha)
    return Answer(200, _show_ref(call.world, ref, sha))


def _drop_ref(call: Call) -> Answer:
    git, ref = call.world.git, f"refs/{call.params['ref']}"
    if ref not in git.refs(ref):
        raise Refused(422, "Reference does not exist")
    git.set_ref(ref, None)
    return Answer(204)


def _branch(call: Call) -> Answer:
    world, name = call.world, call.params["branch"]
    sha = world.git.refs("refs/heads/").get(f"refs/heads/{name}")
    if sha is None:
        raise Refused(404, "Branch not found")
    body = {**sample("branch-with-protection", world.base), "name": name, "protected": False}
    return Answer(200, {**body, "commit": show_full_commit(world, sha)})


# --- contents


def _contents(call: Call) -> Answer:
    world, path = call.world, call.params["path"].rstrip("/")
    sha = world.git.resolve(call.query.get("ref", "main"))
    if sha is None:
        raise Refused(404, f"No commit found for the ref {call.query.get('ref')}")
    entries = world.git.read_tree(sha, recursive=True)
    own = next((row for row in entries if row[0] == path), None)
    if own is None:
        raise Refused.missing()
    if own[2] == "tree":
        inside = [row for row in entries if row[0].rpartition("/")[0] == path]
        return Answer(200, [_show_content(world, row) for row in inside])
    coded = base64.encodebytes(world.git.read_blob(own[3])).decode()
    return Answer(200, {**_show_content(world, own), "content": coded, "encoding": "base64"})


def _show_content(world: World, row: tuple[str, str, str, str, int]) -> Json:
    path, _, kind, sha, size = row
    url = f"{world.api}/contents/{path}"
    links = {"self": url, "git": f"{world.api}/git/blobs/{sha}", "html": f"{world.base}/{world.slug}/blob/main/{path}"}
    facts = {"name": path.rpartition("/")[2], "path": path, "sha": sha, "size": size}
    urls = {"url": url, "git_url": links["git"], "html_url": links["html"], "download_url": url, "_links": links}
    return {"type": "file" if kind == "blob" else "dir", **facts, **urls}


def _put_content(call: Call) -> Answer:
    content = base64.b64decode(call.body["content"])
    held = _held(call)
    if held and "sha" not in call.body:
        raise Refused(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
    return _change_content(call, held, content)


def _delete_content(call: Call) -> Answer:
    held = _held(call)
    if held is None:
        raise Refused.missing()
    return _change_content(call, held, None)


def _held(call: Call) -> str | None:
    branch = call.body.get("branch", "main")
    if f"refs/heads/{branch}" not in call.world.git.refs("refs/heads/"):
        raise Refused(404, f"Branch {branch} not found")
    return call.world.git.blob_at(f"refs/heads/{branch}", call.params["path"])


def _change_content(call: Call, held: str | None, content: bytes | None) -> Answer:
    world, body, path = call.world, call.body, call.params["path"]
    if held and body.get("sha") != held:
        raise Refused(409, f"{path} does not match {body.get('sha')}")
    ref = f"refs/heads/{body.get('branch', 'main')}"
    parent = world.git.resolve(ref) or ""
    blob = None if content is None else world.git.write(content)
    author = _person(call, body.get("author") or body.get("committer"))
    sha = world.git.commit(world.git.tree(parent, {path: blob}), [parent], body["message"], author, author)
    world.git.set_ref(ref, sha)
    row = (path, "100644", "blob", blob or "", len(content or b""))
    answer: dict[str, Any] = {"content": _show_content(world, row) if blob else None}
    return Answer(200 if held else 201, {**answer, "commit": show_commit(world, sha)})


# --- commits and comparisons


def _commit(call: Call) -> Answer:
    sha = call.world.git.resolve(call.params["ref"])
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {call.params['ref']}")
    return Answer(200, show_full_commit(call.world, sha, with_files=True))


def _commits(call: Call) -> Answer:
    sha = call.world.git.resolve(call.query.get("sha", "main"))
    if sha is None:
        raise Refused.missing()
    words = ["--", call.query["path"]] if "path" in call.query else []
    listed = call.world.git.git("rev-list", sha, *words).split()
    return Answer(200, [show_full_commit(call.world, own) for own in listed])


def _commits_of_pull(call: Call) -> Answer:
    world, pull = call.world, call.world.pull(call.params["pull_number"])
    head = world.head(pull)
    root = world.git.merge_base(world.base_sha(pull), head) or world.base_sha(pull)
    return Answer(200, [show_full_commit(world, sha) for sha in world.git.commits(root, head)])


def _compare(call: Call) -> Answer:
    world = call.world
    names = re.fullmatch(r"(.+?)\.\.\.(.+)", call.params["basehead"])
    ends = [world.git.resolve(name.split(":")[-1]) for name in (names.groups() if names else ())]
    if len(ends) != 2 or None in ends:
        raise Refused.missing()
    base, head = (str(end) for end in ends)
    root = world.git.merge_base(base, head) or base
    ahead, behind = world.git.commits(base, head), world.git.commits(head, base)
    status = {(True, True): "diverged", (True, False): "ahead", (False, True): "behind"}
    return Answer(
        200,
        {
            **sample("commit-comparison", world.base),
            "url": f"{world.api}/compare/{base}...{head}",
            "base_commit": show_full_commit(world, base),
            "merge_base_commit": show_full_commit(world, root),
            "status": status.get((bool(ahead), bool(behind)), "identical"),
            "ahead_by": len(ahead),
            "behind_by": len(behind),
            "total_commits": len(ahead),
            "commits": [show_full_commit(world, sha) for sha in ahead],
            "files": [show_file(world, file, head) for file in world.git.diff(root, head)],
        },
    )


TABLE: Table = {
    ("POST", "/git/blobs"): _create_blob,
    ("GET", "/git/blobs/{file_sha}"): _blob,
    ("POST", "/git/trees"): _create_tree,
    ("GET", "/git/trees/{tree_sha}"): _tree,
    ("POST", "/git/commits"): _create_commit,
    ("GET", "/git/commits/{commit_sha}"): _git_commit,
    ("GET", "/git/ref/{ref}"): _ref,
    ("GET", "/git/matching-refs/{ref}"): _matching,
    ("POST", "/git/refs"): _create_ref,
    ("PATCH", "/git/refs/{ref}"): _edit_ref,
    ("DELETE", "/git/refs/{ref}"): _drop_ref,
    ("GET", "/branches/{branch}"): _branch,
    ("GET", "/contents/{path}"): _contents,
    ("PUT", "/contents/{path}"): _put_content,
    ("DELETE", "/contents/{path}"): _delete_content,
    ("GET", "/commits/{ref}"): _commit,
    ("GET", "/commits"): _commits,
    ("GET", "/pulls/{pull_number}/commits"): _commits_of_pull,
    ("GET", "/compare/{basehead}"): _compare,
}
