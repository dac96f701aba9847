"""What is agreed upon is decided by structure and by people of weight, in any order, at an injected moment."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.evidence.store.tables.corrections import Correction
from bot.memory.changes import Change
from bot.memory.consensus import consensus, person_of
from bot.memory.structure import checked, structure
from bylaw.authored.context import Context
from bylaw.authored.machines.access import Roles
from bylaw.authored.machines.rules import Rules
from ci.loading.rules import load_defaults
from tests.bot.memory.conftest import CONTEXT, ROLES, SENIORS
from tests.fakes.frame import NOON

HERE = Context.model_validate(CONTEXT)
WHO = Roles.model_validate(ROLES)
RULES = Rules.model_validate({**load_defaults(), "roles": ROLES}).promotion
VALUES = ("channel = 'online'", "CHANNEL='online'".lower(), "channel <> 'online'", "channel = 'store'")
EVERYBODY = (*SENIORS, "U0ADA", "j0", "j1", "o0", "o1", "grace", "stranger", "аda")


def said(user, new=VALUES[0], at=NOON, number=0, **others):
    change = checked(Change(object="metrics/revenue", field="filter", new=new), HERE)
    whole = Correction(
        f"C-{number:03}", at, user, WHO.roles_of(user), f"r{number}", "factual", "sales", change.object, change.field,
        None, change.new, "because", structure(change, HERE), "localized", True,
    )  # fmt: skip
    return replace(whole, **others)


def agreed(*found, now=NOON, rejected=None, roles=WHO, context=HERE):
    return consensus(found, roles, RULES, context, now, rejected)


def by(users, **others):
    return [said(user, number=n, **others) for n, user in enumerate(users)]


def test_more_than_three_distinct_experienced_people_are_a_consensus():
    (one,) = agreed(*by(SENIORS[:4]))
    assert (one.people, one.against, one.domain) == (SENIORS[:4], (), "sales")
    assert agreed(*by(SENIORS[:3])) == ()


def test_how_a_value_is_spelled_does_not_matter():
    voices = [said(user, VALUES[n % 2], number=n) for n, user in enumerate(SENIORS[:4])]
    assert len(agreed(*voices)) == 1


@pytest.mark.parametrize(
    "voices",
    [
        lambda: by(["ada"] * 9),
        lambda: by([*SENIORS[:3], "U0ADA"]),
        lambda: by([f"j{n}" for n in range(9)]),
        lambda: by([f"o{n}" for n in range(5)]),
        lambda: by(["stranger", "аda", "ada ", "ＡＤＡ", *SENIORS[:3]]),
        lambda: by(SENIORS[:4], at=NOON - timedelta(days=91)),
        lambda: by(SENIORS[:4], at=NOON + timedelta(seconds=1)),
        lambda: by(SENIORS[:4], stage="withdrawn"),
        lambda: by(SENIORS[:4], correction_type="permission"),
        lambda: [said(who, f"channel = '{who}'", number=n, structure="0" * 64) for n, who in enumerate(SENIORS[:4])],
        lambda: by(SENIORS[:4], old="status = 'new'"),
        lambda: by(SENIORS[:4], domain="finance"),
        lambda: by(SENIORS[:4], actor_roles=("clerk",)),
        lambda: by(SENIORS[:4], object="metrics/gone"),
        lambda: [*by(SENIORS[:4]), said("eve", VALUES[2], number=9)],
        lambda: [*by(SENIORS[:4]), said("ada", VALUES[3], NOON, number=9)],
    ],
    ids=[
        "one person repeating", "one person under two names", "mass juniors", "seniors of another domain",
        "names that look alike", "stale", "from the future", "withdrawn", "permissions", "a forged fingerprint",
        "about what stands no longer", "another domain", "roles got later", "a record that is gone", "opposed",
        "somebody changed their mind",
    ],
)  # fmt: skip
def test_nothing_else_is(voices):
    assert agreed(*voices()) == ()


def test_what_was_rejected_needs_as_many_new_voices():
    (one,) = agreed(*by(SENIORS[:4]))
    no = {one.structure: NOON}
    assert agreed(*by(SENIORS[:4]), rejected=no) == ()
    later = by(SENIORS[:4], at=NOON + timedelta(hours=1))
    assert agreed(*later[:3], *by(SENIORS), now=NOON + timedelta(days=1), rejected=no) == ()
    assert len(agreed(*later, now=NOON + timedelta(days=1), rejected=no)) == 1


def test_what_sounds_alike_is_shown_but_not_counted_and_never_across_a_number_or_a_negation():
    reason = "orders of the two stores in Utrecht are counted by the stores themselves, every evening"
    voices = by(SENIORS, reason=reason)
    near = said("ada", "channel = 'onlines'", NOON, number=7, reason=reason)
    opposite = said("ada", VALUES[2], NOON, number=8, reason=reason)
    numbered = said("ada", "channel = 'online9'", NOON, number=9, reason=reason.replace("two", "nine"))
    four = [one for one in voices if one.actor_id != "ada"]
    more = [said("grace", number=6, reason=reason), *four]
    assert agreed(*more, near)[0].similar == ("C-007",)
    assert agreed(*more, opposite)[0].similar == ()
    assert agreed(*more, numbered)[0].similar == ()


VOICES = st.lists(
    st.tuples(st.sampled_from(EVERYBODY), st.sampled_from(VALUES), st.integers(0, 200)), min_size=0, max_size=14
)


def of(rows):
    return [said(user, new, NOON - timedelta(days=days), n) for n, (user, new, days) in enumerate(rows)]


@given(VOICES, st.randoms())
@settings(max_examples=100)
def test_the_order_of_arrival_changes_nothing(rows, random):
    voices = of(rows)
    mixed = [*voices]
    random.shuffle(mixed)
    assert agreed(*voices) == agreed(*mixed)


@given(VOICES)
@settings(max_examples=100)
def test_every_consensus_has_more_than_three_listed_seniors_behind_it_and_a_majority(rows):
    for one in agreed(*of(rows)):
        assert len(set(one.people)) == len(one.people)
        assert len(one.people) - len(one.against) > 3
        assert {person_of(member.actor_id, WHO) for member in one.members} == set(one.people)
        assert {member.actor_id for member in one.members} <= {*SENIORS, "U0ADA", "grace"}
        assert {member.structure for member in one.members} == {one.structure}
        assert all(NOON - timedelta(days=90) <= member.at <= NOON for member in one.members)


@given(VOICES, st.sampled_from(["j0", "o0", "stranger", "аda", "ada"]), st.integers(1, 30))
@settings(max_examples=60)
def test_voices_without_weight_and_one_voice_repeated_never_bring_a_consensus_about(rows, user, times):
    few = [(name, new, days) for name, new, days in rows if name in SENIORS[:2]]
    flood = [(user, VALUES[0], 0)] * times
    assert agreed(*of([*few, *flood])) == ()
