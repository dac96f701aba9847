"""An open question through the loop: a recommendation where policies' words lead on, never past a prohibition."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.conversation import Actor, Question, Turn
from bot.enforcement.answer import answer
from bot.index import BundleIndex
from bylaw.errors import UsageError
from bylaw.llm.guarded import Guard
from bylaw.refine.ledger import Judged
from tests.bylaw.refine.scripted import ByPrompt, played
from tests.compiled import index_of
from tests.conftest import run_bylaw
from tests.fakes.forked import Forked

RECORDED = Path(__file__).with_name("recorded_refining")
QUOTE = "Whoever has a bank statement has the receipt in our eyes."
FILES = {
    "rules/features.yaml": "iterative_answers: true\n",
    "policies/vocabulary.yaml": """\
schema_version: "1.0"
facts:
  has_receipt: {type: boolean, label: has the receipt, ask: Do you have the receipt?,
                phrases: {"true": [have the receipt], "false": [lost the receipt]}}
  has_statement: {type: boolean, label: has a bank statement, ask: Do you have a bank statement?,
                  phrases: {"true": [have a bank statement], "false": [no bank statement]}}
  is_flagged: {type: boolean, label: is flagged for fraud, ask: Is the customer flagged?,
               phrases: {"true": [flagged for fraud], "false": [not flagged]}}
actions:
  full_refund: {outcome: refund, label: a full refund, phrases: [full refund]}
  reject: {outcome: refund, label: no refund}
outcomes:
  refund: {label: what the customer gets back, phrases: [refund, money back]}
""",
    "policies/refund/POL-REFUND-001.yaml": f"""\
policy_id: POL-REFUND-001
actions:
  - {{type: required, action: full_refund, requires: [has_receipt], source_text: With the receipt you get it all back.}}
  - {{type: fallback, action: reject, requires: [no_receipt], source_text: Without it you get nothing.}}
text_only: ["{QUOTE}"]
metadata: {{source: Handbook, owner: Service, domain: refund}}
""",
    "policies/refund/POL-REFUND-002.yaml": """\
policy_id: POL-REFUND-002
conditions:
  - {type: boolean_flag, parameter: is_flagged, value: true}
actions:
  - {type: prohibited, action: full_refund, source_text: Nobody who is flagged for fraud gets a full refund.}
metadata: {source: Handbook, owner: Service, domain: refund, regulatory_linkage: [AML]}
""",
}
ASKED = "I have a bank statement and I am not flagged. Can I get a full refund?"
BRIDGE = {"condition": "has_statement = true", "fact": "has_receipt", "value": True, "quote": QUOTE}
AT = datetime(2026, 11, 28, 12, tzinfo=UTC)


def written(root: Path, **changed: str) -> Path:
    for name, text in {**FILES, **changed}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> BundleIndex:
    return index_of(written(tmp_path_factory.mktemp("refining")))


def asked(index: BundleIndex, text: str, *proposed: Mapping[str, Any], judged: Sequence[Judged] = ()) -> Turn:
    """The answer to *text* where a model proposes *proposed*, one after the other; without any there is no model."""
    names = ["initial_v3_0", *["refine_v3_1"] * (len(proposed) - 1)]
    says: dict[str, list[Any]] = {}
    for name, one in zip(names, proposed, strict=False):
        says.setdefault(name, []).append({"rules": one})
    question = Question(text=text, actor=Actor(), asked_at=AT, request_id="r", options={"mode": "iter"})
    llm = Guard(ByPrompt(says), lambda: 0.0) if proposed else None
    return answer(question, {}, index, llm, lambda: judged)


def found(turn: Turn) -> dict[str, Any]:
    assert turn.reply.meta is not None
    told: dict[str, Any] = turn.reply.meta["refinement"]
    return told


def test_what_the_words_of_a_policy_lead_to_is_recommended(index: BundleIndex) -> None:
    turn = asked(index, ASKED, [BRIDGE])
    assert (turn.reply.kind, turn.reply.status, turn.reply.outcomes) == ("policy", "recommended", {})
    assert turn.reply.text.splitlines()[:2] == [
        "YES: it follows from `R-REFUND-001a`. (asked: a full refund)",
        f"  because has_statement = true, has_receipt is true: “{QUOTE}”",
    ]
    told = found(turn)
    assert set(told) == {"final_answer", "final_logic_program", "final_feedback", "iterations", "metrics"}
    assert [one["feedback"]["status"] for one in told["iterations"]] == [
        "consistent_no_entailment",
        "consistent_entails",
    ]
    assert (told["metrics"]["num_iters"], told["metrics"]["converged"], told["metrics"]["oscillations"]) == (1, True, 0)
    assert "iter_1_llm_output.json" in turn.artifacts["refinement"]


def test_without_a_model_it_says_what_is_missing_with_its_sign(index: BundleIndex) -> None:
    turn = asked(index, ASKED)
    assert turn.reply.status == "needs_fact"
    assert found(turn)["final_answer"].startswith("UNDECIDED: it would follow with has_receipt, which is not known.")
    lacking = {"rule": "R-REFUND-001a", "missing": ["has_receipt"], "blocked_by": []}
    assert found(turn)["final_feedback"]["missing"] == [lacking]


def test_what_the_rules_decide_stays_and_asks_nobody(index: BundleIndex) -> None:
    turn = asked(index, "I have the receipt and I am not flagged. Can I get a full refund?", [BRIDGE])
    assert turn.reply.status == "answered"
    assert found(turn)["metrics"]["num_iters"] == 0
    assert found(turn)["final_answer"].startswith("YES")
    turn = asked(index, "I lost the receipt. Can I get a full refund?", [BRIDGE])
    assert found(turn)["final_answer"].startswith("NO")


def test_nothing_is_recommended_past_a_prohibition(index: BundleIndex) -> None:
    turn = asked(index, "I have a bank statement and I am flagged for fraud. Can I get a full refund?", [BRIDGE])
    assert turn.reply.status != "recommended"
    assert not found(turn)["final_answer"].startswith("YES")


def test_nothing_is_recommended_past_what_nobody_proved(tmp_path: Path) -> None:
    broken = FILES["policies/refund/POL-REFUND-002.yaml"].replace("parameter: is_flagged", "parameter: is_unknown")
    try:
        index = index_of(written(tmp_path, **{"policies/refund/POL-REFUND-002.yaml": broken}))
    except UsageError:
        pytest.skip("a repository with a policy that cannot be formalized does not compile here")
    turn = asked(index, ASKED, [BRIDGE])
    assert turn.reply.status != "recommended"
    assert not found(turn)["final_answer"].startswith("YES")


BRIDGES = [
    {**BRIDGE, "quote": None},
    {**BRIDGE, "quote": "Bank statements are as good as receipts."},
    {**BRIDGE, "quote": "With the receipt you get it all back."},
    {**BRIDGE, "quote": "Without it you get nothing."},
    {"condition": "has_statement = true", "fact": "is_flagged", "value": False, "quote": QUOTE},
]


@pytest.mark.parametrize("bridge", BRIDGES)
def test_an_invented_bridge_is_no_bare_yes(index: BundleIndex, bridge: dict[str, Any]) -> None:
    turn = asked(index, ASKED, [{key: value for key, value in bridge.items() if value is not None}])
    assert turn.reply.status == "needs_fact"
    assert found(turn)["final_answer"].startswith(("UNDECIDED", "YES, if has_statement = true → has_receipt = true ("))


REFUSED = [
    ({**BRIDGE, "fact": "full_refund"}, "no declared fact"),
    ({**BRIDGE, "condition": "has_receipt = true"}, "asks for nothing but what it gives"),
    ({**BRIDGE, "condition": "has_statement = true or has_statement = false"}, "asks for nothing but what it gives"),
    ({**BRIDGE, "condition": "is_vip = true"}, "is_vip"),
    ({**BRIDGE, "value": 7}, "true or false"),
    ({"condition": "has_receipt = true", "fact": "has_statement", "value": False}, "was told otherwise"),
]


@pytest.mark.parametrize(("bridge", "problem"), REFUSED)
def test_facts_are_not_for_a_proposal_to_change(index: BundleIndex, bridge: dict[str, Any], problem: str) -> None:
    text = "I have the receipt and have a bank statement. Can I get a full refund?" if "told" in problem else ASKED
    turn = asked(index, text, [bridge])
    if "told" in problem:  # what is decided asks nobody
        assert found(turn)["metrics"]["num_iters"] == 0
        return
    assert turn.reply.status == "needs_fact"
    assert problem in json.dumps(found(turn)["iterations"], ensure_ascii=False)


def test_a_model_that_does_harm_is_not_asked(index: BundleIndex) -> None:
    harm = [Judged("scripted", "3.1", 0, 1)] * 50
    turn = asked(index, ASKED, [BRIDGE], judged=harm)
    assert turn.reply.status == "needs_fact"
    assert found(turn)["metrics"]["proposer"] == "axioms"
    assert asked(index, ASKED, [BRIDGE], judged=harm[:49]).reply.status == "recommended"


def test_it_is_off_unless_the_rules_say_so(tmp_path: Path) -> None:
    index = index_of(written(tmp_path, **{"rules/features.yaml": "iterative_answers: false\n"}))
    with pytest.raises(UsageError, match="iterative answers are off"):
        asked(index, ASKED)


@contextmanager
def serving(root: Path, **environ: str) -> Iterator[str]:
    """`bylaw serve` on *root* in a process of its own; its address."""
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("BYLAW_")}, **environ}
    command = ("-m", "bylaw.cli", "serve", "--root", str(root), "--port", "0", "--workers", "1")
    process = Forked(*command, cwd=root, env=env, stdout=subprocess.PIPE, stderr=(root / "log").open("w"))
    try:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        assert line.startswith("serving on "), (root / "log").read_text()
        yield line.removeprefix("serving on ")
    finally:
        process.terminate()
        process.wait()


def test_the_doors_of_a_server(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """`mode=iter`, its older name, the trace and the statistics, with a recorded model behind them."""
    root = written(tmp_path)
    is_writing = bool(request.config.getoption("--update-golden"))
    if is_writing:
        guard = played(RECORDED, {"initial_v3_0": [{"rules": [BRIDGE]}]}, True)
        question = Question(text=ASKED, asked_at=AT, request_id="r", options={"mode": "iter"})
        answer(question, {}, index_of(root), guard)
    env = {"BYLAW_LLM": "recorded", "BYLAW_LLM_FOLDER": str(RECORDED)}
    done = run_bylaw("ask", ASKED, "--iterative", "--json", "--root", root, **env)
    assert done.code == 0, done.err
    assert done.json["status"] == "recommended"
    told = run_bylaw("trace", done.json["request_id"], "--root", root).out
    assert "iteration  1: consistent entails" in told
    assert "loop       stopped: entailed; YES" in told
    assert run_bylaw("replay", done.json["request_id"], "--root", root).code == 0
    stats = run_bylaw("stats", "--refinement", "--json", "--root", root).json["refinement"]
    assert (stats["runs"], stats["iterations"], stats["converged"], stats["alarm"]) == (1, 1, 1, None)
    with serving(root, **env) as address:
        for path in ("/v2/query?mode=iter", "/legal_query_iterative"):
            body = httpx.post(f"{address}{path}", json={"text": ASKED}, timeout=60).json()
            assert body["final_answer"].startswith("YES: it follows from")
            assert set(body) == {
                "final_answer",
                "final_logic_program",
                "final_feedback",
                "iterations",
                "metrics",
                "reply",
            }
            assert {"num_iters", "converged", "oscillations"} <= set(body["metrics"])
            assert body["reply"]["status"] == "recommended"
        assert httpx.post(f"{address}/v2/query?mode=fast", json={"text": ASKED}).status_code == 422
        plain = httpx.post(f"{address}/v2/query", json={"text": ASKED}).json()
        assert plain["status"] == "needs_fact"
        song = httpx.post(f"{address}/v2/query?mode=iter", json={"text": "sing me a song"}).json()
        assert (song["final_answer"][:9], song["iterations"]) == ("UNDECIDED", [])
