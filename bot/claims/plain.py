"""The plain reader: what a short answer says in declared words and figures, without a model.

A sentence is read whole or not at all. Each of its words has to belong to a declared phrase, a figure that the case or
an action has, or a closed class of the lexicon; one word more, and nobody proposes what it means: it stays unread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby

from bot.claims.models import MOST_CLAIMS, Claim
from bot.claims.situation import Situation
from bylaw.hold.values import is_said
from bylaw.hold.words import Owner
from bylaw.language.figures import Amount, Figure, figures_in, measure
from bylaw.language.lexicon import content, lexicon, stem
from bylaw.language.text import Passage, Text, Token, parse, words_of

_ANSWERS = {"yes": True, "no": False}
_DENYING = ("forbidding", "negation")  # "may not" before the "not" in it
_CAREFUL = ("restriction", "hedging", "often", "scales")  # what a reader of words alone must not judge


def read(answer: str, case: Situation) -> tuple[Claim, ...]:
    """The claims in the sentences of *answer* that are understood to the last word."""
    text, figures = parse(answer), figures_in(parse(answer))
    meant = _meant(case)
    found = [(passage, _Sentence(text, figures, passage, case, meant).claims()) for passage in text.passages]
    understood = {passage.start for passage, claims in found if claims}
    if any(_answers(text, passage) and passage.start not in understood for passage in text.passages):
        return ()  # a yes to nobody knows what
    each = {claim.model_dump_json(): claim for _, claims in found for claim in claims}
    return tuple(each.values()) if len(each) <= MOST_CLAIMS else ()


def _answers(text: Text, passage: Passage) -> bool:
    """Does it begin with a yes or no that stands alone?"""
    words = [token for token in text.within(passage.start, passage.end) if token.word[0].isalnum()]
    return bool(words) and words[0].word in _ANSWERS and (len(words) == 1 or words[1].clause != words[0].clause)


def _meant(case: Situation) -> str | None:
    """The action that a bare yes grants: the one that the only question of the query names, and nothing besides."""
    text = parse(case.query)
    asked = [one for one in text.passages if text.seen[one.start : one.end].rstrip().endswith("?")]
    if len(asked) == 1:
        claims = _Sentence(text, figures_in(text), asked[0], case, None, is_question=True).claims()
        named = {claim.action for claim in claims if claim.kind == "gives"}
        if len(named) == 1 and all(claim.kind in ("gives", "fact") for claim in claims):
            return named.pop()
    return None


class _NotUnderstood(Exception):
    """A word, or a relation between words, that the reader does not know."""


class _Sentence:
    """One sentence, row or bullet, and what its words belong to."""

    def __init__(
        self,
        text: Text,
        figures: Sequence[Figure],
        passage: Passage,
        case: Situation,
        meant: str | None,
        is_question: bool = False,
    ) -> None:
        self.text, self.passage, self.case, self.words, self.meant = text, passage, case, case.words, meant
        said = text.seen[passage.start : passage.end]
        self.quote, self.start = said.strip(), passage.start + len(said) - len(said.lstrip())
        self.all = [token for token in text.within(passage.start, passage.end) if token.word[0].isalnum()]
        self.figures = [one for one in figures if one.is_firm and passage.start <= one.start < passage.end]
        self.is_question = is_question
        self.is_asking = self.quote.endswith("?") and not is_question
        self.known: set[int] = set()  # the starts of the tokens that are understood

    def claims(self) -> tuple[Claim, ...]:
        """What the sentence says; nothing where one word of it is not understood."""
        try:
            return tuple(self._asked() if self.is_asking else self._said())
        except _NotUnderstood:
            return ()

    def _asked(self) -> Iterator[Claim]:
        """A question for one fact, in the words of its label and its own question."""
        said = content(token.word for token in self.all)
        facts = self.words.vocabulary.facts.items()
        found = [name for name, fact in facts if fact.ask and said and content(words_of(fact.ask)) == said]
        if len(found) == 1 and not self.figures:
            yield Claim(kind="asks", quote=self.quote, fact=found[0])

    def _said(self) -> Iterator[Claim]:
        claims = [*self._answer(), *self._sources()]
        denials = self._actions("denied")
        owned = denials | self._actions(None)
        inside = set(self.known)
        states = [*self._states()]
        claims += self._figured({action for start, action in owned.items() if start not in denials}, inside)
        stated = {start for start, _, _ in states}
        for _, group in groupby(self.all, key=lambda token: token.clause):
            tokens = [*group]
            is_denial = any(token.start in denials for token in tokens)
            claims += self._clause(tokens, owned, {s: (f, v) for s, f, v in states}, is_denial)
        binding = ("causing",) if self.is_question else ("causing", "asking")
        is_bound = any(lexicon()[name].any_in(self._free(inside)) for name in binding)
        if is_bound and not (stated or any(claim.kind == "fact" for claim in claims)):
            raise _NotUnderstood  # a condition that is none of the declared words
        given = [claim.action for claim in claims if claim.kind == "gives" and claim.action is not None]
        more = any(self.meant and self.words.vocabulary.is_part(self.meant, action) for action in given)
        yield from (claim for claim in claims if not (more and claim.kind == "gives" and claim.action == self.meant))

    def _actions(self, value: str | None) -> dict[int, str]:
        """Whose the phrases are that give an action (None) or deny it, in words not yet understood, by their start."""
        owned: dict[int, str] = {}
        for tokens, owners in self._mentions():
            acting = {one.name for one in owners if one.value == value and self.words.index.is_action(one.name)}
            if len(acting) > 1:
                raise _NotUnderstood
            if acting:
                self._take(tokens)
                owned[tokens[0].start] = acting.pop()
        return owned

    def _mentions(self) -> Iterator[tuple[Sequence[Token], frozenset[Owner]]]:
        """The declared phrases in words that are not yet understood."""
        for one in self.words.said.find(self.all):
            tokens = self.all[one.first : one.last + 1]
            if all(token.start not in self.known for token in tokens):
                yield tokens, one.owners

    # ---- parts ------------------------------------------------------------------------------------------------------

    def _take(self, tokens: Sequence[Token]) -> None:
        self.known.update(token.start for token in tokens)

    def _free(self, taken: set[int]) -> list[str]:
        return [token.word for token in self.all if token.start not in taken]

    def _answer(self) -> Iterator[Claim]:
        """The yes or no in front."""
        if not _answers(self.text, self.passage):
            return
        first = self.all[0]
        if self.meant is None:
            raise _NotUnderstood
        self._take([first])
        yield Claim(kind="gives" if _ANSWERS[first.word] else "denies", quote=self.quote, action=self.meant)

    def _sources(self) -> Iterator[Claim]:
        for policy in sorted(self.words.policies):
            at = self.quote.find(policy)
            if at >= 0:
                start = self.start + at
                self._take(self.text.within(start, start + len(policy)))
                yield Claim(kind="source", quote=self.quote, policy_id=policy)

    def _states(self) -> Iterator[tuple[int, str, object]]:
        """The flags and categories that the sentence states: each as the case has it, or the sentence is not read."""
        for tokens, owners in self._mentions():
            told = sorted((one.name, one.value) for one in owners if one.value and one.name in self.words.variables)
            mine = [(fact, value) for fact, value in told if self._has(fact, value)]
            if not told or (len(mine) != 1 and len(told) > 1):
                raise _NotUnderstood
            fact, value = mine[0] if mine else told[0]
            self._take(tokens)
            is_flag = self.words.vocabulary.facts[fact].type == "boolean"
            yield tokens[0].start, fact, (value == "true") if is_flag else value

    def _has(self, fact: str, value: str) -> bool:
        """Does the case have that value of the fact?"""
        told = self.case.facts.get(fact)
        return (str(told).lower() if isinstance(told, bool) else str(told)) == value

    def _figured(self, actions: set[str], inside: set[int]) -> Iterator[Claim]:
        """The figures: one of an action that is named, or what the case has, beside words of that fact."""
        said = {stem(word) for word in self._free(inside)}
        for figure in self.figures:
            tokens = [token for token in self.all if figure.start <= token.start < figure.end]
            if self.is_question and any(self._tells(fact, figure) for fact in self.case.facts):
                self._take(tokens)  # whoever asks tells the case: nothing is said of it
                continue
            if all(token.start in inside for token in tokens):
                yield from self._figure_of_action(figure, actions, is_own=True)
                continue
            before = [token.word for token in self.all if token.end <= figure.start][-3:]
            if any(len(row) <= len(before) and tuple(before[-len(row) :]) == row for row in lexicon().comparisons):
                raise _NotUnderstood  # a limit: which rule draws it, and for what, words alone do not tell
            self._take(tokens)
            yield self._figure(figure, actions or self._asked_for(), said)

    def _tells(self, fact: str, figure: Figure) -> bool:
        """Does the case tell a number or a day that the figure says?"""
        variable, told = self.words.variables[fact], self.case.facts[fact]
        return not variable.is_finite and is_said(figure, variable.show(told), self.words.unit_of(fact))

    def _asked_for(self) -> set[str]:
        """The actions of the only outcome that is asked for: a figure that names none is of one of them ("65 EUR.").

        What the outcome is called says nothing more.
        """
        if self.is_question or len(self.case.outcomes) != 1 or self.case.actions:
            return set()
        outcome = self.case.outcomes[0]
        named = self.words.index.own_of("asks", outcome)
        self.known.update(token.start for token in self.all if stem(token.word) in named)
        vocabulary = self.words.vocabulary
        return {name for name in vocabulary.actions if vocabulary.outcome_of(name) == outcome}

    def _figure(self, figure: Figure, actions: set[str], said: set[str]) -> Claim:
        for claim in self._figure_of_action(figure, actions):
            return claim
        for fact, told in self.case.facts.items():
            unit = stem(self.words.unit_of(fact) or "")
            name = self.words.index.get("fact", fact)
            named = ((self.words.index.spelled(name) if name else frozenset()) & said) - {unit} - _empty()
            if named and self._tells(fact, figure):
                self.known.update(token.start for token in self.all if stem(token.word) in named)
                shown = self.words.variables[fact].show(told)
                return Claim(kind="fact", quote=self.quote, fact=fact, operator="==", value=shown)
        raise _NotUnderstood

    def _figure_of_action(self, figure: Figure, actions: set[str], is_own: bool = False) -> Iterator[Claim]:
        """The figure of an action, with its label's period; a bare one ("half") only within its words (*is_own*)."""
        unit, amounts = figure.unit, figure.values
        for action in sorted(actions) if unit or is_own else ():
            declared = ((one, said) for one, said, by in self.words.figures_of(action) if by is None)
            measures = [one for one, said in declared if said is None or said.per in (None, figure.per)]
            if any(measure(amount, unit) in measures for amount in amounts):
                yield Claim(kind="figure", quote=self.quote, action=action, value=_spelled(amounts), unit=unit)
                return

    # ---- clauses ----------------------------------------------------------------------------------------------------

    def _clause(
        self, tokens: Sequence[Token], owned: dict[int, str], states: dict[int, tuple[str, object]], is_denial: bool
    ) -> Iterator[Claim]:
        """What one clause says; of one that is a declared denial (*is_denial*), nothing else is denied."""
        lex = lexicon()
        rest = [token for token in tokens if token.start not in self.known]
        free = [token.word for token in rest]
        mine = [token.start for token in tokens if token.start in owned]
        stated = [token.start for token in tokens if token.start in states]
        negations: list[tuple[int, int]] = []
        for name in _DENYING:
            taken = {i for first, behind in negations for i in range(first, behind)}
            negations += [one for one in lex[name].find(free) if taken.isdisjoint(range(*one))]
        places = [rest[first].start for first, _ in negations]
        places += [token.start for token in rest if token.word.endswith("n't")]
        if is_denial and (places or len(mine) + len(stated) > 1):
            raise _NotUnderstood
        denied = mine[0] if is_denial else _governed(places, [*mine, *stated])
        covered = {i for first, behind in negations for i in range(first, behind)}
        left = [word for i, word in enumerate(free) if i not in covered]
        self._understand(left, bool(mine or stated or any(t.start in self.known for t in tokens)))
        if mine and tokens[-1].start in {token.start for token in rest} and tokens[-1].word in lex["bare"]:
            raise _NotUnderstood  # it goes on, and not with words that are known
        for start in mine:
            yield Claim(kind="denies" if start == denied else "gives", quote=self.quote, action=owned[start])
        for start in stated:
            fact, value = states[start]
            if start == denied and not isinstance(value, bool):
                raise _NotUnderstood
            told = (not value) if start == denied else value
            variable = self.words.variables[fact]
            if fact not in self.case.facts or variable.read(told) != self.case.facts[fact]:
                raise _NotUnderstood  # a reason or a supposition
            yield Claim(kind="fact", quote=self.quote, fact=fact, operator="==", value=told)

    def _understand(self, words: Sequence[str], is_said: bool) -> None:
        """Are all these words ones that add nothing to what a clause says?"""
        lex = lexicon()
        bound = [row for row, operator in lex.comparisons.items() if operator != "=="]
        careful = any(lex[name].any_in(words) for name in _CAREFUL)
        compared = any(tuple(words[i : i + len(row)]) == row for row in bound for i in range(len(words)))
        if careful or compared:
            raise _NotUnderstood
        known = ("bare", "light") if is_said else ("courtesy",)
        for word in words:
            bare = word.partition("'")[0]
            is_sorry = word in lex["courtesy"] and word in lex["refusal"]
            if not is_sorry and not any(bare in lex[name] for name in known):
                raise _NotUnderstood


def _governed(negations: Sequence[int], said: Sequence[int]) -> int | None:
    """What the negation of a clause denies: all that is said in it, or the one thing that is said behind it."""
    if not negations:
        return None
    behind = [start for start in said if start > negations[0]]
    if len(negations) > 1 or (len(said) != 1 and len(behind) != 1):
        raise _NotUnderstood
    return said[0] if len(said) == 1 else behind[0]


def _spelled(amounts: Sequence[Amount]) -> str:
    """One of the values that a figure may mean, a whole number where there is one."""
    return str(next((one for one in amounts if isinstance(one, Fraction) and one.denominator == 1), amounts[0]))


def _empty() -> frozenset[str]:
    return frozenset(map(stem, lexicon()["function"].by_first))
