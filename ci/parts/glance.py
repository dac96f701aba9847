"""What a policy file seems to say, from a glance at its text: enough to guess which policies matter to each other.

A guess decides only who is read beside whom. What the files really say is known once they are read; what was asked by
a wrong guess is asked again.
"""

from __future__ import annotations

import re

from bylaw.authored.vocabulary import Vocabulary
from ci.loading.files import Content
from ci.parts.cards import Card, Keys, Kind, unread
from ci.parts.part import File, path_of


def _saying(key: str) -> re.Pattern[bytes]:
    """What a text says under *key*. It begins with plain letters: a search for these is far quicker."""
    return re.compile(rf"""{key}["']?[ \t]*:[ \t]*["']?([\w-]+)""".encode())


_POLICY_ID, _DOMAIN = _saying("policy_id"), _saying("domain")
_ACTIONS = (_saying("action"), _saying("consequent"))
_OVERRIDES = re.compile(rb"""overrides["']?[ \t]*:([^:]*)""")
_ID = re.compile(rb"POL-[\w-]+")
_INVARIANTS = b"constraints"


class Glance:
    """Looks at policies whose words one *vocabulary* declares."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._keys = Keys(vocabulary)
        self._known: dict[bytes, tuple[str, ...]] = {}

    def card(self, file: File) -> Card:
        """The card that the policy in *file* seems to have. Where its rules may fire is not looked at."""
        if not isinstance(file, Content):
            return unread(path_of(file))
        data = file.data
        actions = sorted({action for pattern in _ACTIONS for action in pattern.findall(data)})
        kind = Kind(domain=_first(_DOMAIN, data), binds=_INVARIANTS in data, keys=tuple(map(self._keys_of, actions)))
        overrides = {one.decode() for listed in _OVERRIDES.findall(data) for one in _ID.findall(listed)}
        return Card(_first(_POLICY_ID, data) or unread(file.path).id, kind, tuple(sorted(overrides)))

    def _keys_of(self, action: bytes) -> tuple[str, ...]:
        """What a rule that demands *action* may argue about."""
        if action not in self._known:
            name = action.decode()
            spoken_of = (self._vocabulary.canonical(name), *self._vocabulary.implied(name))
            self._known[action] = self._keys.of(frozenset(spoken_of))
        return self._known[action]


def _first(pattern: re.Pattern[bytes], data: bytes) -> str | None:
    found = pattern.search(data)
    return found[1].decode() if found is not None else None
