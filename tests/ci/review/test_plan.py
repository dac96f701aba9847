"""What is to be done follows from what is shown; done once, there is nothing left to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from ci.review.posted.plan import (
    GONE,
    LONGEST_BODY,
    SUMMARY,
    Action,
    Edit,
    FileComment,
    Note,
    Resolve,
    Review,
    Shown,
    Thread,
    gone,
    is_same,
    lines_of,
    plan,
)
from ci.review.words.rendered import Comment, Rendered
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("plan.yaml").read_text(encoding="utf-8"))
LINES = {"p": frozenset(range(17, 24))}
PRINTS = {"a": "a" * 16, "b": "b" * 16, "c": "c" * 16}
NAMES = {print_: name for name, print_ in PRINTS.items()}
SHA = "0" * 40


def body(name: str | None, text: str = "wrong") -> str:
    return f"<!-- bylaw:finding {PRINTS[name]} -->\n{text}\n" if name else "I agree"


def thread(number: int, name: str | None, *states: str) -> Thread:
    text = body(name, "old" if "old" in states else "wrong")
    return Thread(
        f"T{number}",
        number,
        gone(text, SHA) if name and "gone" in states else text,
        None if "outdated" in states else 20,
        "resolved" in states,
        "outdated" in states,
        can_resolve="powerless" not in states,
        can_unresolve="powerless" not in states,
    )


def comment(name: str, line) -> Comment:
    return Comment(PRINTS[name], "q" if line == "elsewhere" else "p", 1 if line == "elsewhere" else line, body(name))


def review(comments, standing=()) -> Rendered:
    prints = frozenset(PRINTS[name] for name in standing) | {one.fingerprint for one in comments}
    return Rendered(SHA, "failure", "title", "", tuple(comments), standing=prints)


def told(action: Action, threads) -> str:
    named = {one.id: NAMES[one.fingerprint] for one in threads if one.fingerprint}
    by_comment = {one.comment: named.get(one.id) for one in threads}
    match action:
        case Review():
            return "review " + " ".join(NAMES[one.fingerprint] for one in action.comments)
        case FileComment():
            return f"file {NAMES[action.comment.fingerprint]}"
        case Edit():
            return f"{'gone' if GONE in action.body else 'edit'} {by_comment[action.comment]}"
        case Resolve():
            return f"{'open' if action.is_open else 'resolve'} {named[action.thread]}"


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_plan(row):
    threads = tuple(thread(i, *states) for i, states in enumerate(row["shown"]))
    done = plan(Shown(threads, lines=LINES), review([comment(*one) for one in row["wanted"]], row.get("standing", ())))
    said = [told(action, threads) for action in done.actions]
    assert said + [f"unplaced {NAMES[one.fingerprint]}" for one in done.unplaced] == row["does"]


def after(shown: Shown, actions) -> Shown:
    """What GitHub shows once the actions are done."""
    threads = {one.id: one for one in shown.threads}
    for action in actions:
        match action:
            case Review() | FileComment():
                for one in action.comments if isinstance(action, Review) else (action.comment,):
                    number = len(threads)
                    threads[f"T{number}"] = Thread(f"T{number}", number, one.body)
            case Edit():
                [held] = [one for one in threads.values() if one.comment == action.comment]
                threads[held.id] = replace(held, body=action.body)
            case Resolve():
                held = threads[action.thread]
                threads[held.id] = replace(held, is_resolved=not action.is_open)
    return replace(shown, threads=tuple(threads.values()))


STATES = st.sets(st.sampled_from(["old", "gone", "resolved", "outdated", "powerless"]))
THREADS = st.lists(st.tuples(st.sampled_from(["a", "b", "c", None]), STATES), max_size=6)
WANTED = st.dictionaries(st.sampled_from("abc"), st.sampled_from([20, 21, 2, None, "elsewhere"]))


@given(THREADS, WANTED, st.data())
def test_any_run_cut_off_anywhere_is_finished_by_the_next(threads, wanted, data):
    shown = Shown(tuple(thread(i, name, *states) for i, (name, states) in enumerate(threads)), lines=LINES)
    rendered = review([comment(*one) for one in sorted(wanted.items())])
    planned = plan(shown, rendered)
    cut = data.draw(st.integers(0, len(planned.actions)))
    whole = after(shown, planned.actions)
    halfway = after(shown, planned.actions[:cut])
    finished = after(halfway, plan(halfway, rendered).actions)
    assert sorted(finished.threads, key=str) == sorted(whole.threads, key=str)
    assert plan(whole, rendered).actions == ()
    assert [one for one in whole.threads if one.fingerprint is None] == [
        one for one in shown.threads if one.fingerprint is None
    ]


@given(THREADS, WANTED)
def test_each_finding_is_told_once(threads, wanted):
    shown = Shown(tuple(thread(i, name, *states) for i, (name, states) in enumerate(threads)), lines=LINES)
    rendered = review([comment(*one) for one in sorted(wanted.items())])
    planned = plan(shown, rendered)
    standing = [one.fingerprint for one in after(shown, planned.actions).threads if one.fingerprint and not one.is_gone]
    unplaced = [one.fingerprint for one in planned.unplaced]
    assert sorted(standing + unplaced) == sorted(one.fingerprint for one in rendered.comments)


def test_a_suggestion_that_is_gone_can_no_longer_be_applied():
    was = body("a", "take this:\n```suggestion\nk: 1\n```")
    assert "```suggestion" not in gone(was, SHA)
    assert "```yaml\nk: 1" in gone(was, SHA)


def test_a_suggestion_is_made_for_its_own_line_alone():
    words = body("a", "take this:\n```suggestion\nk: 1\n```")
    told = Comment(PRINTS["a"], "p", 20, words)
    there = Thread("T", 1, words, line=20)
    assert plan(Shown((there,), lines=LINES), review([told])).actions == ()
    for line in (21, None):
        moved = replace(there, line=line)
        [edit] = plan(Shown((moved,), lines=LINES), review([told])).actions
        assert edit == Edit(1, words.replace("suggestion", "yaml"))


def test_a_long_comment_that_is_gone_stays_within_the_limit():
    was = body("a", "x" * (LONGEST_BODY - 60))
    assert len(gone(was, SHA)) <= LONGEST_BODY
    assert thread(0, "a").fingerprint in gone(was, SHA)


def test_a_quoted_mark_is_no_mark():
    assert Thread("T", 1, f"> <!-- bylaw:finding {'a' * 16} -->\nwhat is this?").fingerprint is None
    assert Shown(notes=(Note(1, f"> {SUMMARY}\nwhat is this?"),)).summary is None


def test_a_mark_further_down_is_no_mark():
    """What a comment quotes of a file may look like one."""
    inside = f"```text\n{SUMMARY}\n{body('a')}{GONE}\n```"
    assert Shown(notes=(Note(1, f"an answer\n{inside}"),)).summary is None
    assert Thread("T", 1, f"an answer\n{inside}").fingerprint is None
    told = Thread("T", 1, body("b", inside))
    assert (told.fingerprint, told.is_gone) == (PRINTS["b"], False)


def test_line_ends_make_no_difference():
    assert is_same("a\r\nb\n", "a\nb")
    assert not is_same("a b", "a\nb")


PATCHES = [
    (None, []),
    ("@@ -1,2 +1,3 @@\n a\n+b\n c", [1, 2, 3]),
    ("@@ -5,3 +7,2 @@ key:\n a\n-b\n c\n@@ -20 +30 @@\n-x\n+y\n\\ No newline at end of file", [7, 8, 30]),
    ("@@ -1 +0,0 @@\n-a", []),
]


@each(("patch", "lines"), PATCHES)
def test_the_lines_of_a_patch(patch, lines):
    assert sorted(lines_of(patch)) == lines
