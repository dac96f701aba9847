"""The checks, one row each: the name that the weights in `rules/enforcement.yaml` use, and the function."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from bot.enforcement.judged.checks import consistency, coverage, judge, pattern
from bot.enforcement.judged.checks.result import AnswerDraft, CheckResult, Violation

Check = Callable[[AnswerDraft], CheckResult]

CHECKS: Mapping[str, Check] = {
    "pattern": pattern.check,
    "consistency": consistency.check,
    "judge": judge.check,
    "coverage": coverage.check,
}

_log = logging.getLogger("bylaw.enforcement")


def run(draft: AnswerDraft, checks: Mapping[str, Check] = CHECKS) -> tuple[CheckResult, ...]:
    """Every check on *draft*. One that breaks down has not passed: it scores nothing and is a violation."""
    return tuple(_guarded(name, check, draft) for name, check in checks.items())


def _guarded(name: str, check: Check, draft: AnswerDraft) -> CheckResult:
    try:
        return check(draft)
    except Exception as error:  # whatever it was: an answer that could not be checked must not be delivered
        _log.exception("a check broke down", extra={"meta": {"check": name}})
        told = f"the check `{name}` broke down ({type(error).__name__}); the answer is not checked"
        return CheckResult(name, 0.0, told, (Violation("crashed", told),))
