"""Texts as people see them."""

from bylaw.language.glyphs import as_seen, disguised
from tests.rows import each


@each(
    ("text", "seen"),
    [
        ("store credit", "store credit"),
        ("s\u200bto\u00adre cre\u2060dit", "store credit"),
        ("Ｆｕｌｌ ｒｅｆｕｎｄ ｏｆ ＄２０４", "Full refund of $204"),
        ("𝐟𝐮𝐥𝐥 𝗿𝗲𝗳𝘂𝗻𝗱", "full refund"),
        ("ein Café, “zurück” – 15\u00a0€ … ½", "ein Café, “zurück” – 15\u00a0€ … ½"),
        ("\u202ereversed\u202c", "reversed"),
    ],
)
def test_what_nobody_sees_is_gone_and_what_is_styled_is_plain(text: str, seen: str) -> None:
    assert as_seen(text) == seen


@each(
    ("text", "word"),
    [
        ("a full rеfund", "rеfund"),
        ("a full refυnd", "refυnd"),
        ("a f\u0336u\u0336l\u0336l refund", "f\u0336"),
        ("a full refund", None),
        ("Grüße aus Łódź, naïve café", None),
        ("полный возврат", None),
        ("done ✔\ufe0f", None),
    ],
)
def test_a_word_that_only_looks_like_one_is_named(text: str, word: str | None) -> None:
    assert disguised(text) == word
