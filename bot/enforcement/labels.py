""" "Label: value" pairs in an answer, as the plain writer and many forms write them: "price of the item: $600"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from bot.enforcement.asked import read_answer
from bot.enforcement.facts import Read
from bot.enforcement.kept import kept
from bylaw.authored.vocabulary import Vocabulary
from bylaw.logic.ir import Variable

_VALUE = r"\s*:\s*([^;:(\n]{1,80}?)\s*(?=[;(\n]|\.?$|\.\s)"


def read_labelled(
    text: str, vocabulary: Vocabulary, variables: Mapping[str, Variable], today: date
) -> tuple[Read, ...]:
    """The facts that *text* gives after their labels, in the order of the text."""
    if ":" not in text:
        return ()
    pattern, names = _compiled(vocabulary)
    found = []
    for match in pattern.finditer(text):
        name = names[match[1].casefold()]
        read = read_answer(match[2], name, vocabulary, variables, today)
        if isinstance(read, Read):
            found.append(Read(name, read.value, match[0], match.start(), match.end()))
    return tuple(found)


def without_heading(text: str, vocabulary: Vocabulary) -> str:
    """*text* without the name of an outcome and a colon before what it says: "What delivery costs: …"."""
    head, colon, rest = text.partition(":")
    label = head.strip(" *_#-").casefold()
    called = (one for name, outcome in vocabulary.outcomes.items() for one in (outcome.label or "", name))
    return rest.strip() if colon and rest.strip() and any(one.casefold() == label for one in called) else text


@kept(8)
def _compiled(vocabulary: Vocabulary) -> tuple[re.Pattern[str], Mapping[str, str]]:
    called = {
        (fact.label or name.replace("_", " ")).casefold(): name for name, fact in sorted(vocabulary.facts.items())
    }
    for name, fact in sorted(vocabulary.facts.items()):
        if fact.type == "boolean":  # "receipt: yes"
            called.setdefault(name.partition("_")[2].replace("_", " ") or name, name)
    longest = sorted(called, key=lambda label: (-len(label), label)) or ["\0"]
    return re.compile(rf"(?i)\b({'|'.join(map(re.escape, longest))}){_VALUE}"), called
