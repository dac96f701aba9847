"""People who may read the same rules share one logic; it decides as one built for them alone would."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from bot.index import BundleIndex
from bylaw.authored.calendar import Calendar
from bylaw.bundle import parse
from bylaw.logic.decide.evaluate import Evaluator
from ci import pipeline
from tests.rows import each

SHOP = Path(__file__).parent / "enforcement" / "shop"
TODAY = date(2026, 11, 20)


@pytest.fixture(scope="module")
def index() -> BundleIndex:
    return BundleIndex(parse(pipeline.bundle_text(pipeline.run(SHOP, None, TODAY))))


def rule_ids(evaluator: Evaluator) -> set[str]:
    return {rule.rule_id for rule in evaluator.ruleset.rules}


@each(
    ("roles", "sees_vault"),
    [
        ((), False),
        (("staff",), False),
        (("nobody-declares-this",), False),
        (("security",), True),
        (("security", "staff"), True),
    ],
)
def test_a_reader_sees_the_rules_for_everyone_and_those_for_one_of_the_roles(index, roles, sees_vault):
    hidden = {rule.rule_id for rule in index.ruleset.rules if rule.audience}
    assert hidden
    seen = rule_ids(index.evaluator_of(roles))
    assert seen == {rule.rule_id for rule in index.ruleset.rules} - (set() if sees_vault else hidden)


def test_readers_of_the_same_rules_share_the_logic(index):
    assert index.evaluator_of(["staff"]) is index.evaluator_of([]) is index.evaluator_of(["somebody"])
    assert index.evaluator_of(["security"]) is index.evaluator_of(["staff", "security"]) is index.evaluator


def test_a_narrower_reader_is_answered_as_if_there_were_no_other_rules(index):
    evaluator = index.evaluator_of([])
    alone = Evaluator(evaluator.ruleset)
    names = sorted(index.ruleset.variables)
    for known in range(len(names) + 1):
        facts = {name: _some(index.ruleset.variables[name]) for name in names[:known]}
        one, two = evaluator.decide(facts, TODAY.toordinal()), alone.decide(facts, TODAY.toordinal())
        assert (one.outcomes, one.fired, one.required) == (two.outcomes, two.fired, two.required)
        assert one.undecided.keys() == two.undecided.keys()


def _some(variable):
    if variable.kind == "boolean":
        return True
    return variable.values[0] if variable.kind == "enum" else variable.minimum or 1


def test_the_day_is_that_of_the_organisation(index: BundleIndex) -> None:
    late = datetime(2026, 3, 28, 23, 30, tzinfo=UTC)
    for zone, day in ((None, 28), ("Europe/Amsterdam", 29), ("America/New_York", 28)):
        context = index.bundle.context.model_copy(update={"calendar": Calendar(time_zone=zone)})
        there = BundleIndex(index.bundle.model_copy(update={"context": context}))
        assert there.local(late).day == day
        assert there.local(late) == late


def test_what_was_asked_recently_is_not_worked_out_again_and_never_for_another_bundle(index):
    asked = []

    def find(given, text, day=TODAY):
        asked.append((given, text, day))
        return len(asked)

    other = BundleIndex(index.bundle)
    found = index.recently(find)
    assert [found("a"), found("b"), found("a"), other.recently(find)("a"), found("a", date.min)] == [1, 2, 1, 3, 4]
    assert asked == [(index, "a", TODAY), (index, "b", TODAY), (other, "a", TODAY), (index, "a", date.min)]


def test_only_so_many_are_remembered(index):
    def find(_given, number):
        return str(number) * 1_000

    found = BundleIndex(index.bundle).recently(find)
    kept = [found(number) for number in range(5_000)]
    assert found(4_999) is kept[4_999]
    assert found(0) is not kept[0]
