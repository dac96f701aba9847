"""Names of actions from the words of rules, and in short."""

from bot.enforcement.lookups import lookups
from bot.enforcement.namings import namings
from bot.enforcement.wordings import in_short
from bot.index import BundleIndex


def named(text: str, index: BundleIndex) -> set[tuple[str, bool]]:
    texts = text.split()
    found = lookups(index).names.mentions(texts, [range(len(texts))])
    return {(target, one.naming.is_denial) for one in found for target in one.naming.targets}


def test_an_action_is_called_by_what_its_rule_says(own: BundleIndex) -> None:
    assert ("reject", True) in named("we do not take it back", own)
    assert ("keep_price", False) in named("our price stand", own)
    assert ("no_discount", False) in named("the price on the label hold", own)


def test_a_clause_that_rests_on_another_names_nothing(own: BundleIndex) -> None:
    known = {one for group in namings(own.vocabulary).by_stem.values() for one in group}
    added = [one for group in lookups(own).names.by_stem.values() for one in group if one not in known]
    assert added
    assert all(len(one.stems) >= 2 and len(one.targets) == 1 for one in added)
    assert not any("free_repair" in one.targets and one.is_denial for one in added)  # "… that is not the customer's"


def test_one_word_is_enough_where_only_one_action_of_the_outcome_has_it(own: BundleIndex) -> None:
    def short(outcome: str, *facts: str) -> dict[str, str]:
        found = in_short(own.vocabulary, outcome, frozenset(facts)).by_stem
        return {stem: one.targets[0] for stem, group in found.items() for one in group}

    assert short("login", "failed_login_count") == {"lock": "lock_account"}
    assert short("order_review")["hold"] == "hold_order"
    assert "stor" not in short("refund", "channel")  # the store is where it was bought
    assert "paus" in short("plan_access", "days_past_due")
    assert "paus" not in short("plan_access", "plan_request")  # that is what the member asks for
