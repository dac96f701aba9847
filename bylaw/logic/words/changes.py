"""What would have to be different, in words."""

from __future__ import annotations

from collections.abc import Sequence

from bylaw.logic.decide.counterfactual import Step
from bylaw.logic.formula.ir import Atom
from bylaw.logic.words.negation import is_clause
from bylaw.logic.words.prose import UNKNOWN, Label, Labels, phrase, value_in_words


def changes_in_words(steps: Sequence[Step], spoken: Labels) -> str:
    """The change as a clause: "if days since purchase is at most 14 days (now 20 days)"."""
    clauses = []
    for step in steps:
        now = "unknown" if step.before is None else value_in_words(step.before, _label(spoken, step.fact))
        clauses.append(f"{_test_in_words(step.test, spoken)} (now {now})")
    *rest, last = clauses
    return f"if {', '.join(rest)} and {last}" if rest else f"if {last}"


def _test_in_words(test: Atom, spoken: Labels) -> str:
    """The clause of *test*; a yes or no whose label is no clause of its own is said by the label in quotes."""
    known = _label(spoken, test.var)
    label = known.label or test.var.replace("_", " ")
    if not isinstance(test.value, bool) or known.denied is not None or is_clause(label):
        return phrase(test, spoken)
    return f"“{label}” is {value_in_words(test.value is (test.op == '=='))}"


def _label(spoken: Labels, fact: str) -> Label:
    return spoken.get(fact, UNKNOWN)
