"""Which words that no claim carries may stay unsaid in an answer, and which say a thing that nobody claims.

Nothing here knows what a word means. A word weighs where it is a number, a time, a negation, a bound, a name, a link or
a declared word of something else. What weighs nothing adds nothing where it only joins; where it stands among the
words of a claim, in one part of a sentence, and brings in no new thing ("a voucher"); or in mere courtesy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from operator import or_

from bylaw.hold.answers.background import Background, Quoted, find_reasons, is_telling, spell_reason
from bylaw.hold.answers.courtesy import Replies, find_governed, is_courteous, is_statement, side_of_reply
from bylaw.hold.bearing import Bearing, is_empty
from bylaw.hold.foreign import find_foreign
from bylaw.hold.standing import is_negation
from bylaw.hold.text import Seen
from bylaw.hold.values import Values
from bylaw.hold.words import Index, Mention, Owner, stems_of
from bylaw.language.lexicon import closed, lexicon, stem
from bylaw.language.text import Token

JOINING = frozenset(("but", "or", "also", "plus", "which", "who", "whose", "whom", "as", "first", "instead"))
_LEADING = frozenset(("if", "only", "whether", "until"))  # carried where a claim carries what follows
_REASONS = frozenset(("because", "since"))
_WEIGHING = (
    "altering",
    "hedging",
    "inexact",
    "exceeding",
    "undercutting",
    "ranking_desc",
    "ranking_asc",
    "grouping",
    "often",
)
_BINDING = ("giving", "owing", "forbidding", "promising", "refusal", "restriction")


@dataclass(frozen=True, eq=False)
class Part:
    """A stretch of a sentence that says one thing: a pause or a conjunction begins another."""

    words: Sequence[Token]
    sentence: int  # its number
    own: Sequence[int]  # where the words begin that a claim carries
    last_given: int  # the same of claims that give something
    is_polite: bool  # it is quoted as courtesy
    is_unstated: bool  # nothing is stated in its sentence
    is_unclaimed: bool  # nor is anything asked there

    @property
    def is_claimed(self) -> bool:
        """Does a claim carry a word of it?"""
        return bool(self.own)

    @cached_property
    def telling(self) -> Sequence[Token]:
        """The words that say more than how others are joined."""
        return [token for token in self.words if is_telling(token)]

    @cached_property
    def bearers(self) -> Sequence[Token]:
        """The words behind the claim's own, or alone, that say on whom it falls: "is *on us*"."""
        last = max(self.own, default=-1)
        tail = [token for token in self.words if token.start > last]
        said = [token.word for token in tail]
        falls = len(said) > 1 and said[-2] in closed("preposition") and said[-1] in closed("personal")
        is_whole = said[:-2] == [] if not self.own else len(said) == 3 and said[0] in closed("copula")
        return tail if falls and is_whole else ()

    def is_thanked(self, token: Token) -> bool:
        """Does a courteous word stand before it, and does "to" not lead to it ("happy to clean")?"""
        before = [one.word for one in self.words if one.start < token.start]
        return any(map(is_courteous, before)) and before[-1] != "to"

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
        found = {token.start for token in self._outside()} | {*self._reasons()}
        for part in self._parts:
            left = [token for token in part.words if token.start not in self._carried and token.start not in found]
            found |= {token.start for token in left} - {token.start for token in self._weighing(left, part)}
        return frozenset(found)

    def _weighing(self, left: Sequence[Token], part: Part) -> Sequence[Token]:
        side = None if part.own else side_of_reply(part.words, part.is_unclaimed)
        if side is not None:
            return () if self._replies.is_carried(side, part.sentence) else left
        heavy = [token for token in left if not self._is_light(token, part)]
        if part.is_polite:
            return () if self._is_courtesy(part, heavy) else heavy
        return part.bearers if self._only_fills(part, heavy) else heavy

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
        for i, (passage, words) in enumerate(zip(self._seen.text.passages, self._sentences, strict=True)):
            pieces = [*split_parts(words)]
            is_unstated = all(token.start not in self._stating for token in words)
            is_unclaimed = all(token.start not in self._claiming for token in words)
            if passage.kind == "row" and len(pieces) > 1:  # the first cell is what the second one is about
                pieces = [(*pieces[0], *pieces[1]), *pieces[2:]]
            for piece in pieces:
                own = [t.start for t in piece if t.start in self._claiming and not (is_empty(t.word) or is_negation(t))]
                given = [start for start in own if start in self._giving]
                is_polite = any(token.start in polite for token in piece)
                found.append(Part(piece, i, own, max(given, default=-1), is_polite, is_unstated, is_unclaimed))
        return found

    @cached_property
    def _replies(self) -> Replies:
        order = {one.start: i for i, one in enumerate(self._seen.text.passages)}
        return Replies(self._bearings, order, self._known)

    def _reasons(self) -> Iterator[int]:
        """The words of reasons that the rules give for what a claim of the same sentence says, word for word."""
        for words in self._sentences if self._ruled.reasons else ():
            if any(token.start in self._giving for token in words):
                reasons = (one for one in find_reasons(words) if spell_reason(one) in self._ruled.reasons)
                yield from (token.start for reason in reasons for token in reason)

    # ---- word by word -----------------------------------------------------------------------------------------------

    def _is_light(self, token: Token, part: Part) -> bool:
        """Does the word only join, or repeat what the person, a claimed fact or the rules of the claim say?"""
        if part.is_polite and token.word in lexicon()["courtesy"] and token.word not in closed("altering"):
            return True
        if token.word in _LEADING:
            return self._leads_on(token, part)
        if token.start in self._heavy or (token.word in _REASONS and not part.is_claimed):
            return False
        if is_empty(token.word) or token.word in lexicon()["courtesy"] or _only_joins(token.word):
            return True
        if part.is_polite and token.start in self._comforting:
            return True
        stems = stems_of(token.word)
        is_known = not stems.isdisjoint(self._background)
        if part.is_polite:
            return not stems.isdisjoint(self._claimed) or (is_known and part.is_thanked(token))
        is_known = is_known or (part.last_given < 0 and not stems.isdisjoint(self._asked))  # "the return period"
        return part.is_claimed and (is_known or (token.start not in self._declared and self._repeats(token, part)))

    def _repeats(self, token: Token, part: Part) -> bool:
        """Does the word stand behind, or first before, the one that it does so in a rule about what is claimed?"""
        told = [stem(one.word) for one in part.telling]
        k = part.telling.index(token) if token in part.telling else -1
        beside = told[:2] if k == 0 else told[max(0, k - 1) : k + 1]
        return k >= 0 and tuple(beside) in self._ruled.pairs

    def _leads_on(self, token: Token, part: Part) -> bool:
        """Is what the word leads to carried, or nothing at all ("until then")?"""
        following = part.following[token.start]
        if following is None:
            return token.word != "if"
        return following.start in self._carried or (part.is_polite and is_courteous(following.word))

    @cached_property
    def _claimed(self) -> frozenset[str]:
        """The stems of the facts that are claimed anywhere in the answer."""
        names = {item.named or "" for one in self._bearings for item in (one.item, *one.item.when)}
        return frozenset[str]().union(*(self._index.own_of("fact", name) for name in sorted(names)))

    @cached_property
    def _background(self) -> frozenset[str]:
        """The stems of what was asked and told, and of the claimed facts."""
        return self._known.said | self._claimed

    @cached_property
    def _asked(self) -> frozenset[str]:
        """The stems of what the outcomes are called that are asked about: a limit beside them is theirs."""
        names = (self._index.get("asks", name) for name in sorted(self._known.asked))
        outcomes = (name for name in names if name is not None and name.kind == "outcome")
        return frozenset[str]().union(*(self._index.own(name) for name in outcomes))

    @cached_property
    def _ruled(self) -> Quoted:
        """What the rules say that give what is claimed."""
        actions = sorted({one.item.action for one in self._bearings if one.item.action is not None})
        return reduce(or_, (self._known.ruled.get(name, Quoted()) for name in actions), Quoted())

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
        others = (token for token in tokens if token.word in lexicon()["others"])  # who has not been spoken of
        found |= {token.start for token in others if stems_of(token.word).isdisjoint(self._known.said)}
        return frozenset(found - self._comforting | {*self._untrue()})

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

    @cached_property
    def _comforting(self) -> frozenset[int]:
        """A negation before a word of courtesy, in courtesy: "no problem", "I don't have better news"."""
        found: set[int] = set()
        for one in self._bearings:
            for part in split_parts(one.tokens) if one.item.kind == "courtesy" else ():
                last = max((k for k, token in enumerate(part) if token.word in lexicon()["courtesy"]), default=0)
                found |= {token.start for token in part[:last] if is_negation(token)}
        return frozenset(found)

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
        """Is it no more than one word, which a courteous one governs, or which states nothing where nothing else is?"""
        if len(left) > 1 or not self._weighs_nothing(left):
            return False
        if all(token.start in {*find_governed(part.words)} for token in left):
            return True
        is_first = self._alone.setdefault(part.sentence, left[0].start) == left[0].start
        is_echo = not stems_of(left[0].word).isdisjoint(self._known.said)
        return is_first and part.is_unstated and not is_echo and not is_statement(part.words, left[0])

    @cached_property
    def _alone(self) -> dict[int, int]:
        """By sentence, where the one word of courtesy begins that nothing governs."""
        return {}

    def _only_fills(self, part: Part, left: Sequence[Token]) -> bool:
        """Do the words, no more than the claims', only say how what is claimed is so, and bring in no new thing?"""
        if len(left) > len(part.own) or not self._weighs_nothing(left) or any(t.word.endswith("ly") for t in left):
            return False  # "-ly" says how far or how surely
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
def _subjects() -> frozenset[str]:
    return closed("determining") | closed("personal") | closed("pointing")
