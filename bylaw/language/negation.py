"""What a "no" reaches: each negating word with its scope, up to the end of its clause."""

from __future__ import annotations

from collections.abc import Sequence

from bylaw.language.span import Span, listed
from bylaw.language.words import AUXILIARIES, CONJUNCTIONS, DETERMINERS, PRONOUNS, Word, read_words

CUES = listed(
    "no not never nobody nothing without neither nor none non lost lose losing loses missing misplaced lack lacking "
    "lacks"
)
_FAILING = listed("fail failed failing refuse refused refusing decline declined forgot forget omitted")  # before a "to"
NO_NEGATION = listed("only problem doubt question matter idea worry wonder chance thank wait sorry")
_FAR = {"far": "from", "anything": "but"}
_STARTS_A_CLAUSE = (
    PRONOUNS | AUXILIARIES | listed("want wish still got kept keep bought paid ordered received please there")
)


MAX_REACH = 30  # words; keeps a text without any clause end linear
_SENTENCE = 200  # characters


def read_negations(text: str, words: Sequence[Word] | None = None) -> tuple[Span[str], ...]:
    """Every negation of *text*: the value is the negating word, the span reaches from it to the end of its scope."""
    words = read_words(text) if words is None else words
    ends = _clause_ends(words)
    found = []
    for i, word in enumerate(words):
        if word.text in _FAR and i + 1 < len(words) and words[i + 1].text == _FAR[word.text]:
            end = words[min(ends[i + 1], i + MAX_REACH)].end
            found.append(Span(word.start, end, word.text, text[word.start : end]))
        elif (word.text in CUES and _negates(words, i, text)) or (word.text in _FAILING and _has_to(words, i)):
            end = words[min(ends[i], i + MAX_REACH)].end
            found.append(Span(word.start, end, word.text, text[word.start : end]))
    return tuple(found)


def _has_to(words: Sequence[Word], i: int) -> bool:
    """Does it say what was not done: "failed to keep it"?"""
    return i + 1 < len(words) and words[i + 1].text == "to" and words[i + 1].clause == words[i].clause


def _negates(words: Sequence[Word], i: int, text: str) -> bool:
    after = words[i + 1] if i + 1 < len(words) else None
    if after is None or after.clause != words[i].clause:
        return words[i].text not in (
            "no",
            "not",
            "none",
            "neither",
            "nor",
        )  # "No, I have it" answers, it negates nothing
    if after.text in CONJUNCTIONS or (words[i].text in ("no", "not") and after.text in NO_NEGATION):
        return False
    if i and words[i - 1].text == "or" and words[i].text == "not":  # "whether or not"
        return False
    if words[i].text == "no":
        return after.text not in PRONOUNS and after.text not in DETERMINERS
    if words[i].text == "not" and after.text in PRONOUNS:
        # "can't I return it?" asks for a yes
        return not (i and words[i - 1].text in AUXILIARIES)
    if words[i].text == "not" and after.text in DETERMINERS:
        # so does "isn't the box sealed?", but "isn't a student any more" is short for "he isn't …"
        opens = i == 1 or (i > 1 and words[i - 2].sentence != words[i].sentence)
        opens = opens and words[i - 1].text in AUXILIARIES
        return not opens or (after.text in ("a", "an") and "?" not in text[after.end : after.end + _SENTENCE])
    return True


def _clause_ends(words: Sequence[Word]) -> list[int]:
    """For every word the last word of its clause; a conjunction that opens a new statement ends one too."""
    ends = [0] * len(words)
    end = len(words) - 1
    for i in range(len(words) - 1, -1, -1):
        if i + 1 < len(words) and (words[i + 1].clause != words[i].clause or _opens_a_clause(words, i + 1)):
            end = i
        ends[i] = end
    return ends


def _opens_a_clause(words: Sequence[Word], i: int) -> bool:
    word = words[i].text
    if word == "nor":
        return True
    if word not in CONJUNCTIONS or word == "or":
        return False
    if word != "and":
        return True
    after = [following.text for following in words[i + 1 : i + 4]]
    return after[:1] != [] and (after[0] in _STARTS_A_CLAUSE or after[0] in CUES or not AUXILIARIES.isdisjoint(after))
