"""A policy answer that somebody says is wrong goes to who looks after the rule, with its line, quote and case."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread

import pytest

from bot.conversation import Actor
from bot.delivery.listeners.notify import tell
from bot.evidence.store.tables import audit, deliveries, remarks
from bot.request import objections
from bylaw.audit.verify import verify
from bylaw.errors import UsageError
from tests.fakes.slack.house import house
from tests.fakes.slack.payloads import BOT
from tests.fakes.slack.reading import shown

ASKED = "policy: I bought a laptop online 5 days ago and have the receipt, it is unopened, can I get my money back?"
ANA, BEN, GRACE = Actor(id="UANA"), Actor(id="UBEN"), Actor(id="UGRACE")


@pytest.fixture
def bot(tmp_path, slack, voltmark):
    slack.channel("DUGRACE", "UGRACE")
    with house(tmp_path, slack, **voltmark) as opened:
        yield opened


@pytest.fixture
def answered(bot, slack):
    ts = slack.say("UANA", "C1", f"<@{BOT}> {ASKED}")
    bot.settle()
    post = next(post for post in slack.posts("C1", "UANA") if post["thread_ts"] == ts)
    assert "Wrong? Tell who owns the rule" in shown(post)
    return post, f"slack:T0ACME:C1:{ts}"


def object_to(bot, slack, post, words="it was 30 days by then", user="UANA"):
    slack.click(user, post, "Wrong…")
    bot.settle()
    menu = next(one["element"] for one in slack.modal(user)["blocks"] if one.get("block_id") == "wrong_what")
    label = menu["options"][0]["text"]["text"]
    slack.choose(user, label)
    bot.settle()
    return slack.submit(user, wrong_reason=words)


def waiting(bot, actor=GRACE):
    return objections.waiting(actor, bot.bot.services())


def test_it_reaches_the_steward_with_the_line_the_quote_and_the_case(bot, slack, answered):
    post, request = answered
    assert object_to(bot, slack, post) == {}
    assert "Nothing has changed yet" in shown(slack.modal("UANA"))
    (one,) = waiting(bot)
    assert (one.request_id, one.by, one.reason) == (request, "UANA", "it was 30 days by then")
    assert one.source.path.startswith("policies/refund/") and one.source.line and one.source.text
    assert any("5" in value for value in one.case.values())
    tell(bot.slack.threads)
    bot.settle()
    (notice,) = [one for one in slack.posts("DUGRACE") if "wrong" in one["text"]]
    said = shown(notice)
    assert f"{one.source.path}:{one.source.line}" in said and one.source.text[:40] in said and "case: " in said
    slack.click("UGRACE", notice, "Answer…")
    bot.settle()
    assert "it was 30 days by then" in shown(slack.modal("UGRACE"))
    assert slack.submit("UGRACE", objection_words="You are right: it changes on Monday.") == {}
    assert waiting(bot) == []
    with bot.bot.services().store.reading() as connection:
        letters = [letter for _, letter in deliveries.notices(connection, bot.bot.services().clock())]
        entries = list(audit.entries(connection))
    assert any(one["to"] == "UANA" and "it changes on Monday" in one["text"] for one in letters)
    assert verify(entries).is_intact
    assert [one.body["event"] for one in entries if "objection" in one.body] == ["objected", "objection settled"]
    slack.click("UGRACE", notice, "Answer…")
    bot.settle()
    assert "does not wait for you" in slack.posts("DUGRACE", "UGRACE")[-1]["text"]


@pytest.mark.parametrize("actor", [ANA, BEN, Actor(), Actor(id="nobody")], ids=lambda one: one.id)
def test_to_everybody_else_there_is_none(bot, slack, answered, actor):
    object_to(bot, slack, answered[0])
    (one,) = waiting(bot)
    assert waiting(bot, actor) == []
    with pytest.raises(UsageError, match="no objection"):
        objections.settle(one.objection_id, "no", actor, bot.bot.services())


def test_two_who_settle_at_once_settle_it_once(bot, slack, answered):
    object_to(bot, slack, answered[0])
    (one,) = waiting(bot)
    ends = []

    def work(text):
        try:
            ends.append(objections.settle(one.objection_id, text, GRACE, bot.bot.services()).objection_id)
        except UsageError as error:
            ends.append(error.message)

    both = [Thread(target=work, args=(text,)) for text in ("yes", "no")]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert sum(end == one.objection_id for end in ends) == 1
    with bot.bot.services().store.reading() as connection:
        assert len(remarks.of_kind(connection, "settled", 9)) == 1


def test_said_twice_it_waits_once_and_a_queue_has_an_end(bot, slack, answered):
    post, request = answered
    services = bot.bot.services()
    assert object_to(bot, slack, post) == {}
    assert objections.object_to(request, "it was 30 days by then", ANA, services, 0) == objections.AGAIN
    for n in range(19):
        objections.object_to(request, f"wrong {n}", ANA, services)
    with pytest.raises(UsageError, match="wait already"):
        objections.object_to(request, "one more", ANA, services)
    assert len(waiting(bot)) == 20


@pytest.mark.parametrize(
    ("words", "why"),
    [(" ", "the reason takes"), ("x" * 1001, "the reason takes"), ("a\ud800", "the reason takes")],
    ids=["nothing", "too long", "half a letter"],
)
def test_words_that_say_nothing_are_refused(bot, answered, words, why):
    with pytest.raises(UsageError, match=why):
        objections.object_to(answered[1], words, ANA, bot.bot.services())
    assert waiting(bot) == []


def test_personal_data_and_markup_reach_nobody(bot, slack, answered):
    objections.object_to(answered[1], "ask jo@private.example <!channel> *now*", ANA, bot.bot.services())
    (one,) = waiting(bot)
    assert "jo@private.example" not in one.reason
    tell(bot.slack.threads)
    bot.settle()
    (notice,) = [one for one in slack.posts("DUGRACE") if "wrong" in one["text"]]
    assert "<!channel>" not in notice["text"]
    assert "mrkdwn" not in str(notice["blocks"])


def test_an_answer_that_one_has_not_seen_cannot_be_objected_to(bot, slack):
    ts = slack.say("UANA", "D1", ASKED)
    bot.settle()
    services = bot.bot.services()
    request = f"slack:T0ACME:D1:{ts}"
    hidden = replace(services, index=services.index)
    assert objections.sources_of(request, ANA, hidden)
    for name in ("unknown", ""):
        with pytest.raises(UsageError, match="do not know that answer"):
            objections.object_to(name, "wrong", BEN, services)


def test_a_decision_answer_goes_to_who_decided_or_a_steward(bot, slack) -> None:
    """Believed for long, seen here: the record with its file, what was asked, and an answer that comes back."""
    ts = slack.say("UANA", "C1", f"<@{BOT}> decision: Why did we stop ordering plasma televisions?")
    bot.settle()
    post = next(post for post in slack.posts("C1", "UANA") if post["thread_ts"] == ts)
    assert "Stop ordering plasma televisions" in shown(post)
    slack.click("UANA", post, "Wrong…")
    bot.settle()
    menu = next(one["element"] for one in slack.modal("UANA")["blocks"] if one.get("block_id") == "wrong_what")
    labels = [one["text"]["text"] for one in menu["options"]]
    assert labels[0].startswith("leave-plasma-tv-2014")
    slack.choose("UANA", labels[0])
    bot.settle()
    assert slack.submit("UANA", wrong_reason="the stock was sold out in autumn") == {}
    (one,) = waiting(bot)
    assert one.source.id == "leave-plasma-tv-2014"
    assert one.source.path == "context/decisions/decisions/leave-plasma-tv-2014.yaml"
    assert "Ruth Adeyemi" in owners_kept(bot, one)
    assert one.question.endswith("Why did we stop ordering plasma televisions?")
    tell(bot.slack.threads)
    bot.settle()
    (notice,) = [one for one in slack.posts("DUGRACE") if "wrong" in one["text"]]
    slack.click("UGRACE", notice, "Answer…")
    bot.settle()
    assert slack.submit("UGRACE", objection_words="Right: the record is corrected.") == {}
    assert waiting(bot) == []


def owners_kept(bot, one) -> str:
    """The people that the objection names as owners, as kept."""
    with bot.bot.services().store.reading() as connection:
        return str([row["correction"] for row in remarks.of(connection, one.request_id)])
