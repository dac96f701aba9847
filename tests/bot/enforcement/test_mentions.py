"""Which actions a text names by their phrases."""

from bot.enforcement.question.case.mentions import phrases_of, words_of
from bylaw.authored.vocabulary import Vocabulary
from bylaw.language.text import parse
from tests.rows import each

VOCABULARY = Vocabulary.model_validate(
    {
        "facts": {
            "animal": {"type": "enum", "values": {"dog": ["puppy"], "cat": []}},
            "is_trained": {"type": "boolean", "phrases": {"true": ["trained"], "false": ["untrained"]}},
        },
        "actions": {"bring_animal": {"phrases": ["bring an animal"]}},
    }
)


@each(
    ("text", "named"),
    [
        ("May I bring a puppy?", ("bring_animal",)),
        ("May I bring my untrained puppy?", ("bring_animal",)),
        ("May I bring my friend's puppy?", ()),
        ("I trained my cat. May I bring a friend?", ()),
    ],
)
def test_a_value_stands_for_its_kind_and_a_flag_parts_no_phrase(text: str, named: tuple[str, ...]) -> None:
    assert phrases_of(VOCABULARY).by_kind(words_of(parse(text))) == named
