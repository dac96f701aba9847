"""What of an answer nobody understood. A check holds against the rules only what it can read; the rest may not pass.

A statement needs no reading where it only repeats the case, the question or the words of its rules, or is courtesy.
Whatever speaks of what somebody gets, pays or may do has to be read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from itertools import chain, pairwise

from bot.enforcement.checks.added import duties, restrictions
from bot.enforcement.checks.joints import alternatives, assents, limits
from bot.enforcement.checks.result import Draft
from bot.enforcement.checks.set_phrases import is_joint
from bot.enforcement.checks.told import ground_of, is_late
from bot.enforcement.checks.worth import is_covered, is_worked_out
from bot.enforcement.facts import read_text
from bot.enforcement.figures import Ground, called
from bot.enforcement.kept import kept
from bot.enforcement.lookups import Rules, lookups
from bot.enforcement.polarity import ACTS, GIVING, GREETINGS, REGRET, is_act, is_calming, opening
from bot.enforcement.said import Said
from bot.enforcement.senses import same, sense, stem
from bot.enforcement.stated import ABOUT
from bot.enforcement.utterance import Quantity
from bot.enforcement.wordings import fact_texts
from bot.enforcement.write import ALWAYS, RESTRICTIVE
from bot.index import BundleIndex
from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.language.span import listed
from bylaw.language.units import unit_of
from bylaw.language.words import AUXILIARIES, FUNCTION_WORDS, PRONOUNS, Word, read_words
from bylaw.logic.ir import Value

_INSIDE = listed("within inside open still")
_NO = listed("not no never")
_JOINING, _IN_ORDER = listed("once after when and but as"), listed("first also then beforehand too")
_EACH = listed("each every per first last next another")
_MORE_OR_LATER = {("and", "more"), ("on", "request"), ("upon", "request")}
_BEFORE_A_PRICE = listed("by after before for without")
_RETURNING = listed("return returned returning bring brought come back withdraw")
_SIGN_OFFS = listed("regard sincerely cheer yours wish greeting")
_HEADING, _LEAD = 3, 6  # words before a colon: of a heading, and of what leads up to what follows
# What somebody gets, pays, does or may do.
_TELLING = ACTS | listed(
    "get receive give offer issue grant refund pay eligible entitled qualify provide process approve arrange send take "
    "credit cover charge free end return accept reject refuse decline deny allow allowed permit permitted forbid "
    "forbidden release nothing everything nope yes sure whatever back half quarter fifth tenth"
)
_IDIOMS = (("on", "us"), ("by", "us"), ("on", "house"), ("go", "ahead"), ("whether", "or"))
# Courtesy, and the joints of explanations: none of it can change what is answered.
_COURTESY = listed(
    "hello hi hey dear thanks thank you welcome please gladly touch "
    "sorry apologise apologize apology regret unfortunately sadly "
    "afraid glad happy pleased delighted great good fine nice perfect wonderful best kind warm regard sincerely "
    "cheers bye goodbye hope wish enjoy day week weekend morning afternoon evening patience understanding understand "
    "appreciate inform inconvenience trouble matter moment reach reaching contact contacting write writing ask asking "
    "question request enquiry inquiry message case depend situation details detail information see look looking "
    "looked check checked checking find found know hear let tell told say said speak mean means explain note notice "
    "remember mind feel further anything else help helping team support service customer client member staff "
    "colleague policy policies rule rules term terms condition period window deadline limit time frame date per "
    "according accordance under based follow following apply applies applied application therefore thus hence so "
    "because since given due reason why fact however although though but also only exactly just well within inside "
    "over past passed expired elapsed outside beyond more less than already still yet now today left remaining here "
    "there first second then finally summary result answer short brief item product thing purchase purchased buy "
    "bought order ordered one other both each very really quite indeed course clear clearly simply basically "
    "frustrating annoying disappointing upsetting stressful inconvenient "
    "actually fall even neither nor "
    "need show bring confirm read required mention mentioned state stated right correct whole price amount "
    "total sum dollar usd value worth too anymore immediately once every happily"
)

# What stands beside the name of an action: that it is given or refused, and to whom, where and on what ground.
_BESIDE = GIVING | listed(
    "able unable prohibited forbidden allowed permitted denied refused declined rejected excluded impossible "
    "instead rather until once when put go onto into account below above up needed necessary required entire "
    "whole make do done away goes stays save meantime expect think believe suppose count remain stay mean yes no "
    "please sorry unfortunately sadly afraid glad happy pleased only just still already now today here there "
    "first therefore thus hence so however actually simply basically indeed course clear clearly really quite "
    "exactly well also too anymore immediately happily gladly beforehand value "
    "price whole product item purchase bought ordered order ask "
    "asked welcome thank come best full even neither nor"
)


@dataclass(frozen=True)
class Known:
    """The stems that need no reading in one case, and those that always do.

    `rules` are the stems of whole texts, each with whether it denies; `others` name what the case is not.
    """

    stems: frozenset[str]
    telling: frozenset[str]
    rules: Collection[tuple[frozenset[str], bool]]
    others: frozenset[str]
    beside: frozenset[str]  # the stems that may stand beside the name of an action
    asked: frozenset[str]  # those of the question, and of what may be asked back
    actions: Mapping[str, frozenset[str]]  # the senses by which each action is called and that tell nothing else
    held: Sequence[tuple[frozenset[str], bool]]  # the stems of each yes-or-no fact, and whether the case has it
    draft: Draft

    @cached_property
    def ground(self) -> Ground:
        """Where the figures of the answer may come from."""
        return ground_of(self.draft)

    @cached_property
    def demanded(self) -> Sequence[frozenset[str]]:
        """The stems of each rule that demands something in this case, and says it without a no."""
        rules = (self.draft.index.rule(fired.rule_id) for fired in self.draft.decision.fired)
        texts = [rule.source.text for rule in rules if rule.effect.kind == "required" and rule.source.text]
        return [stems_in([text]) for text in texts if not _denies(read_words(text))]


def known_of(draft: Draft) -> Known:
    """What needs no reading in an answer to the case of *draft*."""
    facts = draft.index.vocabulary.facts
    called_so = _of_facts(draft.index.vocabulary)
    own = frozenset[str]().union(*(called_so[name] for name in draft.facts))
    spoken, named, asks = _of_rules(draft.index)(draft.relevant)
    said = [text for text in (ALWAYS, RESTRICTIVE, *(rule.source.text for rule in draft.deciding)) if text]
    texts = [(stems_in([text]), _denies(read_words(text))) for text in said]
    over = _OVER_STEMS.intersection(stem(word.text) or "" for said in draft.stated.sentences for word in said.silent)
    plain = _COURTESY_STEMS - over if over and not is_late(draft) else _COURTESY_STEMS
    is_closed = any(map(_is_open, draft.stated.sentences)) and is_late(draft)
    closed = _PERIOD_STEMS if is_closed else frozenset[str]()
    asked = stems_in([draft.query])
    told = plain.union(asked, *(stems for stems, _ in texts))
    others = _of_others(draft.facts, facts) - told
    near = (told - _COURTESY_STEMS).union(own, spoken, asked, _BESIDE_STEMS)
    held = [(called_so[name], value) for name, value in draft.facts.items() if isinstance(value, bool)]
    known = told.union(own, spoken) - closed
    actions = _of_actions(draft.index.vocabulary)
    return Known(known, _TELLING_STEMS | named, texts, others, near, asks | asked, actions, held, draft)


@kept(8)
def _of_facts(vocabulary: Vocabulary) -> Mapping[str, frozenset[str]]:
    """The stems by which each fact and its values are called."""
    return {name: stems_in(fact_texts(name, fact)) for name, fact in vocabulary.facts.items()}


@kept(8)
def _of_actions(vocabulary: Vocabulary) -> Mapping[str, frozenset[str]]:
    """The senses by which each action is called, without those that tell what somebody gets, pays or may do."""
    texts = {vocabulary.canonical(name): called(vocabulary.canonical(name), vocabulary) for name in vocabulary.actions}
    return {
        name: frozenset(
            found
            for text in those
            for word in read_words(text)
            if (found := sense(word.text)) and stem(word.text) not in _TELLING_STEMS
        )
        for name, those in texts.items()
    }


def _of_others(case: Mapping[str, Value], facts: Mapping[str, Fact]) -> frozenset[str]:
    """How the categories are called that the case does not have, where nothing that it has is called so."""
    mine, others = set[str](), set[str]()
    for name in case:
        for value, words in facts[name].values.items():
            (mine if value == case[name] else others).update(stems_in([value.replace("_", " "), *words]))
    return frozenset(others - mine)


def _is_open(said: Said) -> bool:
    """Does it say that there still is time, and not how much: "you are within the period"?"""
    words = [word for word in said.silent if not word.is_number]
    is_inside = any(word.text in _INSIDE for word in words)
    return is_inside and len(words) == len(said.silent) and any(stem(word.text) in _PERIOD_STEMS for word in words)


@kept(4)
def _of_rules(index: BundleIndex) -> Callable[[Rules], tuple[frozenset[str], frozenset[str], frozenset[str]]]:
    """What rules of *index* speak of, how the actions that they give are called, how their facts are asked.

    The last are kept.
    """
    vocabulary = index.vocabulary

    @kept(256)
    def found(rules: Rules) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        names = sorted(lookups(index).facts_of(rules))
        facts = frozenset[str]().union(*(_of_facts(vocabulary)[name] for name in names))
        said = stems_in(rule.source.text for rule in rules if rule.source.text)
        asked = sorted({action for rule in rules for _, action in rule.effect.takes})
        named = stems_in(text for name in asked for text in called(name, vocabulary))
        asks = stems_in(vocabulary.facts[name].ask or "" for name in names)
        return facts | said, named - facts - _COURTESY_STEMS, asks

    return found


def stems_in(texts: Iterable[str]) -> frozenset[str]:
    """The stems of the words of *texts*."""
    return frozenset().union(*map(_stems, texts))


def unread(said: Said, known: Known, figures: Sequence[Quantity]) -> str | None:
    """The words of *said* that would have to be understood and were not; None where all is well."""
    if said.is_unread:
        return None
    if _is_elliptic(said):
        return said.sentence.text
    apart = {*_headings(said, _HEADING), *_contrasts(said), *_asides(said)}
    instead = _instead(said.sentence.words)
    wished = _MONEY.union(map(same, known.asked)) if instead else _MONEY
    ended = [word for _, verb in said.ends for word in verb]  # held against the case where it is told
    answered = opening(said.sentence.words) if said.claims else ()
    leads = {*_headings(said, _LEAD), *_greeting(said)}
    words = [
        word
        for word in said.silent
        if word.clause not in apart and not (_is_in(word, figures) or is_joint(said, word) or word in ended)
    ]
    if any(pair in _IDIOMS for pair in pairwise(word.text for word in words)):
        return said.sentence.text
    named = [(word, found) for word in words if (found := stem(word.text)) is not None and not found[0].isdigit()]
    stems = frozenset(found for _, found in named)
    is_denial = _denies(said.sentence.words)
    is_giving = any(claim.gives and claim.condition is None for claim in said.claims)  # "credit, which has expired"
    if len(stems) > 2 and any(stems <= rule and is_denial is denied for rule, denied in known.rules):
        return None
    for i, (word, found) in enumerate(named):
        is_first = word == said.sentence.words[0] and any(claim.condition != {} for claim in said.claims)
        if word in answered or is_first:
            continue  # the yes of "yes, you get …"
        is_name = i + 1 < len(named) and named[i + 1][0].text in ABOUT
        is_asked = found in known.asked
        if (is_asked and said.is_question) or (word in instead and sense(word.text) in wished):
            continue
        if (word.text == "yes" and _is_affirmed(said, word)) or _is_said_twice(said, word):
            continue
        is_strange = (found not in known.stems and word.clause not in leads) or (is_giving and found in _OVER_STEMS)
        is_told = is_strange or (found in known.telling and not is_name)
        is_read = is_told and (
            _is_returned(said, word, figures) or _is_demanded(said, word, known) or _is_worth(said, word, known)
        )
        if is_told and not (is_read or _is_of_another_kind(said, word, known)):
            return said.sentence.text[word.start : word.end]
    own = {sense(part) for claim in said.claims if claim.outcome for part in claim.outcome.split("_")}
    given = [known.actions[name] for claim in said.claims if claim.gives for name in claim.targets]
    own = own.union(*given) if given else own
    qualified = [word for word in _qualifiers(said.sentence.words) if not _is_ruled(said, word, known)]
    qualified += (word for word in duties(said, known.rules, known.held) if not _is_demanded(said, word, known))
    limited = (*qualified, *limits(said), *restrictions(said))
    is_repeated = _repeats(said, known)
    beside = (
        word
        for word in said.beside
        if word in limited
        or not (
            is_repeated
            or _is_in(word, figures)
            or sense(word.text) in own
            or (word in instead and sense(word.text) in wished)
            or _is_plain(word, known)
            or is_joint(said, word)
            or word in ended
            or _is_worth(said, word, known)
        )
    )
    assent = (*assents(said), *alternatives(said)) if said.silent else ()
    narrowed = limited if said.claims else qualified
    others = (word for word in words if word in narrowed or (word in assent and word not in answered))
    held = next(chain(beside, others), None)
    return None if held is None else said.sentence.text[held.start : held.end]


def _is_worth(said: Said, word: Word, known: Known) -> bool:
    return is_covered(said, word, known.draft, known.held) or is_worked_out(said, word, known.draft, known.ground)


def _is_affirmed(said: Said, word: Word) -> bool:
    """Does the yes only open or end what is given: "so yes, you get …", "a full refund, yes"?"""
    words = said.sentence.words
    i = words.index(word)
    is_led = [one.text for one in words[max(i - 1, 0) : i]] == ["so"]
    is_last = word == words[-1] and i > 0 and words[i - 1].clause != word.clause
    return (is_led or is_last) and any(claim.gives for claim in said.claims)


def _is_said_twice(said: Said, word: Word) -> bool:
    """Does an idiom only say what is given beside it: "you do not have to pay anything, the repair is free"?"""
    left = {*said.silent, *said.beside}
    alike = [one for one in said.sentence.words if one not in left and sense(one.text) == sense(word.text)]
    is_idiom = " " in said.sentence.text[word.start : word.end]
    return is_idiom and bool(alike) and all(claim.gives and claim.condition is None for claim in said.claims)


def _is_ruled(said: Said, word: Word, known: Known) -> bool:
    """Does a rule that decides here speak of it with the word behind it: "the other shop"?"""
    words = said.sentence.words
    i = words.index(word)
    pair = frozenset(found for other in words[i : i + 2] if (found := stem(other.text)) is not None)
    is_the_other = word.text == "other" and [one.text for one in words[max(i - 1, 0) : i]] == ["the"]
    return is_the_other and len(pair) == 2 and any(pair <= rule for rule, _ in known.rules)


def _repeats(said: Said, known: Known) -> bool:
    """Are all its words those of one rule that decides here, and is as much denied?"""
    stems = frozenset(found for word in said.sentence.words if (found := stem(word.text)) is not None)
    return any(stems <= rule and _denies(said.sentence.words) is denied for rule, denied in known.rules)


def _qualifiers(words: Sequence[Word]) -> Iterator[Word]:
    """What limits or prices what is given: "each week", "once.", "by paying", "paid by us"."""
    for i, word in enumerate(words):
        before, after = (words[k].text if 0 <= k < len(words) else "" for k in (i - 1, i + 1))
        is_last = i + 1 == len(words) or words[i + 1].clause != word.clause
        if (
            (word.text in _EACH and unit_of(after) is not None)
            or (before == "for" and word.text in ("each", "every"))
            or (before, word.text) in _MORE_OR_LATER
            or (word.text == "other" and before not in ("all", "every"))
            or (word.text == "once" and is_last and before not in ("at", "all"))
            or (before in _BEFORE_A_PRICE and word.text.startswith("pay"))
            or (before == "by" and word.text == "us")
        ):
            yield word


def _denies(words: Sequence[Word]) -> bool:
    return sum(word.text in _NO for word in words) % 2 == 1


def _is_plain(word: Word, known: Known) -> bool:
    """May the word stand beside the name of an action? It then says that it is given, or nothing that matters."""
    found = stem(word.text)
    if found is None or found[0].isdigit() or found in _BESIDE_STEMS:
        return True
    return found in known.beside and found not in known.telling | known.others and not is_act(word.text)


def _is_elliptic(said: Said) -> bool:
    """Does it answer with a verb alone: "We do.", "You cannot."?"""
    clause = [said.sentence.words[i].text for i in said.sentence.clauses[0]]
    is_bare = not said.claims and all(text in FUNCTION_WORDS for text in clause)
    if clause == ["please", "do"]:
        return not said.claims
    if is_bare and "no" in clause and len(clause) > 1:
        return True  # "no can do"
    return (
        is_bare
        and (clause[0] in PRONOUNS or (clause[0] == "there" and clause[-1] == "not"))
        and clause[-1] in AUXILIARIES | {"not"}
        and any(text in AUXILIARIES for text in clause)
    )


def _headings(said: Said, most: int) -> frozenset[int]:
    """The clauses of at most so many words before a colon: "Not allowed: …"."""
    words, text = said.sentence.words, said.sentence.text
    return frozenset(
        words[span[-1]].clause
        for span in said.sentence.clauses
        if len(span) <= most and text[words[span[-1]].end :].lstrip("*_ ").startswith(":")
    )


def _greeting(said: Said) -> Iterator[int]:
    """The clause that only says hello, with a name or two."""
    words = said.sentence.words
    first = [word for word in words if word.clause == words[0].clause]
    if first[0].text in GREETINGS and len(first) <= _HEADING + 1:
        yield first[0].clause


def is_signed(before: Sequence[Said], said: Said) -> bool:
    """Is it the name of who writes, behind "kind regards"? At most some words with capitals, and no figure."""
    near = (other.sentence.words for other in reversed(before[-2:]))
    ending = next((words for words in near if {word.text for word in words[-1:]} & _SIGN_OFFS), None)
    names = said.sentence.text.split()
    is_name = len(names) <= _HEADING + 1 and all(name[:1].isupper() and name.isalpha() for name in names)
    return ending is not None and len(ending) <= _HEADING and is_name and not said.claims


def _instead(words: Sequence[Word]) -> Sequence[Word]:
    """The words of what is not done: "… instead of erasing it"."""
    pairs = list(pairwise(word.text for word in words))
    i = next((i for i, pair in enumerate(pairs) if pair in (("instead", "of"), ("rather", "than"))), len(words))
    return [word for word in words[i:] if word.clause == words[i].clause]


def _contrasts(said: Said) -> Iterator[int]:
    """The clauses that say what it is not, before what it is: "Not in full, but …"."""
    words = said.sentence.words
    for one, other in pairwise(said.sentence.clauses):
        first = next((words[i].text for i in one if words[i].text not in REGRET), "")
        if first == "not" and words[other[0]].text == "but":
            yield words[one[0]].clause


def _asides(said: Said) -> Iterator[int]:
    """The clauses that only calm down: "don't worry"."""
    words = said.sentence.words
    yield from (words[span[0]].clause for span in said.sentence.clauses if is_calming([words[i].text for i in span]))


def _is_demanded(said: Said, word: Word, known: Known) -> bool:
    """Does its clause only repeat what a rule demands here: "a manager has to approve it"?"""
    clause = [other for other in said.sentence.words if other.clause == word.clause]
    at = next((i for i in range(clause.index(word), 0, -1) if clause[i].text in _JOINING), -1)
    told = [other for other in clause[at + 1 :] if other.text not in _IN_ORDER]
    stems = frozenset(found for other in told if (found := stem(other.text)) is not None)
    return len(stems) > 1 and not _denies(told) and any(stems <= rule for rule in known.demanded)


def _is_of_another_kind(said: Said, word: Word, known: Known) -> bool:
    """Does its clause only deny a kind that the case is not of: "it has not been shipped", where it is packed?"""
    clause = [other.text for other in said.sentence.words if other.clause == word.clause]
    clause = clause[clause.index("long") + 2 :] if ("as", "long") in pairwise(clause) else clause
    rest = " ".join(text for text in clause if text not in _NO)
    if said.is_question or len(clause) != len(rest.split()) + 1:
        return False
    draft = known.draft
    variables, today = draft.evaluator.ruleset.variables, date.fromordinal(draft.day)
    reads = read_text(rest, draft.index.vocabulary, variables, today, draft.facts).reads
    kinds = [read for read in reads if isinstance(read.value, str)]
    is_other = all(draft.facts.get(read.fact, read.value) != read.value for read in kinds)
    named = {other.text for read in kinds for other in read_words(read.words)}
    return len(kinds) == 1 and is_other and word.text in named


def _is_returned(said: Said, word: Word, figures: Sequence[Quantity]) -> bool:
    """Is it that something comes back, in a clause that says within how long, or before what is given for it?"""
    if word.text not in _RETURNING:
        return False
    clause = [other for other in said.sentence.words if other.clause == word.clause]
    ends = [figure.start for figure in figures if clause[0].start <= figure.start < clause[-1].end]
    is_limited = any(other.text in ("within", "in") and other.end + 1 in ends for other in clause)
    is_for = {"you", "can"} <= {other.text for other in clause} and any(claim.gives for claim in said.claims)
    if _denies(clause):
        return any(
            claim.denies and claim.gives for claim in said.claims
        )  # "it can't be returned, so there's no refund"
    return is_limited or is_for


def _is_in(word: Word, figures: Sequence[Quantity]) -> bool:
    return any(figure.start <= word.start < figure.end for figure in figures)


@lru_cache(maxsize=5_000)
def _stems(text: str) -> frozenset[str]:
    return frozenset(found for word in read_words(text) if (found := stem(word.text)) is not None)


_COURTESY_STEMS = stems_in([" ".join(sorted(_COURTESY))])
_MONEY = frozenset(map(same, stems_in(["money cash"])))
_PERIOD_STEMS = stems_in(["period window deadline limit"])
_OVER_STEMS = stems_in(["expired elapsed passed lapsed outside"])
_BESIDE_STEMS = stems_in([" ".join(sorted(_BESIDE))])
_TELLING_STEMS = stems_in([" ".join(sorted(_TELLING))])
