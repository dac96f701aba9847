"""A case to paste reads back as the case it was."""

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.authored.policies import Case
from ci.loading.source import parse
from ci.proofs.entry import entry
from tests.rows import each

WORDS = st.text(
    st.characters(blacklist_categories=("Cs", "Cc", "Cn"), blacklist_characters="\u2028\u2029\ufeff"), min_size=1
).filter(lambda text: text.strip())


def read(text):
    return parse("cases.yaml", text).data


@given(
    WORDS,
    st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.one_of(st.booleans(), st.integers(-9, 9), WORDS)),
)
@settings(max_examples=200, deadline=None)
def test_names_and_facts_survive(name, facts):
    (case,) = read(entry(name, facts, {"refund": "full_refund"}))
    assert case == {"name": name, "facts": facts, "expect": {"refund": "full_refund"}}


@each("word", ["true", "null", "in-store", "1.5", "2026-01-31", "no", "a: b", "# x", "- x", "'", '"'])
def test_words_stay_words(word):
    (case,) = read(entry("x", {"channel": word}, {}))
    assert case["facts"] == {"channel": word}


def test_a_case_fits_its_model_and_keeps_its_note():
    text = entry(
        "bought 16 days ago", {"days": 16, "paid": 9.5, "flag": False}, {"refund": None}, "say what it should be"
    )
    assert "# say what it should be" in text
    (case,) = read(text)
    model = Case.model_validate(case)
    assert model.facts == {"days": 16, "paid": Decimal("9.5"), "flag": False}
    assert model.expect == {"refund": None}
