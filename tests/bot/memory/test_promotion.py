"""What a steward is shown, what a pull request edits, and who may not open it."""

from __future__ import annotations

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from bot.conversation import Actor
from bot.evidence.store.tables import deliveries
from bot.memory import candidates, promotion
from bylaw.authoring import dump, read
from bylaw.canonical import plain
from bylaw.cli import edit_for_root
from bylaw.errors import UsageError
from bylaw.github.client import Hub, connect
from bylaw.github.credentials import Token
from bylaw.github.errors import GitHubError
from bylaw.github.patience import Patience
from bylaw.github.pull_request import render_body
from tests.bot.memory.conftest import CONTEXT, ONLINE, ROLES, SENIORS

GRACE = Actor(id="grace")
EVIL = "@everyone <img src=x> [merge](https://evil.example)\n\n# Approved\n<!-- bylaw:proposal 0 -->"


@pytest.fixture
def root(tmp_path):
    """The repository of the shop, with a comment in each file."""
    folder = tmp_path / "repository"
    for kind in ("entities", "metrics", "gotchas"):
        (folder / "context" / kind).mkdir(parents=True)
        for name, record in CONTEXT[kind].items():
            text = f"# ours\n{dump(record)}"
            (folder / "context" / kind / f"{name}.yaml").write_text(text, encoding="utf-8")
    (folder / "rules").mkdir()
    (folder / "rules/roles.yaml").write_text(dump(plain(ROLES)), encoding="utf-8")
    return folder


def propose(shop, users=SENIORS[:4], **given: str) -> str:
    for user in users:
        shop.correct(user, **{**ONLINE, **given})
    (found,) = shop.candidates
    return found.candidate_id


def connected(github) -> Hub:
    patience = Patience(lambda: datetime.now(UTC), time.sleep)
    return connect(Token(github.token(kind="personal")), "acme/policies", patience, github.base)


def root_files(github, root) -> None:
    files = {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in root.rglob("*.yaml")}
    github.commit("main", files)


def reviewed(shop, root, name, actor=GRACE) -> Any:
    return promotion.review(name, actor, shop.services, partial(edit_for_root, root))


def test_the_line_is_edited_and_everything_else_stays(shop, root):
    found = reviewed(shop, root, propose(shop))
    path = "context/metrics/revenue.yaml"
    before = (root / path).read_text(encoding="utf-8")
    assert found.proposal.files == {path: f"{before}filter: channel = 'online'\n"}
    assert found.before == {path: before}
    assert found.proposal.reviewers == ("grace-h",)
    assert any(line.startswith("4 of 4 answers of the last 90 days would change") for line in found.proposal.basis)
    assert (root / path).read_text(encoding="utf-8") == before, "the repository itself is not written to"


def test_policies_in_a_folder_of_a_repository_are_edited_there(shop, tmp_path, root, github):
    top = tmp_path / "company"
    (top / "handbook").mkdir(parents=True)
    inside = root.rename(top / "handbook/rules of ours")
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    files = {str(path.relative_to(top)): path.read_text(encoding="utf-8") for path in inside.rglob("*.yaml")}
    github.commit("main", {**files, "context/metrics/revenue.yaml": "name: somebody else's\n"})
    hub = connected(github)
    done = promotion.open_(propose(shop), GRACE, shop.services, partial(edit_for_root, inside), hub)
    (pull,) = github.state.pulls.values()
    assert (done.state, done.number) == ("open", pull.number)
    assert [one.path for one in github.files(pull)] == ["handbook/rules of ours/context/metrics/revenue.yaml"]


VALUES = ("a: [b, *c] # &x", "!!python/object:os.system", "---", "''", "{{ x }}", "%YAML 1.1", "|", "null", "\\x0a")


@pytest.mark.parametrize("value", VALUES)
def test_whatever_a_value_spells_it_is_one_text_of_one_field(shop, root, value):
    name = propose(shop, new=f"channel = '{value}'")
    path = "context/metrics/revenue.yaml"
    written = reviewed(shop, root, name).proposal.files[path]
    changed = read(written)
    assert list(changed) == [*read((root / path).read_text(encoding="utf-8")), "filter"]
    assert changed["filter"] == f"channel = '{value}'"


def test_two_stewards_at_once_end_in_one_decision(shop, root, github):
    name = propose(shop)
    hub = connected(github)
    root_files(github, root)
    work = [
        lambda: promotion.open_(name, GRACE, shop.services, partial(edit_for_root, root), hub),
        lambda: promotion.open_(name, Actor(id="hal"), shop.services, partial(edit_for_root, root), hub),
        lambda: candidates.reject(name, "no", Actor(id="hal"), shop.services),
    ]
    with ThreadPoolExecutor(3) as pool:
        done = [pool.submit(one) for one in work]
    assert all(isinstance(one.exception(), UsageError | GitHubError | None) for one in done)
    (left,) = shop.candidates
    assert left.stage in ("opened", "rejected")
    assert len(github.state.pulls) <= 1
    assert (left.stage == "opened") == (done[2].exception() is not None)


def test_rows_to_leave_out_become_a_gotcha_in_a_file_of_its_own(shop, root):
    found = reviewed(shop, root, propose(shop, object="entities/orders", field="required_filter"))
    ((path, text),) = found.proposal.files.items()
    assert path.startswith("context/gotchas/orders-")
    assert read(text)["required_filter"] == "channel = 'online'"
    assert found.before == {path: None}


def test_a_word_is_added_to_those_that_are_there(shop, root):
    found = reviewed(shop, root, propose(shop, field="synonyms", new="Umsatz"))
    (text,) = found.proposal.files.values()
    assert read(text)["synonyms"] == ["turnover", "Umsatz"]


@pytest.mark.parametrize("new", ["EUR # comment", "{a: b}", "yes", "'; owner: me", "- x", "&a *a", "!!python/object:x"])
def test_a_value_stays_a_value_in_yaml(shop, root, new):
    found = reviewed(shop, root, propose(shop, field="unit", new=new))
    (text,) = found.proposal.files.values()
    assert read(text) == {**CONTEXT["metrics"]["revenue"], "unit": new}


def test_nothing_that_people_wrote_is_more_than_words_in_the_pull_request(shop, root):
    found = reviewed(shop, root, propose(shop, reason=EVIL))
    body = render_body(found.proposal)
    for word in ("@everyone", " <img", "](https", "\n# Approved", "<!-- bylaw:proposal 0"):
        assert word not in body
    assert "ada" not in body.split(), "who agrees is told by role"
    assert "senior" in body


def test_nobody_opens_what_they_corrected_themselves(shop, root):
    name = propose(shop, users=(*SENIORS[:3], "grace"))
    with pytest.raises(UsageError, match="nobody promotes what they corrected"):
        promotion.open_(name, GRACE, shop.services, partial(edit_for_root, root), None)
    assert [one.stage for one in shop.candidates] == ["proposed"]


@pytest.mark.parametrize("user", ["ada", "j0", "stranger", "grаce"])
def test_only_a_steward_looks(shop, root, user):
    name = propose(shop)
    with pytest.raises(UsageError, match="only a steward"):
        reviewed(shop, root, name, Actor(id=user))
    with pytest.raises(UsageError, match="only a steward"):
        candidates.reject(name, "no", Actor(id=user), shop.services)


def test_what_is_no_longer_agreed_upon_is_not_opened(shop, root):
    name = propose(shop)
    shop.correct("eve", new="channel = 'store'")
    with pytest.raises(UsageError, match="no longer what enough people say"):
        reviewed(shop, root, name)


def test_a_file_that_moved_on_is_not_overwritten(shop, root):
    name = propose(shop)
    path = root / "context/metrics/revenue.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "filter: status = 'new'\n", encoding="utf-8")
    with pytest.raises(UsageError, match="says something else by now"):
        reviewed(shop, root, name)


def test_a_no_is_told_with_its_reason_and_holds_until_as_many_say_it_again(shop):
    name = propose(shop)
    candidates.reject(name, "the ledger counts it already", GRACE, shop.services)
    with shop.services.store.reading() as connection:
        letters = [letter for _, letter in deliveries.notices(connection, shop.now)]
    told = {letter["to"] for letter in letters if "the ledger counts it already" in letter["text"]}
    assert told == set(SENIORS[:4])
    assert candidates.gather(shop.services, shop.now) == 0
    assert "'online'" in shop.ask("ada").sql, "their own answers keep it"
    shop.later(days=1)
    for user in SENIORS[:3]:
        shop.correct(user)
    assert [one.stage for one in shop.candidates] == ["rejected"]
    shop.correct("eve")
    assert [one.stage for one in shop.candidates] == ["rejected", "proposed"]


def test_every_steward_is_told_once(shop):
    name = propose(shop, users=SENIORS)
    candidates.gather(shop.services, shop.now)
    with shop.services.store.reading() as connection:
        letters = [letter for _, letter in deliveries.notices(connection, shop.now)]
    assert sorted(letter["to"] for letter in letters if letter["about"] == name) == ["grace", "hal"]
    (found,) = shop.candidates
    assert len(found.members) == 5
