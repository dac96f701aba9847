"""Does the text bear the claims? Quotes, figures, declared phrases, courtesy, and what each claim rests on.

What fails here is unread: nobody says that it is wrong, and it never passes. What only one reader's claim rests on is
`weak`: an independent second reading with the same claim would bear it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from bot.claims.declared import Declared, Mention
from bot.claims.measures import agree, measures, told_measures
from bot.claims.models import Claim
from bylaw.hold.foreign import find_foreign
from bylaw.hold.text import see
from bylaw.language.figures import Figure, figures_in
from bylaw.language.glyphs import disguised
from bylaw.language.lexicon import closed, content, lexicon, stem
from bylaw.language.text import Passage, Text, Token, words_of
from bylaw.logic.formula.ir import Atom, Value

_RELATIVE = closed("relative")
_ENDING = closed("ending_scope")
_TIMES = lexicon().often
_OPENING = closed("opening_a_place")
_BINDING = frozenset(
    (one, will) for one in ("i", "we", "you") for will in ("will", "shall")
)  # bind who speaks, or promise
_TIMED = {"days": "day", "weeks": "week", "months": "month", "years": "year", "hours": "hour", "minutes": "minute"}
_ADVERBS = {"daily": "day", "annual": "year", "annually": "year", "yearly": "year", "weekly": "week", "hourly": "hour"}


class Place(NamedTuple):
    """Where a quote stands, and the passage that holds it."""

    start: int
    end: int
    passage: Passage


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch that no claim bears (`claim` is None), or a claim that its text does not bear."""

    quote: str
    why: str
    claim: int | None = None
    is_weak: bool = False


@dataclass(frozen=True)
class ToldCase:
    """What the person told: the facts of the case, tests that others pass, and the words of the question."""

    facts: Mapping[str, Value]
    query: str = ""
    bounds: Mapping[str, tuple[Atom, ...]] = field(default_factory=dict)


class Coverage:
    """One text and the claims about it."""

    def __init__(self, text: Text, claims: Sequence[Claim], words: Declared, told: ToldCase) -> None:
        self.text, self.claims, self.words, self.told = text, claims, words, told
        self.figures = figures_in(text)
        self.places: list[tuple[Place, ...]] = [tuple(self._places(claim.quote)) for claim in claims]
        self._told_words = frozenset(map(stem, words_of(told.query)))
        values = [*told.facts.items()]
        values += [(name, one.value) for name, those in told.bounds.items() for one in those if one.op != "in"]  # type: ignore[misc]  # then it is one value
        self._told_figures = [one for name, value in values for one in told_measures(words, name, value)]

    def gaps(self) -> Iterator[Gap]:
        """Everything that the text and the claims do not share."""
        word = disguised(self.text.seen)
        if word is not None:
            yield Gap(word, "it is not the word that it looks like")
        yield from self._foreign()
        yield from self._quotes()
        yield from self._passages()
        yield from self._figures()
        yield from self._multiplied()
        yield from self._phrases()
        yield from self._shared()
        yield from self._courtesies()
        for i, claim in enumerate(self.claims):
            if self.places[i]:
                yield from self._borne(i, claim)

    def _foreign(self) -> Iterator[Gap]:
        """A link, a handle, markup or another script is said by no declared word, nor is it mere courtesy."""
        seen = see(self.text.source)
        outside = [place for claim in self.claims if claim.kind == "outside" for place in seen.find(claim.quote)]
        for start, end in find_foreign(seen):
            said = seen.text.seen[start:end]
            if said not in self.told.query and not any(one <= start and end <= other for one, other in outside):
                yield Gap(said, "a link, markup or another script, which no claim says")

    def _near(self, passage: Passage) -> Sequence[int]:
        """The claims of which a quote stands in the paragraph or bullet of *passage*, by number."""
        return self._by_block.get(passage.block, ())

    @cached_property
    def _by_block(self) -> Mapping[int, Sequence[int]]:
        found: dict[int, dict[int, None]] = {}
        for i, claim in enumerate(self.claims):
            own = [place for when in claim.when if when.quote is not None for place in self._places(when.quote)]
            for place in (*self.places[i], *own):
                found.setdefault(place.passage.block, {})[i] = None
        return {block: tuple(those) for block, those in found.items()}

    def passages_of(self, i: int) -> frozenset[int]:
        """The starts of the passages in which the quote of claim *i* stands."""
        return frozenset(place.passage.start for place in self.places[i])

    def tells(self, i: int, action: str) -> bool:
        """Does claim *i* tell of the action in words that share one with what it is called, or as a figure of it?"""
        if self.claims[i].kind == "figure":
            return True
        said = (token.word for p in self.places[i] for token in self.text.within(p.start, p.end))
        return not content(said).isdisjoint(self.words.telling(action))

    # ---- quotes -----------------------------------------------------------------------------------------------------

    def _places(self, quote: str) -> Iterator[Place]:
        for start, end in self.text.find(quote):
            passage = self.text.passage_of(start, end)
            if passage is not None and self._is_whole(start, end):
                yield Place(start, end, passage)

    def _is_whole(self, start: int, end: int) -> bool:
        """Does the quote begin and end where words do?"""
        seen = self.text.seen
        cuts = (seen[start - 1 : start + 1], seen[end - 1 : end + 1])
        return not any(len(cut) == 2 and cut[0].isalnum() and cut[1].isalnum() for cut in cuts)

    def _quotes(self) -> Iterator[Gap]:
        for i, claim in enumerate(self.claims):
            if self.places[i]:
                for condition in claim.when:
                    if condition.quote is not None and not [*self._places(condition.quote)]:
                        yield Gap(condition.quote, "the text does not say this within one sentence", i)
                continue
            found = self.text.find(claim.quote)
            why = "the quote lies in more than one sentence" if found else "the text does not say this"
            yield Gap(claim.quote, why, i)

    def _passages(self) -> Iterator[Gap]:
        """Every sentence holds a quote, and what lies outside the quotes is courtesy by itself."""
        for passage in self.text.passages:
            spans = sorted((p.start, p.end) for p in self._quoted() if p.passage.block == passage.block)
            spans = [(max(start, passage.start), min(end, passage.end)) for start, end in spans]
            spans = [(start, end) for start, end in spans if start < end]
            if not spans and not self._is_mere_courtesy(passage.start, passage.end):
                yield Gap(self._shown(passage.start, passage.end), "no claim says what this means")
                continue
            if spans and self._is_repeated_only(passage) and not self._is_mere_courtesy_beside(passage, spans):
                yield Gap(
                    self._shown(passage.start, passage.end), "a claim of another sentence quotes but a part of it"
                )
                continue
            at = passage.start
            for start, end in (*spans, (passage.end, passage.end)):
                if start > at and (why := self._left_over(at, start, passage, spans)):
                    yield Gap(self._shown(at, start), why)
                at = max(at, end)

    def _is_repeated_only(self, passage: Passage) -> bool:
        """Are the quotes in it all of claims that an earlier sentence bears?"""
        firsts = [[place.passage.start for place in places] for places in self.places]
        mine = [starts for starts in firsts if passage.start in starts]
        return bool(mine) and all(min(starts) < passage.start for starts in mine)

    def _is_mere_courtesy_beside(self, passage: Passage, spans: Sequence[tuple[int, int]]) -> bool:
        edges = [passage.start, *(at for span in spans for at in span), passage.end]
        gaps = zip(edges[::2], edges[1::2], strict=True)
        return all(start >= end or self._is_mere_courtesy(start, end) for start, end in gaps)

    def _quoted(self) -> Iterator[Place]:
        """Every place that some claim quotes, for what it says or for a condition of it."""
        for i, claim in enumerate(self.claims):
            yield from self.places[i]
            for condition in claim.when if self.places[i] else ():
                yield from self._places(condition.quote) if condition.quote is not None else ()

    def _shown(self, start: int, end: int) -> str:
        return self.text.seen[start:end].strip(" ,;:\n|")

    def _is_mere_courtesy(self, start: int, end: int) -> bool:
        """Is each of its words one of courtesy, or an empty one?"""
        words = [token.word for token in self.text.within(start, end) if token.word[0].isalnum()]
        courtesy, empty = lexicon()["courtesy"], lexicon()["function"]
        is_said = all(word in courtesy or word in empty for word in words) and any(word in courtesy for word in words)
        return not words or (is_said and self.not_courtesy(start, end) is None)

    def _left_over(self, start: int, end: int, passage: Passage, spans: Sequence[tuple[int, int]]) -> str | None:
        """Why what lies between quotes is more than courtesy and the words that join."""
        tokens = self.text.within(start, end)
        words = [token.word for token in tokens if token.word[0].isalnum()]
        if not words:
            return None
        lex = lexicon()
        before_quote = end < passage.end
        last = [token for token in tokens if token.clause == tokens[-1].clause and token.word[0].isalnum()]
        nearby = [token for token in last if token.word != "without"]
        if before_quote and tokens[-1].word[0].isalnum() and (_denies(nearby) or _disables(nearby)):
            return "a negation stands before the quote"
        kept = words
        while kept and (kept[-1] in lex["joining"] or kept[-1] in lex["causing"]) and before_quote:
            kept = kept[:-1]
        while kept and kept[0] in lex["joining"] and kept[0] not in lex["causing"] and start > passage.start:
            kept = kept[1:]
        if lex["causing"].any_in(kept):
            return "a reason or a condition that no claim carries"
        return self.not_courtesy(start, end)

    # ---- courtesy ---------------------------------------------------------------------------------------------------

    def _courtesies(self) -> Iterator[Gap]:
        for i, claim in enumerate(self.claims):
            if claim.kind == "courtesy":
                for place in self.places[i]:
                    if why := self.not_courtesy(place.start, place.end):
                        yield Gap(claim.quote, f"this is no courtesy: {why}", i)
                        break
            elif claim.kind in ("fact", "limit") and (why := self._promises(i)):
                yield Gap(claim.quote, f"this is more than a fact: {why}", i)
            elif claim.kind == "asks":
                for place in self.places[i][:1]:
                    if not self._asks(place):
                        yield Gap(claim.quote, "this asks for nothing", i)
                    elif not self._speaks_of(place, claim.fact or ""):
                        yield Gap(claim.quote, f"it does not ask for {self._label(claim.fact or '')}", i, is_weak=True)

    def _promises(self, i: int) -> str | None:
        """The promise in the words of claim *i* that no claim about an action quotes, if there is one."""
        acting = [p for k, one in enumerate(self.claims) if one.is_about_action for p in self.places[k]]
        for place in self.places[i]:
            tokens = [token for token in self.text.within(place.start, place.end) if token.word[0].isalnum()]
            words = [t.word for t in tokens if not any(p.start <= t.start < p.end for p in acting)]
            left = [one for word in words for one in word.replace("'ll", " will").split()]
            if found := next(iter(lexicon()["forbidding"].find(left)), None):
                return f"“{' '.join(left[found[0] : found[1]])}” forbids"
            if said := [pair for pair in pairwise(left) if pair in _BINDING]:
                return f"“{' '.join(said[0])}” says what comes of it"
        return None

    def _speaks_of(self, place: Place, fact: str) -> bool:
        """Does the sentence share a word with what is said of the fact?"""
        if fact not in self.words.vocabulary.facts:
            return True
        said = content(token.word for token in self.text.within(place.passage.start, place.passage.end))
        return not said.isdisjoint(self.words.words_of_fact(fact))

    def _asks(self, place: Place) -> bool:
        tokens = [token.word for token in self.text.within(place.passage.start, place.passage.end)]
        return "?" in tokens or lexicon()["asking"].any_in(tokens)

    def not_courtesy(self, start: int, end: int) -> str | None:
        """Why a stretch says more than courtesy, None where it does not."""
        for figure in self.figures:
            if figure.is_firm and start <= figure.start < end and not self._is_told(figure):
                return f"it holds the figure “{self.text.seen[figure.start : figure.end]}”"
        stretch = self.text.seen[start:end]
        if any(policy in stretch for policy in self.words.policies):
            return "it names a policy"
        tokens = [token for token in self.text.within(start, end) if token.word[0].isalnum()]
        for mention in self.words.actions.find(tokens):
            return f"it holds the declared words “{_said(tokens, mention)}”"
        for mention in self.words.states.find(tokens):
            if not self._is_repeated(mention, tokens):
                return f"it holds the declared words “{_said(tokens, mention)}”"
        return self._binds(token.word for token in tokens)

    def _binds(self, words: Iterable[str]) -> str | None:
        lex = lexicon()
        left: list[str] = []
        row = [*words]
        i = 0
        while i < len(row):
            length = lex["idioms"].at(row, i)
            left += ["…"] if length else [row[i]]
            i += length or 1
        for name in ("giving", "owing", "forbidding", "promising"):
            for first, behind in lex[name].find(left):
                return f"“{' '.join(left[first:behind])}” gives, owes or forbids"
        return None

    def _is_repeated(self, mention: Mention, tokens: Sequence[Token]) -> bool:
        """Do the words only repeat what the person told?"""
        for owner in mention.owners:
            name, _, value = owner.partition("=")
            if name in self.told.facts and str(self.told.facts[name]) == value:
                return True
        return {stem(token.word) for token in tokens[mention.first : mention.last + 1]} <= self._told_words

    # ---- figures ----------------------------------------------------------------------------------------------------

    def _figures(self) -> Iterator[Gap]:
        for figure in self.figures:
            passage = self.text.passage_of(figure.start, figure.start + 1)
            if not figure.is_firm or passage is None or self._is_told(figure):
                continue
            is_carried = any(self._is_carried(figure, i, self.claims[i]) for i in self._near(passage))
            if not is_carried and not self._is_phrased(figure, passage):
                shown = self.text.seen[figure.start : figure.end]
                yield Gap(shown, f"no claim carries the figure “{shown}”", self._within(figure.start, figure.core))

    def _multiplied(self) -> Iterator[Gap]:
        """No word multiplies ("twice the fee") in a claim about an action that has figures of its own."""
        for i, claim in enumerate(self.claims):
            if not claim.is_about_action or not self.words.figures_of(
                self.words.vocabulary.canonical(claim.action or "")
            ):
                continue
            for place in self.places[i]:
                for token in self.text.within(place.start, place.end):
                    if _TIMES.get(token.word, 0) > 1 and stem(token.word) not in self._told_words:
                        yield Gap(claim.quote, f"no claim carries “{token.word}”", i)

    def _within(self, start: int, end: int) -> int | None:
        """The claim whose quote holds a stretch, the shortest one: it does not say all that its quote says."""
        holding = [
            (place.end - place.start, i)
            for i, places in enumerate(self.places)
            for place in places
            if place.start <= start and end <= place.end
        ]
        return min(holding)[1] if holding else None

    def _is_phrased(self, figure: Figure, passage: Passage) -> bool:
        """Is the figure part of a longer declared phrase, in the quote of a claim that names its action?"""
        tokens = [token for token in self.text.within(passage.start, passage.end) if token.word[0].isalnum()]
        for mention in self.words.phrases.find(tokens):
            start, end = tokens[mention.first].start, tokens[mention.last].end
            if start <= figure.start and figure.core <= end:
                return any(self._names(i, self.claims[i], mention, start, end) for i in self._near(passage))
        return False

    def _is_told(self, figure: Figure) -> bool:
        if figure.per in _TIMED:
            return False
        return any(agree(figure, told) for told in self._told_figures)

    def _is_carried(self, figure: Figure, i: int, claim: Claim) -> bool:
        lies_in = any(place.start <= figure.start and figure.core <= place.end for place in self.places[i])
        if not lies_in:
            own = [p for c in claim.when if c.quote is not None for p in self._places(c.quote)]
            lies_in = any(place.start <= figure.start and figure.core <= place.end for place in own)
        if not lies_in:
            return False
        if claim.kind == "outside":
            return True
        for name, value, unit in _values_of(claim):
            if any(agree(figure, told) for told in measures(self.words, name, value, unit)):
                is_rate = figure.per not in _TIMED or self._has_period(figure.per, claim, name, unit)
                return is_rate and not (figure.per in _TIMED and self._is_multiple(claim))
        return False

    def _is_multiple(self, claim: Claim) -> bool:
        """Is a claimed figure none of its action's own: so much for several days is not so much for each?"""
        if claim.kind != "figure" or claim.action is None:
            return False
        own = [one for one, _, _ in self.words.figures_of(self.words.vocabulary.canonical(claim.action))]
        told = [*measures(self.words, None, claim.value, claim.unit)]
        return bool(own) and not any(one.amount == other.amount for one in own for other in told)

    def _has_period(self, per: str, claim: Claim, fact: str | None, unit: str | None) -> bool:
        """Is the period beside a figure one that the claim's declared words speak of?"""
        words = set(words_of(unit or ""))
        if claim.action is not None:
            action = self.words.vocabulary.canonical(claim.action)
            for text in (action, *self.words.phrases_of(action)):
                words.update(words_of(text))
            for _, figure, by in self.words.figures_of(action):
                if figure is not None and figure.per == per:
                    return True
                if by in self.words.vocabulary.facts and per == self.words.unit_of(by or ""):
                    return True
                words.update(words_of(by or ""))
        if fact in self.words.vocabulary.facts:
            words.update(self.words.words_of_fact(fact or ""))
        said = {stem(_ADVERBS.get(word, word)) for word in words}
        return stem(_TIMED[per]) in said

    # ---- phrases ----------------------------------------------------------------------------------------------------

    def _phrases(self) -> Iterator[Gap]:
        """Every phrase of an action lies in the quote of a claim that names it."""
        for passage in self.text.passages:
            tokens = [token for token in self.text.within(passage.start, passage.end) if token.word[0].isalnum()]
            for mention in self.words.actions.find(tokens):
                start, end = tokens[mention.first].start, tokens[mention.last].end
                is_named = any(self._names(i, self.claims[i], mention, start, end) for i in self._near(passage))
                if not is_named and not self._is_stated(tokens, mention, passage):
                    said = _said(tokens, mention)
                    yield Gap(said, f"no claim about “{said}” says what this means", self._within(start, end))

    def _shared(self) -> Iterator[Gap]:
        """Where claims about several actions quote the same words, these speak of each."""
        for i, claim in enumerate(self.claims):
            action = self.words.vocabulary.canonical(claim.action or "")
            for other in self.claims if claim.is_about_action else ():
                theirs = self.words.vocabulary.canonical(other.action or "")
                outcome = self.words.vocabulary.outcome_of(action)
                is_alike = outcome is not None and outcome == self.words.vocabulary.outcome_of(theirs)
                if other.is_about_action and theirs != action and not is_alike and other.quote in claim.quote:
                    apart = self.words.telling(action) - self.words.telling(theirs)
                    if apart and content(words_of(claim.quote)).isdisjoint(apart):
                        yield Gap(claim.quote, f"no word of it speaks of {self.words.called(action)}", i, is_weak=True)
                        break

    def _is_stated(self, tokens: Sequence[Token], phrase: Mention, passage: Passage) -> bool:
        """Do the words state a fact as well, and does a claim in whose quote they stand say that it is so?"""
        owners = [one.owners for one in self.words.states.find(tokens) if one.covers(phrase)]
        start, end = tokens[phrase.first].start, tokens[phrase.last].end
        return any(
            f"{fact}={value}" in stated
            for stated in owners
            for i in self._near(passage)
            if any(place.start <= start and end <= place.end for place in self.places[i])
            for fact, value, _ in _values_of(self.claims[i])
        )

    def _names(self, i: int, claim: Claim, mention: Mention, start: int, end: int) -> bool:
        if not claim.is_about_action or not any(p.start <= start and end <= p.end for p in self.places[i]):
            return False
        action = self.words.vocabulary.canonical(claim.action or "")
        if action in mention.owners:
            return True
        said = tuple(stem(token.word) for token in self.text.within(start, end) if token.word[0].isalnum())
        texts = (*self.words.phrases_of(action), *(self.words.denials_of(action) if claim.kind == "denies" else ()))
        return any(_holds(tuple(map(stem, words_of(text))), said) for text in texts)

    # ---- what a claim rests on --------------------------------------------------------------------------------------

    def _borne(self, i: int, claim: Claim) -> Iterator[Gap]:
        """What the words of a claim must say for it to be one."""
        facts = self.words.vocabulary.facts
        if claim.kind in ("fact", "limit", "figure") and (claim.fact is None or claim.fact in facts):
            condition = _Resting(claim.fact, claim.operator or "==", claim.value, claim.unit, True)
            why = self._bears(condition, [(p.start, p.end) for p in self.places[i]])
            if why:
                yield Gap(claim.quote, why, i, is_weak=True)
        for when in claim.when:
            if when.fact not in facts:
                continue
            own = [(p.start, p.end) for p in self._places(when.quote)] if when.quote is not None else []
            anywhere = [(passage.start, passage.end) for passage in self.text.passages]
            why = self._bears(_Resting(when.fact, when.operator, when.value, when.unit, bool(own)), own or anywhere)
            if why:
                yield Gap(when.quote or claim.quote, why, i, is_weak=True)
        is_known = claim.kind == "source" and claim.policy_id in self.words.policies
        if is_known and not self.words.is_cited(claim.policy_id or "", claim.quote):
            yield Gap(claim.quote, f"it does not name {claim.policy_id}", i, is_weak=True)
        action = self.words.vocabulary.canonical(claim.action or "")
        is_denied = [self._refuses(place) or self._is_denial(place, action) for place in self.places[i]]
        if claim.kind == "denies" and not any(is_denied):
            yield Gap(claim.quote, "a denial without a negation or a word of refusal", i, is_weak=True)
        is_declared = claim.kind == "gives" and claim.action in self.words.vocabulary.actions
        if is_declared and all(
            self._is_negated(place, action) or self._is_denial(place, action) for place in self.places[i]
        ):
            yield Gap(claim.quote, "a negation governs the very words that are claimed to be given", i, is_weak=True)

    def _bears(self, what: _Resting, spans: Sequence[tuple[int, int]]) -> str | None:
        """Why no stretch of *spans* bears that a fact (or a figure) has a value; None where one does."""
        values = what.value if isinstance(what.value, list) else [what.value]
        for value in values:
            if not any(self._says(what, value, start, end) for start, end in spans):
                name = "the figure" if what.fact is None else self._label(what.fact)
                return f"the words do not bear “{name}: {_shown_value(value, what.unit)}”"
        return None

    def _label(self, fact: str) -> str:
        declared = self.words.vocabulary.facts.get(fact)
        return declared.label if declared and declared.label else fact.replace("_", " ")

    def _says(self, what: _Resting, value: object, start: int, end: int) -> bool:
        variable = self.words.variables.get(what.fact or "")
        if variable is not None and variable.is_finite:
            tokens = [token for token in self.text.within(start, end) if token.word[0].isalnum()]
            said = {stem(token.word) for token in tokens}
            if said.isdisjoint(self._telling(what, value)) and not self._negates_another(what, said):
                return False
            if what.operator == "!=" and what.is_quoted and not self._negates(what, value, tokens):
                return False
            return not self._says_the_opposite(what, value, tokens)
        wanted = [*measures(self.words, what.fact, value, what.unit)]
        inside = [figure for figure in self.figures if start <= figure.start and figure.core <= end]
        return any(agree(figure, one) for figure in inside for one in wanted)

    def _telling(self, what: _Resting, value: object) -> frozenset[str]:
        """The stems that bear a value: of a category those that do not but name the fact ("all customers")."""
        bearing = self.words.bearing(what.fact or "", value)
        own = content(words_of(f"{what.fact or ''} {self._label(what.fact or '')}".replace("_", " ")))
        shared = (
            frozenset[str]() if isinstance(value, bool) else bearing - self.words.bearing_alone(what.fact or "", value)
        )
        return bearing - (own & shared) or bearing

    def _negates(self, what: _Resting, value: object, tokens: Sequence[Token]) -> bool:
        """Is a value denied: by a word that denies or leaves out, or by another value that is said?"""
        fact, said = self.words.vocabulary.facts[what.fact or ""], {stem(token.word) for token in tokens}
        others = (v for v in fact.values if v != value)
        is_other = any(not said.isdisjoint(self.words.bearing_alone(what.fact or "", v)) for v in others)
        return is_other or isinstance(value, bool) or _denies(tokens) or _turns_down(tokens)

    def _negates_another(self, what: _Resting, said: set[str]) -> bool:
        """A category that is said by what it is not."""
        fact = self.words.vocabulary.facts[what.fact or ""]
        return what.operator == "!=" and any(
            not said.isdisjoint(self.words.bearing(what.fact or "", v)) for v in fact.values
        )

    def _says_the_opposite(self, what: _Resting, value: object, tokens: Sequence[Token]) -> bool:
        """Do they state another category alone, or the other value of a flag: by its phrase, or by a negation?"""
        name = what.fact or ""
        found = [*self.words.states.find(tokens)]
        inside = {k for one in found for k in range(one.first, one.last + 1)}
        denials = [k for k, token in enumerate(tokens) if k not in inside and _is_no(token)]

        def said(k: int, is_yes: bool) -> bool:
            least = k - 1 if tokens[k].word in _OPENING else 0  # "it cannot be changed without flex cover"
            governing = [d for d in denials if least <= d < k and tokens[d].clause == tokens[k].clause]
            return is_yes is (len(governing) % 2 == 0)

        if not isinstance(value, bool):
            stated = {owner for one in found if said(one.first, True) for owner in one.owners}
            stated = {owner for owner in stated if owner.startswith(f"{name}=")}
            alone = self.words.bearing_alone(name, value)
            is_named = f"{name}={value}" in stated or any(stem(token.word) in alone for token in tokens)
            return what.operator != "!=" and bool(stated) and not is_named
        if what.operator not in ("==", "!="):
            return False
        meant = value is (what.operator == "==")
        yes, no = f"{name}=True", f"{name}=False"
        mine = [one for one in found if (yes in one.owners) is not (no in one.owners)]
        if mine:
            around = [token for k, token in enumerate(tokens) if k not in inside]
            return not _turns_down(around) and all(said(one.first, yes in one.owners) is not meant for one in mine)
        poles = {pole: self.words.bearing_alone(name, pole) for pole in (True, False)}
        words = [stem(token.word) for token in tokens]
        if meant and not poles[False].isdisjoint(words) and poles[True].isdisjoint(words):
            return not denials
        if meant:
            bearing = self.words.bearing(name, True)
            return not any(said(k, True) for k, word in enumerate(words) if word in bearing)
        return what.is_quoted and not denials and poles[False].isdisjoint(words) and not _turns_down(tokens)

    def _refuses(self, place: Place) -> bool:
        tokens = self.text.within(place.start, place.end)
        return _denies(tokens) or _turns_down(tokens)

    def _is_denial(self, place: Place, action: str) -> bool:
        """Does it hold the clause by which the label of the action denies it?"""
        tokens = [token for token in self.text.within(place.start, place.end) if token.word[0].isalnum()]
        given = [one for one in self.words.actions.find(tokens) if action in one.owners]  # the longest phrase wins
        denied = (one for one in self.words.denials.find(tokens) if action in one.owners)
        return any(not any(other.covers(one) for other in given) for one in denied)

    def _is_negated(self, place: Place, action: str) -> bool:
        """Does a negation before them, in their clause, govern the words of the action?"""
        tokens = self.text.within(place.start, place.end)
        texts = [action.replace("_", " "), *self.words.phrases_of(action)]
        wanted = [stems for text in texts if (stems := content(words_of(text)))]
        own = {stem(word) for text in texts for word in words_of(text)}
        lex = lexicon()["negation"]
        worded = [token for token in tokens if token.word[0].isalnum()]
        stated = {  # a negation within what states a fact ("without the receipt") is that fact's
            token.start for one in self.words.states.find(worded) for token in worded[one.first : one.last + 1]
        }
        negated: int | None = None
        behind: set[str] = set()
        is_aside = False  # within "that isn't …", which ends where something is given
        for k, token in enumerate(tokens):
            if negated is not None and token.clause != negated:
                negated = None
            if negated is None:
                is_no = token.start not in stated and (token.word in lex or token.word.endswith("n't"))
                if is_no and stem(token.word) not in own:
                    negated, behind = token.clause, set()
                    is_aside = any(one.word in _RELATIVE for one in tokens[max(k - 3, 0) : k])
                continue
            if token.word in _ENDING or (is_aside and token.word in lexicon()["giving"]):
                negated = None
                continue
            behind.add(stem(token.word))
            if any(one <= behind for one in wanted):
                return True
        return False


class _Resting(NamedTuple):
    fact: str | None
    operator: str
    value: object
    unit: str | None
    is_quoted: bool  # by words of its own


def _values_of(claim: Claim) -> Iterator[tuple[str | None, object, str | None]]:
    rows: list[tuple[str | None, object, str | None]] = []
    if claim.kind in ("fact", "limit", "figure"):
        rows.append((claim.fact, claim.value, claim.unit))
    rows += [(when.fact, when.value, when.unit) for when in claim.when]
    for fact, value, unit in rows:
        for one in value if isinstance(value, list) else [value]:
            yield fact, one, unit


def _denies(tokens: Sequence[Token]) -> bool:
    words = [token.word for token in tokens]
    return lexicon()["negation"].any_in(words) or any(word.endswith("n't") for word in words)


def _is_no(token: Token) -> bool:
    return token.word in lexicon()["negation"] or token.word.endswith("n't")


def _disables(tokens: Sequence[Token]) -> bool:
    """Does a verb or adjective of refusal lead into what follows: "we are unable to", "we refuse to"?"""
    words = [token.word for token in tokens]
    return words[-1:] == ["to"] and lexicon()["refusal"].any_in(words)


def _turns_down(tokens: Sequence[Token]) -> bool:
    words = [token.word for token in tokens]
    return any(lexicon()[name].any_in(words) for name in ("restriction", "refusal", "forbidding"))


def _holds(row: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(row[i : i + len(part)] == part for i in range(len(row) - len(part) + 1))


def _said(tokens: Sequence[Token], mention: Mention) -> str:
    return " ".join(token.word for token in tokens[mention.first : mention.last + 1])


def _shown_value(value: object, unit: str | None) -> str:
    shown = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
    return f"{shown} {unit}" if unit else str(shown)
