"""Labels of a vocabulary's facts."""

from bylaw.authored.labels import labels
from bylaw.authored.vocabulary import Vocabulary
from bylaw.logic.formula.ir import Atom
from bylaw.logic.words.prose import phrase

VOCABULARY = Vocabulary.model_validate(
    {
        "facts": {
            "has_receipt": {
                "type": "boolean",
                "label": "has the receipt",
                "phrases": {"true": ["with a receipt"], "false": ["no receipt"]},
            },
            "is_gift": {"type": "boolean", "phrases": ["as a gift"]},
            "age": {"type": "integer", "unit": "days", "phrases": ["bought {value} days ago"]},
            "due_on": {"type": "date"},
        }
    }
)


def test_every_fact_has_a_label_with_its_phrases() -> None:
    found = labels(VOCABULARY)
    assert sorted(found) == ["age", "due_on", "has_receipt", "is_gift"]
    assert (found["has_receipt"].true_phrases, found["has_receipt"].false_phrases) == (
        ("with a receipt",),
        ("no receipt",),
    )
    assert found["is_gift"].true_phrases == ("as a gift",)
    assert (found["age"].value_phrases, found["age"].unit) == (("bought {value} days ago",), "days")
    assert found["due_on"].kind == "date"


def test_the_logic_speaks_with_these_labels() -> None:
    assert phrase(Atom("has_receipt", "==", False), labels(VOCABULARY)) == "does not have the receipt"
    assert phrase(Atom("age", "<=", 30), labels(VOCABULARY)) == "age is at most 30 days"
