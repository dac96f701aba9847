"""Is this a question about policies, and about which: domains, outcomes and actions, by the words of the bundle alone.

A word counts the less, the more domains use it. What this cannot tell, it leaves open; a model may be asked then.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from itertools import chain, pairwise

from bot.enforcement.question.case.facts import Read, read_text
from bot.enforcement.question.case.mentions import said_by
from bot.enforcement.question.intent import (
    asking_clause,
    asks_for_permission,
    asks_open,
    asks_what_holds,
    is_general,
    is_request,
    unled,
)
from bot.enforcement.question.kept import kept
from bot.enforcement.question.topic.covered import POLICY_ID, coverage
from bot.enforcement.question.topic.stems import (
    DENIALS,
    marked,
    names_of_action,
    names_of_outcome,
    stems_in,
    stems_of,
    unmarked,
)
from bot.index import BundleIndex
from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.language.lexicon import closed, content, lexicon, stem
from bylaw.language.reports import asks_for_a_rule, counts, is_of_one, is_report
from bylaw.language.text import words_of
from bylaw.language.words import AUXILIARIES, DETERMINERS, Word, read_words
from bylaw.logic.formula.ir import ConditionalRule, names

_OPENERS = closed("ruling")
# "do VIP customers get", "does a member pay", "how long do customers have to"
_ENTITLED = re.compile(r" (?:(?:how|what|which) (?:\w+ ){0,2})?do (?:\w+ ){1,3}(?:get|have to|pay|wait|qualify) ")
_COSTS = re.compile(r"(?i)\bhow much (?:is|are) (?!.*\b(?:left|too|enough)\b)")  # "how much is delivery?"
_POLICY_WORDS = closed("of_policies")
_NONE, _ALL = Decimal(0), Decimal(1)
_COUNTING = closed("reporting")
_GUIDING = frozenset(map(stem, closed("guiding")))
_KEPT = 64  # topics: one turn asks for that of a text several times
LEAST = 1.0  # how much words speak of a subject that they do not name: half a word of its action, and nothing else
NAMED = 3.0  # how much a word speaks of a subject in whose name it is, and in that of no other
AHEAD = 1.5  # how many times as much as of any other the words have to speak of a subject
_HARDLY = 0.25  # less says nothing, whatever is told beside it
_COUNTS = frozenset(map(stem, (*lexicon().numbers, *lexicon().ordinals)))
_Names = Mapping[str, tuple[frozenset[str], ...]]  # of each matter all that it is called, as stems


@dataclass(frozen=True)
class Topic:
    """What a text is about, best first. `outcomes`, `actions` and `areas` (domains) are named by it, `domains` follow
    from all its words.

    `likely` are the outcomes, and the actions that belong to none, that its words speak of, with how much.
    """

    outcomes: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    areas: tuple[str, ...] = ()
    likely: tuple[tuple[str, float], ...] = ()
    confidence: float = 0.0

    @property
    def is_named(self) -> bool:
        """Does the text name an outcome or an action?"""
        return bool(self.outcomes or self.actions)

    @property
    def is_likely(self) -> bool:
        """Do its words speak of something that they do not name?"""
        return bool(self.likely) and self.likely[0][1] > LEAST


def score(text: str, index: BundleIndex) -> float:
    """How well *text* fits as a question about policies, in [0, 1]."""
    return index.recently(_score)(text)


def _score(index: BundleIndex, text: str) -> float:
    weights = index.rules.routing.policy
    said = f" {' '.join(word.text for word in read_words(text))} "
    words = set(said.split())
    keywords = _keywords(index)
    stems = _stems_in(text)
    found = topic(text, index)
    is_figure = is_report(text)
    is_entitled = not is_figure and _ENTITLED.match(said) is not None
    is_known = 2 * len(stems & keywords.stems) >= len(stems)
    is_likely = found.is_likely and is_known  # "what does a flight cost" is not about what delivery costs
    is_told = found.is_named or is_likely or not keywords.telling.isdisjoint(stems - _GUIDING)
    stated = min(weights.stated_at_most, len(_reads(text, index)))
    is_about_rules = is_told and is_general(text)
    is_of_case = is_of_a_case(text, index)
    # "can I bring my kids?" opens like a question for the rules, but no word of it is about what they rule
    is_theirs = is_told or stated > 0 or stems <= keywords.stems or not words.isdisjoint(_POLICY_WORDS)
    pairs = pairwise(said.split())
    is_theirs = is_theirs or any(
        one in DETERMINERS and not keywords.stems.isdisjoint(stems_of([two])) for one, two in pairs
    )
    opens = is_entitled or is_about_rules or is_of_case
    opens = opens or (is_theirs and any(f" {opener} " in said for opener in _OPENERS))
    if not opens and asks_what_holds(text) and (found.is_named or stated > 0 or not is_request(text)):
        opens = coverage(text, _reads(text, index), index).is_covered
    speaks = opens or found.is_named or is_likely or not words.isdisjoint(_POLICY_WORDS)
    points = weights.opener * opens + weights.named * found.is_named
    points += weights.stated * stated or weights.fact_word * (not stems.isdisjoint(keywords.fact_stems))
    # "the capital of France" states a region, and with it its domains; that alone is no question about policies
    points += weights.domain * (bool(found.domains) and (speaks or stated != 1))
    is_likely = is_likely or (len(stems) > 1 and stems - _GUIDING <= keywords.fact_stems)
    points += weights.likely * (is_likely and not found.is_named)
    points += weights.policy_word * (not is_figure and not words.isdisjoint(_POLICY_WORDS))
    points += weights.opener * (not opens and POLICY_ID.search(text) is not None)
    is_rule = is_entitled or is_of_case
    if is_figure or (not is_rule and any(f" {counting} " in said for counting in _COUNTING)):
        points -= weights.counting
    is_alone = not index.bundle.context.entities and not index.bundle.decisions.decisions  # nobody else answers
    if asks_for_permission(text) or (is_alone and stems and asking_clause(text)):  # also for what no rule covers
        points = max(points, weights.form)
    return float(min(_ALL, max(_NONE, points)))


def _reads(text: str, index: BundleIndex) -> tuple[Read, ...]:
    """The facts that the text states; for its kind the day does not matter."""
    return read_text(text, index.vocabulary, index.ruleset.variables, date(2000, 1, 1)).reads


def is_of_a_case(text: str, index: BundleIndex) -> bool:
    """Does *text* ask what holds in a case, or tell of a single one, in words that the policies know?"""
    is_rule, reads = asks_for_a_rule(text), _reads(text, index)
    if not is_rule and not is_of_one(text):
        return sum(not isinstance(read.value, str) for read in reads) > 1 and not counts(text)
    found, keywords = topic(text, index), _keywords(index)
    stems = _stems_in(text)
    if found.is_named or found.is_likely or not stems.isdisjoint(map(stem, keywords.domains)):
        return True
    if is_rule:
        asked = stems - _GUIDING
        return bool(asked) and 2 * len(asked & keywords.fact_stems) >= len(asked)
    return any(" " in read.words for read in reads)


def topic(text: str, index: BundleIndex) -> Topic:
    """What *text* is about."""
    row = tuple(one for word in read_words(text) for one in stems_of([word.text]))
    return _topic(_stems_in(text) | marked(text), row, _keywords(index))


def bound(about: Topic, text: str, words: Iterable[str], index: BundleIndex) -> Topic:
    """*about* with those of its areas that *text* names by a word that was declared for them, or whose rules speak of
    all the telling *words* of what is asked.

    The mere name of a domain says little: "a break in the lessons" is about a break.
    """
    known, said, asked = _keywords(index), _stems_in(text), stems_of(words)
    kept = [area for area in about.areas if any(one <= said for one in known.declared[area])]
    kept += [area for area in about.areas if area not in kept and asked <= _spoken_in(area, index)]
    return replace(about, areas=tuple(kept))


def _spoken_in(domain: str, index: BundleIndex) -> frozenset[str]:
    """The stems of all that the rules of *domain* speak of: their words and their sentences."""
    texts = (stems_in(rule.source.text or "") for rule in index.rules_by_domain[domain])
    return frozenset(_keywords(index).domains[domain]).union(*texts)


def naming(about: Topic, actions: Sequence[str], index: BundleIndex) -> Topic:
    """*about* with those of *actions* named that rules speak of."""
    outcome_of = _keywords(index).outcome_of
    named = tuple(name for name in actions if name in outcome_of)
    outcomes = dict.fromkeys(filter(None, map(outcome_of.__getitem__, named)))
    return replace(about, actions=named, outcomes=tuple(outcomes))


def hinted(about: Topic) -> tuple[str, ...]:
    """The subject of which the words that name none speak much more than of any other, if there is one."""
    ahead = [name for name, weight in about.likely if weight * AHEAD > about.likely[0][1] > LEAST]
    return tuple(ahead) if len(ahead) == 1 else ()


def limits_asked(text: str, index: BundleIndex) -> tuple[str, ...]:
    """The facts whose limits *text* asks for: it opens as the question for the fact does ("how many lessons"), or with
    what the fact is called."""
    opening = _measured(asking_clause(text))
    if opening is None or is_report(text):
        return ()
    asked, called = _openings(index)
    return asked.get(opening) or called.get(opening, ())


def figures_asked(text: str, about: Topic, index: BundleIndex) -> tuple[str, ...]:
    """The actions that *text* names where it asks how much they are, and each has a figure that no fact changes."""
    is_asked = _measured(asking_clause(text)) is not None or "cost" in _stems_in(text)
    if not is_asked or not asks_open(text) or is_report(text) or not about.actions:
        return ()
    declared = [index.vocabulary.actions[name] for name in about.actions]
    is_fixed = all(one.figures and not any(figure.per for figure in one.figures) for one in declared)
    return about.actions if is_fixed else ()


@kept(4)
def _openings(index: BundleIndex) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
    """The facts that are measured, by what "how …" asks for in the question of each, and by the words of its label."""
    tested = _facts_of(index.ruleset.rules)
    asked, called = defaultdict[str, tuple[str, ...]](tuple), defaultdict[str, tuple[str, ...]](tuple)
    for name, fact in sorted(index.vocabulary.facts.items()):
        if name in tested and fact.type in ("integer", "decimal"):
            opening = _measured(read_words(fact.ask or ""))
            if opening is not None:
                asked[opening] += (name,)
            for one in content(words_of(fact.label or name.replace("_", " "))):
                called[one] += (name,)
    return asked, called


def _measured(words: Sequence[Word]) -> str | None:
    """The stem of what is asked for: "lesson" of "how many lessons", "old" of "how old", "age" of "from what age"."""
    spoken = [word.text for word in words[:4]]
    said = unled(spoken) if spoken else []
    if len(said) > 1 and said is not spoken and said[0] in ("what", "which"):
        return stem(said[1])
    if len(said) < 2 or said[0] != "how":
        return None
    measured = said[2] if said[1] in ("many", "much") and len(said) > 2 else said[1]
    return None if measured in AUXILIARIES else stem(measured)


def spoken_of(text: str, index: BundleIndex) -> tuple[str, ...]:
    """The facts that the words which ask say a phrase or a value of; none where a word of them is of no such fact."""
    stems = stems_of(word.text for word in asking_clause(text))
    said = {name: _sayings(index.vocabulary.facts[name]) for name in _facts_of(index.ruleset.rules)}
    found = {name: those for name, those in said.items() if any(one and one <= stems for one in those)}
    return tuple(found) if stems <= frozenset().union(*chain(*found.values())) else ()


def _sayings(fact: Fact) -> list[frozenset[str]]:
    """What the fact is called and what states a value of it, each as its stems."""
    told = fact.phrases if fact.type != "boolean" and isinstance(fact.phrases, list) else ()
    return [stems_in(text) for text in (fact.label or "", *told, *(text for _, text, _ in said_by("", fact)))]


def topics(index: BundleIndex) -> Sequence[str]:
    """The domains that can be asked about, sorted."""
    return tuple(sorted({rule.domain for rule in index.ruleset.rules}))


def prepare(index: BundleIndex) -> None:
    """Build what the first question on a bundle would otherwise wait for."""
    score("", index)
    index.evaluator.decide({}, 1)


def _stems_in(text: str) -> frozenset[str]:
    """The telling stems of *text*; whoever asks how much a thing is, asks what it costs."""
    words = {word.text for word in read_words(text)}
    return stems_of(words | {"cost"} if _COSTS.search(text) else words)


# ---- the words of a bundle ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Keywords:
    """Stems of the bundle: of each domain with their weight, of each outcome and action (one set a name)."""

    domains: Mapping[str, Mapping[str, float]]
    outcomes: _Names
    actions: _Names
    fact_stems: frozenset[str]
    rarity: Mapping[str, float]
    subjects: Mapping[str, Mapping[str, float]]  # stem → how much it speaks of an outcome, or of an action of none
    outcome_of: Mapping[str, str | None]
    stems: frozenset[str]  # all of them
    telling: frozenset[str]  # those of actions, outcomes and domains
    areas: _Names  # of each domain: its name, and the words declared for it
    declared: _Names  # these words alone
    topics: dict[tuple[frozenset[str], tuple[str, ...]], Topic] = field(default_factory=dict)  # the last few


@kept(4)
def _keywords(index: BundleIndex) -> _Keywords:
    vocabulary, rules = index.vocabulary, index.ruleset.rules
    lost_actions, lost_outcomes = _unread(
        index
    )  # also these can be asked about: what is said then is that nobody knows
    used = {action for rule in rules for action in (rule.effect.action, *rule.effect.implied)} | lost_actions
    actions = {name: names_of_action(name, vocabulary) for name in sorted(used)}
    answered = {outcome for rule in rules for outcome, _ in rule.effect.takes} | lost_outcomes
    outcomes = {name: names_of_outcome(name, vocabulary) for name in sorted(answered)}
    facts = {name: _stems_of_fact(name, vocabulary) for name in _facts_of(rules)}
    weights = _domain_weights(rules, actions, facts)
    in_targets: dict[str, int] = defaultdict(int)
    for group in (*actions.values(), *outcomes.values()):
        for one in set().union(*group):
            in_targets[one] += 1
    fact_stems = frozenset().union(*facts.values())
    declared = {name: _declared_for(name, index) for name in weights}
    targets = _telling(frozenset().union(*chain(*actions.values(), *outcomes.values())))
    return _Keywords(
        stems=fact_stems.union(*weights.values()),
        telling=targets.union(*map(stems_in, weights)),
        domains=weights,
        outcomes=outcomes,
        actions=actions,
        fact_stems=fact_stems,
        rarity={stem: 1 / count for stem, count in in_targets.items()},
        subjects=_subjects(rules, outcomes, actions, facts),
        outcome_of={name: vocabulary.outcome_of(name) for name in actions},
        areas={name: (stems_in(name), *declared[name]) for name in weights},
        declared=declared,
    )


def _unread(index: BundleIndex) -> tuple[set[str], set[str]]:
    """The declared actions and outcomes that rules speak of which cannot be read."""
    vocabulary, unproven = index.vocabulary, index.ruleset.unproven
    if any(one.is_everything for one in unproven):
        return {vocabulary.canonical(name) for name in vocabulary.actions}, {*vocabulary.outcomes}
    actions = {name for one in unproven for name in (*one.actions, *one.beside) if name in vocabulary.actions}
    outcomes = {name for one in unproven for name in one.outcomes if name in vocabulary.outcomes}
    return actions, outcomes


def _declared_for(domain: str, index: BundleIndex) -> tuple[frozenset[str], ...]:
    """The words by which a question finds *domain*, as `rules/enforcement.yaml` says."""
    declared = index.rules.enforcement.domains.get(domain)
    return tuple(found for text in (declared.keywords if declared else ()) if (found := stems_in(text)))


def _domain_weights(
    rules: Sequence[ConditionalRule],
    actions: Mapping[str, tuple[frozenset[str], ...]],
    facts: Mapping[str, frozenset[str]],
) -> dict[str, dict[str, float]]:
    raw: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for rule in rules:
        mine = raw[rule.domain]
        for one in stems_in(rule.domain):
            mine[one] = 3.0
        said = _telling(frozenset().union(*actions.get(rule.effect.action, ())))
        for outcome, _ in rule.effect.takes:
            said |= _telling(stems_in(outcome))
        for one in said:
            mine[one] = max(mine[one], 2.0)
        for fact in names(rule.guard):
            for one in facts[fact]:
                mine[one] = max(mine[one], 1.0)
    spread: dict[str, int] = defaultdict(int)
    for mine in raw.values():
        for one in mine:
            spread[one] += 1
    return {
        domain: {stem: weight / spread[stem] for stem, weight in sorted(mine.items())}
        for domain, mine in sorted(raw.items())
    }


_WEIGHTS = {"name": NAMED, "action": 2.0, "text": 1.0, "fact": 0.5}


def _subjects(
    rules: Sequence[ConditionalRule],
    outcomes: Mapping[str, tuple[frozenset[str], ...]],
    actions: Mapping[str, tuple[frozenset[str], ...]],
    facts: Mapping[str, frozenset[str]],
) -> dict[str, dict[str, float]]:
    """How much each stem speaks of each subject: the less, the more of them it speaks of."""
    found: dict[str, dict[str, float]] = defaultdict(dict)

    def says(kind: str, subject: str, stems: frozenset[str]) -> None:
        for one in _telling(stems):
            found[one][subject] = max(found[one].get(subject, 0.0), _WEIGHTS[kind])

    for name, group in outcomes.items():
        says("name", name, frozenset().union(*group))
    for rule in rules:
        for action in (rule.effect.action, *rule.effect.implied):
            for subject in [outcome for outcome, _ in rule.effect.takes] or [action]:
                says("action", subject, frozenset().union(*actions[action]))
                says("text", subject, stems_in(rule.source.text or ""))
                for fact in names(rule.guard):
                    says("fact", subject, facts[fact])
    return {stem: {name: w * w / sum(mine.values()) for name, w in mine.items()} for stem, mine in found.items()}


def _facts_of(rules: Sequence[ConditionalRule]) -> list[str]:
    return sorted({fact for rule in rules for fact in names(rule.guard)})


def _stems_of_fact(name: str, vocabulary: Vocabulary) -> frozenset[str]:
    fact = vocabulary.facts.get(name)
    if fact is None:
        return stems_in(name)
    return _telling(frozenset().union(*_sayings(fact), stems_in(fact.label or name)))


def _telling(stems: frozenset[str]) -> frozenset[str]:
    """Without the words that tell something only within a name: "no refund", "10 percent", "one voucher"."""
    return frozenset(stem for stem in stems if stem not in DENIALS | _COUNTS and stem[0].isalpha())


# ---- what a text is about -------------------------------------------------------------------------------------------


def _topic(stems: frozenset[str], row: tuple[str, ...], keywords: _Keywords) -> Topic:
    found = keywords.topics.get((stems, row))
    if found is None:
        if len(keywords.topics) >= _KEPT:
            keywords.topics.clear()
        found = keywords.topics[stems, row] = _topic_of(stems, row, keywords)
    return found


def _topic_of(stems: frozenset[str], row: Sequence[str], keywords: _Keywords) -> Topic:
    ranked = sorted(
        ((sum(weights.get(stem, 0.0) for stem in stems), domain) for domain, weights in keywords.domains.items()),
        key=lambda pair: (-pair[0], pair[1]),
    )
    best = ranked[0][0] if ranked else 0.0
    second = ranked[1][0] if len(ranked) > 1 else 0.0
    found = tuple(domain for points, domain in ranked if points > 0 and points >= best / 2)
    confidence = round(best / (best + second) * min(1.0, best), 3) if best else 0.0
    names = chain(*keywords.outcomes.values(), *keywords.actions.values())
    whole = frozenset().union(*(said for said in map(unmarked, names) if said <= stems and _is_together(said, row)))
    outcomes = _named(stems, keywords.outcomes, keywords.rarity, row, whole)
    actions = _named(stems, keywords.actions, keywords.rarity, row, whole)
    outcomes, actions = (  # "approve the refund" names an action, not the outcome "refund", and the other way round
        _unless_within(outcomes, keywords.outcomes, actions, keywords.actions, stems),
        _unless_within(actions, keywords.actions, outcomes, keywords.outcomes, stems),
    )
    implied = [outcome for action in actions if (outcome := keywords.outcome_of.get(action)) is not None]
    points: dict[str, float] = defaultdict(float)
    for one in stems:
        for name, weight in keywords.subjects.get(one, {}).items():
            points[name] += weight
    likely = tuple(
        sorted((pair for pair in points.items() if pair[1] >= _HARDLY), key=lambda pair: (-pair[1], pair[0]))
    )
    areas = _named(stems, keywords.areas, keywords.rarity, row, frozenset())
    return Topic(tuple(dict.fromkeys((*outcomes, *implied))), actions, found, areas, likely, confidence)


def _unless_within(
    names: Sequence[str], of: _Names, others: Sequence[str], of_others: _Names, stems: frozenset[str]
) -> tuple[str, ...]:
    """Those of *names* that the text says by more than a part of what it says of *others*."""
    longer = [unmarked(said) for name in others for said in of_others[name] if said <= stems]
    return tuple(
        name
        for name in names
        if not all(any(unmarked(said) < other for other in longer) for said in of[name] if said <= stems)
    )


def _is_together(said: frozenset[str], row: Sequence[str]) -> bool:
    """Do the telling words of a name of several stand side by side in a *row* of such words?"""
    size = len(said)
    return size > 1 and any(said == set(row[i : i + size]) for i in range(len(row) - size + 1))


def _named(
    stems: frozenset[str],
    targets: _Names,
    rarity: Mapping[str, float],
    row: Sequence[str],
    whole: frozenset[str],
) -> tuple[str, ...]:
    """The targets that have a name all of whose words occur; of names within each other only the longest.

    A word of a name that is said in one piece (the *whole* ones) belongs to no other that is said in pieces.
    """
    hits = [(name, said) for name, group in targets.items() for said in group if said <= stems]
    hits = [
        (name, said)
        for name, said in hits
        if len(bare := unmarked(said)) < 2 or whole.isdisjoint(bare) or _is_together(bare, row)
    ]
    names = [unmarked(said) for _, said in hits]
    kept = {name: said for name, said in hits if not any(unmarked(said) < other for other in names)}
    return tuple(sorted(kept, key=lambda name: (-sum(rarity.get(stem, 0) for stem in kept[name]), name)))
