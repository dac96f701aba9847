"""A mention or a direct message is answered in its thread, in words whatever happens, and never to the wrong people."""

from __future__ import annotations

import pytest

from bot.conversation import Turn
from bot.evidence.store.tables import audit, requests
from bot.router import Answerer
from tests.fakes.frame import said
from tests.fakes.slack.payloads import BOT, mention, message
from tests.fakes.slack.reading import shown


def test_a_whole_conversation_in_a_thread(bot, slack):
    """A mention, a typed fact without one (the bot has asked), a button; over HTTP and over a socket."""
    ts = slack.say("UANA", "C1", f"<@{BOT}> may I return it?")
    bot.settle()
    slack.say("UANA", "C1", "20 days", thread=ts)
    bot.settle()
    asked = slack.posts("C1")
    assert "How many days ago" in shown(asked[0])
    assert [slack.labels(one) for one in slack.elements(asked[1])] == [["Yes"], ["No"]]
    assert slack.click("UANA", asked[1], "Yes").status == 200
    bot.settle()
    last = slack.posts("C1")[-1]
    assert "full_refund" in shown(last)
    assert "POL-REFUND-001" in shown(last)
    assert [post["thread_ts"] for post in slack.posts("C1")] == [ts, ts, ts]
    assert slack.elements(slack.posts("C1")[1]) == []
    assert "<@UANA> chose: Yes" in shown(slack.posts("C1")[1])


def test_a_direct_message_is_answered_in_its_thread(start, slack):
    bot = start()
    ts = slack.say("UANA", "D1", "why did we leave plasma?")
    bot.settle()
    (post,) = slack.posts("D1")
    assert (post["thread_ts"], post["text"], post["to"]) == (ts, "It lost money.", None)


def test_what_others_say_in_a_thread_is_not_for_the_bot(start, slack):
    bot = start()
    ts = slack.say("UANA", "C1", f"<@{BOT}> may I return it?")
    bot.settle()
    slack.say("UBEN", "C1", "20 days", thread=ts)
    slack.say("UANA", "C1", "20 days")  # not in the thread
    bot.settle()
    assert len(slack.posts("C1")) == 1
    assert all(one.status == 200 for one in slack.sent)


def test_a_thread_in_which_nothing_is_asked_is_left_alone(start, slack):
    bot = start()
    ts = slack.say("UANA", "C1", f"<@{BOT}> why did we leave plasma?")
    bot.settle()
    slack.say("UANA", "C1", "why did we ask a bot?", thread=ts)
    bot.settle()
    assert len(slack.posts("C1")) == 1


def test_an_answer_that_mentions_the_bot_comes_twice_and_is_answered_once(start, slack):
    bot = start()
    ts = slack.say("UANA", "C1", f"<@{BOT}> may I return it?")
    bot.settle()
    slack.say("UANA", "C1", f"<@{BOT}> 20 days", thread=ts)
    bot.settle()
    assert len(slack.posts("C1")) == 2


@pytest.mark.parametrize(
    "others",
    [{"bot_id": "BOTHER"}, {"subtype": "message_changed"}, {"subtype": "channel_join"}, {"user": None}, {"ts": "now"}],
    ids=str,
)
def test_what_nobody_said_is_acknowledged_and_not_answered(start, slack, others):
    bot = start()
    event = message("why did we leave it?", "UANA", "D1", slack.next_ts())
    event["event"].update(others)
    assert slack.attempt(event).status == 200
    bot.settle()
    assert slack.posts("D1") == []


def test_an_event_nobody_asked_for_is_acknowledged(start, slack):
    start()
    joined = {**mention("", "UANA", "C1", "1.1"), "event": {"type": "team_join", "user": {"id": "UNEW"}}}
    assert slack.attempt(joined).status == 200


# ---- words for what goes wrong --------------------------------------------------------------------------------------


def test_a_mention_without_words_says_what_to_ask(start, slack):
    bot = start()
    slack.say("UANA", "C1", f"<@{BOT}>")
    bot.settle()
    assert "Ask me about our policies" in shown(slack.posts("C1")[0])


def test_a_question_that_is_too_long_is_refused_to_its_asker(start, slack):
    bot = start()
    slack.say("UANA", "C1", f"<@{BOT}> {'why ' * 3000}")
    bot.settle()
    (post,) = slack.posts("C1", "UANA")
    assert "at most 8000" in shown(post)
    assert slack.posts("C1", "UBEN") == []


def test_what_breaks_down_is_told_to_the_asker_and_recorded(start, slack, caplog):
    bot = start()
    ts = slack.say("UANA", "C1", f"<@{BOT}> revenue crash")
    bot.settle()
    (post,) = slack.posts("C1", "UANA")
    key = f"slack:T0ACME:C1:{ts}"
    assert f"recorded as `{key}`" in shown(post)
    assert post["to"] == "UANA"
    assert "ZeroDivisionError" not in shown(post)
    assert [one.exc_info[0] for one in caplog.records if one.exc_info] == [ZeroDivisionError]
    with bot.bot.services().store.reading() as connection:
        assert requests.load(connection, key).failure.startswith("ZeroDivisionError")


def test_an_edited_mention_is_not_answered_anew(start, slack):
    bot = start()
    ts = slack.say("UANA", "C1", f"<@{BOT}> why did we leave plasma?")
    bot.settle()
    edited = mention("why did we leave copper?", "UANA", "C1", ts, edited={"user": "UANA", "ts": "1.1"})
    assert slack.attempt(edited).status == 200
    bot.settle()
    assert len(slack.posts("C1", "UANA")) == 1


# ---- who may read what ----------------------------------------------------------------------------------------------


def ledger(asked, _state, _index):
    sql = "SELECT amount FROM finance.ledger"
    return Turn(said(asked, "data", "answered", "1 million", level=4, sql=sql, columns=("amount",), rows=((1,),)), {})


LEDGER = (Answerer("data", lambda *_: 1.0, ledger),)


@pytest.mark.parametrize("channel", ["C1", "G1"])
def test_a_result_that_is_not_for_everyone_is_shown_to_its_asker_alone(start, slack, channel):
    bot = start(answerers=LEDGER)
    slack.say("UFIN", channel, f"<@{BOT}> the ledger")
    bot.settle()
    (post,) = slack.posts(channel, "UFIN")
    assert "1 million" in shown(post)
    assert "Only you can see this" in shown(post)
    assert slack.posts(channel, "UANA") == []
    assert slack.click("UFIN", post, "Accept").status == 200
    bot.settle()
    assert "Accepted by <@UFIN>" in shown(slack.posts(channel, "UFIN")[0])


def test_in_a_direct_message_there_is_nobody_to_hide_it_from(start, slack):
    bot = start(answerers=LEDGER)
    slack.say("UFIN", "D2", "the ledger")
    bot.settle()
    (post,) = slack.posts("D2")
    assert "1 million" in shown(post)
    assert "Only you" not in shown(post)


def test_who_asks_is_who_slack_says_and_nobody_in_the_message(start, slack):
    bot = start()
    slack.say("UANA", "C1", f"<@{BOT}> I am <@UFIN>, user=UFIN: why did we leave plasma?")
    bot.settle()
    with bot.bot.services().store.reading() as connection:
        (entry,) = audit.entries(connection)
    assert entry.body["actor"] == {"id": "UANA", "type": "human"}


@pytest.mark.parametrize(("user", "is_answered"), [("UANA", False), ("UFIN", True)])
def test_somebody_of_another_workspace_is_answered_only_when_listed(start, slack, user, is_answered):
    bot = start()
    slack.say(user, "C1", f"<@{BOT}> may I return it?", user_team="TOTHER")
    bot.settle()
    (post,) = slack.posts("C1", user)
    assert ("How many days" in shown(post)) == is_answered
    assert (post["to"] is None) == is_answered
    assert ("people of the workspace" in shown(post)) != is_answered


def test_nothing_people_write_becomes_a_mention_or_a_link(start, slack):
    def echo(asked, _state, _index):
        return Turn(said(asked, "policy", "answered", f"you said {asked.text}"), {})

    bot = start(answerers=(Answerer("policy", lambda *_: 1.0, echo),))
    slack.say("UANA", "C1", f"<@{BOT}> &lt;!channel&gt; &lt;https://evil.example|our site&gt; *bold* &amp; `code`")
    bot.settle()
    (post,) = slack.posts("C1")
    assert post["text"] == "you said &lt;!channel&gt; &lt;https://evil.example|our site&gt; *bold* &amp; `code`"
    assert {block["text"]["type"] for block in post["blocks"] if block["type"] == "section"} == {"plain_text"}
    assert "<!channel>" in shown(post)  # letter by letter, as plain text
