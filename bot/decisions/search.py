"""A lexical search over decisions: BM25 with light stemming and weighted fields, the same result on every machine.

An inverted index in flat arrays, built once a snapshot in linear time; a question costs what its postings cost.
"""

from __future__ import annotations

import heapq
import re
import unicodedata
from array import array
from bisect import bisect_left
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import log
from threading import Lock

from bylaw.authored.decisions import Decision, Decisions
from bylaw.authored.machines.intents import SearchRules

_WORD = re.compile(r"[^\W_]+")
_STOP_WORDS = """
a about after again all also am an and any are as at be because been before being both but by can could decide decided
deciding decision decisions did do does doing done during each ever few for from further get got had has have having he
her here hers him his how i if in into is it its just let made make me more most my no nor not now of off on once only
or other our ours out over own please same say she should so some such tell than that the their theirs them then there
these they this those through to too under until up us very was we were what when where which while who whom whose why
will with would you your yours
"""
# Verbs that any decision may be told with: when the record uses another one, that says little against it.
_LIGHT_WORDS = """
abandon adopt add allow approve become begin bring build buy change choose close come create cut drop end enter exit
expand give go introduce join keep launch leave lose move need open pick pull put quit raise reduce reject remove
replace run sell set shut sign start stay stop switch take turn use want
"""
_IRREGULAR = {
    "became": "become",
    "began": "begin",
    "bought": "buy",
    "brought": "bring",
    "built": "build",
    "chose": "choose",
    "chosen": "choose",
    "gave": "give",
    "kept": "keep",
    "left": "leave",
    "lost": "lose",
    "ran": "run",
    "sold": "sell",
    "taken": "take",
    "took": "take",
    "went": "go",
}
_VOWEL = re.compile(r"[aeiouy]")
_STOP = frozenset(_STOP_WORDS.split())


@dataclass(frozen=True, slots=True)
class Hit:
    """A decision that shares words with the question. `confidence` in [0, 1]: how much of the question it explains."""

    id: str
    option: str
    confidence: float
    score: float


def words(text: str) -> Iterator[str]:
    """The words of *text*, folded and without possessives."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("'s ", " ")
    return (match.group() for match in _WORD.finditer(folded))


def terms(text: str) -> list[str]:
    """What *text* is about: its stems, in order, without the words that every question has."""
    return [stem(word) for word in words(text) if word not in _STOP and (len(word) > 1 or word.isdigit())]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A light stem: plural, -ing, -ed, a final e. Enough for `closing`, `closed`, `closes` to meet `close`."""
    word = _IRREGULAR.get(word, word)
    for ending, replacement in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return stem(word[: -len(ending)] + replacement)
    is_plural = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    if is_plural and (len(word) > 3 or (len(word) == 3 and not _VOWEL.search(word))):  # tvs, but neither gas nor yes
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) > 2 and _VOWEL.search(rest):
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


_LIGHT_STEMS = frozenset(stem(word) for word in _LIGHT_WORDS.split())


class DecisionSearch:
    """The index of one snapshot, weighed by *rules*. Immutable once built."""

    def __init__(self, decisions: Mapping[str, Decision], rules: SearchRules) -> None:
        self._fields = {name: int(weight) for name, weight in rules.fields}
        self._told_in_title, self._told_elsewhere = float(rules.told_in_title), float(rules.told_elsewhere)
        self._light_word, self._coverage = float(rules.light_word), float(rules.option_coverage)
        k1, b = float(rules.k1), float(rules.b)
        self._ids = sorted(decisions)
        self._options = [decisions[id].option for id in self._ids]
        self._documents: dict[str, array[int]] = defaultdict(lambda: array("I"))
        self._impacts: dict[str, array[float]] = defaultdict(lambda: array("f"))
        lengths = array("f")
        for number, id in enumerate(self._ids):
            weighed = self._weighed(decisions[id])
            lengths.append(weighed.total())
            for term, weight in weighed.items():
                self._documents[term].append(number)
                self._impacts[term].append(weight)
        mean = sum(lengths) / len(lengths) if lengths else 1.0
        damping = array("f", (k1 * (1 - b + b * length / mean) for length in lengths))
        for term, impacts in self._impacts.items():
            for at, number in enumerate(self._documents[term]):
                impacts[at] *= (k1 + 1) / (impacts[at] + damping[number])

    def find(self, text: str, k: int) -> list[Hit]:
        """The *k* decisions that explain most of *text*, best first; equal ones in the order of their ids."""
        asked = Counter(terms(text))
        known = sorted((term for term in asked if term in self._documents), key=lambda term: (self._df(term), term))
        scores: dict[int, float] = {}
        for term in known:
            weight = self._idf(term)
            documents, impacts = self._documents[term], self._impacts[term]
            if scores and len(documents) > max(1_000, 4 * len(scores)):
                # A frequent word after rare ones: it can reorder what they found, it does not add to it.
                for number in scores:
                    scores[number] += weight * self._impact(term, number)
                continue
            for number, impact in zip(documents, impacts, strict=True):
                scores[number] = scores.get(number, 0.0) + weight * impact
        # Confidence is dearer than a score: it is taken of the best few, and these are put in its order.
        best = heapq.nsmallest(max(4 * k, 20), scores, key=lambda number: (-scores[number], number))
        hits = [self._hit(number, scores[number], asked) for number in best]
        return sorted(hits, key=lambda hit: (-hit.confidence, -hit.score, hit.id))[:k]

    def _hit(self, number: int, score: float, asked: Iterable[str]) -> Hit:
        option = set(terms(self._options[number]))
        title = option | set(terms(self._ids[number].replace("_", "-")))
        told = total = 0.0
        for term in asked:
            if term in title:
                told, total = told + self._told_in_title * self._idf(term), total + self._idf(term)
            elif self._impact(term, number):
                # "why did it drop?" is not answered by whatever reason has the word "drop" in it
                share = self._told_elsewhere * (self._light_word if term in _LIGHT_STEMS else 1.0)
                told, total = told + share * self._idf(term), total + self._idf(term)
            else:
                total += self._idf(term) * (self._light_word if term in _LIGHT_STEMS else 1.0)
        named = sum(self._idf(term) for term in option.intersection(asked))
        of_option = sum(self._idf(term) for term in option)
        share = told / total if total else 0.0
        covered = named / of_option if of_option else 0.0
        confidence = (1 - self._coverage) * share + self._coverage * covered
        return Hit(self._ids[number], self._options[number], round(confidence, 6), round(score, 6))

    def _df(self, term: str) -> int:
        documents = self._documents.get(term)
        return len(documents) if documents else 0

    def _idf(self, term: str) -> float:
        """How rare the word is; one that no decision uses counts like one that a single decision uses."""
        frequency = max(1, self._df(term))
        return log(1 + (len(self._ids) - frequency + 0.5) / (frequency + 0.5))

    def _impact(self, term: str, number: int) -> float:
        documents = self._documents.get(term)
        if not documents:
            return 0.0
        at = bisect_left(documents, number)
        return self._impacts[term][at] if at < len(documents) and documents[at] == number else 0.0

    def _weighed(self, decision: Decision) -> Counter[str]:
        weighed: Counter[str] = Counter()
        for name, text in (
            ("option", decision.option),
            ("id", decision.id),
            ("tags", " ".join(decision.tags)),
            ("decision_maker", decision.decision_maker or ""),
            ("rationale", decision.rationale),
        ):
            for term in terms(text):
                weighed[term] += self._fields[name]
        return weighed


_KEPT = 4  # snapshots: the one being served, the one before, and what tests use
_built: OrderedDict[tuple[str, str], DecisionSearch] = OrderedDict()
_lock = Lock()


def search_of(decisions: Decisions, rules: SearchRules) -> DecisionSearch:
    """The index of this snapshot, built at its first use."""
    key = (decisions.snapshot_etag, str(rules))
    with _lock:
        found = _built.get(key)
        if found is None:
            found = _built[key] = DecisionSearch(decisions.decisions, rules)
            while len(_built) > _KEPT:
                _built.popitem(last=False)
        _built.move_to_end(key)
    return found
