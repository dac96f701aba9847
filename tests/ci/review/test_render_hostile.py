"""No word of a document does anything where it is shown: no mention, no link, no mark of ours."""

from __future__ import annotations

import re

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ci.review.computed.document import (
    Case,
    Coverage,
    Covered,
    FoundItem,
    GraphNode,
    OpenQuestion,
    OutcomeChange,
    PolicyGraph,
    RecordedAnswers,
    ReviewDocument,
    Spot,
    Suggestion,
)
from ci.review.words.render import render
from tests.ci.review.documents import HERE, change, clash, document, finding
from tests.ci.review.markdown import harmless, table
from tests.rows import each

NASTY = [
    "@everyone",
    "ping @acme/security now",
    "<img src=x onerror=alert(1)>",
    "<!-- bylaw:finding ffffffffffffffff -->",
    "\n<!-- bylaw:gone -->\n",
    "--> </details></sub>",
    "```\n@octocat\n```",
    "````suggestion\nowned\n````",
    "`@octocat`",
    "a ` lone tick and @octocat",
    "``two`` `one",
    "[click](javascript:alert(1))",
    "![pixel](https://evil.example/x.png)",
    "https://evil.example www.evil.example evil@evil.example",
    "| a | b |\n|---|---|",
    "`a|b`",
    "`a\\|b`",
    "\\",
    "a\\",
    "\n# Heading\n",
    "\r\n---\r\n",
    "- [ ] task",
    "- - + = ---",
    "---",
    "===",
    "      code",
    " ",
    "1. one",
    "closes #1 GH-2 acme/policies#3",
    "\u202egnp.exe",
    "\u2028\u2029\x00\x1b[2J",
    "&lt;b&gt; &#64;octocat &commat;octocat",
    "~~gone~~ **bold** _it_ $x^2$",
    '"]; click n0 "https://evil.example"',
    "::error::owned",
    "{{ marker }} {% raw %}",
    "</summary><h1>",
    "é" * 290,
    "",
]
WORD = st.one_of(st.sampled_from(NASTY), st.text(alphabet="@#`<>|\\[]()!*_~&;:/-\n\r\t aZ0é\u202e", max_size=30))
NAME = WORD.map(lambda text: text[:300])
LONG = st.lists(WORD, min_size=1, max_size=4).map(" ".join)
PATHS = st.sampled_from(
    ["policies/a.yaml", "policies/@octocat.yaml", "p/`x`.yaml", "p/a|b#1).yaml", "p/<b>.yaml", "p/] (x.yaml"]
)
SPOTS = st.builds(Spot, path=PATHS, line=st.integers(1, 99), note=LONG)
CASES = st.builds(Case, words=LONG, facts=st.dictionaries(NAME, NAME, max_size=2), entry=LONG)
LINES = WORD.map(lambda text: re.sub(r"[^\x20-\x7eé]", "", text).replace("bylaw", ""))
SUGGESTIONS = PATHS.flatmap(
    lambda path: st.builds(
        Suggestion,
        path=st.just(path),
        line=st.just(3),
        end_line=st.just(3),
        lines=st.lists(LINES, min_size=1, max_size=3),
    )
)
FOUND = st.builds(
    FoundItem,
    id=st.sampled_from(["conflict", "resolved-conflict", "unknown-fact", "failing-case", "gap"]),
    severity=st.sampled_from(["error", "warning", "notice"]),
    message=LONG,
    at=st.builds(Spot, path=PATHS, line=st.just(3)),
    shown=st.sampled_from(["changed", "context", "file", "elsewhere"]),
    policies=st.lists(NAME, max_size=3),
    related=st.lists(SPOTS, max_size=3),
    help=st.none() | LONG,
    case=st.none() | CASES,
    subject=st.none() | NAME,
    side=st.none() | LONG,
    ending=st.none() | LONG,
    owners=st.lists(NAME, max_size=3),
    pairs=st.integers(0, 3),
    fingerprint=st.text(alphabet="0123456789abcdef", min_size=16, max_size=16),
    suggestion=st.none() | SUGGESTIONS,
)
CHANGES = st.builds(
    OutcomeChange,
    subject=NAME,
    before=NAME,
    after=NAME,
    by_before=st.lists(NAME, max_size=2),
    by_after=st.lists(NAME, max_size=4),
    case=CASES,
    where=LONG,
    tendency=st.just("changed"),
    fingerprint=st.just("0" * 16),
)
GRAPHS = st.lists(NAME, min_size=3, max_size=5, unique=True).map(
    lambda names: PolicyGraph(
        policy_id=names[0],
        path="policies/a.yaml",
        nodes=[GraphNode(name=names[0], yes=names[1], no=names[2])],
        terminals=names[1:],
        node_count=1,
    )
)
DOCUMENTS = st.builds(
    lambda found, rows, graphs, unknown, questions, missing, fixes, names: document(
        *found,
        changes=rows,
        change_count=len(rows),
        graphs=graphs,
        graph_count=len(graphs) + 1,
        unknown=unknown,
        nothing_else_changes=not unknown,
        open_questions=questions,
        missing_cases=missing,
        missing_case_count=2,
        case_suggestions=fixes,
        coverage=Coverage(before=Covered(covered=1, count=2), after=Covered(covered=1, count=3)),
        without_etag=unknown[0][:300] if unknown else None,
        recorded=RecordedAnswers(answers=9, different=9, not_under_base=9, examples=names),
    ),
    st.lists(FOUND, max_size=4),
    st.lists(CHANGES, min_size=1, max_size=3),
    st.lists(GRAPHS, max_size=2),
    st.lists(LONG, max_size=2),
    st.lists(st.builds(OpenQuestion, question=NAME, undecided=st.just(1), skipped=st.just(0), asked=st.just(2),
                       why=st.lists(NAME, max_size=2)), max_size=2),
    LONG,
    st.lists(SUGGESTIONS, max_size=2),
    st.lists(NAME, max_size=2),
)  # fmt: skip


@settings(max_examples=60, phases=[Phase.explicit, Phase.generate])
@given(DOCUMENTS)
def test_no_word_of_a_document_does_anything(told: ReviewDocument) -> None:
    rendered = render(told, HERE)
    harmless(rendered.summary, handles=["@acme/everyone"])
    rows = table(rendered.summary)
    assert [len(row) for row in rows] == [4] * (1 + len(told.changes))
    for comment in rendered.comments:
        harmless(comment.body)
        assert comment.body.startswith(f"<!-- bylaw:finding {comment.fingerprint} -->\n")
        assert len(re.findall("^<!-- bylaw:", comment.body, re.MULTILINE)) == 1
    assert len(re.findall("^<!-- bylaw:", rendered.summary, re.MULTILINE)) == 1
    for note in rendered.annotations:
        assert not re.search("[\x00-\x08\x1b\u202a-\u202e]", note.message)


@each("word", NASTY, ids=repr)
def test_each_trick_in_every_place_at_once(word: str) -> None:
    found = clash(
        message=word, side=word or "x", ending=word, help=word, subject=word, owners=[word], policies=[word, word],
        case=Case(words=word, entry=word), related=[Spot(path="policies/b.yaml", line=1, note=word)],
    )  # fmt: skip
    rows = [
        change(subject=word, before=word, after=word, by_before=[word], by_after=[word, word], case=Case(words=word))
    ]
    graph = PolicyGraph(
        policy_id=word,
        path="a.yaml",
        nodes=[GraphNode(name=word + "q", yes=word, no=word)],
        terminals=[word],
        node_count=1,
    )
    full = document(
        found, finding(message=word, help=word), changes=rows, change_count=1, graphs=[graph], graph_count=1,
        unknown=[word], nothing_else_changes=False, missing_cases=word, missing_case_count=1,
        coverage=Coverage(before=Covered(covered=0, count=0), after=Covered(covered=0, count=1)),
        recorded=RecordedAnswers(answers=2, different=2, not_under_base=2, examples=[word]),
    )  # fmt: skip
    rendered = render(full, HERE)
    harmless(rendered.summary, handles=["@acme/everyone"])
    assert [len(row) for row in table(rendered.summary)] == [4, 4]
    for comment in rendered.comments:
        harmless(comment.body)
