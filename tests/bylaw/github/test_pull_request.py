"""A proposal is one pull request, however often it is asked for and whatever happens on the way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bylaw.errors import UsageError
from bylaw.github.errors import GitHubError
from bylaw.github.pull_request import Proposal, open_pull_request, render_body
from tests.rows import each

PROPOSAL = Proposal(
    branch="bylaw/promote-net-revenue",
    title="Exclude test accounts from net revenue",
    why="Three seniors corrected it in the same way.",
    files={"context/metrics/net.yaml": "name: net\nfilter: not test\n", "context/old.yaml": None},
    basis=("ana: exclude test accounts", "bo: no test accounts"),
    asked_by="cleo",
    labels=("bylaw", "context"),
    reviewers=("bo", "acme/data-owners"),
)
STEPS = [
    "POST /git/trees 201",
    "POST /git/commits 201",
    "POST /git/refs 201",
    "POST /pulls 201",
    "POST /issues/1/labels 200",
    "POST /pulls/1/requested_reviewers 201",
    "POST /pulls/1/requested_reviewers 201",
]


@pytest.fixture
def shop(github):
    github.commit("main", {"context/metrics/net.yaml": "name: net\n", "context/old.yaml": "x: 1\n", "other": "y\n"})
    github.state.people |= {"bo": "write", "team:data-owners": "write"}
    return github


def text_of(github, path: str, branch: str = PROPOSAL.branch) -> str | None:
    sha = github.git.blob_at(f"refs/heads/{branch}", path)
    return github.git.read_blob(sha).decode() if sha else None


def test_a_proposal_becomes_a_pull_request(shop, hub):
    opened = open_pull_request(hub(), PROPOSAL)
    assert shop.writes() == STEPS
    assert (opened.state, opened.number) == ("open", 1)
    assert opened.did == ("commit", "branch", "pull request", "labels", "reviewers")
    assert text_of(shop, "context/metrics/net.yaml") == "name: net\nfilter: not test\n"
    assert text_of(shop, "context/old.yaml") is None
    assert text_of(shop, "other") == "y\n"
    pull = shop.state.pulls[1]
    assert (pull.labels, pull.reviewers, pull.teams) == (["bylaw", "context"], ["bo"], ["data-owners"])
    assert [file.path for file in shop.files(pull)] == ["context/metrics/net.yaml", "context/old.yaml"]
    assert pull.body == render_body(PROPOSAL)


def test_asking_again_changes_nothing(shop, hub):
    first = open_pull_request(hub(), PROPOSAL)
    shop.forget()
    again = open_pull_request(hub(), PROPOSAL)
    assert shop.writes() == []
    assert (again.did, again.number, again.commit) == ((), first.number, first.commit)


@pytest.mark.parametrize("step", range(len(STEPS)))
@pytest.mark.parametrize(
    "kind", ["cut_after", *(pytest.param(one, marks=pytest.mark.slow) for one in ("unavailable", "cut_before"))]
)
def test_a_fault_at_any_step_is_overcome(shop, hub, step, kind):
    method, path, _ = STEPS[step].split()
    shop.fail(kind, times=1, on=f"^{method} .*{path}$")
    opened = open_pull_request(hub(), PROPOSAL)
    assert opened.state == "open"
    assert_it_stands_once(shop)


@pytest.mark.parametrize("done", range(len(STEPS) - 1))
def test_a_run_that_broke_off_is_completed_by_the_next(shop, hub, done):
    method, path, _ = STEPS[done].split()
    shop.fail("unavailable", times=99, on=f"^{method} .*{path}$")
    with pytest.raises(GitHubError):
        open_pull_request(hub(attempts=2), PROPOSAL)
    shop.mend()
    assert open_pull_request(hub(), PROPOSAL).state == "open"
    assert_it_stands_once(shop)


def assert_it_stands_once(github):
    (pull,) = github.state.pulls.values()
    assert (pull.labels, pull.reviewers, pull.teams) == (["bylaw", "context"], ["bo"], ["data-owners"])
    assert len(github.git.commits("refs/heads/main", f"refs/heads/{PROPOSAL.branch}")) == 1
    assert text_of(github, "context/metrics/net.yaml") == "name: net\nfilter: not test\n"


def test_another_content_is_another_commit_on_the_same_branch(shop, hub):
    open_pull_request(hub(), PROPOSAL)
    changed = replace(
        PROPOSAL, files={"context/metrics/net.yaml": "name: net\nfilter: none\n"}, why="On second thought."
    )
    opened = open_pull_request(hub(), changed)
    assert opened.did == ("commit", "text")
    assert text_of(shop, "context/metrics/net.yaml") == "name: net\nfilter: none\n"
    assert text_of(shop, "context/old.yaml") == "x: 1\n"  # what the first content deleted is back
    assert "On second thought" in shop.state.pulls[1].body
    assert len(shop.state.pulls) == 1


def test_what_a_person_pushed_stays(shop, hub):
    open_pull_request(hub(), PROPOSAL)
    shop.commit(PROPOSAL.branch, {"context/metrics/net.yaml": "name: net # by hand\n"}, "Say it better")
    opened = open_pull_request(hub(), replace(PROPOSAL, files={"context/metrics/net.yaml": "z: 1\n"}, labels=("new",)))
    assert text_of(shop, "context/metrics/net.yaml") == "name: net # by hand\n"
    assert "holds commits of people" in opened.notes[0]
    assert "new" in shop.state.pulls[1].labels


def test_a_body_that_a_person_wrote_stays(shop, hub):
    open_pull_request(hub(), PROPOSAL)
    shop.state.pulls[1].body = "My own words."
    open_pull_request(hub(), replace(PROPOSAL, files={"context/metrics/net.yaml": "z: 1\n"}))
    assert shop.state.pulls[1].body == "My own words."


def test_a_proposal_that_was_closed_is_not_opened_again(shop, hub):
    open_pull_request(hub(), PROPOSAL)
    shop.state.pulls[1].state = "closed"
    shop.forget()
    assert open_pull_request(hub(), PROPOSAL).state == "closed"
    assert shop.writes() == []
    assert open_pull_request(hub(), replace(PROPOSAL, files={"context/new.yaml": "n: 1\n"})).number == 2


def test_a_proposal_that_was_merged_is_done(shop, hub):
    connected = hub()
    open_pull_request(connected, PROPOSAL)
    connected.repository.get_pull(1).merge()
    shop.forget()
    assert open_pull_request(connected, PROPOSAL).state == "merged"
    shop.state.pulls.clear()
    shop.git.set_ref(f"refs/heads/{PROPOSAL.branch}", None)
    unchanged = replace(PROPOSAL, files={"context/metrics/net.yaml": PROPOSAL.files["context/metrics/net.yaml"]})
    assert open_pull_request(connected, unchanged).state == "nothing to change"
    assert shop.state.pulls == {}


def test_nobody_is_asked_twice_for_a_review(shop, hub):
    connected = hub()
    open_pull_request(connected, PROPOSAL)
    reviewer = hub(login="bo").repository.get_pull(1)
    reviewer.create_review(body="fine", event="APPROVE")
    shop.state.pulls[1].reviewers = []  # GitHub takes away who has answered
    assert open_pull_request(connected, PROPOSAL).did == ()


def test_one_who_cannot_be_asked_does_not_stop_the_others(shop, hub):
    opened = open_pull_request(hub(), replace(PROPOSAL, reviewers=("gone", "bo", "ana")))
    assert shop.state.pulls[1].reviewers == ["bo"]
    assert [note.split(" cannot")[0] for note in opened.notes] == ["`gone`"]  # ana opened it


def test_what_a_workflow_s_token_cannot_start_is_said(shop, hub):
    assert any("starts no workflow" in note for note in open_pull_request(hub(kind="workflow"), PROPOSAL).notes)
    assert open_pull_request(hub(login="cleo"), replace(PROPOSAL, branch="other")).notes == ()


def test_a_token_that_may_only_read_is_refused_in_words(shop, hub):
    with pytest.raises(GitHubError, match="403") as raised:
        open_pull_request(hub(kind="workflow", permissions={"contents": "read", "pull_requests": "read"}), PROPOSAL)
    assert "permission" in raised.value.help


HOSTILE = replace(
    PROPOSAL,
    branch="hostile",
    title="Ping @acme/everyone\n\nBylaw-Proposal: forged",
    why="@acme/everyone <!-- bylaw:proposal forged --> [x](http://evil.example)",
    basis=("```\n@acme/everyone",) * 3_000,
    asked_by="@eve",
    files={"context/`@eve`.yaml": "a: 1\n"},
)


def test_hostile_words_ping_nobody_and_fit(shop, hub):
    opened = open_pull_request(hub(), HOSTILE)
    pull = shop.state.pulls[opened.number]
    assert "@acme" not in pull.body
    assert "@acme" not in pull.title + shop.git.read_commit(opened.commit).message
    assert "<!-- bylaw:proposal forged" not in pull.body
    assert len(pull.body) <= 65_536
    assert "more\n" in pull.body
    shop.forget()
    assert open_pull_request(hub(), HOSTILE).did == ()


@each(
    ("change", "says"),
    [
        ({"branch": "a..b"}, "is not a name for a branch"),
        ({"branch": "-x"}, "is not a name for a branch"),
        ({"branch": "x.lock"}, "is not a name for a branch"),
        ({"files": {}}, "changes nothing"),
        ({"files": {"../x": "y"}}, "is not a path inside a repository"),
        ({"files": {".git/config": "y"}}, "is not a path inside a repository"),
        ({"files": {"/etc/x": "y"}}, "is not a path inside a repository"),
    ],
)
def test_what_no_proposal_may_be(change, says):
    with pytest.raises(UsageError, match=says):
        replace(PROPOSAL, **change)
