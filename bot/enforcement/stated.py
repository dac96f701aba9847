"""What an answer states: which actions it promises or denies, under which condition, and what it says of the case.

Only what is said counts. A question, a wish ("you asked for…") and a quotation of a rule state nothing; "if", "would"
and their like make a statement conditional, and the facts of the condition are read with it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property

from bot.enforcement import labels, polarity
from bot.enforcement.bounds import of_others
from bot.enforcement.branches import Cases, branches, is_branch
from bot.enforcement.endings import is_meant, is_of_first
from bot.enforcement.facts import Read, Reading, read_text
from bot.enforcement.figures import Figure, told
from bot.enforcement.namings import Mention, Naming, Namings, namings
from bot.enforcement.of_whom import is_done_by, is_of_these, is_subject_of_if, is_told_not
from bot.enforcement.recognise import Topic
from bot.enforcement.said import Claim, Said, Stated
from bot.enforcement.senses import sense
from bot.enforcement.sentences import Quotable, Sentence, cited, concluded, repaid, sentence_of, sentences
from bot.enforcement.wordings import kinds
from bylaw.authored.vocabulary import Vocabulary
from bylaw.language.span import listed
from bylaw.language.words import AUXILIARIES, PREPOSITIONS, PRONOUNS, Word, read_words
from bylaw.logic.ir import Value, Variable

_ASSERTING = listed("because since as given due therefore so hence")
_ATTRIBUTED = re.compile(r"POL(?:-IMP)?-[A-Z]+-\d{3,} (?:says|states|gives|requires)\b")
_NO_POLICY = re.compile(r"(?i)\s*no (?:policy|rule)\b")  # that nothing speaks of an action promises nothing
ABOUT = listed("request policy period window rule question department team desk form status handbook term case")
_HAS = listed("no not your a")  # "your refund" is a promise, "the refund" need not be
_TESTING = listed("would could only need require required must whether")
_MODALS = listed("can could may might must will would shall should")
_ALLOWED = listed("possible allowed permitted")
_ADVERBS = listed("simply just still also always now again only")
_BEFORE_A_VERB = listed("not be no longer also simply still just ever never")
_JOINTS = listed("and but or then which while plus")  # what begins another statement of the clause
_DENYING = re.compile(r"(?i)\b(?:not|never)\b|n['’]t\b")
_DIGIT = re.compile(r"\d")
LONGEST = 400  # words of a sentence; no check reads on


@dataclass(frozen=True)
class Reader:
    """Reads answers by the words of one vocabulary. `known` are the facts of the case, `asked` what was asked."""

    vocabulary: Vocabulary
    variables: Mapping[str, Variable]
    today: date
    prefer: Collection[str] = ()
    known: Mapping[str, Value] = field(default_factory=dict)
    quotable: Quotable | None = None
    query: str = ""
    topic: Topic = field(default_factory=Topic)
    names: Namings | None = None  # how actions are called, those of the vocabulary unless it is given
    short: Namings | None = None  # how those are called in short that were asked about
    likely: str | None = None  # the outcome that the question is about, named or not

    def read(self, text: str) -> Stated:
        """What *text* states."""
        names = self.names or namings(self.vocabulary)
        parts = (part for sentence in sentences(text, self.quotable, self.query) for part in concluded(sentence))
        found: list[Said] = []
        before: Sentence | None = None
        for part in parts:
            found += self._in_cases(part, before, names)
            before = before if before is not None and is_branch(part.words) else part
        lead = next((i for i, said in enumerate(found) if not polarity.is_greeting(said.sentence.words)), 0)
        echo = polarity.echo(found[lead].sentence.words, self._question) if found else ()
        if echo:
            silent, beside = (
                tuple(word for word in rest if word not in echo) for rest in (found[lead].silent, found[lead].beside)
            )
            found[lead] = replace(found[lead], silent=silent, beside=beside, is_echo=True)
        opening = self._opening(found[lead:])
        if opening:
            first = found[lead]
            condition = self._supposed(first.sentence, first.reading) if first.is_conditional else {}
            if polarity.is_supposed(first.sentence.words):
                opening = [replace(claim, condition=condition) for claim in opening]
            if first.cases:
                opening = [*_in_each(opening, first.cases)]
            found[lead] = replace(first, claims=(*opening, *first.claims))
        return Stated(tuple(self._precise(found)), cited(text), lead)

    def _precise(self, found: Sequence[Said]) -> Iterator[Said]:
        """The sentences, where "no refund" gives way to what is given instead: "we cannot refund it, but …"."""
        given = {target for said in found for claim in said.claims for target in _given(claim)}
        instead = {
            naming.outcome: naming.stems
            for outcome in sorted({self.vocabulary.outcome_of(name) or "" for name in given})
            for naming in self._vague((outcome,))
            if given.isdisjoint(naming.targets)
        }
        for said in found if instead else ():
            claims = [c for c in said.claims if not (c.gives and c.denies and c.denies == instead.get(c.outcome))]
            yield replace(said, claims=tuple(claims)) if len(claims) < len(said.claims) else said
        if not instead:
            yield from found

    def _in_cases(self, sentence: Sentence, before: Sentence | None, names: Namings) -> Sequence[Said]:
        """The sentence, read as the branches that it speaks of: "with it …, without it …"."""
        parts = branches(sentence, before, self._read)
        is_opening = before is None and polarity.says_yes_or_no(parts[0].sentence.words) is not None
        found = [self._said(one.sentence, names, one.is_supposed) for one in parts]
        if parts[0].cases and not (found[0].claims or is_opening):
            return [self._said(sentence, names)]
        return [
            replace(said, claims=_in_each(said.claims, one.cases), cases=one.cases) if one.cases else said
            for said, one in zip(found, parts, strict=True)
        ]

    def _read(self, text: str) -> Reading:
        return read_text(text, self.vocabulary, self.variables, self.today, self.prefer)

    def _said(self, sentence: Sentence, names: Namings, is_supposed: bool = False) -> Said:
        if len(sentence.words) > LONGEST:
            return Said(sentence, Reading((), (), frozenset()), False, False, (), is_unread=True)
        sentence, labelled = self._labelled(repaid(sentence, self._told, self.today))
        reading = self._read(sentence.text)
        mentions = [one for one in self._mentions(sentence, names) if not self._is_told_as_fact(one, sentence, reading)]
        reads = (
            read
            for read in _apart(reading.reads, sentence, mentions)
            if not self._is_of_action(read, sentence, mentions)
        )
        reading = replace(reading, reads=tuple(reads))
        silent, beside = self._rest(sentence, reading, mentions)
        if labelled:
            named = {read.fact for read in labelled}
            others = tuple(read for read in reading.reads if read.fact not in named)
            reading = Reading((*labelled, *others), reading.unclear, reading.mentioned | named)
        is_question = polarity.is_question(sentence.text)
        elsewhere = self._of_others(sentence)
        is_conditional = not is_question and (
            is_supposed or polarity.is_conditional(sentence.words) or self._is_counterfactual(sentence, reading)
        )
        claims: tuple[Claim, ...] = ()
        if not _ATTRIBUTED.search(sentence.text) and not _NO_POLICY.match(sentence.text):
            apart = [one for one in mentions if sentence.words[one.used[0]].clause in elsewhere] if elsewhere else []
            claims = tuple(self._claims(sentence, reading, is_conditional, [o for o in mentions if o not in apart]))
            claims += tuple(self._claims(sentence, reading, True, apart))
        is_conditional = is_conditional or bool(elsewhere and sentence.words[0].clause in elsewhere)
        if is_question:
            return Said(sentence, reading, True, False, offers=claims, silent=silent, beside=beside)
        return Said(sentence, reading, False, is_conditional, claims, silent=silent, beside=beside)

    def _mentions(self, sentence: Sentence, names: Namings) -> list[Mention]:
        """Where actions are named, in short only in clauses that name none of the actions that were asked about."""
        texts = [word.text for word in sentence.words]
        found = names.mentions(texts, sentence.clauses)
        found += self._echoes(sentence, found)
        if self.short is None or not self.short.by_stem:
            return found
        named = {i for mention in found if not mention.naming.is_generic for i in mention.used}
        free = [clause for clause in sentence.clauses if named.isdisjoint(clause)]
        return sorted([*found, *self.short.mentions(texts, free)], key=lambda one: (one.used, one.naming.targets))

    def _echoes(self, sentence: Sentence, found: Sequence[Mention]) -> Iterator[Mention]:
        """Where it says of what was asked that it cannot be: "gift cards cannot be returned"."""
        words, taken = sentence.words, {i for mention in found for i in mention.used}
        for i, word in enumerate(words):
            if i in taken or sense(word.text) not in self._asked or not self._is_repeated(words, i):
                continue
            before = [other.text for other in words[:i] if other.clause == word.clause]
            behind = [other.text for other in words[i + 1 :] if other.clause == word.clause]
            while before and before[-1] in _BEFORE_A_VERB:
                before.pop()
            if (before and before[-1] in _MODALS) or (behind[:1] == ["be"] and not _ALLOWED.isdisjoint(behind[1:4])):
                asked = self._named_in_question or self._vague((self.likely,))
                for naming in asked:
                    yield Mention(replace(naming, stems=frozenset((sense(word.text) or "",))), (i,))

    @cached_property
    def _told(self) -> Sequence[Figure]:
        return told(self.known, self.vocabulary.facts)

    def _is_repeated(self, words: Sequence[Word], i: int) -> bool:
        """Does word *i* deny what was asked, or say the one duty that was asked about again: "you can approve it"?"""
        after = [word.text for word in words[i + 1 : i + 2] if word.clause == words[i].clause]
        is_same = bool(self._named_in_question) and after in ([], ["it"], ["that"], ["them"])
        return is_same or polarity.is_denied(words, (i,))

    @cached_property
    def _asked(self) -> frozenset[str]:
        """The words of a yes-or-no question by which its outcome is called."""
        if not self._is_yes_no_question():
            return frozenset()
        names = self.names or namings(self.vocabulary)
        called = names.stems_of.get(self.likely or "", frozenset()).union(
            *(one.stems for one in self._named_in_question)
        )
        parts = (part for part in sentences(self.query) if polarity.asks_yes_or_no(part.words))
        asked: list[Sequence[Word]] = [part.words for part in parts]
        asked = asked or [self._question]
        return frozenset(found for words in asked for word in words if (found := sense(word.text)) in called)

    @cached_property
    def _named_in_question(self) -> Sequence[Naming]:
        """The names of the duty that was asked about, where there is just one."""
        if self.topic.outcomes or len(self.topic.actions) != 1:
            return ()
        return namings(self.vocabulary).of_action.get(self.topic.actions[0], ())

    def _vague(self, outcomes: Iterable[str | None]) -> Iterator[Naming]:
        """The names of *outcomes* that name none of their actions."""
        own = namings(self.vocabulary).of_outcome
        return (naming for outcome in outcomes for naming in own.get(outcome or "", ()))

    def _rest(
        self, sentence: Sentence, reading: Reading, mentions: Sequence[Mention]
    ) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """The words that are neither facts nor names of actions: of clauses without such names, and of the others."""
        sure = (one for one in mentions if not (one.naming.is_generic or one.naming.is_denial))
        vague = (one for one in mentions if one.naming.is_generic or one.naming.is_denial)
        named = [*sure, *(one for one in vague if self._is_told(sentence, one))]
        used = {sentence.words[i] for mention in named for i in mention.used}
        parts = _parts(sentence, {i for mention in named for i in mention.used})
        near = {*self.known, *self.prefer}  # what matters to nothing here may be the manner: "store credit in cash"
        spans = [(read.start, read.end) for read in reading.reads if read.fact in near]
        rest = [
            i
            for i, word in enumerate(sentence.words)
            if polarity.is_done(sentence.words, i) or not any(start <= word.start < end for start, end in spans)
        ]
        silent = tuple(sentence.words[i] for i in rest if i not in parts)
        return silent, tuple(sentence.words[i] for i in rest if i in parts and sentence.words[i] not in used)

    def _is_told(self, sentence: Sentence, mention: Mention) -> bool:
        """Is something said with a vague name: that it is given, or that it is not?"""
        return self._is_given(sentence, mention) or polarity.is_denied(sentence.words, mention.used)

    def _is_told_as_fact(self, mention: Mention, sentence: Sentence, reading: Reading) -> bool:
        """Is the duty only named as what has been done: "as your identity is verified"?"""
        if mention.naming.outcome is not None:
            return False
        spans = [
            (one.start, one.end) for one in reading.reads if one.value is True and self.known.get(one.fact) is True
        ]
        starts = [sentence.words[i].start for i in mention.used]
        return any(all(start <= at < end for at in starts) for start, end in spans)

    def _is_of_action(self, read: Read, sentence: Sentence, mentions: Sequence[Mention]) -> bool:
        """Does a "no" before the fact deny what is given instead: "no charge for members", "no match for …"?"""
        if read.value is not False or self.known.get(read.fact) is not True:
            return False
        own = {word.text for word in read_words(read.words)}
        if not own.isdisjoint(("cover", "covers", "covered")):
            return True  # "the warranty does not cover accidents"
        here = next((word.clause for word in sentence.words if word.end > read.start), -1)
        before = [word for word in sentence.words if word.clause == here and word.start < read.start]
        is_idiom = any(" " in sentence.text[word.start : word.end] for word in before)
        places = [one.used for one in mentions if sentence.words[one.used[0]].clause == here]
        places += [(i,) for i, word in enumerate(sentence.words) if word in before and polarity.is_giving(word.text)]
        return own.isdisjoint(("not", "no", "never", "without")) and (
            is_idiom or any(polarity.is_denied(sentence.words, used) for used in places)
        )

    def _labelled(self, sentence: Sentence) -> tuple[Sentence, tuple[Read, ...]]:
        """The sentence without its "label: value" pairs, and what they say."""
        text = labels.without_heading(sentence.text, self.vocabulary)
        pairs = labels.read_labelled(text, self.vocabulary, self.variables, self.today)
        if not pairs:
            return sentence if text == sentence.text else sentence_of(text), ()
        for read in reversed(pairs):
            text = f"{text[: read.start]} , {text[read.end :]}"
        return sentence_of(text), pairs

    def _is_counterfactual(self, sentence: Sentence, reading: Reading) -> bool:
        """ "With a receipt, …" of a case without: another case is spoken of, unless the sentence says "because"."""
        texts = [word.text for word in sentence.words]
        if any(text in _ASSERTING for text in texts):
            return False
        others = [read for read in reading.reads if self.known.get(read.fact, read.value) != read.value]
        if "only" in texts and (limited := [read for read in others if is_of_these(sentence.words, read.start)]):
            return limited == others  # "only Plus members get …"
        is_only = "only" in texts and not any(word.is_number for word in sentence.words)
        if others and is_only and all(polarity.is_of_office(sentence.words, read.start) for read in others):
            return True  # "only a manager may …"
        if others and all(is_done_by(sentence.words, read.start) for read in others):
            return True  # "refunds are approved by a manager"
        opens = [read for read in others if read.start == 0 or any(text in _TESTING for text in texts)]
        return bool(others) and all(read in opens and read_words(read.words)[0].text in PREPOSITIONS for read in others)

    def _of_others(self, sentence: Sentence) -> frozenset[int]:
        """The clauses that speak of things which the case is none of: "orders of $50 or more go free"."""
        if _DIGIT.search(sentence.text) is None:
            return frozenset()
        spans = [(one.start, one.end) for one in of_others(sentence.text, self._told, self.today)]
        return frozenset(w.clause for w in sentence.words if any(start <= w.start < end for start, end in spans))

    def _claims(
        self, sentence: Sentence, reading: Reading, is_conditional: bool, mentions: Sequence[Mention]
    ) -> Iterator[Claim]:
        words = sentence.words
        condition = self._supposed(sentence, reading) if is_conditional else None
        about = reading.mentioned | {one.fact for one in reading.unclear} if is_conditional else frozenset()
        precise: dict[str | None, list[Mention]] = defaultdict(list)
        for mention in mentions:
            vague = mention.naming.is_generic or mention.naming.is_denial
            if not vague and not polarity.is_denied(words, mention.used):
                precise[mention.naming.outcome].append(mention)
        for mention in mentions:
            naming = mention.naming
            if polarity.is_wished(words, mention.used) and not polarity.is_question(sentence.text):
                continue
            if naming.outcome is None and len(naming.stems) == 1 and polarity.is_dated(words, mention.used):
                continue
            denied = polarity.is_denied(words, mention.used)
            is_vague = naming.is_generic or (naming.is_denial and not denied)
            if naming.is_denial and naming.outcome in precise:
                continue  # "no refund, but store credit" says what is given instead
            is_partial = (not naming.is_denial or not denied) and polarity.is_partial(words, mention.used)
            if naming.is_generic and not is_partial and _is_beside(words, mention, precise.get(naming.outcome, ())):
                continue  # "a refund as store credit"
            if is_vague and not self._is_given(sentence, mention):
                continue
            gives = denied is naming.is_denial or (naming.is_denial and is_partial)
            is_limit = (
                gives and condition is None and (is_meant(words, mention.used) or is_of_first(words, mention.used))
            )
            claim = Claim(
                naming.targets,
                naming.outcome,
                gives,
                sentence.text,
                {} if is_limit else condition,  # "you have 14 days for a refund" holds within them
                frozenset(about),
                naming.is_generic,
                is_partial,
                naming.stems if naming.is_denial else frozenset(),
                not gives and polarity.is_general(words),
                is_conditional and any(word.text == "only" for word in words),
            )
            yield claim
            if gives and polarity.is_withdrawn(words, mention.used):
                yield replace(claim, gives=False)  # it says both

    def _supposed(self, sentence: Sentence, reading: Reading) -> Mapping[str, Value]:
        """What a condition supposes: the facts that it tells, and the kind of the case where it denies another."""
        words = sentence.words
        told = (one for one in reading.reads if not is_subject_of_if(words, one.start, one.end))
        found = {one.fact: one.value for one in told}
        if found or _DENYING.search(sentence.text) is None:
            return found
        mine = {name: value for name, value in self.known.items() if isinstance(value, str)}
        for (name, value), called_so in kinds(self.vocabulary).items() if mine else ():
            if mine.get(name, value) != value and any(is_told_not(words, called) for called in called_so):
                found[name] = mine[name]
        return found

    def _is_given(self, sentence: Sentence, mention: Mention) -> bool:
        """Does the clause speak of getting it? "Your refund request" does not."""
        here = next(span for span in sentence.clauses if mention.used[0] in span)
        words = sentence.words
        giving = {i for i in here if polarity.is_giving(words[i].text)}
        first, after = mention.used[0], mention.used[-1] + 1
        if after in here and words[after].text in ABOUT:
            return False
        before = next(
            (words[i].text for i in range(first - 1, here.start - 1, -1) if words[i].text not in _ADVERBS), ""
        )
        if len(mention.used) == 1 and before in ("can", "may") and mention.naming.is_generic:
            return True  # "you can simply log in"
        is_verb = first in giving and before in PRONOUNS | AUXILIARIES | {"not", "never", "to"}
        return bool(giving - set(mention.used)) or is_verb or before in _HAS

    def _opening(self, found: list[Said]) -> list[Claim]:
        """What a bare yes or no says of the actions that were asked about."""
        asked = read_words(self.query)
        is_echo = bool(found) and found[0].is_echo
        answer = is_echo or (polarity.says_yes_or_no(found[0].sentence.words) if found and asked else None)
        if answer is None or not self._is_yes_no_question():
            return []
        answer = answer is not polarity.asks_if_too_late(self._question)
        if self._question[0].text not in polarity.ASKING and any(
            _given(claim) for said in found for claim in said.claims
        ):
            return []  # "of course, we erase it": the yes to a wish is what follows
        text = found[0].sentence.text
        own = namings(self.vocabulary)
        actions = [name for name in self.topic.actions if not own.is_denial(name)]
        if actions:
            outcomes = {name: self.vocabulary.outcome_of(name) for name in actions}
            first = [name for name, outcome in outcomes.items() if outcome in self.topic.outcomes[:1]]
            return [Claim((name,), outcomes[name], answer, text) for name in first or outcomes]
        stated = {claim.outcome for said in found for claim in said.claims if claim.gives and not claim.is_generic}
        is_about = self._asked and not (answer and any(_given(claim) for said in found for claim in said.claims))
        about = self.topic.outcomes[:1] or ((self.likely,) if is_about else ())
        generic = [
            naming
            for naming in self._vague(about)
            if naming.outcome not in stated and not (answer and self._is_any(naming))
        ]
        return [Claim(one.targets, one.outcome, answer, text, is_generic=True) for one in generic]

    def _is_any(self, naming: Naming) -> bool:
        """Does it leave open which action of its outcome is meant? A yes then says nothing."""
        mine = {name for name in self.vocabulary.actions if self.vocabulary.outcome_of(name) == naming.outcome}
        return {self.vocabulary.canonical(name) for name in mine} <= set(naming.targets)

    def _is_yes_no_question(self) -> bool:
        return bool(self._question)

    @cached_property
    def _question(self) -> Sequence[Word]:
        """The words of the first yes-or-no question that was asked, none where there is none."""
        parts = list(sentences(self.query))
        questions = [part for part in parts if polarity.is_question(part.text)]
        asked = [part.words[clause.start :] for part in questions for clause in part.clauses] or [
            p.words for p in parts
        ]
        return next((words for words in asked if polarity.asks_yes_or_no(words)), ())


def _in_each(claims: Iterable[Claim], cases: Cases) -> tuple[Claim, ...]:
    """The claims, or their contraries, in each of *cases*; with nothing supposed they are of this one."""
    return tuple(
        replace(
            claim,
            gives=claim.gives is holds,
            condition={**(claim.condition or {}), **supposed} if supposed else claim.condition,
        )
        for supposed, holds in cases
        for claim in claims
    )


def _given(claim: Claim) -> Sequence[str]:
    """What it gives for sure and by name."""
    is_sure = claim.gives and claim.condition is None and not (claim.is_generic or claim.denies or claim.is_partial)
    return claim.targets if is_sure else ()


def _parts(sentence: Sentence, named: Collection[int]) -> frozenset[int]:
    """The words of clauses that name actions, up to a joint behind the last name: "… and you pay the postage"."""
    found: set[int] = set()
    for clause in sentence.clauses:
        here = [i for i in clause if i in named]
        if here:
            joints = (i for i in clause if i > here[-1] and sentence.words[i].text in _JOINTS)
            found.update(range(clause.start, next(joints, clause.stop)))
    return frozenset(found)


def _apart(reads: Sequence[Read], sentence: Sentence, mentions: Sequence[Mention]) -> Iterator[Read]:
    """The facts without the kinds that only belong to the name of an action: "pause" in "the benefits pause"."""
    named = {sentence.words[i].start for mention in mentions for i in mention.used}
    for read in reads:
        own = {word.start for word in sentence.words if read.start <= word.start < read.end}
        if not isinstance(read.value, str) or not own <= named:
            yield read


def _is_beside(words: Sequence[Word], mention: Mention, others: Sequence[Mention]) -> bool:
    """Does one of *others* say in the same breath what exactly is meant?"""
    for other in others:
        first, last = sorted((mention.used[0], other.used[0]))
        between = [word.text for word in words[first + 1 : last]]
        if words[first].clause == words[last].clause and "and" not in between and len(between) <= 5:
            return True
    return False
