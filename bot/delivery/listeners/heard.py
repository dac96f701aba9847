"""What somebody said to the bot in Slack, as a value that can be kept and answered later by another process."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.conversation import Spoken

_MARKS = re.compile(r"<([^<>]*)>")


class Heard(Spoken):
    """One utterance. `key` is its name for good: Slack's retries, a second event and a reconnected socket share it."""

    key: str
    text: str
    user: str
    team: str  # the workspace the person belongs to
    channel: str
    thread: str
    session_id: str
    said_at: datetime
    is_direct: bool
    form: dict[str, Any] | None = None  # what was filled in
    is_late: bool = False  # said so long before anybody heard it that it is not answered any more

    @property
    def is_first(self) -> bool:
        """Does it begin a thread?"""
        return self.key == self.session_id


def hear(event: Mapping[str, Any], team: str, bot_user: str) -> Heard | None:
    """The utterance in a message event; None for what nobody said: edits, joins, other bots, no user."""
    user, channel, stamp = (_word(event, name) for name in ("user", "channel", "ts"))
    spoken = event.get("subtype") in (None, "thread_broadcast", "file_share") and not event.get("bot_id")
    if not (spoken and user and channel and is_stamp(stamp)):
        return None
    thread = _word(event, "thread_ts")
    thread = thread if is_stamp(thread) else stamp
    return Heard(
        key=f"slack:{team}:{channel}:{stamp}",
        text=plain_words(_word(event, "text"), bot_user),
        user=user,
        team=_word(event, "user_team") or _word(event, "source_team") or _word(event, "team") or team,
        channel=channel,
        thread=thread,
        session_id=session_of(team, channel, thread),
        said_at=said_at(stamp),
        is_direct=is_direct(channel),
    )


def session_of(team: str, channel: str, thread: str) -> str:
    """A thread is a conversation."""
    return f"slack:{team}:{channel}:{thread}"


def is_direct(channel: str) -> bool:
    """Is it a conversation between one person and the bot? Slack's ids say so."""
    return channel.startswith("D")


def is_stamp(text: str) -> bool:
    """Is *text* the time that names a message?"""
    return re.fullmatch(r"[0-9]{1,12}\.[0-9]{1,9}", text) is not None


def said_at(stamp: str) -> datetime:
    """When a message was sent. Slack's clock, so that a retry asks the same question."""
    return datetime.fromtimestamp(int(stamp.partition(".")[0]), UTC)


def moment_of(stamp: str) -> datetime:
    """Like `said_at`, to the last digit: which of two messages was first."""
    whole, _, part = stamp.partition(".")
    return datetime.fromtimestamp(int(whole), UTC) + timedelta(microseconds=int(f"{part:0<6}"[:6]))


def plain_words(text: str, bot_user: str) -> str:
    """What the person typed: without the mention of the bot, links and names as they are read, entities undone."""

    def read(mark: re.Match[str]) -> str:
        target, _, label = mark[1].partition("|")
        if target == f"@{bot_user}":
            return " "
        sign = target[:1] if target[:1] in "@#!" else ""
        shown = label or target[len(sign) :]
        read_as = "@" if sign == "!" else sign  # <!here> calls like a name
        return shown if shown.startswith(read_as) else f"{read_as}{shown}"

    words = html.unescape(_MARKS.sub(read, text))
    return "\n".join(" ".join(line.split()) for line in words.splitlines()).strip()


def _word(event: Mapping[str, Any], name: str) -> str:
    found = event.get(name)
    return found if isinstance(found, str) else ""
