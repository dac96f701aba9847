"""Other ways to say what a vocabulary declares: "battery swollen" for "is swollen", "not opened" for "unopened".

They follow from the form of the words alone, so that nobody has to write them down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bylaw.language.words import FUNCTION_WORDS

SLOT = "{value}"
_BEING = ("is", "was", "are", "were")
_HAVING = ("have {}", "got {}", "keep {}", "kept {}", "found {}", "with {}", "{} in hand", "if find {}")
_LACKING = (
    *(f"{word} {{}}" for word in ("no", "without", "lost", "lose", "missing", "misplaced", "nor")),
    *(f"{{}} {end}" for end in ("is lost", "got lost", "is gone", "is missing", "missing")),
)
_NOT_AT_ALL = ("not", "neither", "non", "no longer", "no means", "no way", "anything but", "far from")
_LIKE_NOTHING = {"nothing": "not anything", "nobody": "not anybody", "never": "not ever"}
_WELL = ("perfectly", "well", "great", "ok", "okay")
_OFFERS = ("has", "offers", "lists")
_UNABLE = ("can not", "not able to", "unable to", "failed to")
_UNWILLING = ("not want to", "refuse to", "refused to", "declined to")
HELPERS = frozenset(" ".join((*_NOT_AT_ALL, *_LIKE_NOTHING.values(), *_UNABLE, *_UNWILLING)).split())  # no slips
_OPPOSITE = {"with": "without", "without": "with"}
_SINCE = ("after", "since", "from")
_LEAST = 4  # letters of a word behind "un"


def of_flag(name: str, said: Sequence[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """What says that the yes-or-no fact *name* holds, or not: (text, value), *said* first."""
    prefix, _, noun = name.partition("_")
    is_state = prefix in _BEING and noun != ""
    texts = list(said)
    if prefix == "has" and noun:
        texts += [(form.format(noun), True) for form in _HAVING] + [(form.format(noun), False) for form in _LACKING]
    elif not texts:
        texts = [(noun if is_state else name, True)]
    elif is_state:
        texts += [(f"{word} {noun}", True) for word in ("is", "as", "can", "may")]
        texts += [(f"{word} {noun}", False) for word in _NOT_AT_ALL]
    return [*texts, *((other, value is same) for text, value in said for other, same in _of_text(text))]


def _of_text(text: str) -> Iterator[tuple[str, bool]]:
    """The same in other words, and whether they say the same or the opposite."""
    words = text.split()
    if (shorter := _without_being(words)) is not None:
        yield shorter, True
    if words[0] in _LIKE_NOTHING and len(words) > 1:  # "there isn't anything wrong" for "nothing is wrong"
        rest = words[2:] if words[1] in _BEING else words[1:]
        yield f"{_LIKE_NOTHING[words[0]]} {' '.join(rest)}", True
    if words[0] == "never" and len(words) > 1:
        yield f"not {' '.join(words[1:])}", True
    if len(words) == 2 and words[1] == "fine":
        yield from ((f"{words[0]} {well}", True) for well in _WELL)
    if len(words) == 2 and words[0].endswith("ed") and words[1] == "it":
        yield f"was {words[0]}", True  # "it was dropped" for "dropped it"
    if words[:2] == ["could", "not"]:
        yield from ((f"{form} {' '.join(words[2:])}", True) for form in _UNABLE)
    if words[:2] in (["does", "not"], ["do", "not"]):
        yield f"no longer {' '.join(words[2:])}", True
    if words[:2] == ["agreed", "to"]:
        yield from ((f"{form} {' '.join(words[2:])}", False) for form in _UNWILLING)
    if words[0] in _BEING and len(words) > 1 and words[1] != "not":
        yield from ((f"{no} {' '.join(words[1:])}", False) for no in _NOT_AT_ALL)
    if words[0] in _OPPOSITE and len(words) > 1:
        yield f"{_OPPOSITE[words[0]]} {' '.join(words[1:])}", False
    elif len(words) > 1:
        yield from ((f"did not {base} {' '.join(words[1:])}", False) for base in _bases(words[0]))
    elif text.startswith("un") and len(text) >= _LEAST + 2:
        yield from ((f"{no} {text[2:]}", True) for no in ("not", "never"))
        yield from ((form.format(text[2:]), False) for form in ("{} it", "still {}"))


def of_slot(text: str, is_count: bool) -> Iterator[str]:
    """Other ways to say a phrase with a slot. *is_count*: its number counts something, it measures nothing."""
    left, right = (part.strip() for part in text.split(SLOT))
    words, after = left.split(), right.split()
    if (shorter := _without_being(words)) is not None:
        yield f"{shorter} {SLOT} {right}"
    if "sells" in words:  # "a competitor has it for $180"
        yield from (f"{left.replace('sells', offers)} {SLOT} {right}" for offers in _OFFERS)
    if len(words) > 1 and words[-1] in _BEING and (len(words) > 2 or len(after) > 1):
        yield f"{' '.join(words[:-1])} {SLOT} {right}"
    if len(words) > 1 and words[-1] == "in" and words[-2].endswith("s") and len(words[-2]) > _LEAST:
        noun = f"{words[-2].removesuffix('s').removesuffix('e')}al"  # "renewal in", "arrival in"
        yield f"{' '.join((*words[:-2], noun, 'in'))} {SLOT} {right}"
    if words and after[-1:] == ["ago"]:
        nouns = [noun for word in words[-1:] for noun in (*_bases(word), *(f"{base}y" for base in _bases(word)))]
        yield from (f"{SLOT} {' '.join(after[:-1])} {since} {noun}" for noun in nouns for since in _SINCE)
    if words[-1:] == ["for"] and len(words) > 1 and after == ["days"]:
        yield f"{' '.join(words[:-1])} since {SLOT} days ago"
    if words[-1:] == ["of"] and len(words) > 1:
        yield f"{' '.join(words[:-1])} is {SLOT} {right}"
    if is_count and not words and after:
        yield f"{right} {SLOT} times"


def of_age(name: str) -> Iterator[str]:
    """How old somebody is, for the fact *name* ("rider_age") that is told in years."""
    who = name.removesuffix("_age").replace("_", " ")
    yield from (f"{said} {SLOT}" for said in (f"{who} is", f"{who} aged", "aged"))
    yield f"{SLOT} year old {who}"


def _without_being(words: Sequence[str]) -> str | None:
    """The words without the "is" between others: "parcel delivered"."""
    place = next((i for i, word in enumerate(words) if word in _BEING and 0 < i < len(words) - 1), None)
    rest = [word for i, word in enumerate(words) if i != place]
    return None if place is None or all(word in FUNCTION_WORDS for word in rest) else " ".join(rest)


def _bases(word: str) -> Iterator[str]:
    """What the past of a verb may come from; spelling alone does not tell which."""
    if word.endswith("ed") and len(word) > _LEAST:
        yield word[:-2]
        yield word[:-1]
        if word[-3] == word[-4]:
            yield word[:-3]
