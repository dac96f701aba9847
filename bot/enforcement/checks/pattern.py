"""What must not stand in any answer, whatever the case: personal data, over-promises, what a rule prohibits here.

Quoting a rule is not breaking it, and saying that something is not done is not doing it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from bot.claims.judge import Found
from bot.enforcement.checks.result import CheckResult, Draft, Violation
from bot.enforcement.kept import kept
from bot.enforcement.lookups import lookups
from bot.enforcement.polarity import is_denied
from bot.enforcement.said import Said
from bot.enforcement.sentences import cited
from bot.enforcement.write import Words
from bot.pii import Mask
from bylaw.authored.enforcement import Enforcement, Pii
from bylaw.language.lexicon import lexicon
from bylaw.language.text import parse
from bylaw.logic.evaluate import Decision
from bylaw.logic.ir import TRUE, ConditionalRule


def check(draft: Draft) -> CheckResult:
    """Is there anything that may never be said?"""
    held = () if draft.found is not None else (*_promises(draft), *_forbidden(draft))
    is_read = draft.found is not None and draft.found.reading.by != "template"
    promised = tuple(_promised(draft, draft.found)) if draft.found is not None and is_read else ()
    violations = (*_personal(draft), *promised, *held)
    detail = violations[0].message if violations else "no personal data, no over-promise, nothing that is prohibited"
    return CheckResult("pattern", 0.0 if violations else 1.0, detail, violations)


def _personal(draft: Draft) -> Iterator[Violation]:
    mask = _mask(draft.index.rules.pii)
    for found in mask.find(draft.seen):
        if draft.found is not None and found.text in draft.query:
            continue  # the person told it
        # the words themselves would carry the data into logs and records
        yield Violation("pii", f"it holds {found.label}", "")


def _promises(draft: Draft) -> Iterator[Violation]:
    patterns = _patterns(draft.index.rules.enforcement)
    for said in draft.stated.sentences:
        for name, pattern in patterns.items():
            match = pattern.search(said.sentence.text)
            if match is not None and not said.is_question and not _is_excused(draft, said, match):
                yield Violation("over-promise", f"it promises more than a rule says (`{name}`): “{match[0]}”", match[0])


def _is_excused(draft: Draft, said: Said, match: re.Match[str]) -> bool:
    """Is the promise denied ("we cannot guarantee"), or does a rule say that it holds in every case?"""
    words = said.sentence.words
    used = [i for i, word in enumerate(words) if match.start() <= word.start < match.end()]
    if used and is_denied(words, used):
        return True
    if any(_cites_a_law_without_exception(draft, policy) for policy in cited(said.sentence.text)):
        return True
    backed = [_holds_always(draft, name) for claim in said.claims if claim.gives for name in claim.targets]
    denied = [claim for claim in said.claims if not claim.gives]
    return bool(backed) and all(backed) and not denied


def _cites_a_law_without_exception(draft: Draft, policy: str) -> bool:
    rules = (draft.index.rule(fired.rule_id) for fired in draft.decision.fired if fired.policy_id == policy)
    return any(rule.guard == TRUE for rule in rules)


def _holds_always(draft: Draft, action: str) -> bool:
    always = lookups(draft.index).always(draft.evaluator, draft.day)
    return any(action in rule.effect.demands for rule in always)


def _promised(draft: Draft, found: Found) -> Iterator[Violation]:
    """Promises beyond the rules: not where they are denied, or all that the sentence claims follows."""
    text = parse(draft.text)
    for name, pattern in _patterns(draft.index.rules.enforcement).items():
        for match in pattern.finditer(text.seen):
            passage = text.passage_of(*match.span())
            said = [
                one for one in found.reading.claims if any(text.passage_of(*p) == passage for p in text.find(one.quote))
            ]
            words = [token.word for token in text.within(passage.start if passage else 0, match.end())]
            is_denied = lexicon()["negation"].any_in(words) or any(word.endswith("n't") for word in words)
            if not is_denied and not (said and all(one.status in ("valid", "satisfiable") for one in said)):
                yield Violation("over-promise", f"it promises more than a rule says (`{name}`): “{match[0]}”", match[0])


def _forbidden(draft: Draft) -> Iterator[Violation]:
    """NOT(x) of seed 001: an action that a rule prohibits in this case, stated as done, offered or allowed."""
    words = Words(draft.index.vocabulary)
    prohibited = set(draft.decision.prohibited)
    for claim in draft.stated.claims:
        action = claim.targets[0]
        if claim.gives and action in prohibited and claim.condition is None:
            rule = _prohibiting(draft, draft.decision, action)
            place = f" ({rule.policy_id}, {rule.source.path}:{rule.source.line})" if rule else ""
            yield Violation(
                "forbidden-action", f"it says what is prohibited here: {words.action(action)}{place}", claim.words, rule
            )


def _prohibiting(draft: Draft, decision: Decision, action: str) -> ConditionalRule | None:
    rules = (draft.index.rule(fired.rule_id) for fired in decision.fired)
    return next((r for r in rules if r.effect.kind == "prohibited" and r.effect.action == action), None)


@kept(4)
def _mask(rules: Pii) -> Mask:
    return Mask(rules)


@kept(4)
def _patterns(rules: Enforcement) -> Mapping[str, re.Pattern[str]]:
    return {name: re.compile(pattern) for name, pattern in sorted(rules.forbidden.items())}
