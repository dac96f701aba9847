"""The words of a review: read like a person would, and of any length."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bylaw.errors import UsageError
from ci.review.computed.document import (
    Case,
    Counts,
    GraphNode,
    OpenQuestion,
    PolicyGraph,
    RecordedAnswers,
    Spot,
    Suggestion,
)
from ci.review.words.comment import LONGEST
from ci.review.words.render import Setting, conclusion, render, setting
from ci.review.words.rendered import Rendered
from tests.ci.review.documents import HERE, RULES, change, clash, document, finding
from tests.ci.review.markdown import harmless
from tests.ci.review.repository import Repository
from tests.ci.review.test_compute import NIGHT, company, reviewed
from tests.rows import each

__all__ = ["company"]

GOLDEN = Path(__file__).parent / "golden"


def in_full(rendered: Rendered) -> str:
    """Everything that is posted, as one text."""
    parts = [f"{rendered.conclusion}: {rendered.title}\n\n{rendered.summary or '(no summary)'}"]
    parts += [f"{'=' * 12} {one.path}:{one.line}\n\n{one.body}" for one in rendered.comments]
    notes = [f"{one.level} {one.path}:{one.line} [{one.title}] {one.message}" for one in rendered.annotations]
    return re.sub(r"sha256:[0-9a-f]{64}", "sha256:…", "\n".join([*parts, f"{'=' * 12} annotations\n", *notes])) + "\n"


def contradiction(company: Repository) -> None:
    company.write("policies/rental/POL-RENTAL-900.yaml", NIGHT)


def tightened(company: Repository) -> None:
    company.replace("policies/rental/POL-RENTAL-001.yaml", "between: [2, 24]", "between: [2, 30]")


def slips(company: Repository) -> None:
    company.replace("policies/rental/POL-RENTAL-006.yaml", "action: return_deposit", "action: return_deposti")
    company.replace("policies/safety/POL-SAFETY-003.yaml", "owner: ", "owner: TBD # ")


def nothing(company: Repository) -> None:
    company.replace("policies/rental/POL-RENTAL-006.yaml", "section 4", "section 5")


@pytest.mark.parametrize("change", [contradiction, tightened, slips, nothing])
def test_a_review_reads_as_it_was_looked_at(change: Any, company: Repository, request: pytest.FixtureRequest) -> None:
    change(company)
    company.commit()
    rendered = render(reviewed(company), HERE)
    text = in_full(rendered)
    golden = GOLDEN / f"{change.__name__}.md"
    if request.config.getoption("--update-golden"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
    for comment in rendered.comments:
        harmless(comment.body)
    if rendered.summary:
        harmless(rendered.summary, handles=["@acme/rental-desk", "@acme/everyone"])


# ---- documents of any kind ------------------------------------------------------------------------------------------


def test_where_there_is_nothing_to_say_nothing_is_said() -> None:
    rendered = render(document(counts=Counts(existing=12)), HERE)
    assert (rendered.summary, rendered.comments, rendered.annotations) == ("", (), ())
    assert rendered.conclusion == "success"
    assert rendered.title == "no new findings; no case changes outcome"


RECORDED = [
    ([0, 0, 0, 0], [], None),
    ([9, 2, 0, 0], ["r1", "r2"], None),  # the base has changed them already
    ([1, 1, 1, 0], ["r1"], "1 of 1 recorded answer would be different, 1 of them by this change: `r1`."),
    (
        [1200, 12, 10, 3],
        ["a", "b"],
        "12 of 1,200 recorded answers would be different, 10 of them by this change: `a`, `b` and 10 more. "
        "Left out, because the case was redacted or not recorded: 3.",
    ),
]


@each(("counts", "examples", "told"), RECORDED, ids=[str(row[0]) for row in RECORDED])
def test_how_many_recorded_answers_would_be_different(counts: list[int], examples: list[str], told: str | None) -> None:
    names = ("answers", "different", "not_under_base", "left_out")
    held = RecordedAnswers(**dict(zip(names, counts, strict=True)), examples=examples)
    summary = render(document(recorded=held), HERE).summary
    assert told in summary if told is not None else summary == ""


def test_answers_that_differ_already_are_told_beside_what_is_new() -> None:
    held = RecordedAnswers(answers=9, different=1, not_under_base=0, examples=["r1"])
    summary = render(document(finding(), recorded=held), HERE).summary
    assert "1 of 9 recorded answers would be different, none by this change: `r1`." in summary


def test_a_graph_alone_is_no_news() -> None:
    graph = PolicyGraph(policy_id="P", path="a.yaml", nodes=[GraphNode(name="q", yes="t", no="t")], node_count=1)
    assert render(document(graphs=[graph], graph_count=1), HERE).summary == ""


@each(
    ("counts", "verdict"),
    [
        ({}, "success"),
        ({"existing": 5}, "success"),
        ({"notice": 1}, "success"),
        ({"warning": 1, "notice": 1}, "neutral"),
        ({"error": 1, "warning": 1}, "failure"),
    ],
)
def test_the_worst_that_is_new_decides(counts: dict[str, int], verdict: str) -> None:
    assert conclusion(document(counts=Counts(**counts)), RULES) == verdict


def test_rules_may_make_less_of_an_error() -> None:
    mild = RULES.model_copy(update={"conclusion": RULES.conclusion.model_copy(update={"error": "neutral"})})
    assert conclusion(document(counts=Counts(error=1)), mild) == "neutral"


def test_at_most_as_many_comments_as_the_rules_allow_the_worst_first() -> None:
    found = [
        finding(
            fingerprint=f"{i:016x}",
            severity=("notice", "warning", "error")[i % 3],
            shown=("context", "changed", "file", "elsewhere")[i % 4],
            at=Spot(path=f"policies/{i:03}.yaml", line=1),
        )
        for i in range(120)
    ]
    rendered = render(document(*found), HERE)
    assert len(rendered.comments) == 25
    assert rendered.omitted == 90 - 25
    assert "65 more findings would be a comment of its own" in rendered.summary
    severities = {one.fingerprint: one.severity for one in found}
    assert {severities[comment.fingerprint] for comment in rendered.comments} == {"error"}
    assert not {one.fingerprint for one in found if one.shown == "elsewhere"} & {
        comment.fingerprint for comment in rendered.comments
    }
    assert len(rendered.annotations) == 120
    listed = re.findall(r"^- \*\*", rendered.summary, re.MULTILINE)
    assert len(listed) == 50
    assert "… and 70 more&#58; 70 `unknown-fact`" in rendered.summary


def test_what_the_document_leaves_out_is_counted_too() -> None:
    rendered = render(document(finding(), counts=Counts(error=5_000)), HERE)
    assert "… and 4,999 more&#58; 4,999 that the review does not carry" in rendered.summary


def test_a_mention_is_made_once_and_only_of_who_owns_the_file() -> None:
    found = [clash(fingerprint=f"{i:016x}", at=Spot(path="policies/rental/a.yaml", line=i + 1)) for i in range(3)]
    rendered = render(document(*found), HERE)
    assert rendered.summary.count("@acme/rental-desk") == 1
    assert rendered.summary.count("@acme/everyone") == 1
    assert "ana@example.com" not in rendered.summary
    assert not any("@" in comment.body for comment in rendered.comments)


def test_without_codeowners_the_names_stand_plain() -> None:
    text = render(
        document(clash(owners=["@acme/security", "Desk"])), Setting(RULES, repository="acme/policies")
    ).summary
    assert "@" not in text
    assert "&#64;&#8203;acme/security and Desk" in text


def test_a_contradiction_that_is_settled_says_who_wins_and_asks_nobody() -> None:
    one = clash(
        id="resolved-conflict", severity="notice", owners=[], ending="POL-B-001 wins because it overrides POL-A-001"
    )
    rendered = render(document(one), HERE)
    assert "Who must decide" not in rendered.summary
    assert "POL-B-001 wins because it overrides POL-A-001" in rendered.comments[0].body


def test_many_pairs_with_one_cause_are_one_comment_that_says_so() -> None:
    (comment,) = render(document(clash(pairs=1_200)), HERE).comments
    assert "1,200 pairs of rules contradict each other about `refund` for this one cause" in comment.body


def test_both_lines_are_linked_at_their_commit() -> None:
    (comment,) = render(document(clash(at=Spot(path="policies/a b.yaml", line=3)), folder="shop/"), HERE).comments
    at = f"https://github.com/acme/policies/blob/{'a' * 40}/shop/policies"
    assert f"({at}/a%20b.yaml#L3)" in comment.body
    assert f"({at}/b.yaml#L9)" in comment.body
    assert (comment.path, comment.line) == ("shop/policies/a b.yaml", 3)


def test_without_a_repository_places_are_named_and_not_linked() -> None:
    (comment,) = render(document(clash()), Setting(RULES)).comments
    assert "https://" not in comment.body
    assert "`policies/b.yaml:9`" in comment.body


def test_a_suggestion_stands_for_the_line_of_its_comment_alone() -> None:
    fix = Suggestion(path="policies/a.yaml", line=3, end_line=3, lines=["  fact: `right`"])
    (comment,) = render(document(finding(suggestion=fix)), HERE).comments
    assert "```suggestion\n  fact: `right`\n```" in comment.body
    for other in (
        fix.model_copy(update={"line": 4, "end_line": 4}),
        fix.model_copy(update={"path": "policies/b.yaml"}),
    ):
        (comment,) = render(document(finding(suggestion=other)), HERE).comments
        assert "suggestion" not in comment.body


def test_missing_cases_come_after_all_findings_and_only_where_there_is_room() -> None:
    fix = Suggestion(
        path="policies/a/cases.yaml", line=9, end_line=9, lines=["  expect: {}", "- name: x", "  facts: {}"]
    )
    full = document(clash(), case_suggestions=[fix])
    first, second = render(full, HERE).comments
    assert (second.path, second.line) == ("policies/a/cases.yaml", 9)
    assert "1 case would show more" in second.body
    assert "```suggestion\n  expect: {}\n- name: x\n  facts: {}\n```" in second.body
    tight = Setting(RULES.model_copy(update={"comments": 1}))
    assert [comment.fingerprint for comment in render(full, tight).comments] == [first.fingerprint]


def test_a_graph_that_is_too_large_is_counted() -> None:
    small = PolicyGraph(
        policy_id="POL-A-001",
        path="a.yaml",
        nodes=[GraphNode(name="days<=3", yes="reject", no="nothing")],
        terminals=["reject", "nothing"],
        node_count=1,
    )
    large = small.model_copy(update={"nodes": [], "terminals": [], "node_count": 500})
    text = render(document(finding(), graphs=[small, large], graph_count=9), HERE).summary
    assert text.count("```mermaid") == 1
    assert '  n0{"days#60;#61;3"}' in text
    assert "8 more decision graphs not drawn here, 1 of them too large to draw" in text


def test_what_is_not_known_is_said() -> None:
    question = OpenQuestion(question="conflict", undecided=2, skipped=1, asked=40, why=["time is up"])
    text = render(document(nothing_else_changes=False, unknown=["it hit a limit"], open_questions=[question]), HERE)
    assert text.title == "no new findings; no change of outcome was found, and more may"
    assert "Whether any other case changes outcome is **not known**:\n\n- it hit a limit" in text.summary
    assert "- conflict&#58; 2 undecided and 1 skipped of 40 &#40;time is up&#41;" in text.summary


def test_timings_stand_in_no_body() -> None:
    told = document(finding()).model_copy(update={"timings": []})
    later = render(document(finding(), timings=[{"what": "all", "seconds": 2.5}]), HERE)  # type: ignore[list-item]
    assert later.footer == "2.5 s: all 2.5 s"
    assert later.summary == render(told, HERE).summary


@pytest.mark.parametrize(
    "letters",
    ["<", *(pytest.param(one, marks=pytest.mark.slow) for one in (*"x@`|\\é\u202e", "```\n", "[a](b)"))],
)
def test_nothing_is_too_long(letters: str) -> None:
    long = (letters * 8_000)[:7_900]
    spots = [Spot(path="policies/" + "d/" * 200 + "x.yaml", line=1, note=long)] * 50
    found = [
        clash(
            fingerprint=f"{i:016x}",
            message=long,
            help=long,
            side=long,
            ending=long,
            owners=[long[:290]] * 50,
            subject=long[:290],
            policies=[long[:290]] * 50,
            related=spots,
            case=Case(words=long, entry=long),
        )
        for i in range(30)
    ]
    rows = [
        change(subject=long[:290], before=long[:290], by_after=[long[:290]] * 9, case=Case(words=long))
        for _ in range(60)
    ]
    full = document(*found, changes=rows, change_count=60, unknown=[long] * 100, nothing_else_changes=False)
    rendered = render(full, HERE)
    assert len(rendered.summary) <= LONGEST
    assert all(len(comment.body) <= LONGEST for comment in rendered.comments)
    harmless(rendered.summary, handles=["@acme/everyone"])
    harmless(rendered.comments[0].body)


def test_a_case_that_is_too_long_to_show_is_said_and_not_cut() -> None:
    entry = "- name: x\n  facts: {" + ", ".join(f"fact_{i}: {i}" for i in range(2_000)) + "}\n"
    (comment,) = render(document(clash(case=Case(words="x", entry=entry[:7_990]))), HERE).comments
    assert len(comment.body) < LONGEST
    (shorter,) = render(document(clash(case=Case(words="x", entry="- name: x\n"))), HERE).comments
    assert "```yaml\n- name: x\n```" in shorter.body


# ---- the trusted side -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("repository", "server"),
    [
        ("acme", "https://github.com"),
        ("acme/policies/x", "https://github.com"),
        ("acme/pol icies", "https://github.com"),
        ("a/b)](x", "https://github.com"),
        ("acme/policies", "javascript:alert(1)"),
        ("acme/policies", "https://evil.example/x"),
        ("acme/policies", "https://github.com) [x](y"),
    ],
)
def test_links_lead_into_a_repository_or_nowhere(company: Repository, repository: str, server: str) -> None:
    with pytest.raises(UsageError, match="should be"):
        setting(company.folder, repository, server)


def test_how_much_is_shown_and_who_is_asked_stands_in_the_trusted_folder(tmp_path: Path) -> None:
    made = Repository(tmp_path / "large")
    made.write("shop/rules/ci.yaml", "review: {comments: 3, conclusion: {warning: success}}\n")
    made.write("shop/policies/vocabulary.yaml", "facts: {}\n")
    made.write(".github/CODEOWNERS", "/shop/ @acme/shop\n")
    made.commit()
    found = setting(made.folder / "shop", "acme/policies")
    assert found.rules.comments == 3
    assert found.rules.rows == RULES.rows
    assert found.rules.conclusion.model_dump() == {"error": "failure", "warning": "success", "notice": "success"}
    assert found.owners.of("shop/policies/a.yaml") == ("@acme/shop",)
