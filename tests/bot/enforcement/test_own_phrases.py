"""Whatever a vocabulary declares as a way to say something is read as just that."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
import yaml

from bot.enforcement.facts import read_text
from bot.enforcement.phrases import GENERIC, SLOT, phrase_words
from bot.index import BundleIndex
from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.language.money import currency_of
from bylaw.logic.ir import Variable, exact

ROOT = Path(__file__).parents[3]
RETAIL = ROOT.parent / "shared" / "realworld" / "policies" / "retail" / "policies" / "vocabulary.yaml"
TODAY = date(2026, 11, 20)
DAY = "2026-11-02"


def said_of(fact: Fact) -> Iterator[tuple[str, object]]:
    """Every declared phrase, slots filled, and the value that it says."""
    phrases = fact.phrases if isinstance(fact.phrases, dict) else {"true": fact.phrases}
    match fact.type:
        case "boolean":
            yield from ((text, key == "true") for key, texts in phrases.items() for text in texts)
        case "enum":
            yield from ((text, value) for value, names in fact.values.items() for text in (value, *names))
        case "date":
            yield from ((text.replace(SLOT, DAY), date.fromisoformat(DAY).toordinal()) for text in phrases["true"])
        case _:
            sample = "$7" if currency_of(fact.unit or "") and "dollars" not in str(fact.phrases) else "7"
            yield from ((text.replace(SLOT, sample), 7) for text in phrases["true"])


def unread(vocabulary: Vocabulary, variables: dict[str, Variable]) -> list[tuple[str, str]]:
    """The declared phrases that do not give their fact."""
    missed = []
    for name, fact in sorted(vocabulary.facts.items()):
        for text, value in said_of(fact):
            if " ".join(phrase_words(text)) in GENERIC:
                continue
            if read_text(text, vocabulary, variables, TODAY, prefer=(name,)).facts.get(name) != value:
                missed.append((name, text))
    return missed


def test_every_phrase_of_the_shop_is_read(shop: BundleIndex) -> None:
    # a lone `US` is as well somebody who shouts "us"; asked for the region it is read
    assert unread(shop.vocabulary, dict(shop.ruleset.variables)) == [("region", "US")]


@pytest.mark.skipif(not RETAIL.exists(), reason="../shared/realworld is not beside the project")
def test_every_phrase_of_a_vocabulary_that_nobody_here_wrote_is_read() -> None:
    document = yaml.load(RETAIL.read_text(), yaml.BaseLoader)
    vocabulary = Vocabulary.model_validate({"facts": {name: typed(fact) for name, fact in document["facts"].items()}})
    variables = {
        name: Variable(name, fact.type, tuple(fact.values), bound(fact.minimum), bound(fact.maximum), fact.unit)
        for name, fact in vocabulary.facts.items()
    }
    assert unread(vocabulary, variables) == []


def typed(fact: dict) -> dict:
    return {key: value for key, value in fact.items() if key in ("type", "unit", "values", "label", "ask", "phrases")}


def bound(value: object) -> object:
    return None if value is None else exact(value)  # type: ignore[arg-type]  # bounds of this file are numbers


@pytest.mark.parametrize("around", ["{}", "{}.", "Hello, {}!", "well {} I think", "{}\n\nThanks", "the customer: {}"])
def test_a_phrase_is_read_wherever_it_stands(around: str, shop: BundleIndex) -> None:
    variables = shop.ruleset.variables
    for name, fact in sorted(shop.vocabulary.facts.items()):
        for text, value in said_of(fact):
            if " ".join(phrase_words(text)) in GENERIC or text == "US":
                continue
            found = read_text(around.format(text), shop.vocabulary, variables, TODAY, prefer=(name,))
            assert found.facts.get(name) == value, (name, text)
