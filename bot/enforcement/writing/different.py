"""What an answer adds to a decided outcome: the smallest change of facts that would give another action.

A part of the Reply of its own and no part of its text: it speaks of another case, so nothing in it is stated or
promised of this one. The search has only the rules that the actor may be answered from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from bot.conversation import Change, Different
from bot.enforcement.writing.why import Other, another, more_restrictive, unchangeable
from bot.enforcement.writing.write import Words
from bylaw.authored.labels import labels
from bylaw.logic.decide.evaluate import Decision, Evaluator
from bylaw.logic.formula.ir import Value
from bylaw.logic.words.changes import changes_in_words
from bylaw.logic.words.prose import Labels, phrase


def different(
    words: Words,
    evaluator: Evaluator,
    facts: Mapping[str, Value],
    day: int,
    decision: Decision,
    outcomes: Iterable[str],
    trials: int,
) -> Iterator[Different]:
    """For each of *outcomes* the smallest change that makes it no worse.

    One is left out that no change (of those tried) turns around, or only one of a fact that nobody told.
    """
    spoken = labels(words.vocabulary)
    asked = tuple(outcomes)
    for outcome in asked:
        worse = more_restrictive(words.vocabulary, outcome, decision.outcomes[outcome].action)
        fixed = unchangeable(words.vocabulary)
        other = another(evaluator, facts, day, decision, outcome, trials, fixed, worse)
        is_told = all(step.before is not None for step in other.found.steps)
        if other.action is not None and other.found.steps and is_told:
            about = f"{words.outcome(outcome)}: it" if len(asked) > 1 else "it"
            yield _told(words, evaluator, other, about, spoken)


def _told(words: Words, evaluator: Evaluator, other: Other, about: str, spoken: Labels) -> Different:
    assert other.action is not None  # its caller has looked
    variables = evaluator.ruleset.variables
    unsure = "" if other.found.is_sure else "; perhaps a smaller change would do"
    by = f" ({other.policy_id})" if other.policy_id else ""
    said = f"{about} would be {words.action(other.action)}{by} {changes_in_words(other.found.steps, spoken)}{unsure}."
    return Different(
        outcome=other.subject,
        action=other.action,
        policy_id=other.policy_id,
        rule_id=other.rule_id,
        changes=tuple(
            Change(
                fact=step.fact,
                before=None if step.before is None else variables[step.fact].show(step.before),
                after=variables[step.fact].show(step.after),
                test=phrase(step.test, spoken),
            )
            for step in other.found.steps
        ),
        is_sure=other.found.is_sure,
        text=said[:1].upper() + said[1:],
    )
