"""The fake is as strict as Slack: what would be refused there is refused here, by the same words."""

from __future__ import annotations

from http.client import HTTPException
from pathlib import Path

import httpx
import pytest
import yaml
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tests.fakes.slack.blocks import problems
from tests.fakes.slack.payloads import standing
from tests.fakes.slack.server import FakeSlack
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("slack_refusals.yaml").read_text(encoding="utf-8"))
TEXT = {"type": "plain_text", "text": "x"}


@pytest.fixture
def slack():
    with FakeSlack() as fake:
        fake.channel("C1", "UANA")
        yield fake


def client(slack, token=None):
    return WebClient(token=slack.bot_token if token is None else token, base_url=slack.api, retry_handlers=[])


def lengthened(value):
    if isinstance(value, dict):
        return {key: lengthened(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [lengthened(inner) for inner in value]
    return "x" * 4000 if value == "LONG" else value


@each("row", ROWS, ids=lambda row: row["title"])
def test_blocks_that_slack_refuses(row):
    found = problems(lengthened(row["blocks"]) * row.get("times", 1))
    assert any(row["says"] in one for one in found), found


FIELDS = [
    {"type": "plain_text_input", "action_id": "a", "initial_value": "x"},
    {
        "type": "static_select",
        "action_id": "a",
        "options": [OPTION := {"text": TEXT, "value": "v"}],
        "placeholder": TEXT,
    },
    {
        "type": "multi_static_select",
        "action_id": "a",
        "options": [OPTION],
        "placeholder": TEXT,
        "initial_options": [OPTION],
    },
]


@pytest.mark.parametrize("element", FIELDS, ids=lambda one: one["type"])
def test_a_message_takes_fields_and_a_click_tells_all_of_them(element):
    blocks = [{"type": "input", "block_id": "b", "label": TEXT, "element": element}]
    assert problems(blocks) == []
    (told,) = standing(blocks)["b"].values()
    assert told["type"] == element["type"]
    assert [value for name, value in told.items() if name != "type"] in (["x"], [None], [[OPTION]])


def test_more_text_than_a_message_carries_is_refused(slack):
    blocks = [{"type": "section", "text": {"type": "plain_text", "text": "x" * 3000}}] * 5
    assert refused(client(slack).chat_postMessage, channel="C1", text="hi", blocks=blocks) == "msg_blocks_too_long"


def refused(call, **arguments):
    with pytest.raises(SlackApiError) as caught:
        call(**arguments)
    return caught.value.response["error"]


def test_who_may_not_is_told_why(slack):
    said = {"channel": "C1", "text": "hi"}
    assert refused(client(slack, "xoxb-wrong").chat_postMessage, **said) == "invalid_auth"
    assert refused(client(slack, slack.app_token).chat_postMessage, **said) == "not_allowed_token_type"
    assert refused(client(slack).apps_connections_open, app_token=slack.bot_token) == "not_allowed_token_type"
    slack.scopes.discard("chat:write")
    assert refused(client(slack).chat_postMessage, **said) == "missing_scope"


def test_what_cannot_be_posted_is_refused(slack):
    web = client(slack)
    assert refused(web.chat_postMessage, channel="C9", text="hi") == "channel_not_found"
    assert refused(web.chat_postMessage, channel="C1", text="x" * 40_001) == "msg_too_long"
    assert refused(web.chat_postMessage, channel="C1", text="hi", thread_ts="1.1") == "thread_not_found"
    assert refused(web.chat_postEphemeral, channel="C1", text="hi", user="UNOBODY") == "user_not_in_channel"
    assert refused(web.chat_postMessage, channel="C1", text="hi", blocks=[{"type": "chart"}]) == "invalid_blocks"
    assert refused(web.users_info, user="UANA") == "unknown_method"
    assert slack.posts("C1") == []


def test_what_slack_would_ignore_is_a_defect(slack):
    client(slack).chat_postMessage(channel="C1", text="hi", reply_brodcast=True)
    assert slack.defects == ["chat.postMessage takes no reply_brodcast"]


def test_an_address_for_answers_is_good_for_five(slack):
    web = client(slack)
    web.chat_postMessage(channel="C1", text="hi")
    address = slack.window(slack.posts("C1")[0], "UANA")
    told = [httpx.post(address, json={"text": "so", "replace_original": True}).status_code for _ in range(6)]
    assert told == [200] * 5 + [404]
    assert slack.posts("C1")[0]["text"] == "so"


def test_what_one_person_sees_no_one_else_does(slack):
    client(slack).chat_postEphemeral(channel="C1", text="hi", user="UANA")
    assert [len(slack.posts("C1", user)) for user in ("UANA", "UBEN", None)] == [1, 0, 0]


def test_a_ticket_opens_one_socket(slack):
    url = client(slack, slack.app_token).apps_connections_open(app_token=slack.app_token)["url"]
    ticket = url.partition("ticket=")[2].partition("&")[0]
    assert [slack.redeem(ticket), slack.redeem(ticket), slack.redeem("other")] == [True, False, False]


# ---- files ----------------------------------------------------------------------------------------------------------


def address(web, **others):
    given = web.files_getUploadURLExternal(**{"filename": "a.csv", "length": 3, **others})
    return given["upload_url"], given["file_id"]


def sent(url, content):
    return httpx.post(url, content=content).status_code


def test_a_file_is_announced_sent_and_shared_in_this_order(slack):
    web = client(slack)
    url, number = address(web)
    share = {"files": [{"id": number, "title": "A"}], "channel_id": "C1"}
    assert refused(web.files_completeUploadExternal, **share) == "file_not_found"
    assert [sent(url, b"a,b"), sent(url, b"a,b"), sent(f"{url}9", b"a,b")] == [200, 404, 404]
    web.files_completeUploadExternal(**share)
    assert refused(web.files_completeUploadExternal, **share) == "file_not_found"
    assert [(file["name"], file["title"], file["content"]) for file in slack.shared("C1")] == [("a.csv", "A", b"a,b")]
    assert slack.posts("C1") == slack.defects == []


@pytest.mark.parametrize(
    ("others", "error"),
    [
        ({"length": 0}, "invalid_arguments"),
        ({"filename": ""}, "invalid_arguments"),
        ({"alt_txt": "x" * 1001}, "alt_txt_too_large"),
    ],
    ids=str,
)
def test_a_file_that_is_not_announced_well_gets_no_address(slack, others, error):
    assert refused(client(slack).files_getUploadURLExternal, **{"filename": "a.png", "length": 3, **others}) == error


@pytest.mark.parametrize(
    ("others", "error"),
    [
        ({"channel_id": "C9"}, "channel_not_found"),
        ({"channel_id": None}, "channel_not_found"),
        ({"files": []}, "invalid_arguments"),
        ({"files": [{"id": "F0"}]}, "file_not_found"),
    ],
    ids=str,
)
def test_what_is_not_shared(slack, others, error):
    web = client(slack)
    url, number = address(web)
    sent(url, b"a,b")
    assert (
        refused(web.files_completeUploadExternal, **{"files": [{"id": number}], "channel_id": "C1", **others}) == error
    )
    assert slack.shared("C1") == []


def test_files_need_their_own_right(slack):
    slack.scopes.discard("files:write")
    assert refused(client(slack).files_getUploadURLExternal, filename="a.csv", length=3) == "missing_scope"
    assert refused(client(slack).files_completeUploadExternal, files=[], channel_id="C1") == "missing_scope"


def test_more_bytes_than_were_said_words_for_no_picture_and_a_reply_for_a_thread_are_defects(slack):
    web = client(slack)
    assert sent(address(web)[0], b"a,b,c") == 400
    url, number = address(web, alt_txt="a table")
    sent(url, b"a,b")
    first = web.chat_postMessage(channel="C1", text="hi")["ts"]
    reply = web.chat_postMessage(channel="C1", text="hi", thread_ts=first)["ts"]
    web.files_completeUploadExternal(files=[{"id": number}], channel_id="C1", thread_ts=reply)
    assert [defect.partition(":")[0] for defect in slack.defects] == [
        "a.csv has 5 bytes, 3 were said",
        "alt_txt for a.csv",
        "a thread is named by its first message",
    ]


# ---- histories and outages ------------------------------------------------------------------------------------------

MARK = {"event_type": "bylaw_reply", "event_payload": {"key": "k"}}


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({"event_type": "x"}, "invalid_metadata_format"),
        ({"event_type": "no spaces", "event_payload": {}}, "invalid_metadata_format"),
        ({"event_type": "x", "event_payload": "text"}, "invalid_metadata_format"),
        ({"event_type": "x", "event_payload": {"key": "k" * 9_000}}, "metadata_too_large"),
    ],
    ids=str,
)
def test_metadata_have_their_form(slack, metadata, error):
    assert refused(client(slack).chat_postMessage, channel="C1", text="hi", metadata=metadata) == error


@pytest.mark.parametrize("is_asked", [True, False])
def test_metadata_come_back_only_when_asked_for(slack, is_asked):
    web = client(slack)
    top = web.chat_postMessage(channel="C1", text="hi", metadata=MARK)["ts"]
    web.chat_postMessage(channel="C1", text="there", thread_ts=top, metadata=MARK)
    history = web.conversations_history(channel="C1", include_all_metadata=is_asked)["messages"]
    replies = web.conversations_replies(channel="C1", ts=top, include_all_metadata=is_asked)["messages"]
    assert [one.get("metadata") for one in (*history, *replies)] == [MARK if is_asked else None] * 3


def test_a_history_shows_no_replies_but_knows_of_them(slack):
    top = slack.write("UANA", "C1", "hi")
    reply = slack.write("UANA", "C1", "there", top)
    (one,) = client(slack).conversations_history(channel="C1")["messages"]
    assert (one["ts"], one["thread_ts"], one["reply_count"], one["latest_reply"]) == (top, top, 1, reply)


def test_histories_come_newest_first_a_page_at_a_time_and_only_of_the_time_that_is_asked_for(slack):
    stamps = [slack.write("UANA", "C1", str(n)) for n in range(40)]
    pages = list(client(slack).conversations_history(channel="C1", oldest=stamps[2], latest=stamps[38], limit=200))
    assert len(pages) == 3
    web = client(slack)
    found, cursor = [], None
    while True:
        page = web.conversations_history(
            channel="C1", oldest=stamps[2], latest=stamps[38], **({"cursor": cursor} if cursor else {})
        )
        found += [one["ts"] for one in page["messages"]]
        if not page["has_more"]:
            break
        cursor = page["response_metadata"]["next_cursor"]
    assert found == stamps[37:2:-1]


def test_conversations_are_listed_by_kind_each_with_its_own_right(slack):
    for name in ("C2", "C3", "C4", "G1", "D1"):
        slack.channel(name, "UANA")
    slack.members["C3"].clear()  # the bot is not in it
    slack.archive("C4")
    web = client(slack)

    def listed(types):
        return [
            one["id"]
            for page in web.users_conversations(types=types, exclude_archived=True)
            for one in page["channels"]
        ]

    assert [listed(kind) for kind in ("public_channel", "private_channel", "im")] == [["C1", "C2"], ["G1"], ["D1"]]
    slack.scopes.discard("im:read")
    assert refused(web.users_conversations, types="im") == "missing_scope"


def test_an_archived_channel_takes_no_more(slack):
    slack.archive("C1")
    assert refused(client(slack).chat_postMessage, channel="C1", text="hi") == "is_archived"


def test_an_outage_lasts_until_it_is_mended(slack):
    slack.break_down("unavailable")
    for _ in range(5):
        with pytest.raises(SlackApiError):
            client(slack).auth_test()
    slack.mend()
    assert client(slack).auth_test()["ok"]


@pytest.mark.parametrize("fault", ["cut_after", "unavailable_after", "broken_after"])
def test_what_breaks_after_the_deed_is_done_all_the_same(slack, fault):
    slack.fail(fault)
    with pytest.raises((SlackApiError, OSError, HTTPException)):
        client(slack).chat_postMessage(channel="C1", text="hi")
    assert [post["text"] for post in slack.posts("C1")] == ["hi"]


def test_who_calls_too_often_hears_how_long_to_wait(slack):
    slack.retry_after = 17
    slack.fail("ratelimited")
    with pytest.raises(SlackApiError) as caught:
        client(slack).chat_postMessage(channel="C1", text="hi")
    assert (caught.value.response.status_code, caught.value.response.headers["Retry-After"]) == (429, "17")
    assert slack.posts("C1") == []
