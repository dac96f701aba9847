"""The figures are counted in the database, the same on each; the weights that follow stay within their bounds."""

from __future__ import annotations

import json
import random
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evidence.store.connection import insert
from bot.evidence.store.engine import connect
from bot.evidence.store.migrate import upgrade
from bot.operate.calibration import Sums, proposed, within
from bot.operate.quality import calibration, calibration_lines, lines, quality
from bot.operate.statistics_page import page
from bot.operate.weights import FILE, proposal
from bylaw.authored.machines.risk import Risk
from bylaw.errors import UsageError
from ci.loading.rules import load_defaults
from tests.bot.evidence.store.conftest import store, store_url  # noqa: F401  # the same on both databases
from tests.conftest import call_bylaw
from tests.fakes.frame import NOON
from tests.rows import each

RULES = Risk.model_validate(load_defaults()["risk"])
BOUNDS = (RULES.bounds.minimum, RULES.bounds.maximum)
NAMES = ("ambiguity", "complexity", "novelty", "source_risk")


def row(n, outcome=None, **others):
    given = {
        "log_id": f"r{n}",
        "request_id": f"r{n}",
        "at": NOON,
        "actor_id": "ana",
        "session_id": "s1",
        "natural_language": "revenue",
        "kind": "data",
        "status": "answered",
        "autonomy_level": 4,
        "correction_made": False,
        "outcome": outcome,
        **dict.fromkeys(("feedback", "choice", "clarifies", "revises", "answer_ms", "error_likelihood", "factors")),
    }
    return {**given, **others}


def kept(store, rows):  # noqa: F811
    with store.writing() as connection:
        for one in rows:
            insert(connection, "query_log", one)


def figures(store, since=None):  # noqa: F811
    with store.reading() as connection:
        found = quality(connection, since, RULES)
    json.dumps(found, default=str)
    return found


def test_each_figure_counts_what_it_says(store):  # noqa: F811
    kept(
        store,
        [
            row(0, "accepted", answer_ms=100),
            row(1, "timeout", answer_ms=300),
            row(2, "implicit", clarifies="q1", choice=1, answer_ms=200),
            row(3, "revised", clarifies="q2", choice=0),
            row(4, "accepted", revises="r3", answer_ms=40_000),
            row(5, "timeout", correction_made=True),
            row(6, "timeout", feedback="negative"),
            row(7, "abandoned"),
            row(8),  # nobody has said anything yet
            row(9, "confirmed", status="pending"),  # a plan is no answer
            row(10, kind="policy", autonomy_level=None, outcome=None, answer_ms=50),
        ],
    )
    found = figures(store)["figures"]
    shares = {name: (one["count"], one["of"]) for name, one in found.items() if "count" in one}
    assert shares == {
        "clarification_precision": (1, 2),
        "post_clarification_acceptance": (1, 2),
        "incorrect_first_answers": (3, 7),
        "acceptance": (4, 8),
        "explicit_acceptance": (2, 8),
    }
    time = found["time_to_first_answer"]
    assert (time["median_ms"], time["p95_ms"], time["of"], time["within_goal"]) == (200, 300, 4, 1.0)
    assert found["acceptance"]["goal"] == Decimal("0.9")


def test_nothing_counted_is_no_figure(store):  # noqa: F811
    found = figures(store)
    assert {one["value"] for one in found["figures"].values() if "value" in one} == {None}
    with store.reading() as connection:
        empty = calibration(connection, NOON, RULES)
    assert (empty["answers"], empty["proposed"], empty["likelihood"]) == (0, None, [])
    assert all(lines(found)) and all(calibration_lines(empty))


def test_only_what_was_asked_since_then_counts(store):  # noqa: F811
    kept(store, [row(0, "revised", at=NOON - timedelta(days=60)), row(1, "accepted")])
    assert figures(store, NOON)["figures"]["acceptance"]["value"] == 1.0
    assert [one["month"] for one in figures(store)["by_month"]] == ["2026-09", "2026-11"]


def test_memory_is_held_against_what_failed_before_it(store):  # noqa: F811
    day = timedelta(days=1)
    kept(
        store,
        [
            row(0, "revised", at=NOON),
            row(1, "timeout", correction_made=True, at=NOON + day),
            row(2, "accepted", at=NOON + 2 * day),
            row(3, "accepted", at=NOON + 3 * day),
            row(4, "revised", actor_id="bob", at=NOON + 3 * day),  # who corrected nothing has no part in it
        ],
    )
    memory = figures(store)["memory"]
    assert (memory["failed_before"]["value"], memory["failed_since"]["value"]) == (1.0, 0.0)


def learned(count=400, failing="novelty"):
    """Answers that fail where one factor is high, whatever the others are."""
    dice = random.Random(4)
    for n in range(count):
        factors = {name: round(dice.random(), 3) for name in NAMES}
        yield row(
            n,
            "revised" if factors[failing] > 0.7 else "accepted",
            factors=factors,
            error_likelihood=sum(factors.values()) / 4,
        )


@pytest.mark.parametrize("failing", NAMES)
def test_the_factor_that_moves_with_failures_weighs_more(store, failing):  # noqa: F811
    kept(store, list(learned(failing=failing)))
    with store.reading() as connection:
        found = calibration(connection, NOON + timedelta(days=1), RULES)
        old = calibration(connection, NOON + timedelta(days=31), RULES)
    assert max(found["correlations"], key=found["correlations"].get) == failing
    assert max(found["proposed"], key=found["proposed"].get) == failing
    assert sum(found["proposed"].values()) == 1
    rates = [one["rate"] for one in found["likelihood"] if one["answers"] > 20]
    assert rates[-1] > rates[0]  # what was said to be likely to fail did fail more often
    assert (old["answers"], old["proposed"]) == (0, None)  # only the last days count


def test_too_few_failures_propose_nothing(store):  # noqa: F811
    kept(store, [row(n, "revised", factors=dict.fromkeys(NAMES, 0.5)) for n in range(19)])
    with store.reading() as connection:
        found = calibration(connection, NOON, RULES)
    assert (found["failures"], found["proposed"]) == (19, None)
    with pytest.raises(UsageError, match="19 answers failed"):
        proposal(found, "")


SHARES = st.decimals(min_value=0, max_value=1, places=4)


@given(st.fixed_dictionaries(dict.fromkeys(NAMES, SHARES)))
def test_weights_stay_within_their_bounds_and_sum_to_one(raw):
    found = within(raw, BOUNDS)
    assert sum(found.values()) == 1
    assert all(BOUNDS[0] <= weight <= BOUNDS[1] for weight in found.values())
    Risk.model_validate({**load_defaults()["risk"], "weights": found})


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=40))
def test_a_correlation_is_one_and_never_leaves_its_range(answers):
    def sums(pairs):
        return Sums(
            len(pairs),
            sum(failed for _, failed in pairs),
            sum(x for x, _ in pairs),
            sum(x * x for x, _ in pairs),
            sum(x for x, failed in pairs if failed),
        )

    r = sums(answers).correlation
    assert r is None or -1 <= r <= 1
    mirrored = sums([(x, not failed) for x, failed in answers]).correlation
    assert (r is None) == (mirrored is None)
    assert r is None or abs(r + mirrored) < 1e-6
    weights = dict.fromkeys(NAMES, Decimal("0.25"))
    one = {name: sums(answers) for name in NAMES}
    assert proposed(weights, one, Decimal("0.1"), BOUNDS) == weights  # what moves alike weighs alike


def test_the_proposal_changes_four_figures_and_no_comment():
    text = (
        "# why: seed 004\n"
        "weights: {complexity: 0.25, source_risk: 0.25, novelty: 0.25, ambiguity: 0.25}  # equal at first\n"
        "bounds: {minimum: 0.1, maximum: 0.5}\n"
    )
    weights = dict.fromkeys(NAMES, Decimal("0.25"))
    new = {
        "ambiguity": Decimal("0.2"),
        "complexity": Decimal("0.2"),
        "novelty": Decimal("0.4"),
        "source_risk": Decimal("0.2"),
    }
    found = {
        "failures": 30, "answers": 200, "window_days": 30, "weights": weights, "proposed": new,
        "correlations": {**dict.fromkeys(NAMES, 0.1), "novelty": None},
    }  # fmt: skip
    asked = proposal(found, text)
    assert asked.files == {
        FILE: text.replace("complexity: 0.25", "complexity: 0.2")
        .replace("source_risk: 0.25", "source_risk: 0.2")
        .replace("novelty: 0.25", "novelty: 0.4")
        .replace("ambiguity: 0.25", "ambiguity: 0.2")
    }
    assert "novelty: 0.25 -> 0.4; it never moves" in asked.basis
    with pytest.raises(UsageError, match="stay as they are"):
        proposal({**found, "proposed": weights}, text)


@pytest.fixture
def measured(repository, tmp_path):
    """A repository's store with answers that failed where they were novel."""
    opened = connect(f"sqlite:///{tmp_path}/store.db", tmp_path)
    upgrade(opened)
    from bot.app import now

    kept(opened, [{**one, "at": now()} for one in learned()])
    opened.close()
    return {"BYLAW_STORE_URL": f"sqlite:///{tmp_path}/store.db"}


def test_the_command_tells_it_in_words_as_json_and_as_a_page(repository, measured, tmp_path):
    said = call_bylaw("stats", "--quality", "--bundle", repository.bundle, "--html", tmp_path / "q.html", **measured)
    assert said.code == 0
    assert "accepted without another word" in said.out and "novelty      weighs 0.25, proposed 0.3" in said.out
    assert "<svg" in (tmp_path / "q.html").read_text(encoding="utf-8")
    told = call_bylaw("stats", "--quality", "--bundle", repository.bundle, "--json", **measured).json
    assert set(told) == {"quality", "calibration"}


def test_new_weights_are_one_pull_request_however_often_they_are_asked_for(repository, measured, github):
    import shutil

    text = 'weights: {complexity: 0.25, source_risk: 0.25, novelty: 0.25, ambiguity: 0.25}  # "as it was"\n'
    github.commit("main", {FILE: text, "other": "y\n"})
    root = repository.root.parent / "weighed"
    shutil.copytree(repository.root, root, dirs_exist_ok=True)
    (root / "rules").mkdir(exist_ok=True)
    (root / FILE).write_text(text, encoding="utf-8")
    given = ("stats", "--quality", "--root", root, "--propose", "acme/policies", "--github-url", github.base)
    for _ in range(2):
        done = call_bylaw(*given, **measured, GITHUB_TOKEN=github.token())
        assert (done.code, done.err.splitlines()[-1].startswith("open: ")) == (0, True), done.err
    sha = github.git.blob_at("refs/heads/bylaw/risk-weights", FILE)
    changed = github.git.read_blob(sha).decode()
    assert changed != text and changed.endswith('# "as it was"\n')
    assert github.git.read_blob(github.git.blob_at("refs/heads/main", FILE)).decode() == text


@each("words", [("--html", "x.html"), ("--propose", "a/b")])
def test_what_belongs_to_quality_is_refused_without_it(words):
    assert call_bylaw("stats", *words).code == 2


def test_a_page_shows_what_people_wrote_as_text(store):  # noqa: F811
    kept(store, list(learned(60)))
    with store.reading() as connection:
        found = {"quality": quality(connection, None, RULES), "calibration": calibration(connection, NOON, RULES)}
    shown = page(found, title="<script>")
    assert "<script>" not in shown and "&lt;script&gt;" in shown
