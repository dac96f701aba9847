"""Every reply becomes a message that Slack takes, whatever is in it, and that shows what the terminal shows."""

from __future__ import annotations

import json
from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.conversation import Ask, Choice, Citation, Form, FormField, Reply
from bot.delivery.blocks import answer, clarify, form, kit
from tests.fakes.frame import reply
from tests.fakes.slack.blocks import is_too_long, problems, view_problems
from tests.fakes.slack.methods import World
from tests.fakes.slack.reading import shown
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("replies.yaml").read_text(encoding="utf-8"))


def posted(message):
    return {"text": message.text, "blocks": list(message.blocks)}


def labels(message):
    return [label for one in World.elements(posted(message)) for label in World.labels(one)]


@each("row", ROWS, ids=lambda row: row["title"])
def test_a_reply_as_a_message(row):
    made = answer.answer(reply(**row["reply"]), 3)
    assert problems(list(made.blocks)) == []
    read = shown(posted(made))
    assert [text for text in row["shows"] if text not in read] == []
    assert [text for text in row.get("hides", ()) if text in read] == []
    assert labels(made) == row["buttons"]


@each("row", ROWS, ids=lambda row: row["title"])
def test_a_closed_reply_shows_the_same_without_buttons(row):
    made = answer.closed(reply(**row["reply"]), 3, "Accepted by <@U1>")
    assert problems(list(made.blocks)) == []
    assert labels(made) == []
    assert "Accepted by <@U1>" in shown(posted(made))


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=4000)
replies = st.builds(
    Reply,
    kind=st.sampled_from(["policy", "data", "decision", "refusal"]),
    status=st.sampled_from(
        ["answered", "needs_choice", "needs_fact", "pending", "recommended", "escalated", "refused"]
    ),
    text=texts,
    request_id=st.just("slack:T:C:1.1"),
    session_id=st.just("s"),
    bundle_etag=st.just("e"),
    level=st.none() | st.integers(1, 5),
    choices=st.lists(st.builds(Choice, value=texts, label=texts), max_size=130).map(tuple),
    ask=st.none() | st.builds(Ask, fact=texts, question=texts),
    citations=st.lists(st.builds(Citation, id=texts, text=texts), max_size=40).map(tuple),
    sql=st.none() | texts,
    caveats=st.lists(texts, max_size=5).map(tuple),
    columns=st.integers(0, 30).map(lambda n: tuple(f"c{i}" for i in range(n))),
).map(lambda made: made.model_copy(update={"rows": (tuple("x" * 90 for _ in made.columns),) * 150}))


@given(replies, st.integers(0, 200))
def test_slack_takes_every_message(made, rows_shown):
    for message in (answer.answer(made, rows_shown), answer.closed(made, rows_shown, "done")):
        assert problems(list(message.blocks)) == []
        assert not is_too_long(list(message.blocks))
        assert 1 <= len(message.text) <= 40_000
        json.dumps(message.blocks)


fields = st.builds(
    FormField,
    name=st.sampled_from(["metrics", "by", "filters", "values", "period", "limit"]),
    label=texts,
    options=st.integers(0, 150).map(
        lambda count: tuple(Choice(value=f"{n}" * 60, label=f"<!channel> {n} {'z' * 90}") for n in range(count))
    ),
    chosen=st.sampled_from([(), ("5" * 60,), ("nothing",)]),
    is_many=st.booleans(),
)


@settings(max_examples=40)
@given(st.lists(fields, max_size=6, unique_by=lambda one: one.name), texts)
def test_slack_takes_every_form(found, text):
    asked = Form(fields=tuple(found))
    made = answer.answer(reply(kind="data", status="needs_choice", text=text, form=asked), 3)
    assert problems(list(made.blocks)) == []
    assert not is_too_long(list(made.blocks))
    assert view_problems(form.view(asked, "1.1:slack:T:C:1.1")) == []


@given(texts)
def test_no_markup_of_others_survives(text):
    escaped = kit.escape(text)
    assert "<" not in escaped
    assert ">" not in escaped
    message = answer.answer(reply(text=text, citations=(Citation(id=text, text=text),)), 3)
    marked = [str(block) for block in message.blocks if "mrkdwn" in str(block)]
    assert marked == []
    assert "<" not in message.text


@given(st.integers(0, 200), st.text(min_size=1, max_size=100))
def test_the_value_of_a_button_comes_back(number, request):
    assert clarify.read_value(clarify.value(request, number)) == (request, number)


@each("text", ["", ":", "1:", "x:r", "-1:r", "²:r", "r"])
def test_what_is_no_value_of_ours_is_none(text):
    assert clarify.read_value(text) is None


def test_a_long_text_breaks_at_its_lines():
    blocks = kit.paragraphs("\n".join(["word " * 100] * 12))
    assert len(blocks) == 3
    assert all(block["text"]["text"].startswith("word") for block in blocks)


def test_what_is_beyond_any_message_is_clipped_visibly():
    assert kit.paragraphs("x" * 50_000)[-1]["text"]["text"].endswith("…")


def test_words_that_are_no_reply_are_escaped_too():
    told = answer.told("use <script> & co")
    assert told.text == "use &lt;script&gt; &amp; co"
    assert told.blocks == (
        {"type": "section", "text": {"type": "plain_text", "text": "use <script> & co", "emoji": False}},
    )
