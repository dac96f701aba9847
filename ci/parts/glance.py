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

_SAYS = re.compile(rb"""\b(policy_id|domain|action|consequent)["']?[ \t]*:[ \t]*["']?([\w-]+)""")
_OVERRIDES = re.compile(rb"""\boverrides["']?[ \t]*:([^:]*)""")
_ID = re.compile(rb"\bPOL-[\w-]+")
_INVARIANTS = b"constraints"


class Glance:
    """Looks at policies whose words one *vocabulary* declares."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._keys = Keys(vocabulary)
        self._known: dict[str, tuple[str, ...]] = {}

    def card(self, file: File) -> Card:
        """The card that the policy in *file* seems to have. Where its rules may fire is not looked at."""
        if not isinstance(file, Content):
            return unread(path_of(file))
        data, id, domain, actions = file.data, "", None, set[str]()
        for key, word in _SAYS.findall(data):
            said = word.decode("utf-8", "replace")
            if key == b"policy_id":
                id = id or said
            elif key == b"domain":
                domain = domain or said
            else:
                actions.add(said)
        kind = Kind(domain=domain, binds=_INVARIANTS in data, keys=tuple(map(self._keys_of, sorted(actions))))
        overrides = {one.decode() for listed in _OVERRIDES.findall(data) for one in _ID.findall(listed)}
        return Card(id or unread(file.path).id, kind, tuple(sorted(overrides)))

    def _keys_of(self, action: str) -> tuple[str, ...]:
        """What a rule that demands *action* may argue about."""
        if action not in self._known:
            spoken_of = (self._vocabulary.canonical(action), *self._vocabulary.implied(action))
            self._known[action] = self._keys.of(frozenset(spoken_of))
        return self._known[action]
