"""Fixtures: a Slack with three rooms, and the bot at work in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.fakes.bundle import write_bundle
from tests.fakes.slack.house import House, house
from tests.fakes.slack.server import FakeSlack

ROLES = {
    "roles": {
        "everyone": {"schemas": ["shop"]},
        "finance": {"schemas": ["shop", "finance"]},
        "steward": {"schemas": ["shop"], "steward": True},
    },
    "users": {"UFIN": ["finance"], "UGRACE": ["steward"]},
    "default_role": "everyone",
}


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    """The workspace; when the test ends, nothing was sent that a real Slack would not take."""
    with FakeSlack() as fake:
        fake.channel("C1", "UANA", "UBEN", "UFIN", "UGRACE")
        fake.channel("G1", "UANA", "UFIN")
        fake.channel("D1", "UANA")
        fake.channel("D2", "UFIN")
        yield fake
    assert fake.defects == []


@pytest.fixture
def start(tmp_path: Path, slack: FakeSlack) -> Iterator[Callable[..., House]]:
    """Starts bots on one store; ends them all."""
    write_bundle(tmp_path / "bundle.json", roles=ROLES)
    with ExitStack() as stack:
        yield lambda **given: stack.enter_context(house(tmp_path, slack, **given))


@pytest.fixture(params=["http", "socket"])
def bot(request: pytest.FixtureRequest, start: Callable[..., House]) -> House:
    """The bot, reached each way."""
    return start(mode=request.param)
