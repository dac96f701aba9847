"""A connection to GitHub: patient, in plain words, and never creating twice."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from bylaw.errors import UsageError
from bylaw.github.client import connect, told
from bylaw.github.credentials import Installation, Token
from bylaw.github.errors import GitHubError
from bylaw.github.patience import Patience
from tests.fakes.github.access import READ
from tests.fakes.github.call import Answer
from tests.rows import each

MARK = "<!-- bylaw:summary -->"
RESOLVE = "mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { isResolved } } }"


@pytest.fixture
def pull(github):
    github.commit("main", {"a.yaml": "a: 1\n"})
    github.commit("feature", {"a.yaml": "a: 2\n"})
    return github.open_pull("feature")


def summarize(connected, number):
    """One comment below a pull request, found again by its mark."""
    pull = connected.repository.get_pull(number)

    def look():
        return next((one for one in pull.get_issue_comments() if MARK in one.body), None)

    return connected.once(look, lambda: pull.create_issue_comment(f"{MARK}\nall well"))


@pytest.mark.parametrize(
    "kind", ["unavailable", "gateway", "secondary_limit", "primary_limit", "cut_before", "cut_after"]
)
def test_what_is_created_is_created_once_whatever_happens(github, hub, pull, waiting, kind):
    github.fail(kind, times=2, on="POST .*/comments$", seconds=3)
    summarize(hub(), pull)
    assert len(github.comments_of(pull)) == 1
    assert len(waiting.slept) == (1 if kind == "cut_after" else 2)


def test_what_is_there_is_not_created(github, hub, pull):
    connected = hub()
    assert summarize(connected, pull)[1] is True
    github.forget()
    assert summarize(connected, pull)[1] is False
    assert github.writes() == []


def test_reads_are_repeated_until_they_succeed(github, hub, pull, waiting):
    github.fail("unavailable", times=3, on="GET .*/pulls/")
    assert hub().repository.get_pull(pull).title == "Change"
    assert waiting.slept == [1, 2, 4]


def test_waiting_ends(github, hub, pull, waiting):
    github.fail("unavailable", times=99)
    with pytest.raises(GitHubError) as raised, told():
        hub(attempts=3).repository.get_pull(pull)
    assert raised.value.status == 503
    assert "run it again" in raised.value.help
    assert waiting.slept == [1, 2]


def test_a_connection_that_always_breaks_is_told_as_such(github, hub, pull):
    github.fail("cut_before", times=99)
    with pytest.raises(GitHubError, match="GitHub does not answer: the connection broke") as raised, told():
        hub(attempts=2).repository.get_pull(pull)
    assert raised.value.status == 0


def test_what_creates_gives_up_in_the_end(github, hub, pull):
    github.fail("gateway", times=99, on="POST")
    with pytest.raises(GitHubError, match="502"):
        summarize(hub(attempts=3), pull)
    assert len(github.writes()) == 3


def test_github_says_how_long_to_wait(github, hub, pull, waiting):
    github.fail("secondary_limit", seconds=42)
    hub().repository.get_pull(pull)
    assert waiting.slept == [42]


def test_nobody_waits_for_an_hour(github, hub, pull, waiting):
    github.fail("primary_limit", times=9, seconds=3600)
    with pytest.raises(GitHubError, match="rate limit exceeded") as raised, told():
        hub().repository.get_pull(pull)
    assert raised.value.is_limit
    assert waiting.slept == []


@pytest.mark.parametrize("times", [2, 99])
def test_a_limit_that_only_its_words_tell_is_waited_for_too(github, hub, pull, waiting, monkeypatch, times):
    limit = Answer(403, {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."})
    monkeypatch.setattr(github, "_broken", lambda _: limit)
    github.fail("secondary_limit", times=times, on="POST .*/comments$")
    if times == 2:
        assert summarize(hub(), pull)[1] is True
    else:
        with pytest.raises(GitHubError, match="secondary rate limit") as raised:
            summarize(hub(attempts=3), pull)
        assert raised.value.is_limit
    assert waiting.slept == [60, 60]


def test_what_never_reached_github_is_sent_again(waiting):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"
    patience = Patience(lambda: waiting.now, waiting.sleep, attempts=3)
    hub = connect(Token("x"), "acme/policies", patience, address)
    with pytest.raises(GitHubError, match="does not answer"), told():
        hub.client.requester.requestJsonAndCheck("POST", "/repos/acme/policies/issues/1/comments", input={"body": "x"})
    assert waiting.slept == [1, 2]


@pytest.mark.parametrize(
    ("token", "act", "status", "help_says"),
    [
        ({"permissions": READ, "kind": "workflow"}, lambda pull: pull.create_issue_comment("x"), 403, "permission"),
        ({}, lambda pull: pull.create_issue_comment("x" * 65_537), 422, "refuses its content"),
        ({}, lambda pull: pull.get_review(9), 404, "the token may see it"),
    ],
)
def test_a_refusal_is_told_in_one_line_with_what_to_do(hub, pull, waiting, token, act, status, help_says):
    subject = hub(**token).repository.get_pull(pull)
    with pytest.raises(GitHubError) as raised, told():
        act(subject)
    assert raised.value.status == status
    assert help_says in raised.value.help
    assert "\n" not in str(raised.value)
    assert waiting.slept == []


def test_a_wrong_token_is_told(github, hub, pull):
    with pytest.raises(GitHubError, match="Bad credentials") as raised, told():
        hub(Token("ghp_wrong")).repository.get_pull(pull)
    assert raised.value.status == 401


def test_a_thread_that_may_not_be_resolved_is_a_403(github, hub, pull):
    connected = hub(kind="workflow", permissions={**READ, "pull_requests": "write"})
    subject = connected.repository.get_pull(pull)
    commit = connected.repository.get_commit(subject.head.sha)
    comment = subject.create_review_comment("x", commit, "a.yaml", line=1, side="RIGHT")
    with pytest.raises(GitHubError, match="Resource not accessible by integration") as raised:
        connected.graphql(RESOLVE, {"id": f"PRRT_{comment.id}"})
    assert raised.value.status == 403
    with pytest.raises(GitHubError, match="Could not resolve to a node") as raised:
        connected.graphql(RESOLVE, {"id": "PRRT_1"})
    assert raised.value.status == 404
    assert hub().graphql(RESOLVE, {"id": f"PRRT_{comment.id}"})["resolveReviewThread"]["thread"]["isResolved"]


@pytest.mark.parametrize("is_known", [True, False], ids=["installation given", "installation looked up"])
def test_an_app_speaks_for_itself(github, hub, pull, key_pair, is_known):
    private, public = key_pair
    app = github.app(public)
    connected = hub(Installation(app.id, private, app.installation if is_known else None))
    assert connected.login == "bylaw[bot]"
    assert connected.abilities.creates_checks
    sha = connected.repository.get_pull(pull).head.sha
    connected.repository.create_check_run(name="bylaw", head_sha=sha, status="in_progress")
    assert [check.app for check in github.checks_of(sha)] == [app.id]


def test_an_app_that_github_does_not_know(github, hub, pull, key_pair):
    private, public = key_pair
    app = github.app(public)
    with pytest.raises(GitHubError) as raised:
        hub(Installation(app.id + 1, private))
    assert raised.value.status == 401


def test_a_token_of_an_app_is_asked_for_again_after_an_outage(github, hub, pull, key_pair, waiting):
    private, public = key_pair
    app = github.app(public)
    github.fail("unavailable", times=2, on="access_tokens")
    assert hub(Installation(app.id, private, app.installation)).repository.get_pull(pull).number == pull
    assert waiting.slept == [1, 2]


@pytest.mark.parametrize(("kind", "login"), [("personal", "ana"), ("workflow", "github-actions[bot]")])
def test_a_token_knows_under_which_name_it_writes(hub, pull, kind, login):
    assert hub(kind=kind).login == login


PATIENCE = Patience(lambda: None, lambda _: None)


@each(
    ("credentials", "slug", "base_url", "says"),
    [
        (Token("x"), "acme", "https://api.github.com", "is not the name of a repository"),
        (Token("x"), "acme/policies/../x", "https://api.github.com", "is not the name of a repository"),
        (Token("x"), "acme/policies", "http://github.example", "is not an address of GitHub's API"),
        (Token("x"), "acme/policies", "file:///etc", "is not an address of GitHub's API"),
        (Installation(1, "no key", 1), "acme/policies", "https://api.github.com", "is not a PEM key"),
    ],
)
def test_what_cannot_be_connected_to(credentials, slug, base_url, says):
    with pytest.raises(UsageError, match=says):
        connect(credentials, slug, PATIENCE, base_url)


def test_no_secret_is_shown(hub, key_pair):
    shown = repr(hub(Token("ghp_secret"))) + repr(Installation(1, key_pair[0]))
    assert "secret" not in shown.replace("secret=", "")
    assert "PRIVATE" not in shown


def test_pygithub_is_loaded_by_who_connects_only():
    code = "import sys, bylaw.github.client, bylaw.github.pull_request; print('github' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
