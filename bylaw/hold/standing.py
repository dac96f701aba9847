"""How a text stands to what it says: denied, doubted, wished, of the past, of somebody else, or bound by a condition.

Closed classes of English only (`lexicon.yaml`); what only one trade says is no business of this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bylaw.hold.text import Seen
from bylaw.language.lexicon import closed, lexicon
from bylaw.language.text import Passage, Token

_SUBJECTS = frozenset(("i", "we", "you", "he", "she", "they", "it", "there", "my", "our", "the"))
_PRONOUNS = frozenset(("he", "she", "they", "him", "her", "them", "his", "their"))
_THIRD = frozenset(("he", "she"))

_REACH = 600  # characters around a quote in which its sentence is looked at: longer ones are an attack


def _begin(passage: Passage, start: int) -> int:
    """Where the part of the sentence begins that is near enough to govern a quote."""
    return max(passage.start, start - _REACH)


def is_negation(token: Token) -> bool:
    """Does the word deny?"""
    return token.word in lexicon()["negation"] or token.word.endswith(("n't", "n’t"))


def negations(seen: Seen, passage: Passage, place: tuple[int, int], named: Iterable[Token]) -> int:
    """How many negations govern the words of *place*: those in it or before it in its clause.

    One within a declared phrase (*named*) denies nothing, nor does one that only opens a question ("can't I …?").
    """
    start, end = place
    inside = {token.start for token in named}
    tokens = [token for token in seen.text.within(_begin(passage, start), end) if token.word[0].isalnum()]
    clauses = {token.clause for token in tokens if token.start >= start}
    ending = closed("ending_scope")
    count = 0
    for k, token in enumerate(tokens):
        if token.clause not in clauses:
            continue
        is_begun_anew = token.word in ("and", "but", "so") and tokens[k + 1 : k + 2] and tokens[k + 1].word in _SUBJECTS
        if (token.start <= start and token.word in ending) or (token.start < start and is_begun_anew):
            count = 0
        elif token.word == "non" and not _reaches(tokens, k, start):
            continue  # "non-vegan food in Rome" denies no Rome
        elif is_negation(token) and token.start not in inside and not _opens_question(seen, passage, tokens, k):
            count += 1
    return count


def _reaches(tokens: Sequence[Token], k: int, start: int) -> bool:
    """Does the word right behind place *k* belong to what begins at *start*?"""
    return k + 1 < len(tokens) and tokens[k + 1].start >= start


def _opens_question(seen: Seen, passage: Passage, tokens: Sequence[Token], k: int) -> bool:
    """Is it the contraction that a question begins with, "can't I …?", "why don't we …?"?"""
    is_question = seen.text.seen[passage.start : passage.end].rstrip().endswith("?")
    behind = tokens[k + 1].word if k + 1 < len(tokens) else ""
    return is_question and tokens[k].word.endswith("n't") and k <= 2 and behind in closed("personal") | _PRONOUNS


def unsure(seen: Seen, passage: Passage, place: tuple[int, int], asked: Sequence[tuple[int, int]] = ()) -> str | None:
    """Why what is said there is not said to be so: doubted, wished, intended, or past; None where it is.

    A wish for what is *asked*, words between it and the place, is the question: "I want to build a shed of 9 m²".
    """
    tokens = seen.words(_begin(passage, place[0]), min(passage.end, place[1] + _REACH))
    clauses = {token.clause for token in tokens if place[0] <= token.start < place[1]}
    near = [token for token in tokens if token.clause in clauses]
    turns = [k for k, token in enumerate(near) if token.start < place[0] and token.word in ("but", "and", "so")]
    near = near[turns[-1] + 1 :] if turns else near  # "I used to be one, but now I am …"
    words = [token.word for token in near if token.start < place[1]]
    for name, why in (
        ("doubting", "in doubt"),
        ("hedging", "in doubt"),
        ("wishing", "wished"),
        ("intending", "intended"),
    ):
        for first, behind in lexicon()[name].find(words):
            is_question = name in ("wishing", "intending") and any(
                near[behind - 1].start < start <= place[0] for start, _ in asked
            )
            if not is_question:
                return f"“{' '.join(words[first:behind])}” says that it is {why}"
    said = [token.word for token in near]
    for first, behind in lexicon()["past"].find(said):
        return f"“{' '.join(said[first:behind])}” says that it is past"
    return None


def of_another(seen: Seen, passage: Passage, place: tuple[int, int], named: Iterable[Token] = ()) -> str | None:
    """The person beside the one who asks whom the words speak of; None where the question is about that person too.

    One within a declared phrase (*named*: "the neighbours agree") is what the fact is about.
    """
    own = {token.start for token in named}
    before = seen.words(_begin(passage, place[0]), place[1])
    clauses = {token.clause for token in before if token.start >= place[0]}
    near = [token for token in before if token.clause in clauses and token.start not in own]
    others = [token.word for token in near if _is_person(token.word)]
    if not others:
        return None
    for one in seen.text.passages:
        if one is passage or not seen.text.seen[one.start : one.end].rstrip().endswith("?"):
            continue
        asked = {token.word for token in seen.words(one.start, one.end)}
        if asked & (_PRONOUNS | set(others)):
            return None
    is_asked = seen.text.seen[passage.start : passage.end].rstrip().endswith("?")
    return None if is_asked else others[0]


def of_speaker(seen: Seen, passage: Passage, place: tuple[int, int]) -> bool:
    """Is it said of the one who asks ("I joined in May"), where each question is about somebody else ("may she")?"""
    before = seen.words(_begin(passage, place[0]), place[1])
    clauses = {token.clause for token in before if token.start >= place[0]}
    near = {token.word for token in before if token.clause in clauses}
    asking = [one for one in seen.text.passages if seen.text.seen[one.start : one.end].rstrip().endswith("?")]
    is_mine = bool(near & {"i", "i'm", "i've"}) and not any(_is_person(word) or word in _THIRD for word in near)
    return is_mine and passage not in asking and bool(asking) and all(_is_of_third(seen, one) for one in asking)


def _is_of_third(seen: Seen, passage: Passage) -> bool:
    """Does the question begin with somebody else: "may she …", "can my friend …"?"""
    words = [token.word for token in seen.words(passage.start, passage.end)]
    for k, word in enumerate(words[:-2]):
        if word in closed("auxiliary") or word in lexicon().auxiliaries:
            return words[k + 1] in _THIRD or (words[k + 1] in closed("determining") and _is_person(words[k + 2]))
    return False


def _is_person(word: str) -> bool:
    others = lexicon()["others"]
    return word in others or (word.endswith("'s") and word[:-2] in others)


def altering(tokens: Sequence[Token], but: frozenset[int] = frozenset()) -> list[Token]:
    """The words that alter what is said, but for those that begin at the places *but*."""
    words = [token.word for token in tokens]
    spans = lexicon()["altering"].find(words)
    return [tokens[first] for first, _ in spans if tokens[first].start not in but]


def is_excepted(seen: Seen, passage: Passage, place: tuple[int, int]) -> bool:
    """Does "unless" or "except" lead into the words, or stand in them?"""
    tokens = seen.words(_begin(passage, place[0]), place[1])
    clauses = {token.clause for token in tokens if token.start >= place[0]}
    return any(token.word in ("unless", "except") and token.clause in clauses for token in tokens)
