"""What a question may be about, offered to whoever asked, and which of it a reply picks."""

from __future__ import annotations

from collections.abc import Sequence

from bot.conversation import Choice
from bot.index import BundleIndex
from bylaw.authored.vocabulary import Vocabulary
from bylaw.language.text import words_of

SOMETHING_ELSE = "something else"


def choices(names: Sequence[str], vocabulary: Vocabulary) -> tuple[Choice, ...]:
    """A choice for each of *names*, and one for nothing of them."""
    found = [Choice(value=name.replace("_", " "), label=_asked(name, vocabulary)) for name in names]
    return (*found, Choice(value=SOMETHING_ELSE, label=SOMETHING_ELSE))


def _asked(name: str, vocabulary: Vocabulary) -> str:
    """What to call an outcome or action that a question may be about: its `ask` form, else its label."""
    declared = vocabulary.outcomes.get(name) or vocabulary.actions.get(name)
    label = declared.label if declared else None
    return (label.ask if label else None) or label or name.replace("_", " ")


def picked(text: str, offered: Sequence[str], index: BundleIndex) -> str | None:
    """The one of *offered* that *text* is, or `SOMETHING_ELSE`; None where it is something new."""
    names = (*offered, SOMETHING_ELSE)
    said = words_of(text)
    for name, choice in zip(names, choices(offered, index.vocabulary), strict=True):
        if offered and said in (words_of(choice.value), words_of(choice.label)):
            return name
    return None
