"""Where a text says declared words: phrases that state a value, names of actions, and words around a number.

Words are matched as they are declared, whatever their endings, articles and tense; a phrase of a single word in its
singular or plural alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.enforcement.question.kept import kept
from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.language.figures import Figure
from bylaw.language.lexicon import closed, content, lexicon, stem
from bylaw.language.text import Text, clean, tokens
from bylaw.language.text import words_of as plain_words
from bylaw.language.typos import Nearest
from bylaw.language.units import unit_named
from bylaw.language.words import spoken

_SLOT = "{value}"
_GAP = 4  # words between what stands before a number and the number: "bought a new TV 20 days ago"
_MOST_CORRECTED = 500  # words of a text whose slips are put right
_AGING = closed("aging")
_TIMES = (stem("times"),)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text. Words of one `clause` stand in one sentence, with no pause between them."""

    word: str
    stem: str
    start: int
    end: int
    clause: int
    passage: int


@dataclass(frozen=True, slots=True)
class Mention:
    """Declared words in a text: whose they are, what value they say (None: the name of an action), and where."""

    owner: str
    value: bool | str | None
    used: frozenset[int]
    negations: int = 0  # words of negation within it
    is_name: bool = False  # the bare name of a value, which nobody listed as said by people

    @property
    def first(self) -> int:
        """Its first word."""
        return min(self.used)

    @property
    def last(self) -> int:
        """Its last word."""
        return max(self.used)


@dataclass(frozen=True, slots=True)
class Place:
    """A number where words of a fact stand around it; the better they fit, the higher the `rank`."""

    fact: str
    used: frozenset[int]
    rank: int


@kept(128)
def words_of(text: Text) -> tuple[Word, ...]:
    """The words and numbers of *text*, contractions as two."""
    starts = [passage.start for passage in text.passages]
    found = []
    for token in text.tokens:
        if token.word[0].isalnum():
            passage = bisect_left(starts, token.start + 1)
            found += [
                Word(one, _stem(one), token.start, token.end, token.clause, passage) for one in spoken(token.word)
            ]
    return tuple(found)


def _stem(word: str) -> str:
    short = word[:-1] if len(word) == 3 and word[-1] == "s" and word not in lexicon()["function"] else word
    return stem(lexicon().auxiliaries.get(word, short))  # "TVs"


def _phrase(text: str, is_whole: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words and stems of a declared phrase, without articles unless it *is_whole*."""
    words = [one for token in tokens(clean(text)) if token.word[0].isalnum() for one in spoken(token.word)]
    told = [word for word in words if is_whole or word not in lexicon()["determining"]]
    return tuple(told), tuple(map(_stem, told))


# ---- what is declared -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Phrase:
    owner: str
    value: bool | str | None
    stems: tuple[str, ...]
    single: str | None  # the only word that carries content, which is matched as it stands
    is_name: bool


@dataclass(frozen=True, slots=True)
class _Slot:
    fact: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    is_measured: bool  # the unit belongs to the number, and what is `after` stands behind it
    has_unit: bool  # it names a unit, so that a bare number is not meant
    is_close: bool  # what is `before` governs what follows it ("I am …", "in …"): no other thing stands between


class Phrases:
    """The phrases of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._by_first: dict[str, list[_Phrase]] = defaultdict(list)
        self._slots: list[_Slot] = []
        spelled: set[str] = set()
        declared = [*_declared(vocabulary)]
        apart = _apart(declared)
        for owner, value, text, is_name in declared:
            words, stems = _phrase(text, (owner, text) in apart)
            carrying = [word for word in words if content([word])]
            if stems and (carrying or len(stems) > 1) and not all(word in lexicon()["negation"] for word in words):
                single = carrying[0] if len(carrying) == 1 and value is not None else None
                self._by_first[stems[0]].append(_Phrase(owner, value, stems, single, is_name))
                spelled.update(words)
        for name, fact in vocabulary.facts.items():
            slots = [one for one in fact.phrases if _SLOT in one]
            if fact.type in ("integer", "decimal") and not slots:  # what it is called stands before its number
                slots = [f"{one} {_SLOT}" for one in (name.replace("_", " "), fact.label) if one]
            self._slots += [_slot(name, fact, one) for one in slots]
        self._deeds = [
            _Phrase(one.fact, True, one.before, None, False) for one in self._slots if one.after[:1] == _TIMES
        ]
        self._nearest = Nearest(spelled)
        self.ages = tuple(name for name, fact in sorted(vocabulary.facts.items()) if _is_age(name, fact))
        self._kinds = {name: fact for name, fact in vocabulary.facts.items() if fact.type == "enum"}
        self._roles = frozenset(_of_people(vocabulary))

    def find(self, words: Sequence[Word]) -> tuple[Mention, ...]:
        """The phrases in *words*; none within a longer one."""
        words = [*(self._corrected(word) for word in words[:_MOST_CORRECTED]), *words[_MOST_CORRECTED:]]
        found = [
            one for i, word in enumerate(words) for p in self._by_first.get(word.stem, ()) for one in _at(words, i, p)
        ]
        around: dict[int, list[Mention]] = defaultdict(list)
        for one in found:
            for i in one.used:
                around[i].append(one)
        return tuple(
            dict.fromkeys(one for one in found if not any(self._is_within(one, other) for other in around[one.first]))
        )

    def _is_within(self, one: Mention, other: Mention) -> bool:
        """Does *one* say nothing beside the longer *other*? "Bring a dog" names what is done, and the dog, too."""
        is_object = other.value is None and other.used - one.used == {other.first}
        is_told = is_object and one.owner in self._kinds and one.owner not in self._roles
        return one.used < other.used and not is_told

    def deeds(self, words: Sequence[Word]) -> Iterator[Mention]:
        """Where *words* tell, without a number, what a fact counts by its times: "renewed it"."""
        for deed in self._deeds:
            for i, word in enumerate(words):
                yield from _at(words, i, deed) if deed.stems[:1] == (word.stem,) else ()

    def by_kind(self, words: Sequence[Word]) -> tuple[str, ...]:
        """The actions that a text names with a value in the place of its fact: "bring a cat", an animal.

        What a flag tells between the words of the phrase does not part them: "bring my unregistered cat".
        """
        named: list[str] = []
        found = self.find(words)
        flags = frozenset().union(*(one.used for one in found if isinstance(one.value, bool)))
        for one in found:
            if isinstance(one.value, str) and one.owner not in self._roles:
                first, last = words[one.first], words[one.last]
                place = (first.start, last.end, first.clause, first.passage)
                kind = [Word(word, _stem(word), *place) for word in _phrase(one.owner.replace("_", " "))[0]]
                before = [word for k, word in enumerate(words[: one.first]) if k not in flags]
                said = [*before, *kind, *words[one.last + 1 :]]
                named += [other.owner for other in self.find(said) if other.value is None]
        return tuple(dict.fromkeys(named))

    def _corrected(self, word: Word) -> Word:
        """The word that was meant, where the one that is written is a slip of the keyboard."""
        meant = None if word.stem in self._by_first or not word.word.isalpha() else self._nearest.correct(word.word)
        return word if meant is None else Word(meant, _stem(meant), word.start, word.end, word.clause, word.passage)

    def places(self, words: Sequence[Word], starts: Sequence[int], figure: Figure) -> Iterator[Place]:
        """The facts whose words stand around *figure*. The words start at *starts*."""
        first, core, end = (bisect_left(starts, at) for at in (figure.start, figure.core or figure.end, figure.end))
        is_day = figure.unit in ("date", "day of the year")
        for slot in self._slots:
            if slot.is_measured and slot.has_unit and figure.unit is None:
                continue
            after = tuple(one for one in slot.after if one != "ago") if is_day else slot.after
            behind = _following(words, end if slot.is_measured else core, after, first)
            if behind is None and slot.is_measured and figure.per:  # "190 EUR a night": what it counts by is declared
                behind = _following(words, max(end - len(after), core), after, first)
            ahead = None if behind is None else _preceding(words, first, slot.before, slot.is_close)
            if ahead is None and behind is not None and slot.before and slot.after:  # "20 days ago I bought it"
                ahead = _following_freely(words, end + len(behind), slot.before, first)
            if behind is not None and ahead is not None:
                gap = abs(first - 1 - max(ahead)) if ahead else 0
                rank = 10 * (len(slot.before) + len(after)) - min(gap, 9)
                yield Place(slot.fact, frozenset((*range(first, end), *ahead, *behind)), rank)


@kept(8)
def phrases_of(vocabulary: Vocabulary) -> Phrases:
    """The phrases of *vocabulary*; those of the last few are kept."""
    return Phrases(vocabulary)


def _is_age(name: str, fact: Fact) -> bool:
    """Is the fact the age of somebody, in years?"""
    said = plain_words(f"{name.replace('_', ' ')} {fact.label or ''} {fact.ask or ''}")
    is_years = fact.unit is None or unit_named(fact.unit) == "years"
    return fact.type in ("integer", "decimal") and is_years and any(word in _AGING for word in said)


def _of_people(vocabulary: Vocabulary) -> Iterator[str]:
    """The facts that say who somebody is: "ask a manager" does not tell that whoever asks is one."""
    for kinds in vocabulary.defaults.values():
        yield from (fact for kind, fact in kinds.items() if kind in ("role_requirement", "customer_tier"))


def _declared(vocabulary: Vocabulary) -> Iterator[tuple[str, bool | str | None, str, bool]]:
    for name, fact in vocabulary.facts.items():
        for value, text, is_name in said_by(name, fact):
            yield name, value, text, is_name
    for name, action in vocabulary.actions.items():
        for text in (name.replace("_", " "), action.label or "", *action.phrases):
            if text:
                yield vocabulary.canonical(name), None, text, False


def _apart(declared: Iterable[tuple[str, bool | str | None, str, bool]]) -> set[tuple[str, str]]:
    """The phrases, with their owner, that nothing but "my" and "your" keeps from saying another value as well."""
    said: dict[tuple[str, tuple[str, ...]], dict[bool | str | None, list[str]]] = defaultdict(lambda: defaultdict(list))
    for owner, value, text, _ in declared:
        said[owner, _phrase(text)[1]][value].append(text)
    several = [(owner, values) for (owner, _), values in said.items() if len(values) > 1]
    return {(owner, text) for owner, values in several for texts in values.values() for text in texts}


def said_by(name: str, fact: Fact) -> Iterator[tuple[bool | str, str, bool]]:
    """What states each value of a flag or a category, and whether it is but the name of the value."""
    for value, synonyms in fact.values.items():
        yield value, value.replace("_", " "), value.replace("_", " ") not in synonyms
        yield from ((value, text, False) for text in synonyms)
    if fact.type == "boolean":
        told: Mapping[str, Iterable[str]] = fact.phrases if isinstance(fact.phrases, dict) else {"true": fact.phrases}
        yield from ((key == "true", text, False) for key, texts in told.items() for text in texts)
        if not any(told.values()):
            yield from ((True, text, False) for text in (fact.label or "", name.replace("_", " ")) if text)


def _slot(name: str, fact: Fact, text: str) -> _Slot:
    """The words around the number of a phrase. Its unit is the number's, where the fact has one."""
    before, _, after = text.partition(_SLOT)
    behind = [token.word for token in tokens(clean(after)) if token.word[0].isalnum()]
    unit = lexicon().unit(behind, 0) if behind else None
    is_measured = fact.unit is not None or fact.type == "date"
    if unit and is_measured and unit[0] == unit_named(fact.unit):
        behind = behind[unit[1] :]
    stems = tuple(_stem(word) for word in behind if word not in lexicon()["determining"])
    ahead, has_sign = _phrase(before), before.rstrip()[-1:] in tuple("$€£¥₹")
    is_close = bool(ahead[0]) and not content(ahead[0])
    return _Slot(name, ahead[1], stems, is_measured, bool(unit) or has_sign, is_close)


# ---- matching -------------------------------------------------------------------------------------------------------


def _at(words: Sequence[Word], i: int, phrase: _Phrase) -> Iterator[Mention]:
    """The phrase from word *i* on. Articles and adverbs may stand within it, within a flag a negation and how long."""
    used = [i]
    k, negations = i + 1, 0
    lex = lexicon()
    for wanted in phrase.stems[1:]:
        if wanted == "be" and k < len(words) and words[k].stem != "be":
            continue  # "seal broken"
        while k < len(words) and words[k].stem != wanted:
            is_flag = isinstance(phrase.value, bool)
            if is_flag and (length := _measure_at(words, k)):  # "leave two weeks before the end"
                k += length
                continue
            is_negation = is_flag and words[k].word in lex["negation"]
            if not (
                is_negation
                or (is_flag and words[k].word in lex.auxiliaries)
                or words[k].word in lex["determining"]
                or words[k].word in lex["filling"]
            ):
                return
            negations += is_negation
            k += 1
        if k >= len(words) or words[k].clause != words[i].clause or words[k].passage != words[i].passage:
            return
        used.append(k)
        k += 1
    if phrase.single is None or any(_is_form(words[k].word, phrase.single) for k in used):
        yield Mention(phrase.owner, phrase.value, frozenset(used), negations, phrase.is_name)


def _measure_at(words: Sequence[Word], k: int) -> int:
    """How many words the number and its unit at *k* take; none where no such stands there."""
    lex = lexicon()
    if not (words[k].word[0].isdecimal() or words[k].word in lex.numbers or words[k].word in ("a", "an")):
        return 0
    unit = lex.unit([word.word for word in words[k + 1 : k + 4]], 0)
    return 1 + unit[1] if unit else 0


def _is_form(word: str, declared: str) -> bool:
    """Is it the word, in the singular or the plural?"""
    short, long = sorted((word, declared), key=len)
    return word == declared or long in (f"{short}s", f"{short}es") or (long[-3:] == "ies" and long[:-3] == short[:-1])


def _following(words: Sequence[Word], k: int, wanted: Sequence[str], first: int) -> list[int] | None:
    """The places of the words *wanted* directly behind a number, None where they are not there."""
    used: list[int] = []
    for one in wanted:
        is_often = one == "time" and first < len(words) and words[first].word in ("once", "twice", "thrice")
        if is_often:  # "twice" is two times
            continue
        while k < len(words) and words[k].word in lexicon()["determining"]:
            k += 1
        if k >= len(words) or words[k].stem != one or not _is_near(words, first, k):
            return None
        used.append(k)
        k += 1
    return used


def _following_freely(words: Sequence[Word], k: int, wanted: Sequence[str], first: int) -> list[int] | None:
    """The places of the words *wanted* a few words behind a number that opens its clause."""
    if first and _is_near(words, first, first - 1):
        return None
    behind = range(k, min(k + _GAP, len(words)))
    used = [next((i for i in behind if words[i].stem == one and _is_near(words, first, i)), -1) for one in wanted]
    return used if used == sorted(used) and -1 not in used else None


def _preceding(words: Sequence[Word], first: int, wanted: Sequence[str], is_close: bool) -> list[int] | None:
    """The places of the words *wanted* before a number in its clause, the last a few words away from it at most, and
    where it *is_close* none that carry content.
    """
    used: list[int] = []
    k, gap = first - 1, _GAP
    for one in reversed(wanted):
        while k >= 0 and words[k].stem != one:
            is_light = words[k].word in lexicon()["determining"] or words[k].word in lexicon()["filling"]
            gap -= not is_light
            is_other = not used and (words[k].word[0].isdecimal() or (is_close and bool(content([words[k].word]))))
            if gap < 0 or is_other or not _is_near(words, first, k):
                return None
            k -= 1
        if k < 0 or not _is_near(words, first, k):
            return None
        used.append(k)
        k -= 1
    return used


def _is_near(words: Sequence[Word], one: int, other: int) -> bool:
    return one < len(words) and (words[one].clause, words[one].passage) == (words[other].clause, words[other].passage)
