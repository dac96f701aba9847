"""What must not stand in any answer, whatever the case: personal data and over-promises.

Saying that something is not promised is not promising it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from bot.enforcement.judged.checks.result import AnswerDraft, CheckResult, Violation
from bot.enforcement.question.remembering import remember
from bot.pii import Mask
from bylaw.authored.machines.enforcement import Enforcement, Pii
from bylaw.language.lexicon import lexicon
from bylaw.language.text import parse


def check(draft: AnswerDraft) -> CheckResult:
    """Is there anything that may never be said?"""
    violations = (*_personal(draft), *_promised(draft))
    detail = violations[0].message if violations else "no personal data, no over-promise"
    return CheckResult("pattern", 0.0 if violations else 1.0, detail, violations)


def _personal(draft: AnswerDraft) -> Iterator[Violation]:
    mask = _mask(draft.index.rules.pii)
    for found in mask.find(draft.seen):
        if found.text in draft.query:
            continue  # the person told it
        # the words themselves would carry the data into logs and records
        yield Violation("pii", f"it holds {found.label}", "")


def _promised(draft: AnswerDraft) -> Iterator[Violation]:
    """Promises beyond the rules: not where they are denied, or all that the sentence claims follows."""
    claims = draft.found.reading.claims if draft.found is not None else ()
    if draft.found is not None and draft.found.reading.by == "template":
        return
    text = parse(draft.text)
    for name, pattern in _patterns(draft.index.rules.enforcement).items():
        for match in pattern.finditer(text.seen):
            passage = text.passage_of(*match.span())
            if passage is not None and text.seen[passage.start : passage.end].rstrip().endswith("?"):
                continue  # asking is not promising
            said = [one for one in claims if any(text.passage_of(*p) == passage for p in text.find(one.quote))]
            words = [token.word for token in text.within(passage.start if passage else 0, match.start())]
            is_denied = lexicon()["negation"].any_in(words) or any(word.endswith("n't") for word in words)
            if not is_denied and not (said and all(one.status in ("valid", "satisfiable") for one in said)):
                yield Violation("over-promise", f"it promises more than a rule says (`{name}`): “{match[0]}”", match[0])


@remember(4)
def _mask(rules: Pii) -> Mask:
    return Mask(rules)


@remember(4)
def _patterns(rules: Enforcement) -> Mapping[str, re.Pattern[str]]:
    return {name: re.compile(pattern) for name, pattern in sorted(rules.forbidden.items())}
