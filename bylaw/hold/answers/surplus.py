"""Which words that no claim carries may stay unsaid in an answer, and which say a thing that nobody claims.

Nothing here knows what a word means. A word weighs where it is a number, a time, a negation, a bound, a name, a link or
a declared word of something else. What weighs nothing adds nothing where it only joins; where it stands among the
words of a claim, in one part of a sentence, and brings in no new thing ("a voucher"); or in mere courtesy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise

from bylaw.hold.bearing import Bearing, is_empty
from bylaw.hold.foreign import find_foreign
from bylaw.hold.standing import is_negation
from bylaw.hold.text import Seen
from bylaw.hold.values import Values
from bylaw.hold.words import Index, Mention, Owner, stems_of
from bylaw.language.lexicon import closed, lexicon
from bylaw.language.text import Token
from bylaw.language.words import spoken

JOINING = frozenset(("but", "or", "also", "plus", "which", "who", "whose", "whom", "as", "first", "instead"))
_LEADING = frozenset(("if", "only", "whether", "until"))  # carried where a claim carries what follows
_REASONS = frozenset(("because", "since"))
_WEIGHING = ("altering", "inexact", "exceeding", "undercutting", "ranking_desc", "ranking_asc", "grouping", "often")
_BINDING = ("giving", "owing", "forbidding", "promising", "refusal", "restriction")
_TURNING_DOWN = ("refusal", "forbidding", "restriction", "negation")


@dataclass(frozen=True)
class Background:
    """What is known beside the claims of an answer.

    `said` are stems of what the person said, `told` the values of the facts, `asked` the names that the question is
    about, `ruled` by action the stems of what its policies quote; `permitted` are actions that a rule permits.
    """

    said: frozenset[str] = frozenset()
    told: Mapping[str, str] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()
    ruled: Mapping[str, frozenset[str]] = field(default_factory=dict)
    permitted: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Part:
    """A stretch of a sentence that says one thing: a pause or a conjunction begins another."""

    words: Sequence[Token]
    own: Sequence[int]  # where the words begin that a claim carries
    last_given: int  # the same of claims that give something
    is_polite: bool  # it is quoted as courtesy
    is_alone: bool  # nothing is stated in its sentence
    is_unclaimed: bool  # nor is anything asked there

    @property
    def is_claimed(self) -> bool:
        """Does a claim carry a word of it?"""
        return bool(self.own)

    @cached_property
    def hands_over(self) -> bool:
        """Does it hold a verb of giving?"""
        return any(token.word in lexicon()["giving"] for token in self.words)

    @cached_property
    def following(self) -> Mapping[int, Token | None]:
        """By where a word begins, the next one that says something."""
        found: dict[int, Token | None] = {}
        behind: Token | None = None
        for token in reversed(self.words):
            found[token.start] = behind
            if not is_empty(token.word) and token.word not in closed("function"):
                behind = token
        return found


class Surplus:
    """The words of one answer beside what its claims carry."""

    def __init__(
        self, seen: Seen, index: Index, values: Values, bearings: Sequence[Bearing], known: Background
    ) -> None:
        self._seen, self._index, self._values, self._known = seen, index, values, known
        self._bearings = [one for one in bearings if one.status != "refused"]
        self._carried = frozenset[int]().union(*(one.own for one in self._bearings))
        claiming = [one for one in self._bearings if one.item.kind not in ("courtesy", "outside")]
        self._claiming = frozenset[int]().union(*(one.own for one in claiming))
        self._stating = frozenset[int]().union(*(one.own for one in claiming if one.item.kind != "asks"))
        self._giving = frozenset[int]().union(*(one.own for one in claiming if one.item.kind in ("gives", "figure")))

    def find_light(self) -> frozenset[int]:
        """Where the words begin that nobody carries and that add nothing."""
        found = {token.start for token in self._outside()} | {*self._replies()}
        for part in self._parts:
            left = [token for token in part.words if token.start not in self._carried and token.start not in found]
            heavy = left if part.is_unclaimed and grants_unnamed(part.words) else self._weighing(left, part)
            found |= {token.start for token in left} - {token.start for token in heavy}
        return frozenset(found)

    def _weighing(self, left: Sequence[Token], part: Part) -> Sequence[Token]:
        heavy = [token for token in left if not self._is_light(token, part)]
        is_idle = self._is_courtesy(part, heavy) if part.is_polite else self._only_fills(part, heavy)
        return [] if is_idle else heavy

    # ---- the sentences ----------------------------------------------------------------------------------------------

    @cached_property
    def _sentences(self) -> Sequence[Sequence[Token]]:
        return [self._seen.words(one.start, one.end) for one in self._seen.text.passages]

    def _outside(self) -> Iterator[Token]:
        """The markers of a list stand in no sentence."""
        inside = {token.start for words in self._sentences for token in words}
        yield from (token for token in self._seen.text.tokens if token.start not in inside)

    @cached_property
    def _parts(self) -> Sequence[Part]:
        polite = {t.start for one in self._bearings if one.item.kind == "courtesy" for t in one.tokens}
        found: list[Part] = []
        for passage, words in zip(self._seen.text.passages, self._sentences, strict=True):
            pieces = [*split_parts(words)]
            is_alone = all(token.start not in self._stating for token in words)
            is_unclaimed = all(token.start not in self._claiming for token in words)
            if passage.kind == "row" and len(pieces) > 1:  # the first cell is what the second one is about
                pieces = [(*pieces[0], *pieces[1]), *pieces[2:]]
            for piece in pieces:
                own = [token.start for token in piece if token.start in self._claiming and not is_empty(token.word)]
                given = [start for start in own if start in self._giving]
                is_polite = any(token.start in polite for token in piece)
                found.append(Part(piece, own, max(given, default=-1), is_polite, is_alone, is_unclaimed))
        return found

    def _replies(self) -> Iterator[int]:
        """A "no" or "not quite" that stands alone before what it says: a claim that denies or turns down carries it."""
        passages = self._seen.text.passages
        denying = {one.passage.start for one in self._bearings if _turns_down(one)}
        for i, words in enumerate(self._sentences):
            first = [token for token in words if token.clause == words[0].clause]
            is_bare = all(is_negation(t) or is_empty(t.word) or t.word in lexicon()["courtesy"] for t in first)
            if (
                is_bare
                and any(map(is_negation, first))
                and not denying.isdisjoint(p.start for p in passages[i : i + 2])
            ):
                yield from (token.start for token in first)

    # ---- word by word -----------------------------------------------------------------------------------------------

    def _is_light(self, token: Token, part: Part) -> bool:
        """Does the word only join, or repeat what the person, a claimed fact or the rules of the claim say?"""
        if token.word in _LEADING:
            return self._leads_on(token, part)
        if token.start in self._heavy or (token.word in _REASONS and not part.is_claimed):
            return False
        if is_empty(token.word) or token.word in lexicon()["courtesy"] or _only_joins(token.word):
            return True
        known = self._claimed | self._known.said if token.start in self._declared else self._background
        return (part.is_claimed or part.is_polite) and not stems_of(token.word).isdisjoint(known)

    def _leads_on(self, token: Token, part: Part) -> bool:
        """Is what the word leads to carried, or nothing at all ("until then")?"""
        following = part.following[token.start]
        return token.word != "if" if following is None else following.start in self._carried

    @cached_property
    def _claimed(self) -> frozenset[str]:
        """The stems of the facts that are claimed anywhere in the answer."""
        names = {item.named or "" for one in self._bearings for item in (one.item, *one.item.when)}
        return frozenset[str]().union(*(self._index.own_of("fact", name) for name in sorted(names)))

    @cached_property
    def _background(self) -> frozenset[str]:
        """The stems of what was asked and told, of the claimed facts, and of the rules about what is claimed.

        What rules say of another action ("a voucher") is not said of the claimed one.
        """
        actions = sorted({one.item.action for one in self._bearings if one.item.action is not None})
        mine = frozenset[str]().union(*(self._index.own_of("asks", name) for name in actions))
        others = self._index.words_of_actions - mine
        ruled = frozenset[str]().union(*(self._known.ruled.get(name, frozenset()) for name in actions))
        return self._known.said | self._claimed | (ruled - others)

    @cached_property
    def _mentions(self) -> Sequence[tuple[Mention, Sequence[Token]]]:
        return [(m, words[m.first : m.last + 1]) for words in self._sentences for m in self._index.find(words)]

    @cached_property
    def _declared(self) -> frozenset[int]:
        """The words of declared phrases: they are things of their own."""
        return frozenset(word.start for _, words in self._mentions for word in words)

    @cached_property
    def _heavy(self) -> frozenset[int]:
        """The words that weigh: numbers, times, negations, words that alter or bound, links, other scripts, names."""
        tokens = self._seen.text.tokens
        spans = [(one.start, one.end) for one in self._values.figures if one.is_firm]
        spans += [(one.begins, one.ends) for one in self._values.spans]
        spans += [*find_foreign(self._seen)]
        found = {token.start for start, end in spans for token in self._seen.text.within(start, end)}
        found |= {t.start for t in tokens if is_negation(t) or t.word[0].isdecimal() or self._is_name(t)}
        words = [token.word for token in tokens]
        for kind in _WEIGHING:
            for first, behind in lexicon()[kind].find(words):
                if not self._only_leads(tokens, first, behind):
                    found |= {token.start for token in tokens[first:behind]}
        return frozenset(found - {*self._comforting()} | {*self._untrue()})

    def _only_leads(self, tokens: Sequence[Token], first: int, behind: int) -> bool:
        """Is it a conjunction ("once the …"), a word of a declared phrase, or of a claimed fact with its capital?"""
        found = tokens[first:behind]
        following = tokens[behind].word.partition("'")[0] if behind < len(tokens) else ""
        if found[0].word in JOINING or (found[0].word == "once" and following in _subjects()):
            return True
        shown = self._seen.text.seen
        is_called = all(shown[t.start].isupper() and not stems_of(t.word).isdisjoint(self._claimed) for t in found)
        return is_called or any(token.start in self._declared for token in found)

    def _untrue(self) -> Iterator[int]:
        """The words of declared phrases that say of a fact what was told otherwise."""
        for mention, words in self._mentions:
            if all(self._is_otherwise(owner) for owner in mention.owners):
                yield from (word.start for word in words)

    def _is_otherwise(self, owner: Owner) -> bool:
        return owner.value is not None and self._known.told.get(owner.name, owner.value) != owner.value

    def _comforting(self) -> Iterator[int]:
        """A negation before a word of courtesy, in courtesy: "no problem", "I don't have better news"."""
        for one in self._bearings:
            for part in split_parts(one.tokens) if one.item.kind == "courtesy" else ():
                last = max((k for k, token in enumerate(part) if token.word in lexicon()["courtesy"]), default=0)
                yield from (token.start for token in part[:last] if is_negation(token))

    def _is_name(self, token: Token) -> bool:
        """Has it a capital that neither the beginning of a sentence nor what is known gives it?"""
        shown = self._seen.text.seen
        if not shown[token.start].isupper() or token.word.partition("'")[0] == "i":
            return False
        before = shown[max(0, token.start - 40) : token.start].rstrip(" \"'(*-")
        begins = token.start == 0 or not before or before[-1] in ".!?:…\n|"
        return not begins and stems_of(token.word).isdisjoint(self._background)

    # ---- among the words of a claim ---------------------------------------------------------------------------------

    def _weighs_nothing(self, left: Sequence[Token]) -> bool:
        return not any(
            token.start in self._heavy or token.start in self._declared or token.word in _binding() for token in left
        )

    def _is_courtesy(self, part: Part, left: Sequence[Token]) -> bool:
        """Is it mostly courtesy, or one word that stands alone ("what a nuisance"), and no offer ("happy to …")?"""
        kind = [token for token in part.words if token.word in lexicon()["courtesy"] and token.word != "please"]
        starts = {token.start for token in left}
        leading = {before.word for before, token in pairwise(part.words) if token.start in starts}
        is_offer = "to" in leading or (part.words[0].word != "what" and not leading.isdisjoint(closed("indefinite")))
        most = len(kind) or int(part.is_alone)
        return len(left) <= most and not is_offer and self._weighs_nothing(left)

    def _only_fills(self, part: Part, left: Sequence[Token]) -> bool:
        """Do the words, no more than the claims', only say how what is claimed is so, and bring in no new thing?"""
        if len(left) > len(part.own) or not self._weighs_nothing(left):
            return False
        starts = {token.start for token in left}
        return not any(t.start in starts and self._is_new(part, k) for k, t in enumerate(part.words))

    def _is_new(self, part: Part, k: int) -> bool:
        """Is it handed over, or behind the claim's own words with "a" or a bare preposition?

        What has "the" or "your" before it is a thing that is known already; one right before a word of the claim says
        more of that ("a full refund").
        """
        words = part.words
        before = words[k - 1].word if k else ""
        if k + 1 < len(words) and words[k + 1].start in self._carried and not is_empty(words[k + 1].word):
            return False
        if before in lexicon()["giving"] or before in lexicon()["light"]:
            return True
        is_led = before in closed("indefinite")
        if part.last_given >= 0 and words[k].start > part.own[-1]:
            return is_led or before in closed("preposition")
        return is_led and k > 1 and part.hands_over


def _turns_down(one: Bearing) -> bool:
    """Does the claim deny, or give what turns down?"""
    if one.item.kind != "gives":
        return one.item.kind == "denies"
    return any(lexicon()[kind].any_in(one.words) for kind in _TURNING_DOWN) or any(map(is_negation, one.tokens))


def grants_unnamed(words: Sequence[Token]) -> bool:
    """Does a part say that somebody may, has or gets what it does not name: "you can", "sure, it is allowed"?

    Each of its words says nothing, and none is courteous; together they promise whatever was asked.
    """
    said = [token.word for token in words]
    affirming = {k for first, behind in lexicon()["affirming"].find(said) for k in range(first, behind)}
    left = [word for k, word in enumerate(said) if k not in affirming]
    if not all(is_empty(word) and word not in lexicon()["courtesy"] for word in left):
        return False
    return any(part in _predicates() for word in left for part in (word, *spoken(word)))


def split_parts(words: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The parts of a sentence that say one thing each."""
    at = 0
    for k, token in enumerate(words):
        if k > at and (token.word in closed("splitting") or token.clause != words[k - 1].clause):
            yield words[at:k]
            at = k
    if words[at:]:
        yield words[at:]


@lru_cache(maxsize=4096)
def _only_joins(word: str) -> bool:
    return any(word in lexicon()[kind] for kind in ("function", "joining", "causing"))


@lru_cache(maxsize=1)
def _binding() -> frozenset[str]:
    return frozenset[str]().union(*map(closed, _BINDING))


@lru_cache(maxsize=1)
def _predicates() -> frozenset[str]:
    return closed("auxiliary") | closed("copula") | closed("giving") | closed("light")


@lru_cache(maxsize=1)
def _subjects() -> frozenset[str]:
    return closed("determining") | closed("personal") | closed("pointing")
