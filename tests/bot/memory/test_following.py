"""A candidate is where its pull request is: merged, closed or opened again, whoever looks and however often."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.conversation import Actor
from bot.evidence.store.tables import audit, corrections, deliveries
from bot.memory import candidates
from bot.memory.following import follow
from bot.memory.opening import following
from bylaw.audit.verify import verify
from bylaw.errors import BylawError
from bylaw.github.pull_request import Standing, look_up
from tests.bot.memory.conftest import ONLINE, SENIORS
from tests.bot.memory.test_promotion import GRACE, connected, propose

MERGED_AT = datetime(2026, 11, 20, 13, 0, tzinfo=UTC)


@pytest.fixture
def opened(shop, github):
    """The shop with one candidate whose pull request is open on GitHub; its number."""
    name = propose(shop)
    github.commit("main", {"a.yaml": "a: 1\n"})
    github.commit(f"bylaw/{name}", {"a.yaml": "a: 2\n"})
    number = github.open_pull(f"bylaw/{name}", "A correction", "grace-h", "main")
    token = github.token(kind="personal")
    address = {"GITHUB_REPOSITORY": github.slug, "GITHUB_API_URL": github.base}
    shop.services = replace(shop.services, pull_request=following({**address, "GITHUB_TOKEN": token}))
    candidates.opened(name, f"{github.base}/{github.slug}/pull/{number}", GRACE, shop.services)
    return shop, github.state.pulls[number]


def stage(shop):
    (found,) = shop.candidates
    return found.stage


def later(shop, **span):
    shop.later(**(span or {"minutes": 6}))
    return follow(shop.services, shop.now)


def notices(shop, person):
    with shop.services.store.reading() as connection:
        return [letter["text"] for _, letter in deliveries.notices(connection, shop.now) if letter["to"] == person]


def test_an_open_one_stays_and_is_not_asked_for_all_the_time(opened, github):
    shop, _ = opened
    assert follow(shop.services, shop.now) == 0
    asked = len(github.requests)
    assert (follow(shop.services, shop.now), len(github.requests)) == (0, asked)
    assert later(shop) == 0
    assert (stage(shop), len(github.requests) > asked) == ("opened", True)


def test_a_closed_one_is_rejected_and_everybody_who_has_to_know_is_told(opened):
    shop, pull = opened
    pull.state = "closed"
    assert later(shop) == 1
    (found,) = shop.candidates
    assert (found.stage, found.reviewed_by) == ("rejected", "its pull request")
    assert "closed without being merged" in found.reason and str(pull.number) in found.reason
    for person in SENIORS[:4]:
        assert any("closed without being merged" in text for text in notices(shop, person))
    assert any(found.candidate_id in text for text in notices(shop, "grace"))
    assert {one.stage for user in SENIORS[:4] for one in shop.kept(user)} == {"rejected"}
    assert later(shop) == 0
    assert candidates.gather(shop.services, shop.now) == 0, "as many have to say it anew"
    with shop.services.store.reading() as connection:
        assert verify(list(audit.entries(connection))).is_intact


def test_one_that_is_opened_again_counts_again_and_can_be_merged(opened):
    shop, pull = opened
    pull.state = "closed"
    later(shop)
    pull.state = "open"
    assert (later(shop), stage(shop)) == (1, "opened")
    assert {one.stage for user in SENIORS[:4] for one in shop.kept(user)} == {"candidate"}
    pull.state, pull.merged, pull.created_at = "closed", True, MERGED_AT.isoformat().replace("+00:00", "Z")
    assert (later(shop), stage(shop)) == (1, "landed")
    (found,) = shop.candidates
    assert found.merged_at == MERGED_AT
    assert candidates.gather(shop.services, shop.now) == 0, "what has landed is not proposed anew"


def test_what_a_steward_rejected_stays_rejected_though_the_pull_request_is_open(opened):
    shop, _ = opened
    (found,) = shop.candidates
    candidates.reject(found.candidate_id, "the ledger counts it already", GRACE, shop.services)
    assert (later(shop), stage(shop)) == (0, "rejected")


def test_the_same_that_was_proposed_anew_is_not_disturbed(opened):
    shop, pull = opened
    pull.state = "closed"
    later(shop)
    shop.later(days=1)
    for user in SENIORS[:4]:
        shop.correct(user)
    assert [one.stage for one in shop.candidates] == ["rejected", "proposed"]
    pull.state = "open"
    assert later(shop) == 0
    assert [one.stage for one in shop.candidates] == ["rejected", "proposed"]


def test_what_landed_becomes_shared_when_a_bundle_says_it(opened):
    shop, pull = opened
    pull.state, pull.merged = "closed", True
    later(shop)
    shop.merge(**ONLINE)
    candidates.retire(shop.services, shop.now)
    assert stage(shop) == "merged"


def served_at(shop, committed_at):
    bundle = shop.services.index.bundle
    known = bundle.bundle_metadata.model_copy(update={"committed_at": committed_at})
    index = replace_bundle(shop.services.index, bundle.model_copy(update={"bundle_metadata": known}))
    shop.services = replace(shop.services, index=index)


def replace_bundle(index, bundle):
    from bot.index import BundleIndex

    return BundleIndex(bundle)


@pytest.mark.parametrize(
    ("committed_at", "ends"), [("2026-11-20T12:59:59Z", "landed"), ("2026-11-20T13:00:00Z", "rejected")]
)
def test_what_was_merged_with_other_words_does_not_wait_for_ever(opened, committed_at, ends):
    shop, pull = opened
    pull.state, pull.merged, pull.created_at = "closed", True, MERGED_AT.isoformat().replace("+00:00", "Z")
    later(shop)
    served_at(shop, committed_at)
    candidates.retire(shop.services, shop.now)
    (found,) = shop.candidates
    assert found.stage == ends
    if ends == "rejected":
        assert "says something else" in found.reason
        assert any("says something else" in text for text in notices(shop, "ada"))


def test_github_that_is_down_loses_nothing(opened, github):
    shop, pull = opened
    pull.state = "closed"
    github.fail("unavailable", times=50)
    assert (later(shop), stage(shop)) == (0, "opened")
    github.mend()
    assert (later(shop), stage(shop)) == (1, "rejected")


@pytest.mark.parametrize(
    "url", ["https://github.com/else/where/pull/1", "nonsense", "https://github.com/acme/policies/pull/x"]
)
def test_a_pull_request_of_another_repository_is_not_ours_to_follow(github, url):
    assert look_up(connected(github), url) is None


def test_two_processes_reject_it_once(opened):
    shop, pull = opened
    pull.state = "closed"
    shop.later(minutes=6)
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda _: follow(shop.services, shop.now), range(4))) == 1
    with shop.services.store.reading() as connection:
        events = [entry.body["event"] for entry in audit.entries(connection)]
        assert events.count("candidate rejected") == 1
        assert len(corrections.named(connection, shop.candidates[0].members)) == 4


def test_a_steward_who_decides_at_the_same_moment_is_not_overruled(opened):
    shop, _ = opened
    (before,) = shop.candidates
    candidates.reject(before.candidate_id, "no", Actor(id="hal"), shop.services)
    assert not candidates.close(before, shop.services)
    assert not candidates.land(before, shop.now, shop.services)
    assert shop.candidates[0].reason == "no"


def test_the_credentials_of_a_server_are_asked_for_when_there_is_something_to_look_at(github, opened):
    shop, _ = opened
    assert following({}) is None
    address = {"GITHUB_REPOSITORY": github.slug, "GITHUB_API_URL": github.base}
    shop.services = replace(shop.services, pull_request=following(address))
    with pytest.raises(BylawError):
        later(shop)
    token = {"GITHUB_TOKEN": github.token(kind="personal")}
    assert following({**address, **token})(shop.candidates[0].pull_request) == Standing("open")


def test_without_github_nothing_is_followed(shop):
    propose(shop)
    assert follow(shop.services, shop.now) == 0
    assert Standing("open").merged_at is None
