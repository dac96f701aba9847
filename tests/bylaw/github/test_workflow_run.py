"""What an untrusted workflow left: found by GitHub's word, read as mere data."""

from __future__ import annotations

import io
import zipfile

import pytest

from bylaw.errors import BylawError
from bylaw.github.errors import GitHubError
from bylaw.github.workflow_run import find_run, read_artifact

LONGEST = 1_000


@pytest.fixture
def fork(github):
    """A pull request of a fork, and one of this repository from a branch of the same name."""
    github.commit("main", {"a.yaml": "a: 1\n"})
    github.commit("idea", {"a.yaml": "a: 2\n"}, fork="eve/policies")
    github.commit("idea", {"a.yaml": "a: 3\n"})
    github.open_pull("idea", author="ana")
    return github.open_pull("idea", author="eve", fork="eve/policies")


def test_the_pull_request_of_a_fork_is_found_by_its_branch(github, hub, fork):
    ran = find_run(hub(kind="workflow"), github.add_run(fork).id)
    assert (ran.pulls, ran.is_fork) == ((fork,), True)
    assert ran.head_sha == github.head(github.state.pulls[fork])


def test_one_of_this_repository_is_found_in_the_same_way(github, hub, fork):
    ran = find_run(hub(kind="workflow"), github.add_run(1).id)
    assert (ran.pulls, ran.is_fork) == ((1,), False)


def test_a_run_counts_only_while_its_commit_is_the_newest(github, hub, fork):
    run = github.add_run(fork)
    github.commit("idea", {"a.yaml": "a: 4\n"}, fork="eve/policies")
    assert find_run(hub(kind="workflow"), run.id).pulls == ()


def test_a_closed_pull_request_is_not_found(github, hub, fork):
    run = github.add_run(fork)
    github.state.pulls[fork].state = "closed"
    assert find_run(hub(kind="workflow"), run.id).pulls == ()


def test_a_run_that_no_pull_request_started_is_refused(github, hub, fork):
    run = github.add_run(fork)
    run.event = "push"
    with pytest.raises(BylawError, match="started by `push`"):
        find_run(hub(kind="workflow"), run.id)


def test_a_run_that_is_not_there(hub, fork):
    with pytest.raises(GitHubError, match="404"):
        find_run(hub(kind="workflow"), 9)


def read(github, hub, files, name="review", longest=LONGEST):
    run = github.add_run(1)
    github.add_artifact(run.id, "review", files)
    return read_artifact(hub(kind="workflow"), run.id, name, "review.json", longest)


def test_an_artifact_is_read(github, hub, fork):
    assert read(github, hub, {"review.json": "{}", "other": "x"}) == b"{}"


@pytest.mark.parametrize(("files", "name"), [({"other.json": "{}"}, "review"), ({"review.json": "{}"}, "another")])
def test_what_was_not_uploaded_is_none(github, hub, fork, files, name):
    assert read(github, hub, files, name) is None


def test_an_expired_artifact_is_none(github, hub, fork):
    run = github.add_run(1)
    github.add_artifact(run.id, "review", {"review.json": "{}"}).expired = True
    assert read_artifact(hub(kind="workflow"), run.id, "review", "review.json", LONGEST) is None


def test_an_artifact_that_is_too_large_is_refused_whatever_it_says(github, hub, fork):
    with pytest.raises(BylawError, match="more than 1,000 bytes"):
        read(github, hub, {"review.json": "x" * 5_000})


def test_an_archive_that_swells_is_refused(github, hub, fork):

    run = github.add_run(1)
    artifact = github.add_artifact(run.id, "review", {})
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("review.json", "x" * 200_000)
    artifact.content = packed.getvalue()
    assert len(artifact.content) < LONGEST
    with pytest.raises(BylawError, match="more than 1,000 bytes"):
        read_artifact(hub(kind="workflow"), run.id, "review", "review.json", LONGEST)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04broken"])
def test_what_is_no_archive_is_told(github, hub, fork, content):
    run = github.add_run(1)
    github.add_artifact(run.id, "review", {}).content = content
    with pytest.raises(BylawError, match="not a readable archive"):
        read_artifact(hub(kind="workflow"), run.id, "review", "review.json", LONGEST)


def test_the_storage_is_sent_no_token(github, hub, fork):
    read(github, hub, {"review.json": "{}"})
    stored = [request for request in github.requests if request.path.startswith("/_storage/")]
    assert [("authorization" in request.headers, request.status) for request in stored] == [(False, 200)]
