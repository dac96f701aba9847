"""What the policies say, when somebody asks for their wording and tells no case to decide.

"What is our return policy?" is answered with the rules themselves: their own sentences, each with its place. A fact
that is told narrows them to those that could still hold, and says of each when it does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.enforcement.lookups import lookups
from bot.enforcement.recognise import POLICY_ID, Topic
from bot.enforcement.write import Words
from bot.index import BundleIndex
from bylaw.authored.labels import labels
from bylaw.language.words import read_words
from bylaw.logic.evaluate import Evaluator
from bylaw.logic.ir import TRUE, ConditionalRule, Value, Variable
from bylaw.logic.prose import sentence
from bylaw.logic.shorter import shorter
from bylaw.logic.truth import simplify, truth

MOST_RULES = 8  # of one answer; the rest are named
_MOST_TOLD = 1  # facts: who tells more has a case
_LONGEST = 200  # characters of a condition that people still read
_VERBS: Mapping[str, str] = {"required": "required: ", "prohibited": "not allowed: ", "permitted": "allowed: "}

# Of normalised words: "what is our policy on gifts", "tell me the rules for refunds", "refund policy", "until when".
_ASKS_FOR_WORDING = re.compile(
    r"""
      (?: what (?:\ kind\ of)? | which
        | (?:please\ )? (?:tell|show|give|explain|describe|summari[sz]e|list|quote|read) (?:\ me|\ us)? )
      (?:\ \w+){0,6}? \ (?:policy|policie|policies|rule|rules|term|terms|window|period|deadline)\b
    | (?:\w+\ ){0,3} (?:policy|policie|policies|rule|rules) $
    | (?:until|by)\ when\b
    | how\ (?:long|many\ days?)\ (?:can|may|do\ (?:\w+\ ){1,3}have)\b
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Wording:
    """The rules that are asked for, and what they are about, in words."""

    about: str
    rules: tuple[ConditionalRule, ...]


def wording(
    text: str, topic: Topic, facts: Mapping[str, Value], index: BundleIndex, evaluator: Evaluator, day: int
) -> Wording | None:
    """The rules of *evaluator* whose wording *text* asks for; None when it asks about a case.

    What is decided stands before what else must be done, and the strongest policy first.
    """
    if len(facts) > _MOST_TOLD:
        return None
    named = {found.upper() for found in POLICY_ID.findall(text)}
    rules: Sequence[ConditionalRule]
    if named:
        about, rules = " and ".join(sorted(named)), [r for r in evaluator.ruleset.rules if r.policy_id in named]
    elif _ASKS_FOR_WORDING.match(" ".join(word.text for word in read_words(text))):
        about, rules = _about(topic, index, evaluator, day)
    else:
        return None
    open_ = [rule for rule in rules if rule.holds_on(day) and truth(rule.guard, facts) is not False]
    open_.sort(
        key=lambda rule: (
            not rule.effect.takes,
            rule.level,
            rule.policy_id,
            rule.source.path,
            rule.source.line,
            rule.rule_id,
        )
    )
    return Wording(about, tuple(open_)) if open_ or named else None


def told(words: Words, found: Wording, facts: Mapping[str, Value], variables: Mapping[str, Variable]) -> list[str]:
    """The lines of the answer."""
    if not found.rules:
        return [f"I know no policy {found.about} that is in force and that you may read."]
    shown, rest = found.rules[:MOST_RULES], found.rules[MOST_RULES:]
    lines = [
        f"What the policies say about {found.about}:",
        *(f"- {_line(words, rule, facts, variables)}" for rule in shown),
    ]
    if rest:
        ids = ", ".join(dict.fromkeys(rule.policy_id for rule in rest))
        lines.append(f"- and {len(rest)} more {'rule' if len(rest) == 1 else 'rules'}, in {ids}")
    return [*lines, "Tell me about a case, and I say what holds for it."]


def _about(topic: Topic, index: BundleIndex, evaluator: Evaluator, day: int) -> tuple[str, Sequence[ConditionalRule]]:
    """What a text is about that names no policy: its outcomes, its actions, else its likeliest domain."""
    known, words = lookups(index), Words(index.vocabulary)
    if topic.outcomes:
        name = topic.outcomes[0]
        return words.outcome(name), known.ranked(name, evaluator, day)
    if topic.actions:
        return words.action(topic.actions[0]), known.speaking(topic.actions[:1], evaluator, day)
    if topic.domains:
        return topic.domains[0].replace("_", " "), known.of_domain(topic.domains[0], evaluator)
    return "", ()


def _line(words: Words, rule: ConditionalRule, facts: Mapping[str, Value], variables: Mapping[str, Variable]) -> str:
    """One rule: what it gives, when that is short enough to say, and its sentence."""
    left = shorter(simplify(rule.guard, facts), variables)
    when = "" if left == TRUE else f", when {sentence(left, labels(words.vocabulary))}"
    given = f"{_VERBS.get(rule.effect.kind, '') if not rule.effect.takes else ''}{words.action(rule.effect.action)}"
    quoted = f": “{rule.source.text}”" if rule.source.text else ""
    return f"{given}{when if len(when) <= _LONGEST or not quoted else ''}{quoted} ({rule.policy_id})"
