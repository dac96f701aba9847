"""The manifest asks Slack for what the tables answer, and for no right that nothing here needs."""

from __future__ import annotations

import json
import re
from pathlib import Path

from bot.delivery.listeners.registry import ACTIONS, EVENTS
from tests.fakes.slack.methods import MANIFEST, METHODS

NEEDED = {"app_mention": "app_mentions:read", "message.channels": "channels:history"}
NEEDED |= {"message.groups": "groups:history", "message.im": "im:history"}
LISTING = {"channels:read", "groups:read", "im:read"}  # what `users.conversations` takes, by the kinds that it lists

UPLOADING = {"files.getUploadURLExternal", "files.completeUploadExternal"}  # what the SDK's `files_upload_v2` calls


def manifest():
    return json.loads(MANIFEST.read_text(encoding="utf-8"))


def test_every_event_of_the_manifest_has_its_row_and_every_row_its_event():
    subscribed = manifest()["settings"]["event_subscriptions"]["bot_events"]
    assert {name.partition(".")[0] for name in subscribed} == set(EVENTS)
    assert subscribed == sorted(subscribed)


def test_the_scopes_are_those_of_the_events_and_of_the_methods_in_use():
    events = {NEEDED[name] for name in manifest()["settings"]["event_subscriptions"]["bot_events"]}
    methods = {scope for scopes, _, _ in METHODS.values() for scope in scopes}
    assert manifest()["oauth_config"]["scopes"]["bot"] == sorted(events | methods | LISTING)


def test_every_method_that_is_called_is_one_of_the_fake():
    rooms = (MANIFEST.parent / "delivery" / name for name in ("listeners", "slack"))
    source = "".join(path.read_text(encoding="utf-8") for room in rooms for path in room.glob("*.py"))
    called = {name.replace("_", ".", 1) for name in re.findall(r"client\.([a-z]+(?:_[a-zA-Z0-9]+)+)", source)}
    assert {"files.upload_v2", "users.conversations"} <= called
    assert (called - {"files.upload_v2", "base.url"}) | UPLOADING <= set(METHODS)


def test_no_button_matches_two_rows():
    ids = ["accept", "show", "choose", "choose_0", "choose_99"]
    assert [sum(bool(re.fullmatch(pattern, one)) for pattern in ACTIONS) for one in ids] == [1] * 5


def test_the_manifest_lies_beside_the_package():
    assert Path("bot/manifest.json").name == MANIFEST.name
