"""However a run ends, running again ends in the same review, and nothing is said twice."""

from __future__ import annotations

import itertools

import pytest

from bylaw.github.client import connect
from bylaw.github.credentials import Token
from bylaw.github.errors import GitHubError
from bylaw.github.patience import Patience
from ci.review.posted.plan import SUMMARY, Shown
from ci.review.posted.post import check_only, post
from tests.bylaw.github.conftest import Waiting
from tests.ci.review.shop import (
    FIRST,
    PATH,
    SECOND,
    THIRD,
    changed,
    comment,
    final,
    head,
    open_pull_request,
    rendered,
    said,
)
from tests.fakes.github.access import ALL
from tests.fakes.github.repository import GitRepository
from tests.fakes.github.server import FakeGitHub
from tests.rows import one_of

READ = "POST /graphql repository 200"
FRESH = [READ, READ, "POST /pulls/1/reviews 200", "POST /check-runs 201", "POST /issues/1/comments 201"]


def test_one_review_one_check_run_one_summary(shop, hub):
    review = rendered(head(shop), comment(FIRST, 20), comment(SECOND, 21), annotations=2)
    posted = post(hub(kind="workflow"), 1, review)
    assert shop.writes() == FRESH
    assert posted.did == ("review of 2", "summary")
    assert said(shop) == [("wrong", 20, False, False), ("wrong", 21, False, False)]
    [check] = shop.checks_of(head(shop))
    assert (check.name, check.conclusion, check.title, len(check.annotations)) == ("bylaw", "failure", "2 findings", 2)
    assert [one.body for one in shop.comments_of(1)] == [f"{SUMMARY}\ntwo things\n"]


def test_the_second_run_writes_nothing(shop, hub):
    client = hub(kind="workflow")
    review = rendered(head(shop), comment(FIRST, 20), comment(SECOND, None), annotations=60)
    post(client, 1, review)
    shop.forget()
    assert post(client, 1, review).did == ()
    assert shop.writes() == [READ, READ]


def test_a_comment_follows_its_finding(shop, hub):
    client = hub(kind="workflow")
    post(client, 1, rendered(head(shop), comment(FIRST, 20)))
    shop.forget()
    post(client, 1, rendered(head(shop), comment(FIRST, 20, "still wrong"), summary="another"))
    written = [line for line in shop.writes() if line != READ]
    assert [line.split()[0] for line in written] == ["PATCH", "POST", "PATCH"]  # comment, check run, summary
    assert (said(shop), len(shop.comments_of(1))) == ([("still wrong", 20, False, False)], 1)


def test_a_finding_that_is_gone_is_resolved_and_one_that_returns_opened(shop, hub):
    client = hub(kind="workflow")
    post(client, 1, rendered(head(shop), comment(FIRST, 20), comment(SECOND, 21)))
    posted = post(client, 1, rendered(head(shop), comment(SECOND, 21)))
    assert posted.did == ("edit", "resolved")
    gone = f"No longer the case as of {head(shop)}."
    assert said(shop) == [(gone, 20, True, True), ("wrong", 21, False, False)]
    assert post(client, 1, rendered(head(shop), comment(SECOND, 21))).did == ()
    assert post(client, 1, rendered(head(shop), comment(FIRST, 20), comment(SECOND, 21))).did == ("reopened", "edit")
    assert said(shop) == [("wrong", 20, False, False), ("wrong", 21, False, False)]


def test_what_a_person_resolved_stays_resolved_until_it_was_gone(shop, hub):
    client, review = hub(kind="workflow"), rendered(head(shop), comment(FIRST, 20))
    post(client, 1, review)
    [thread] = shop.line_comments_of(1)
    shop.state.resolved[thread.id] = "ana"
    assert post(client, 1, review).did == ()
    assert thread.id in shop.state.resolved
    post(client, 1, rendered(head(shop)))
    post(client, 1, review)
    assert said(shop) == [("wrong", 20, False, False)]


def test_a_token_that_may_not_resolve_says_it_in_words(shop, hub):
    client = hub(kind="workflow", permissions={**ALL, "contents": "read"})
    post(client, 1, rendered(head(shop), comment(FIRST, 20)))
    assert post(client, 1, rendered(head(shop))).did == ("edit",)
    assert said(shop) == [(f"No longer the case as of {head(shop)}.", 20, True, False)]
    assert post(client, 1, rendered(head(shop))).did == ()


def test_a_line_that_changed_gets_a_new_comment_and_the_old_one_is_closed(shop, hub):
    client = hub(kind="workflow")
    post(client, 1, rendered(head(shop), comment(FIRST, 20)))
    shop.commit("feature", {PATH: changed(20, 22).replace("k20: changed", "k20: anew")})
    review = rendered(head(shop), comment(FIRST, 22))
    post(client, 1, review)
    assert [(line, gone, resolved) for _, line, gone, resolved in said(shop)] == [(20, True, True), (22, False, False)]
    assert post(client, 1, review).did == ()


def test_a_finding_beyond_the_cap_is_not_gone(shop, hub):
    client = hub(kind="workflow")
    post(client, 1, rendered(head(shop), comment(FIRST, 20)))
    assert post(client, 1, rendered(head(shop), comment(SECOND, 21), standing=frozenset((FIRST, SECOND)))).did == (
        "review of 1",
    )


PLACES = [
    ("a line of the diff", comment(FIRST, 20), "line"),
    ("a line outside it", comment(FIRST, 2), "file"),
    ("no line", comment(FIRST, None), "file"),
    ("a file outside it", comment(FIRST, 1, path="policies/b.yaml"), "annotation"),
]


@pytest.mark.parametrize(("title", "one", "place"), PLACES, ids=[title for title, *_ in PLACES])
@pytest.mark.parametrize("kind", ["workflow", "personal"])
def test_every_finding_stands_somewhere(shop, hub, kind, title, one, place):
    client = hub(kind=kind)
    posted = post(client, 1, rendered(head(shop), one))
    lines = [(held.line, held.is_file) for held in shop.line_comments_of(1)]
    noted = [row["message"] for check in shop.checks_of(head(shop)) for row in check.annotations]
    [below] = shop.comments_of(1)
    found = {
        "line": lines == [(20, False)],
        "file": lines == [(None, True)],
        "annotation": noted == ["wrong"] if kind == "workflow" else "`policies/b.yaml`" in below.body,
    }
    assert [name for name, is_there in found.items() if is_there] == [place]
    assert posted.verdict == ("check" if kind == "workflow" else "status")
    assert post(client, 1, rendered(head(shop), one)).did == ()


def test_a_refused_review_goes_comment_by_comment(shop, hub):
    """The diff that GitHub gave does not bind it. Refused on its line, a comment goes to its file."""
    shop.fail("refused", times=1, on="POST .*/reviews$")
    shop.fail("refused", times=3, on="POST .*/pulls/1/comments$")
    client, review = hub(kind="workflow"), rendered(head(shop), comment(FIRST, 20), comment(SECOND, 21))
    posted = post(client, 1, review)
    assert [line.split()[1:] for line in shop.writes() if "pulls" in line] == [
        ["/pulls/1/reviews", "422"],
        ["/pulls/1/comments", "422"],  # the first on its line
        ["/pulls/1/comments", "422"],  # on its file
        ["/pulls/1/comments", "422"],  # the second on its line
        ["/pulls/1/comments", "201"],
    ]
    assert [one.fingerprint for one in posted.unplaced] == [FIRST]
    assert [row["message"] for row in shop.checks_of(head(shop))[0].annotations] == ["wrong"]
    assert [(one.body, one.is_file) for one in shop.line_comments_of(1)] == [(comment(SECOND).body, True)]


def test_a_pull_request_that_moved_on_is_left_to_the_next_run(shop, hub):
    review = rendered(head(shop), comment(FIRST, 20))
    shop.commit("feature", {PATH: changed(1)})
    posted = post(hub(kind="workflow"), 1, review)
    assert (posted.did, posted.verdict, shop.writes()) == ((), None, [])
    assert "has moved on" in posted.notes[0]


def test_a_closed_pull_request_is_left_alone(shop, hub):
    shop.state.pulls[1].state = "closed"
    posted = post(hub(kind="workflow"), 1, rendered(head(shop), comment(FIRST, 20)))
    assert (shop.writes(), posted.notes) == ([], ("pull request 1 is closed: nothing was posted",))


def test_a_plain_token_is_told_what_it_loses(shop, hub):
    posted = post(hub(kind="personal"), 1, rendered(head(shop), comment(FIRST, 20)))
    assert [(one.state, one.context, one.description) for one in shop.state.statuses.values()] == [
        ("failure", "bylaw", "2 findings")
    ]
    assert "only a GitHub App may create check runs" in shop.comments_of(1)[0].body
    assert posted.notes


def test_a_token_without_the_permission_for_checks_falls_back(shop, hub):
    client = hub(kind="workflow", permissions={**ALL, "checks": "read"})
    assert post(client, 1, rendered(head(shop), comment(FIRST, 20))).verdict == "status"
    assert "may not create check runs" in shop.comments_of(1)[0].body


def test_annotations_come_fifty_at_once(shop, hub):
    post(hub(kind="workflow"), 1, rendered(head(shop), annotations=120))
    [check] = shop.checks_of(head(shop))
    assert (len(check.annotations), check.status, check.conclusion) == (120, "completed", "failure")
    assert [line for line in shop.writes() if "check-runs" in line] == [
        "POST /check-runs 201",
        f"PATCH /check-runs/{check.id} 200",
        f"PATCH /check-runs/{check.id} 200",
    ]


def test_nothing_to_say_says_nothing(shop, hub):
    nothing = rendered(head(shop), conclusion="success", title="nothing to say", summary="")
    posted = post(hub(kind="workflow"), 1, nothing)
    assert (posted.did, shop.comments_of(1), shop.line_comments_of(1)) == ((), [], [])
    assert [one.conclusion for one in shop.checks_of(head(shop))] == ["success"]


def test_a_summary_that_was_said_is_taken_back(shop, hub):
    client = hub(kind="workflow")
    post(client, 1, rendered(head(shop)))
    nothing = rendered(head(shop), conclusion="success", title="nothing to say", summary="")
    assert post(client, 1, nothing).did == ("summary edited",)
    assert "Nothing to say" in shop.comments_of(1)[0].body
    assert post(client, 1, nothing).did == ()


def test_other_peoples_comments_are_left_alone(shop, hub):
    ana = hub(kind="personal")
    ana.repository.get_pull(1).create_issue_comment(f"{SUMMARY}\nmine")
    ana.repository.get_pull(1).create_review_comment(comment(FIRST).body, head(shop), PATH, line=20)
    client = hub(kind="workflow")
    post(client, 1, rendered(head(shop), comment(FIRST, 20, "ours")))
    post(client, 1, rendered(head(shop)))
    first = shop.comments_of(1)[0]
    assert (first.author, first.body) == ("ana", f"{SUMMARY}\nmine")
    assert shop.line_comments_of(1)[0].body == comment(FIRST).body
    assert shop.line_comments_of(1)[0].id not in shop.state.resolved


def test_a_merge_queue_is_told_the_verdict_alone(shop, hub):
    posted = check_only(hub(kind="workflow"), rendered(head(shop), comment(FIRST), annotations=1))
    assert (posted.did, posted.verdict) == ((), "check")
    assert shop.writes() == ["POST /check-runs 201"]


# --- what goes wrong on the way

ROUNDS = (
    lambda sha: rendered(sha, comment(FIRST, 20), comment(SECOND, None), comment(THIRD, 21), annotations=60),
    lambda sha: rendered(sha, comment(SECOND, None, "otherwise"), annotations=1),
    lambda sha: rendered(sha, comment(FIRST, 20), comment(SECOND, None), annotations=1),
)


@pytest.fixture(scope="module")
def wanted(tmp_path_factory):
    """What stands in the end in a second repository of the same content, where nothing goes wrong."""
    waiting = Waiting()
    with FakeGitHub(git=GitRepository.create(tmp_path_factory.mktemp("twin") / "twin.git")) as twin:
        open_pull_request(twin)
        patience = Patience(lambda: waiting.now, waiting.sleep)
        client = connect(Token(twin.token(kind="workflow")), "acme/policies", patience, twin.base)
        for make in ROUNDS:
            post(client, 1, make(head(twin)))
        return final(twin)


FAULTS = ["unavailable", "gateway", "secondary_limit", "primary_limit", "cut_before", "cut_after"]


@pytest.mark.parametrize("fault", one_of(3, FAULTS))
def test_faults_on_the_way_change_nothing_in_the_end(shop, wanted, hub, fault):
    client = hub(kind="workflow")
    for make in ROUNDS:
        shop.mend()
        for what in ("^GET", "graphql", "reviews", "check-runs", "issues", "^PATCH"):
            shop.fail(fault, times=2, on=what)
        post(client, 1, make(head(shop)))
    assert final(shop) == wanted


@pytest.mark.parametrize("effect", ["cut_before", "cut_after"])
def test_a_run_that_dies_anywhere_is_finished_by_the_next(shop, wanted, hub, effect):
    client = hub(kind="workflow", attempts=1)
    deaths = 0
    for make in ROUNDS:
        for nth in itertools.count():
            if not _dies_at(shop, client, make, nth, effect):
                break
            deaths += 1
    assert deaths >= 13  # at most requests that write, and at each question before one
    assert final(shop) == wanted


def _dies_at(shop, client, make, nth, effect) -> bool:
    """A run whose request number *nth* that writes is cut: does it die?"""
    seen = itertools.count()

    class Nth:
        def search(self, line: str) -> bool:
            return not line.startswith("GET") and "/access_tokens" not in line and next(seen) == nth

    shop.fail(effect)
    shop._failing[-1].on = Nth()
    try:
        post(client, 1, make(head(shop)))
        return False
    except GitHubError as problem:
        assert problem.status == 0 and problem.exit_code == 3
        return True
    finally:
        shop.mend()


def test_a_long_outage_ends_in_a_clear_error(shop, hub):
    shop.fail("unavailable", times=99)
    with pytest.raises(GitHubError, match="GitHub answers 503") as told:
        post(hub(kind="workflow"), 1, rendered(head(shop)))
    assert told.value.exit_code == 3
    assert "run it again" in (told.value.help or "")


def test_only_one_summary_counts(shop, hub):
    client = hub(kind="workflow")
    for _ in range(2):
        client.repository.get_pull(1).create_issue_comment(f"{SUMMARY}\nold")
    post(client, 1, rendered(head(shop)))
    assert [one.body for one in shop.comments_of(1)] == [f"{SUMMARY}\ntwo things\n", f"{SUMMARY}\nold"]
    assert Shown().summary is None
