"""What is said where no rule answers: what is near is offered, a text is quoted, and the owners are named."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from bot.conversation import Citation, Turn
from bot.enforcement.case import Case
from bot.enforcement.question.intent import asking_clause, asks_what_follows, asks_what_holds
from bot.enforcement.question.lookups import lookups
from bot.enforcement.question.topic import offers
from bot.enforcement.question.topic.covered import Coverage, coverage, is_of_another_deed
from bot.enforcement.question.topic.stems import stems_in
from bot.enforcement.turn import turn_of
from bot.enforcement.writing import missing, write
from bot.enforcement.writing.unchecked import HALF, Unchecked, unchecked

_MOST_QUOTED = 3  # sentences of texts


def uncovered(case: Case, readers: Collection[str]) -> Turn | None:
    """What is said where nothing that is asked is declared. It leaves the conversation as it was."""
    found = coverage(case.text, case.told_now, case.index)
    is_told_anew = any(one.fact not in case.bounds for one in case.unclear) and case.memory.topic.is_named
    goes_on_with = bool(case.asked or is_told_anew or set(case.facts) - {read.fact for read in case.reads})
    if goes_on_with and (not found.unknown or case.told_now or not asks_what_holds(case.text)):
        return None
    said = texts_on(case, readers, found)
    if found.unknown and (best := [one for one in said if one.relevance > HALF]):
        return quoted(case, best)  # what only a text speaks of, it answers
    if found.is_covered:
        is_strange = is_of_another_deed(case.text, case.told_now, case.index)
        is_of_facts = bool(found.unknown) and not case.scope.is_named and asks_what_follows(case.text)
        return _doubted(case, found) if is_strange or is_of_facts else None
    if said:
        return quoted(case, said)
    if case.told_now and case.scope.is_offer and (turn := which(case, found)) is not None:
        return turn
    about = f": nothing in them speaks of {write.quoted(found.typed)}" if found.unknown else ""
    lines = [f"Our rules do not cover this{about}."]
    turn = missing_of(case, lines, found.unknown or found.asked, near(case))
    return replace(turn, is_aside=True)


def _doubted(case: Case, found: Coverage) -> Turn | None:
    """Ask whether a question is about what it names, where it would do something that no rule speaks of."""
    scope = case.scope
    named = scope.choices or (*scope.outcomes, *scope.actions)
    return which(replace(case, scope=replace(scope, choices=named, is_offer=True)), found)


def which(case: Case, found: Coverage | None = None) -> Turn | None:
    """Ask what it is about, where the words do not leave but one thing. What they do not name may be something else.

    Nothing is offered to words that name nothing, tell of no case but its kind, and ask nothing: "market share of
    phones".
    """
    named = case.scope.choices[: offers.MOST]
    is_bare = bool(case.told_now) and all(isinstance(read.value, str) for read in case.told_now)
    if not named or (case.scope.is_offer and is_bare and not asking_clause(case.text)):
        return None
    case = replace(case, memory=replace(case.memory, offered=named))
    choices = offers.choices(named, case.index.vocabulary)
    if not case.scope.is_offer:
        return turn_of(case, "policy", "needs_choice", [write.WHICH], (), choices=choices)
    owners, found = near(case), found or coverage(case.text, case.told_now, case.index)
    lines = [write.unnamed(found.typed), missing.otherwise(owners)]
    turn = turn_of(case, "policy", "needs_choice", lines, (), choices=choices)
    meta = missing.meta(found.unknown or found.asked, owners)
    return replace(turn, reply=turn.reply.model_copy(update={"meta": meta}))


def refused(case: Case) -> Turn:
    """No rule speaks about it. Say so, whom to ask, and what is covered."""
    words = [read.words for read in case.reads]
    if not case.scope.outcomes:
        return missing_of(case, [missing.NO_RULE], words, near(case))
    rules = lookups(case.index).answering(case.scope.outcomes[:1], case.evaluator, case.day)
    what = case.words.outcome(case.scope.outcomes[0])
    owners = sorted({owner for rule in rules if (owner := case.index.owner(rule.policy_id))})
    lines = [f"No policy in force decides this case: {what}.", missing.whom_to_ask(rules, case.index)]
    return missing_of(case, lines, words, owners, is_asked=True)


def texts_on(case: Case, readers: Collection[str], found: Coverage | None = None) -> list[Unchecked]:
    """What policies say as text alone about what is asked, with half of the words of it that no rule knows."""
    found = found or coverage(case.text, case.told_now, case.index)
    near = unchecked(found.asked or case.text.split(), readers, case.index, case.day)
    unknown = stems_in(" ".join(found.unknown))
    return [one for one in near if 2 * len(unknown & stems_in(" ".join(one.texts))) >= len(unknown)]


def quoted(case: Case, texts: Sequence[Unchecked]) -> Turn:
    """What is said from policies that are text alone: their own sentences, and that no logic checked them."""
    lines = [one.quoted for one in texts[:_MOST_QUOTED]]
    owners = dict.fromkeys(one.owner for one in texts[:_MOST_QUOTED] if one.owner)
    asked = [f"What follows from it in a case, {write.listing(owners)} can say."] if owners else []
    turn = turn_of(case, "policy", "answered", [*lines, *asked], ())
    return replace(citing(turn, texts[:_MOST_QUOTED]), is_aside=True)


def citing(turn: Turn, texts: Iterable[Unchecked]) -> Turn:
    """*turn* with the policies of *texts* among those that it cites."""
    cited, commit = turn.reply.citations, turn.reply.commit
    named = {one.id for one in cited}
    more = (Citation(id=one.policy_id, path=one.path, line=1, commit=commit) for one in texts)
    return replace(
        turn, reply=turn.reply.model_copy(update={"citations": (*cited, *(one for one in more if one.id not in named))})
    )


def near(case: Case) -> list[str]:
    """Whom to ask what no rule answers."""
    return missing.owners(case.memory.topic, case.index, case.evaluator)


def missing_of(
    case: Case, lines: Sequence[str], words: Sequence[str], owners: Sequence[str], is_asked: bool = False
) -> Turn:
    """What is said of a question that no rule answers: it goes on the list of missing policies."""
    whom = [] if case.is_part else missing.lines(() if is_asked else owners, case.evaluator, is_asked)
    turn = turn_of(case, "refusal", "refused", [*lines, *whom], ())
    return replace(turn, reply=turn.reply.model_copy(update={"meta": missing.meta(words, owners)}))
