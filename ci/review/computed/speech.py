"""What a review says in the words of people: labels where a policy set speaks of actions, outcomes and facts by name.

Names are looked up whole. Nothing searches a sentence for them, so what was not made of names stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bylaw.authored.labels import called
from bylaw.authored.vocabulary import Vocabulary
from bylaw.logic.formula.ir import EffectKind
from ci.proofs.versions.influence import Subject
from ci.report.changes import in_words

_KINDS: tuple[EffectKind, ...] = ("outcome", "required", "prohibited", "permitted")
_VERBS = (" says", " requires", " prohibits", " permits")  # of `ci.proofs.inquiry.says`
_ENDINGS = {"not": "never", "may": "allowed:"}  # what stands before an action at the end of a graph
_BETWEEN = ", "  # what stands between the voices of one note


@dataclass(frozen=True)
class Speech:
    """How one review speaks: what names are called, alone and as the subject of a change."""

    names: Mapping[str, str] = field(default_factory=dict)
    subjects: Mapping[str, str] = field(default_factory=dict)

    def name(self, text: str) -> str:
        """What an action or an outcome is called."""
        return self.names.get(text, text)

    def subject(self, text: str) -> str:
        """What changes: an outcome, a duty, a prohibition or a permission."""
        return self.subjects.get(text, self.name(text))

    def voice(self, text: str) -> str:
        """Who says what, one or several of them: a policy, a verb, and the action, which is one word."""
        return _BETWEEN.join(map(self._voice, text.split(_BETWEEN)))

    def _voice(self, text: str) -> str:
        lead, _, name = text.rpartition(" ")
        return f"{lead} {self.names[name]}" if lead.endswith(_VERBS) and name in self.names else text

    def terminal(self, text: str) -> str:
        """How a decision graph ends: actions, each with what is done with it."""
        return " and ".join(map(self._ending, text.split("+")))

    def _ending(self, text: str) -> str:
        kind, apart, name = text.partition(":")
        if apart and name in self.names and kind in _ENDINGS:
            return f"{_ENDINGS[kind]} {self.name(name)}"
        return self.name(text)


def speech_of(vocabularies: Iterable[Vocabulary]) -> Speech:
    """The speech of some vocabularies, the last one's labels before the others'."""
    names: dict[str, str] = {}
    for vocabulary in vocabularies:
        names |= called(vocabulary)
    subjects = {
        in_words(Subject(kind, name)): in_words(Subject(kind, said)) for kind in _KINDS for name, said in names.items()
    }
    return Speech(names, subjects)
