"""Words in their normal form."""

from hypothesis import given
from hypothesis import strategies as st

from bylaw.language.words import normal_forms, read_words, singular
from tests.rows import each


@each(
    ("token", "forms"),
    [
        ("Receipts", ("receipt",)),
        ("TVs", ("tv",)),
        ("boxes", ("box",)),
        ("batteries", ("battery",)),
        ("address", ("address",)),
        ("status", ("status",)),
        ("this", ("this",)),
        ("US", ("us",)),
        ("has", ("have",)),
        ("were", ("be",)),
        ("didn't", ("do", "not")),
        ("can't", ("can", "not")),
        ("won’t", ("will", "not")),
        ("isnt", ("be", "not")),
        ("cannot", ("can", "not")),
        ("I've", ("i", "have")),
        ("we'll", ("we", "will")),
        ("it's", ("it", "be")),
        ("customer's", ("customer",)),
        ("o'clock", ("oclock",)),
    ],
)
def test_one_spelling_for_the_forms_of_a_word(token: str, forms: tuple[str, ...]) -> None:
    assert normal_forms(token) == forms


def test_clauses_and_sentences_are_counted() -> None:
    words = read_words("One, two. Three (four) five")
    assert [(word.text, word.clause, word.sentence) for word in words] == [
        ("one", 0, 0), ("two", 1, 0), ("three", 2, 1), ("four", 3, 1), ("five", 4, 1),
    ]  # fmt: skip


def test_the_two_words_of_a_contraction_stand_at_one_place() -> None:
    do, not_, go = read_words("don't go")
    assert (do.start, do.end) == (not_.start, not_.end) == (0, 5)
    assert go.start == 6


@given(st.text(max_size=200))
def test_words_lie_in_the_text_in_order(text: str) -> None:
    words = read_words(text)
    assert all(0 <= word.start < word.end <= len(text) and word.text for word in words)
    assert [word.start for word in words] == sorted(word.start for word in words)


@given(st.from_regex(r"[a-z]{1,12}", fullmatch=True))
def test_a_singular_never_grows(word: str) -> None:
    assert 0 < len(singular(word)) <= len(word)
