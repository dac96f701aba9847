"""What a workspace holds and what each method of the Web API does to it, with the scopes and arguments it takes."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from tests.fakes.slack.blocks import is_too_long, problems, view_problems
from tests.fakes.slack.payloads import APP, BOT, BOT_ID, TEAM, mention, message, standing

MANIFEST = Path(__file__).parents[3] / "bot" / "manifest.json"
MAX_TEXT = 40_000
MAX_ALT = 1_000

_HISTORY = {"C": "channels:history", "G": "groups:history", "D": "im:history"}
_READS = ("conversations.history", "conversations.replies")
_LISTS = {"public_channel": "channels:read", "private_channel": "groups:read", "im": "im:read"}
_KINDS = {"C": "public_channel", "G": "private_channel", "D": "im"}
MAX_METADATA = 8_000


class Refused(Exception):
    """A call that Slack answers with an error."""

    def __init__(self, error: str, **details: Any) -> None:
        super().__init__(error)
        self.error = error
        self.details = details


class World:
    """One workspace with one app in it, installed as its manifest says."""

    def __init__(self, manifest: Mapping[str, Any] | None = None) -> None:
        given = json.loads(MANIFEST.read_text(encoding="utf-8")) if manifest is None else manifest
        self.scopes: set[str] = set(given["oauth_config"]["scopes"]["bot"])
        self.subscribed: set[str] = set(given["settings"]["event_subscriptions"]["bot_events"])
        self.bot_token, self.app_token = "xoxb-1-bylaw", "xapp-1-bylaw"
        self.members: dict[str, set[str]] = {}
        self.messages: dict[tuple[str, str], dict[str, Any]] = {}
        self.defects: list[str] = []
        self.opened = 0
        self.refused_types: set[str] = set()
        self.uploads: dict[str, dict[str, Any]] = {}
        self.lock = threading.RLock()
        self.trigger_seconds = 3.0  # in which a view may be opened after a click
        self.triggers: dict[str, tuple[str, float]] = {}
        self.views: dict[str, dict[str, Any]] = {}
        self.modals: dict[str, list[str]] = {}  # person -> the views on top of one another
        self._tickets: set[str] = set()
        self.archived: set[str] = set()
        self.epoch = 1_795_000_000
        self._clock = count(1)

    # ---- people and rooms ---------------------------------------------------------------------------------------

    def channel(self, name: str, *users: str) -> str:
        """A channel with these people and the bot in it: `C…` public, `G…` private, `D…` one person and the bot."""
        self.members[name] = {*users, BOT}
        return name

    def next_ts(self) -> str:
        """The time of the next message; no two messages of a workspace have the same."""
        n = next(self._clock)
        return f"{self.epoch + n}.{n:06d}"

    def at(self, moment: datetime) -> None:
        """From now on messages are of *moment* and the seconds after it."""
        self.epoch = int(moment.timestamp()) - 1_000
        self._clock = count(1_000 + next(self._clock) % 500)

    def archive(self, channel: str) -> None:
        """Nobody can say anything there any more."""
        self.archived.add(channel)

    def told(self, user: str, channel: str, text: str, ts: str, thread: str | None) -> None:
        """Keep what a person said."""
        self.messages[channel, ts] = {"user": user, "text": text, "ts": ts, "channel": channel, "thread_ts": thread}

    def events(self, user: str, channel: str, text: str, ts: str, **others: Any) -> Iterator[dict[str, Any]]:
        """The events of a message that the app subscribes to: one may come twice, as a mention and as a message."""
        kind = {"C": "message.channels", "G": "message.groups", "D": "message.im"}[channel[0]]
        named = f"<@{BOT}>"
        if named in text and channel[0] != "D" and "app_mention" in self.subscribed and "subtype" not in others:
            yield mention(text.replace(named, "", 1).strip(), user, channel, ts, **others)
        if kind in self.subscribed:
            yield message(text, user, channel, ts, **others)

    # ---- what is seen -------------------------------------------------------------------------------------------

    def posts(self, channel: str, seen_by: str | None = None) -> list[dict[str, Any]]:
        """What the bot posted in *channel*, oldest first: to everyone, and to *seen_by* alone."""
        with self.lock:
            found = [post for (place, _), post in self.messages.items() if place == channel and post["user"] == BOT]
        return [post for post in found if post["to"] in (None, seen_by) and not post["files"]]

    def shared(self, channel: str) -> list[dict[str, Any]]:
        """The files in *channel*, each with the thread it is in: everybody there can open them."""
        with self.lock:
            posts = [post for (place, _), post in self.messages.items() if place == channel]
        return [{**file, "thread_ts": post["thread_ts"]} for post in posts for file in post.get("files") or ()]

    @staticmethod
    def elements(post: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The buttons and menus of a post."""
        blocks = [block for block in post["blocks"] if block["type"] == "actions"]
        return [element for block in blocks for element in block["elements"]]

    @staticmethod
    def beside(post: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The buttons beside the paragraphs of a post."""
        found = [block.get("accessory") for block in post["blocks"]]
        return [one for one in found if one is not None and one["type"] == "button"]

    def modal(self, user: str) -> dict[str, Any]:
        """The view that *user* has in front of them."""
        return self.views[self.modals[user][-1]]

    def show(self, user: str, view: Mapping[str, Any], is_on_top: bool) -> dict[str, Any]:
        """Put a view in front of *user*: on top of what is there, or in its place. Raises Refused."""
        if found := view_problems(view):
            self.defects += found
            raise Refused("invalid_arguments", response_metadata={"messages": found})
        name = f"V{next(self._clock)}"
        known = {"id": name, "hash": f"h{name}", "team_id": TEAM, "app_id": APP, "bot_id": BOT_ID, "user": user}
        state = {"values": standing(view["blocks"])}
        self.views[name] = {"private_metadata": "", "callback_id": "", **view, **known, "state": state}
        stack = self.modals.setdefault(user, [])
        self.modals[user] = [*(stack if is_on_top else stack[:-1]), name]
        return self.views[name]

    def exchanged(self, trigger: str) -> str:
        """The person behind a click, once, for three seconds. Raises Refused."""
        user, at = self.triggers.pop(trigger, ("", 0.0))
        if not user:
            raise Refused("invalid_trigger_id")
        if time.monotonic() - at >= self.trigger_seconds:
            raise Refused("expired_trigger_id")
        return user

    @staticmethod
    def labels(element: Mapping[str, Any]) -> list[str]:
        """What a button or a menu can be asked for."""
        if element["type"] == "static_select":
            return [option["text"]["text"] for option in element["options"]]
        return [element["text"]["text"]]

    # ---- calls --------------------------------------------------------------------------------------------------

    def carry_out(self, method: str, arguments: Mapping[str, Any], token: str) -> dict[str, Any]:
        """What the method answers. Raises Refused."""
        if method not in METHODS:
            self.defects.append(f"unknown method {method}")
            raise Refused("unknown_method")
        scopes, known, work = METHODS[method]
        if token not in (self.bot_token, self.app_token):
            raise Refused("invalid_auth" if token else "not_authed")
        if (method == "apps.connections.open") != (token == self.app_token):
            raise Refused("not_allowed_token_type")
        needed = scopes or ([_HISTORY[str(arguments["channel"])[0]]] if method in _READS else [])
        if method == "users.conversations":
            needed = [_LISTS[kind] for kind in str(arguments.get("types") or "public_channel").split(",")]
        if missing := [scope for scope in needed if scope not in self.scopes]:
            raise Refused("missing_scope", needed=",".join(missing), provided=",".join(sorted(self.scopes)))
        self.defects += [f"{method} takes no {name}" for name in sorted(set(arguments) - set(known.split()))]
        with self.lock:
            return work(self, arguments)

    def redeem(self, ticket: str) -> bool:
        """Is it a ticket for a socket that nobody used yet?"""
        with self.lock:
            found = ticket in self._tickets
            self._tickets.discard(ticket)
        return found

    def receive(self, number: str, content: bytes) -> int:
        """Bytes for the address of a file: once, and as many as were said."""
        with self.lock:
            file = self.uploads.get(number)
            if file is None or file["content"] is not None:
                return 404
            if len(content) != file["length"]:
                self.defects.append(f"{file['name']} has {len(content)} bytes, {file['length']} were said")
                return 400
            file["content"] = content
        return 200

    def respond(self, post: Mapping[str, Any], user: str, said: Mapping[str, Any]) -> bool:
        """An answer to a click: in the place of the message, or beside it."""
        found = problems(said.get("blocks") or [])
        self.defects += found
        if found:
            return False
        with self.lock:
            if said.get("replace_original"):
                old = self.messages[post["channel"], post["ts"]]
                old.update(text=said.get("text", ""), blocks=said.get("blocks") or [])
                return True
            to = user if said.get("response_type", "ephemeral") == "ephemeral" else None
            self._put(post["channel"], {"thread_ts": post.get("thread_ts"), **said}, to)
        return True

    def ticket(self) -> str:
        """A ticket for one socket."""
        name = f"t{next(self._clock)}"
        self._tickets.add(name)
        return name

    def room(self, arguments: Mapping[str, Any]) -> str:
        """The channel of a call. Raises Refused where there is none, or the bot is not in it."""
        channel = str(arguments.get("channel") or "")
        if channel not in self.members:
            raise Refused("channel_not_found")
        if BOT not in self.members[channel]:
            raise Refused("not_in_channel")
        return channel

    def put(self, arguments: Mapping[str, Any], to: str | None) -> dict[str, Any]:
        """Post what the arguments say. Raises Refused for what cannot be shown."""
        channel = self.room(arguments)
        text, blocks = arguments.get("text") or "", arguments.get("blocks") or []
        if not text and not blocks:
            raise Refused("no_text")
        if blocks and not text:
            self.defects.append("blocks without a text: notifications and screen readers would have nothing")
        if len(text) > MAX_TEXT:
            raise Refused("msg_too_long")
        if {block.get("type") for block in blocks} & self.refused_types:
            raise Refused("invalid_blocks", errors=["unsupported type"])  # as in a workspace that lacks a feature
        if found := problems(blocks):
            self.defects += found
            raise Refused("invalid_blocks", errors=found)
        if is_too_long(blocks):
            self.defects.append("msg_blocks_too_long")
            raise Refused("msg_blocks_too_long")
        if channel in self.archived:
            raise Refused("is_archived")
        check_metadata(arguments.get("metadata"))
        thread = arguments.get("thread_ts")
        if thread and (channel, thread) not in self.messages:
            raise Refused("thread_not_found")
        return self._put(channel, arguments, to)

    def _put(self, channel: str, said: Mapping[str, Any], to: str | None) -> dict[str, Any]:
        ts = self.next_ts()
        kept = {key: said.get(key) for key in ("text", "thread_ts", "metadata", "files")}
        post = {**kept, "blocks": said.get("blocks") or [], "ts": ts, "channel": channel, "user": BOT, "to": to}
        self.messages[channel, ts] = post
        return post


def check_metadata(given: Any) -> None:
    """Raise Refused for metadata that Slack does not take."""
    if given is None:
        return
    if not isinstance(given, Mapping) or set(given) != {"event_type", "event_payload"}:
        raise Refused("invalid_metadata_format")
    is_named = re.fullmatch(r"[A-Za-z][\w.-]{0,127}", str(given["event_type"])) is not None
    if not is_named or not isinstance(given["event_payload"], Mapping):
        raise Refused("invalid_metadata_format")
    if len(json.dumps(given)) > MAX_METADATA:
        raise Refused("metadata_too_large")


def answers(world: World, channel: str) -> dict[str, list[str]]:
    """The replies of each thread of a channel, by its first message."""
    found: dict[str, list[str]] = {}
    for (place, ts), one in world.messages.items():
        if place == channel and one.get("thread_ts") not in (None, ts) and not one.get("to"):
            found.setdefault(one["thread_ts"], []).append(ts)
    return found


def read(one: Mapping[str, Any], replies: list[str], has_metadata: bool) -> dict[str, Any]:
    """A message as a history shows it: the first of a thread knows of its replies; metadata come when asked for."""
    hidden = {"to", "channel", "files", "metadata", "thread_ts"}
    shown = {name: value for name, value in one.items() if name not in hidden}
    shown |= {"type": "message", "team": TEAM}
    if one["user"] == BOT:
        shown |= {"bot_id": BOT_ID, "app_id": APP}
    if one.get("thread_ts") or replies:
        shown["thread_ts"] = one.get("thread_ts") or one["ts"]
    if replies:
        shown |= {"reply_count": len(replies), "latest_reply": max(replies, key=float)}
    if has_metadata and one.get("metadata"):
        shown["metadata"] = one["metadata"]
    return shown


def paged(found: list[dict[str, Any]], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A page of messages, and how to go on."""
    start = int(arguments.get("cursor") or 0)
    end = start + min(int(arguments.get("limit") or REPLIES), REPLIES)
    told = {"messages": found[start:end], "has_more": end < len(found)}
    return {**told, "response_metadata": {"next_cursor": str(end)}} if end < len(found) else told


def within(ts: str, arguments: Mapping[str, Any]) -> bool:
    """Is a message of the time that is asked for? Its ends are left out unless `inclusive`."""
    oldest, latest, at = float(arguments.get("oldest") or 0), float(arguments.get("latest") or "inf"), float(ts)
    is_inclusive = arguments.get("inclusive") in ("1", "true", True)
    return oldest <= at <= latest if is_inclusive else oldest < at < latest


def _auth_test(_world: World, _arguments: Mapping[str, Any]) -> dict[str, Any]:
    named = {"team": "Acme", "user": "bylaw", "team_id": TEAM, "user_id": BOT, "bot_id": BOT_ID}
    return {"url": "https://acme.slack.com/", "is_enterprise_install": False, **named}


def _open_socket(world: World, _arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"url": f"{world.base.replace('http', 'ws', 1)}/link?ticket={world.ticket()}&app_id={APP}"}  # type: ignore[attr-defined]


def _post_message(world: World, arguments: Mapping[str, Any]) -> dict[str, Any]:
    post = world.put(arguments, None)
    said = {"type": "message", "user": BOT, "bot_id": BOT_ID, "text": post["text"], "ts": post["ts"]}
    return {"channel": post["channel"], "ts": post["ts"], "message": said}


def _post_ephemeral(world: World, arguments: Mapping[str, Any]) -> dict[str, Any]:
    user = str(arguments.get("user") or "")
    if user not in world.members[world.room(arguments)]:
        raise Refused("user_not_in_channel")
    return {"message_ts": world.put(arguments, user)["ts"]}


def _replies(world: World, arguments: Mapping[str, Any]) -> dict[str, Any]:
    channel, thread = world.room(arguments), arguments.get("ts")
    has_metadata = arguments.get("include_all_metadata") in ("1", True)
    replies = answers(world, channel)
    found = [
        read(one, replies.get(ts, []), has_metadata)
        for (place, ts), one in world.messages.items()
        if place == channel and thread in (ts, one.get("thread_ts")) and not one.get("to")
    ]
    if not found:
        raise Refused("thread_not_found")
    # the first message of the thread comes with every answer, then those after `oldest`, a page at a time
    later = [one for one in found if within(one["ts"], arguments) and one["ts"] != thread]
    page = paged(later, arguments)
    return {**page, "messages": [one for one in found if one["ts"] == thread] + page["messages"]}


def _open_direct(world: World, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The room of one person and the bot, made where there is none."""
    user = str(arguments.get("users") or "")
    if user not in {one for members in world.members.values() for one in members}:
        raise Refused("user_not_found")
    found = next((name for name, who in world.members.items() if name[0] == "D" and who == {user, BOT}), None)
    return {"channel": {"id": found or world.channel(f"D{user}", user)}}


def _history(world: World, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What stands in the channel itself, newest first: not what was said in its threads."""
    channel = world.room(arguments)
    has_metadata = arguments.get("include_all_metadata") in ("1", True)
    replies = answers(world, channel)
    found = [
        read(one, replies.get(ts, []), has_metadata)
        for (place, ts), one in world.messages.items()
        if place == channel and not one.get("to") and one.get("thread_ts") in (None, ts) and within(ts, arguments)
    ]
    return paged(sorted(found, key=lambda one: float(one["ts"]), reverse=True), arguments)


def _conversations(world: World, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The conversations that the bot is in, of the kinds that are asked for."""
    kinds = str(arguments.get("types") or "public_channel").split(",")
    is_short = arguments.get("exclude_archived") in ("1", "true", True)
    found = [
        {"id": name, "is_im": name[0] == "D", "is_archived": name in world.archived}
        for name, who in sorted(world.members.items())
        if BOT in who and _KINDS[name[0]] in kinds and not (is_short and name in world.archived)
    ]
    start = int(arguments.get("cursor") or 0)
    end = start + min(int(arguments.get("limit") or 100), CONVERSATIONS)
    more = {"response_metadata": {"next_cursor": str(end) if end < len(found) else ""}}
    return {"channels": found[start:end], **more}


def _upload_url(world: World, arguments: Mapping[str, Any]) -> dict[str, Any]:
    name, length = arguments.get("filename"), str(arguments.get("length") or "0")
    if not name or not length.isdigit() or int(length) == 0:
        raise Refused("invalid_arguments")
    described = str(arguments.get("alt_txt") or "")
    if len(described) > MAX_ALT:
        raise Refused("alt_txt_too_large")
    if described and not name.endswith(".png"):
        world.defects.append(f"alt_txt for {name}: a file that is no picture is then not shared, without a word")
    number = f"F{next(world._clock)}"
    world.uploads[number] = {"id": number, "name": name, "length": int(length), "alt": described, "content": None}
    return {"upload_url": f"{world.base}/upload/v1/{number}", "file_id": number}  # type: ignore[attr-defined]


def _complete_upload(world: World, arguments: Mapping[str, Any]) -> dict[str, Any]:
    named = arguments.get("files") or []
    found = [world.uploads.get(one.get("id")) for one in named]
    if not found:
        raise Refused("invalid_arguments")
    if any(one is None or one["content"] is None or "title" in one for one in found):
        raise Refused("file_not_found")  # there is none, nothing was sent to its address, or it was completed before
    if not arguments.get("channel_id"):
        world.defects.append("files that nobody sees: they are shared nowhere")
    channel = world.room({"channel": arguments.get("channel_id")})
    thread = world.messages.get((channel, arguments.get("thread_ts") or ""))
    if arguments.get("thread_ts") and (thread is None or thread["thread_ts"] not in (None, thread["ts"])):
        world.defects.append("a thread is named by its first message")
    for file, one in zip(found, named, strict=True):
        file.update(title=one.get("title") or file["name"])  # type: ignore[union-attr]
    world._put(channel, {"thread_ts": arguments.get("thread_ts"), "text": "", "files": found}, None)
    return {"files": [{"id": one["id"], "title": one.get("title")} for one in named]}


def _open_view(world: World, arguments: Mapping[str, Any]) -> dict[str, Any]:
    user = world.exchanged(str(arguments.get("trigger_id")))
    world.modals[user] = []
    return {"view": world.show(user, arguments.get("view") or {}, is_on_top=True)}


def _push_view(world: World, arguments: Mapping[str, Any]) -> dict[str, Any]:
    user = world.exchanged(str(arguments.get("trigger_id")))
    if len(world.modals.get(user, [])) >= 3:
        raise Refused("push_limit_reached")
    return {"view": world.show(user, arguments.get("view") or {}, is_on_top=True)}


def _update_view(world: World, arguments: Mapping[str, Any]) -> dict[str, Any]:
    old = world.views.get(str(arguments.get("view_id")))
    if old is None:
        raise Refused("not_found")
    if arguments.get("hash") not in (None, old["hash"]):
        raise Refused("hash_conflict")
    if found := view_problems(arguments.get("view")):
        world.defects += found
        raise Refused("invalid_arguments", response_metadata={"messages": found})
    old.update(arguments["view"], hash=f"{old['hash']}+")
    return {"view": old}


CONVERSATIONS = 3  # at a time: Slack may always give fewer than it was asked for
REPLIES = 15  # messages at a time, as apps get them that are not of the marketplace
_Work = Callable[[World, Mapping[str, Any]], dict[str, Any]]
_SAID = "channel text blocks thread_ts"

# method → its scopes (of conversations.replies: those of the kind of channel), the arguments it reads, what it does
METHODS: Mapping[str, tuple[Iterable[str], str, _Work]] = {
    "apps.connections.open": ((), "", _open_socket),
    "auth.test": ((), "", _auth_test),
    "chat.postEphemeral": (("chat:write",), f"{_SAID} user", _post_ephemeral),
    "chat.postMessage": (("chat:write",), f"{_SAID} metadata unfurl_links unfurl_media", _post_message),
    "files.completeUploadExternal": (("files:write",), "files channel_id thread_ts initial_comment", _complete_upload),
    "files.getUploadURLExternal": (("files:write",), "filename length alt_txt snippet_type", _upload_url),
    "conversations.history": ((), "channel include_all_metadata limit oldest latest inclusive cursor", _history),
    "conversations.open": (("im:write",), "users", _open_direct),
    "views.open": ((), "trigger_id view", _open_view),
    "views.push": ((), "trigger_id view", _push_view),
    "views.update": ((), "view_id external_id hash view", _update_view),
    "conversations.replies": ((), "channel ts include_all_metadata oldest latest limit inclusive cursor", _replies),
    "users.conversations": ((), "types exclude_archived limit cursor", _conversations),
}
