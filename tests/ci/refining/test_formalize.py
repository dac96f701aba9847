"""`bylaw formalize POLICY`: a recorded model writes the rules from the text until the cases hold; a draft is left."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.enforcement.refining import proposer_of
from bylaw.authored.machines.refinement import AS_PACKAGED, Refinement
from bylaw.errors import UsageError
from bylaw.refine.guardrail import Refusal
from bylaw.refine.loop import Run, run
from bylaw.refine.machine import Limits
from ci.loading.load import load
from ci.loading.rules import load_defaults
from ci.refining.draft import write_draft
from ci.refining.policy import PolicySubject
from tests.bylaw.refine.scripted import played
from tests.conftest import Command

RECORDED = Path(__file__).with_name("recorded")
TODAY = date(2026, 11, 28)
SAYS = (
    "A book that comes back late costs the late fee.",
    "Members pay no fee in the first 7 days.",
    "From day 30 on the book is paid for, by members too.",
)
FILES = {
    "policies/vocabulary.yaml": """\
schema_version: "1.0"
facts:
  days_late: {type: integer, unit: days, minimum: 0, label: days late, ask: How many days late is it?}
  is_member: {type: boolean, label: a member, ask: Are you a member?}
actions:
  replacement: {outcome: fee}
  late_fee: {outcome: fee}
  no_fee: {outcome: fee}
outcomes:
  fee: {label: what a late book costs}
""",
    "policies/library/POL-LIBRARY-001.yaml": f"""\
policy_id: POL-LIBRARY-001
conditions:
  - {{type: fact, parameter: days_late, operator: ">", value: 0}}
actions:
  - {{type: required, action: late_fee, source_text: "{SAYS[0]}"}}
exceptions:
  - {{source_text: "{SAYS[1]}"}}
  - {{source_text: "{SAYS[2]}"}}
metadata: {{source: House rules, owner: The library, domain: library}}
""",
    "policies/library/cases.yaml": """\
- {name: a guest after three days, facts: {days_late: 3, is_member: false}, expect: {fee: late_fee}}
- {name: a member after three days, facts: {days_late: 3, is_member: true}, expect: {fee: no_fee}}
- {name: a member after ten days, facts: {days_late: 10, is_member: true}, expect: {fee: late_fee}}
- {name: a guest after a month, facts: {days_late: 31, is_member: false}, expect: {fee: replacement}}
- {name: a member after a month, facts: {days_late: 31, is_member: true}, expect: {fee: replacement}}
""",
}


def rule(name: str, antecedent: str, consequent: str, quote: str | None) -> dict[str, Any]:
    said = {"rule_id": name, "antecedent": antecedent, "consequent": consequent, "type": "required"}
    return said if quote is None else {**said, "quote": quote}


FEE = "(days_late > 0) and (days_late < 30) and (is_member = false or days_late > 7)"
FIRST = [
    rule("fee", "(days_late > 0) and (is_member = false or days_late > 7)", "late_fee", SAYS[0]),
    rule("free", "(days_late > 0) and (days_late <= 7) and (is_member = true)", "no_fee", SAYS[1]),
]
SECOND = [rule("fee", FEE, "late_fee", SAYS[0]), FIRST[1], rule("paid", "days_late >= 30", "replacement", SAYS[2])]
ANSWERS = {
    "initial_v3_0": [{"logic_rules": FIRST}],
    "summarize_v3_2": [{"summary": "Members are free now. After a month the fee is still asked for."}],
    "refine_v3_1": [{"logic_rules": SECOND}],
}


@pytest.fixture
def library(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def subject(library: Path) -> PolicySubject:
    return PolicySubject.of(load(library, TODAY, TODAY), "POL-LIBRARY-001", TODAY)


def recorded(subject: PolicySubject, is_writing: bool) -> Run:
    guard = played(RECORDED, ANSWERS, is_writing)
    return run(subject, proposer_of(guard, subject.workspace.rules), Limits(), lambda: 0.0)


def test_a_recorded_model_reaches_all_cases_within_three_iterations(
    subject: PolicySubject, request: pytest.FixtureRequest
) -> None:
    found = recorded(subject, bool(request.config.getoption("--update-golden")))
    assert [(mark.cases_held, mark.cases) for mark in found.marks] == [(2, 5), (3, 5), (5, 5)]
    assert (found.stop, found.metrics["num_iters"]) == ("entailed", 2)
    assert found.best.assumptions == ()


def test_the_command_leaves_a_draft_that_no_check_rests_on(library: Path, bylaw: Command) -> None:
    before = bylaw("check", "--root", library, "--format", "json").json
    env = {"BYLAW_LLM": "recorded", "BYLAW_LLM_FOLDER": str(RECORDED)}
    done = bylaw("formalize", "POL-LIBRARY-001", "--root", library, "--json", **env)
    told = done.json
    assert done.code == 0, done.err
    assert told["final_answer"] == "YES: all 5 cases hold."
    assert told["draft"] == "policies/library/POL-LIBRARY-001.formal.yaml"
    draft = yaml.safe_load((library / told["draft"]).read_text(encoding="utf-8"))
    assert draft["draft"] is True
    assert draft["quotes"] == {"fee": SAYS[0], "free": SAYS[1], "paid": SAYS[2]}
    after = bylaw("check", "--root", library, "--format", "json").json
    assert after["findings"] == before["findings"]


def test_what_was_drafted_holds_once_a_person_takes_it_over(
    subject: PolicySubject, library: Path, bylaw: Command
) -> None:
    draft = write_draft(recorded(subject, False), library, subject.file.path)
    assert draft is not None
    formal = yaml.safe_load(draft.read_text(encoding="utf-8"))["formal"]
    path = library / subject.file.path
    path.write_text(path.read_text(encoding="utf-8") + yaml.safe_dump({"formal": formal}), encoding="utf-8")
    draft.unlink()
    found = bylaw("check", "--root", library, "--format", "json").json["findings"]
    assert not [one for one in found if one["id"] == "failing-case"]
    again = bylaw("formalize", "POL-LIBRARY-001", "--root", library, "--json").json
    assert again["final_answer"] == "YES: all 5 cases hold."
    assert again["metrics"]["num_iters"] == 0


def test_without_a_model_it_says_which_cases_fail(library: Path, bylaw: Command) -> None:
    done = bylaw("formalize", "POL-LIBRARY-001", "--root", library)
    assert done.code == 1
    assert done.out.splitlines()[0] == (
        "POL-LIBRARY-001: UNDECIDED: 2 of 5 cases hold; still to mend: `a member after three days`, "
        "`a guest after a month` and `a member after a month`."
    )
    assert not (library / "policies/library/POL-LIBRARY-001.formal.yaml").exists()


def test_a_rule_without_its_words_is_an_assumption(subject: PolicySubject) -> None:
    judged = subject.judge({"logic_rules": [*SECOND[:2], rule("paid", "days_late >= 30", "replacement", "So it is.")]})
    assert not isinstance(judged, Refusal)
    assert judged.mark.cases_held == 5
    assert not judged.mark.is_right
    assert judged.assumptions == ("days_late >= 30 → replacement (what is quoted for it is not in the policy)",)


REFUSED = [
    ({"logic_rules": []}, "at least 1"),
    ({"logic_rules": [rule("a", "days_early > 0", "late_fee", None)]}, "days_early"),
    ({"logic_rules": [rule("a", "days_late > 0", "jail", None)]}, "jail"),
    ({"logic_rules": [rule("a", "days_late >", "late_fee", None)]}, "days_late >"),
    ({"logic_rules": [FIRST[0], FIRST[0]]}, "two rules have one id"),
    ({"logic_rules": FIRST, "cases": []}, "cases"),
    ({"logic_rules": [{**FIRST[0], "level": 1}]}, "level"),
]


@pytest.mark.parametrize(("proposed", "problem"), REFUSED)
def test_what_a_proposal_may_not_say(subject: PolicySubject, proposed: dict[str, Any], problem: str) -> None:
    judged = subject.judge(proposed)
    assert isinstance(judged, Refusal)
    assert problem in " ".join(judged.problems)


def test_a_policy_without_cases_is_not_refined(library: Path) -> None:
    (library / "policies/library/cases.yaml").write_text("[]\n", encoding="utf-8")
    with pytest.raises(UsageError, match="has no cases"):
        PolicySubject.of(load(library, TODAY, TODAY), "POL-LIBRARY-001", TODAY)
    with pytest.raises(UsageError, match="there is no policy"):
        PolicySubject.of(load(library, TODAY, TODAY), "POL-LIBRARY-999", TODAY)


def test_a_spoilt_draft_is_told(library: Path, bylaw: Command) -> None:
    (library / "policies/library/POL-LIBRARY-001.formal.yaml").write_text("policy_id: 3\n", encoding="utf-8")
    found = bylaw("check", "--root", library, "--format", "json").json["findings"]
    assert {one["path"] for one in found if one["id"] == "schema"} == {"policies/library/POL-LIBRARY-001.formal.yaml"}


def test_every_iteration_is_kept(library: Path, bylaw: Command) -> None:
    env = {"BYLAW_LLM": "recorded", "BYLAW_LLM_FOLDER": str(RECORDED)}
    bylaw("formalize", "POL-LIBRARY-001", "--root", library, **env)
    (folder,) = (library / ".bylaw" / "refine" / "POL-LIBRARY-001").iterdir()
    assert json.loads((folder / "final.json").read_text())["metrics"]["converged"] is True
    assert (folder / "iter_2_feedback.json").exists()
    ledger = (library / ".bylaw" / "refine" / "ledger.jsonl").read_text().splitlines()
    assert json.loads(ledger[0]) == {"proposer": "scripted", "version": "3.1", "corrected": 3, "introduced": 0}


BAD_NAMES = [
    ("nothing.json", "cannot be read"),
    ("POL-LIBRARY-002", "there is no policy"),
    ("policies/vocabulary.yaml", "is not JSON"),
]


@pytest.mark.parametrize(("name", "problem"), BAD_NAMES)
def test_what_is_neither_a_policy_nor_a_program_is_wrong_usage(
    library: Path, call: Command, name: str, problem: str
) -> None:
    named = str(library / name) if "/" in name else name
    done = call("formalize", named, "--root", library, "--json")
    assert done.code == 2
    assert problem in json.loads(done.out)["error"]["message"]


def test_a_draft_that_lies_there_is_not_written_over(library: Path, bylaw: Command) -> None:
    path = library / "policies/library/POL-LIBRARY-001.formal.yaml"
    path.write_text("policy_id: POL-LIBRARY-001\ndraft: true\nformal: {logic_rules: []}\n", encoding="utf-8")
    env = {"BYLAW_LLM": "recorded", "BYLAW_LLM_FOLDER": str(RECORDED)}
    done = bylaw("formalize", "POL-LIBRARY-001", "--root", library, **env)
    assert (done.code, "there is a draft" in done.err) == (2, True)
    assert path.read_text(encoding="utf-8").endswith("[]}\n")


def test_one_bad_program_does_not_hide_the_others(tmp_path: Path, bylaw: Command) -> None:
    good = {"name": "good", "rules": [{"condition": "A", "conclusion": "B"}], "facts": {"A": True}, "query": "B"}
    bad = {"name": "bad", "rules": [{"condition": "A B", "conclusion": "B"}]}
    (tmp_path / "some.json").write_text(json.dumps([bad, good]), encoding="utf-8")
    done = bylaw("formalize", "some.json", "--json", cwd=tmp_path)
    assert done.code == 1
    assert "an operator is missing" in done.json["runs"]["bad"]["error"]
    assert done.json["runs"]["good"]["final_answer"] == "YES: it follows from `fact:A` and `rule:0`."
    assert bylaw("formalize", "some.json#good", cwd=tmp_path).code == 0
    assert bylaw("formalize", "some.json#bad", cwd=tmp_path).code == 2
    assert "holds no program `other`" in bylaw("formalize", "some.json#other", cwd=tmp_path).err


def test_a_batch_in_which_nothing_is_ever_decided_raises_an_alarm(tmp_path: Path, bylaw: Command) -> None:
    open_ = {"rules": [{"condition": "A", "conclusion": "B"}], "facts": {}, "query": "B"}
    (tmp_path / "some.json").write_text(json.dumps([open_, open_]), encoding="utf-8")
    assert "no run of this batch ever decided anything" in bylaw("formalize", "some.json", cwd=tmp_path).out


def test_the_packaged_numbers_are_those_of_a_bundle_that_says_none() -> None:
    assert Refinement.model_validate(load_defaults()["refinement"]) == AS_PACKAGED


PROGRAM: dict[str, Any] = {
    "constants": {"amy": {"sort": "Person"}},
    "predicates": {"Member": {"arity": 1}, "Votes": {"arity": 1}, "Paid": {"arity": 1}},
    "sorts": {"Person": {}},
    "facts": {"Member(amy)": True},
    "rules": [{"condition": "Paid(?p)", "conclusion": "Votes(?p)"}],
    "query": "Votes(amy)",
}


def test_an_axiom_that_cannot_be_read_is_named(tmp_path: Path, call: Command) -> None:
    """Left out, it would only make the answer undecided, and nobody would look for it."""
    program, ontology = tmp_path / "votes.json", tmp_path / "club.yaml"
    program.write_text(json.dumps(PROGRAM))
    ontology.write_text('axioms: [{id: fee, formula: "Member(?p) -> "}]')
    done = call("formalize", program, "--ontology", ontology, "--root", tmp_path)
    assert done.code == 2 and "the axiom `fee`" in done.err
    ontology.write_text('axioms: [{id: fee, formula: "Member(?p) -> Paid(?p)"}]')
    assert call("formalize", program, "--ontology", ontology, "--root", tmp_path).code == 0


def test_a_word_that_nobody_declared_is_shown(tmp_path: Path, call: Command) -> None:
    program = tmp_path / "votes.json"
    program.write_text(json.dumps({**PROGRAM, "rules": [{"condition": "Payed(?p)", "conclusion": "Votes(?p)"}]}))
    done = call("formalize", program, "--root", tmp_path)
    assert done.code == 1 and "`Payed`, which is not declared" in done.out


def test_a_file_without_a_program_is_no_success(tmp_path: Path, call: Command) -> None:
    (tmp_path / "none.json").write_text("[]")
    done = call("formalize", tmp_path / "none.json", "--root", tmp_path)
    assert done.code == 2 and "holds no logic program" in done.err
