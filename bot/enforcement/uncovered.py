"""What is said where no rule answers: a text is quoted, and the owners are named."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from bot.conversation import Citation, Turn
from bot.enforcement.case import Case
from bot.enforcement.question.lookups import lookups
from bot.enforcement.turn import turn_of
from bot.enforcement.writing import missing, write
from bot.enforcement.writing.unchecked import Unchecked, stems_in, unchecked
from bylaw.hold.bearing import is_empty
from bylaw.hold.text import see

_MOST_QUOTED = 3  # sentences of texts


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


def texts_on(case: Case, readers: Collection[str]) -> list[Unchecked]:
    """What policies say as text alone about what is asked, with half of the words of it that nobody accounts for."""
    seen = see(case.text)
    words = [token.word for token in seen.words(0, len(seen.text.seen)) if not is_empty(token.word)]
    found = unchecked(words, readers, case.index, case.day)
    unknown = stems_in(" ".join(one.text for one in (*case.reading.residue, *case.reading.unknown)))
    return [one for one in found if 2 * len(unknown & stems_in(" ".join(one.texts))) >= len(unknown)]


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
    whom = missing.lines(() if is_asked else owners, case.evaluator, is_asked)
    turn = turn_of(case, "refusal", "refused", [*lines, *whom], ())
    return replace(turn, reply=turn.reply.model_copy(update={"meta": missing.meta(words, owners)}))
