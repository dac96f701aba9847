"""Why Slack does not take a message, by its own word, and what a person does about it.

A row that is `installation` is the same for every message, and is mended once for all of them; one that is `refused` is
about this message alone, and would be refused again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.evidence.store.tables.deliveries import Cause


@dataclass(frozen=True)
class Refusal:
    """The kind of a refusal, and what to do next."""

    cause: Cause
    advice: str


_TOKEN = Refusal("installation", "see BYLAW_SLACK_BOT_TOKEN: install the app again, or give it the new token")
_SCOPE = Refusal("installation", "install the app again from bot/manifest.json: it lacks a right that stands there")
_PASSES = Refusal("outage", "it is tried again by itself")
_PERSON = Refusal(
    "refused",
    "`bylaw requests notices` shows it to this person; for Slack, rules/roles.yaml has to list them by their Slack id",
)
_GONE = Refusal("refused", "the person left or cannot be written to: tell them yourself, then close it")
_ROOM = Refusal("refused", "the channel is gone or closed: answer the person yourself, then close it")
_CONTENT = Refusal("refused", "Slack does not take it as it is: read it with `bylaw trace`, tell the person, close it")

REFUSALS: Mapping[str, Refusal] = {
    "account_inactive": _TOKEN,
    "invalid_auth": _TOKEN,
    "not_authed": _TOKEN,
    "token_expired": _TOKEN,
    "token_revoked": _TOKEN,
    "org_login_required": _TOKEN,
    "ekm_access_denied": _SCOPE,
    "access_denied": _SCOPE,
    "missing_scope": _SCOPE,
    "no_permission": _SCOPE,
    "not_allowed_token_type": _SCOPE,
    "team_access_not_granted": _SCOPE,
    "fatal_error": _PASSES,
    "internal_error": _PASSES,
    "request_timeout": _PASSES,
    "service_unavailable": _PASSES,
    "team_added_to_org": _PASSES,
    "ratelimited": Refusal("limit", "it is tried again as soon as Slack allows"),
    "rate_limited": Refusal("limit", "it is tried again as soon as Slack allows"),
    "message_limit_exceeded": Refusal("limit", "it is tried again as soon as Slack allows"),
    "user_not_found": _PERSON,
    "users_not_found": _PERSON,
    "invalid_user_combination": _PERSON,
    "user_not_visible": _PERSON,
    "user_not_in_channel": Refusal("refused", "the person left the channel: tell them yourself, then close it"),
    "user_disabled": _GONE,
    "cannot_dm_bot": _GONE,
    "channel_not_found": _ROOM,
    "is_archived": _ROOM,
    "channel_is_limited_access": _ROOM,
    "not_in_channel": Refusal("refused", "invite the bot to the channel again, then retry"),
    "restricted_action": Refusal("refused", "an administrator of the workspace has to allow posts there, then retry"),
    "invalid_blocks": _CONTENT,
    "invalid_blocks_format": _CONTENT,
    "msg_blocks_too_long": _CONTENT,
    "msg_too_long": _CONTENT,
    "metadata_too_large": _CONTENT,
    "no_text": _CONTENT,
}
_UNKNOWN = Refusal("refused", "look up Slack's word for it, mend what it says, then retry")

# what is no word of Slack, in the place of one
UNSEEN = "unseen"  # the thread is too long to be looked through for a message that may be there
UNREADABLE = "unreadable"  # another version wrote it, or something else did
_OURS: Mapping[str, str] = {
    UNSEEN: "look whether it is there already: if so close it, else retry, and it is posted",
    UNREADABLE: "it cannot be read, so it cannot be sent: tell the person yourself where one is named, then close it",
}


def refusal(word: str) -> Refusal:
    """What *word*, by which Slack refused a message, means."""
    return REFUSALS.get(word, _UNKNOWN)


def advise(cause: Cause | None, failure: str | None, attempts: int) -> str:
    """What a person does about a delivery that waits because of *failure*, after that many attempts."""
    if failure is not None and failure in _OURS:
        return _OURS[failure]
    match cause:
        case "refused" | "installation":
            return refusal(failure or "").advice
        case "outage" | "limit" | "busy":
            return _PASSES.advice
        case None if attempts:
            return "a process ended while it sent it: it is tried again by itself"
        case None:
            return "nobody has tried to send it yet: `bylaw requests notices` shows it where no Slack is connected"
