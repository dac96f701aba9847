"""Of whom something is said: of these alone, by whom it is done, and of which kind the case is said not to be."""

from __future__ import annotations

from collections.abc import Sequence

from bylaw.language.span import listed
from bylaw.language.words import AUXILIARIES, DETERMINERS, FUNCTION_WORDS, Word

_BEING = listed("be have do")
_LINKING = listed("be yet still live bought ordered purchased paid pay come from in with made sold")
_OF_A_KIND = listed("customer member product item order")


def is_of_these(words: Sequence[Word], start: int) -> bool:
    """Is it said of these alone: the members of "only Plus members get …"?"""
    i = next((k for k, word in enumerate(words) if word.start >= start), 0)
    return i > 0 and words[i - 1].text == "only" and words[-1].text not in AUXILIARIES  # "only VIPs do" says it of them


def is_done_by(words: Sequence[Word], start: int) -> bool:
    """Does it name who does it: "approved by a manager"?"""
    i = next((k for k, word in enumerate(words) if word.start >= start), 0)
    return [word.text for word in words[max(i - 2, 0) : i] if word.text not in DETERMINERS][-1:] == ["by"]


def is_subject_of_if(words: Sequence[Word], start: int, end: int) -> bool:
    """Is what is said there only what a condition is about: the phone of "if the phone is in order"?"""
    i = next((k for k, word in enumerate(words) if word.start >= start), 0)
    lead = [word.text for word in words[max(i - 2, 0) : i] if word.text not in DETERMINERS]
    after = next((word.text for word in words if word.start >= end), "")
    return lead[-1:] == ["if"] and after in AUXILIARIES


def is_told_not(words: Sequence[Word], called: Sequence[str]) -> bool:
    """Is it said of the case that it is not what is called so: "you are not a gold customer"?"""
    texts = [word.text for word in words]
    for i, word in enumerate(words):
        if (
            word.text not in ("not", "never")
            or texts[max(i - 1, 0)] not in _BEING
            or texts[max(i - 2, 0)] in ("we", "i")
        ):
            continue
        here = [k for k in range(i + 1, len(words)) if words[k].clause == word.clause and texts[k] not in DETERMINERS]
        while here and texts[here[0]] in _LINKING and texts[here[0]] != called[0]:
            here.pop(0)
        said, behind = tuple(texts[k] for k in here[: len(called)]), [texts[k] for k in here[len(called) :][:1]]
        if said == called and all(text in FUNCTION_WORDS | _OF_A_KIND for text in behind):
            return True
    return False
