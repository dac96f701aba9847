"""A text as sentences, and which of them only quote: a rule's own words promise nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, lru_cache

from bot.enforcement.figures import Figure, figures
from bot.enforcement.polarity import is_conditional, is_giving
from bot.enforcement.senses import in_plain_words
from bylaw.language.span import listed
from bylaw.language.words import DETERMINERS, Word, read_words

# INVARIANT: no two alternatives match at one place, so the scan is linear. A point inside a number ends nothing.
_END = re.compile(r"[.!?]+[\"”’')\]]*(?=\s|$)|\n+|;(?=\s|$)")
_QUOTED = re.compile(r"“([^“”]{1,2000})”|\"([^\"]{1,2000})\"|«([^«»]{1,2000})»")
POLICY_ID = re.compile(r"\bPOL(?:-IMP)?-[A-Z]+-\d{3,}\b")
_PERCENT = re.compile(r"(?i) ?% ?|(?<=[\w\d]) per cent\b ?")
_LEAST = 4  # words of a quotation; fewer are anybody's
_SUPPOSING = listed("if unless whether suppose supposing assuming")
_FULL = listed("full whole entire")
_WHOLE = ""  # before the first words of a whole text


@dataclass(frozen=True)
class Sentence:
    """One sentence with its words (clauses count from its own begin)."""

    text: str
    words: tuple[Word, ...]

    @cached_property
    def clauses(self) -> list[range]:
        """The indexes of the words of each clause."""
        found: list[range] = []
        start = 0
        for i in range(1, len(self.words) + 1):
            if i == len(self.words) or self.words[i].clause != self.words[start].clause:
                found.append(range(start, i))
                start = i
        return found


def split(text: str) -> list[str]:
    """The sentences of *text*, each with its end mark; a line is a sentence too."""
    found, start = [], 0
    for match in _END.finditer(text):
        found.append(text[start : match.end()])
        start = match.end()
    found.append(text[start:])
    return [part.strip() for part in found if part.strip()]


class Splitter:
    """A text that comes in pieces, as the sentences that `split` makes of the whole."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> list[str]:
        """The sentences that are whole now. A mark at the very end may go on: it waits for what follows."""
        self._held += piece
        end = max((match.end() for match in _END.finditer(self._held) if match.end() < len(self._held)), default=0)
        whole, self._held = self._held[:end], self._held[end:]
        return split(whole)

    def rest(self) -> list[str]:
        """What is left when nothing follows any more."""
        whole, self._held = self._held, ""
        return split(whole)


Quotable = Mapping[tuple[str, ...], Sequence[tuple[str, ...]]]  # the first words of a quotation → what may follow


def sentences(text: str, quotable: Quotable | None = None, question: str = "") -> Iterator[Sentence]:
    """The sentences that say something themselves: quotations of *quotable* texts and the *question* are left out."""
    asked = " ".join(question.split()).casefold()

    def unquoted(match: re.Match[str]) -> str:
        inner = " ".join(match[0][1:-1].split()).casefold()
        return " … " if (inner and inner in asked) or is_quote(match[0], quotable) else match[0]

    spelled = _PERCENT.sub(" percent ", _QUOTED.sub(unquoted, text))
    for part in split(spelled):
        if not _is_whole(part, quotable):
            sentence = sentence_of(part)
            if sentence.words:
                yield sentence


@lru_cache(maxsize=2_000)  # our own answers, and the questions they are held against, repeat lines
def sentence_of(text: str) -> Sentence:
    """One sentence in plain words; the id of a policy is a name and none of its words."""
    return Sentence(text, in_plain_words(read_words(POLICY_ID.sub(lambda match: " " * len(match[0]), text))))


def concluded(sentence: Sentence) -> Iterator[Sentence]:
    """The sentence, or what it starts from and what it concludes: "it is only free from $50 | , so you pay …"."""
    words = sentence.words
    i = next((i for i in range(1, len(words)) if words[i].text == "so" and words[i - 1].clause != words[i].clause), 0)
    is_open = any(word.text in _SUPPOSING for word in words[:i]) or [word.text for word in words[i + 1 : i + 2]] == [
        "that"
    ]
    if not i or is_open or i + 2 >= len(words) or not is_conditional(words[:i]):
        yield sentence
        return
    yield sentence_of(sentence.text[: words[i - 1].end])
    yield sentence_of(sentence.text[words[i].start :])


def repaid(sentence: Sentence, told: Collection[Figure], today: date) -> Sentence:
    """The sentence with "your $60 back" as "your money back", where all that the case tells of money is $60.

    "You get the full $60", or "the full $60 will be paid back", is a full refund then.
    """
    words = sentence.words
    texts = [word.text for word in words]
    if "back" not in texts and _FULL.isdisjoint(texts):
        return sentence
    sums = {figure for figure in told if figure[0] not in ("seconds", "percent")}
    for figure, quantity in figures(sentence.text, today) if len(sums) == 1 else ():
        places = [i for i, word in enumerate(words) if quantity.start <= word.start < quantity.end]
        if figure not in sums or not places:
            continue
        first, last = places[0], places[-1] + 1
        lead = [text for text in texts[max(first - 3, 0) : first] if text not in DETERMINERS]
        is_full = lead[-1:] != [] and lead[-1] in _FULL and lead[-2:-1] != [] and is_giving(lead[-2])
        behind = [word.text for word in words[last : last + 4]]
        is_full |= lead[-1:] != [] and lead[-1] in _FULL and "be" in behind and any(map(is_giving, behind))
        meant = "money" if texts[last : last + 1] == ["back"] else "refund" if is_full else ""
        if meant:
            word = replace(words[first], text=meant, end=words[last - 1].end)
            return replace(sentence, words=(*words[:first], word, *words[last:]))
    return sentence


def cited(text: str) -> tuple[str, ...]:
    """The ids of policies that *text* names."""
    return tuple(dict.fromkeys(POLICY_ID.findall(text)))


def quotable_texts(texts: Iterable[str]) -> Quotable:
    """Texts that may be quoted, by every run of words that a quotation may begin with."""
    found: dict[tuple[str, ...], dict[tuple[str, ...], None]] = defaultdict(dict)
    for text in texts:
        said = _spelled(text)
        found[(_WHOLE, *said[:_LEAST])][said] = None
        for i in range(len(said) - _LEAST + 1):
            found[said[i : i + _LEAST]][said[i:]] = None
    return {begin: tuple(rest) for begin, rest in found.items()}


def is_quote(part: str, quotable: Quotable | None) -> bool:
    """Does *part* repeat one of the texts, or a piece of one, word for word?"""
    if not quotable:
        return False
    said = _spelled(part)
    if len(said) < _LEAST:
        return False
    return any(text[: len(said)] == said for text in quotable.get(said[:_LEAST], ()))


def _is_whole(part: str, quotable: Quotable | None) -> bool:
    """Does *part* repeat one of the texts from its begin to its end? A piece without quotation marks is a statement."""
    if not quotable:
        return False
    said = _spelled(part)
    return len(said) >= _LEAST and said in quotable.get((_WHOLE, *said[:_LEAST]), ())


def _spelled(text: str) -> tuple[str, ...]:
    return tuple(word.text for word in read_words(_PERCENT.sub(" percent ", text)))
