"""The questions, in the order they are asked. A newcomer adds one line.

Contradictions are not among them: their answers are needed as pairs, so `ci.proofs.stage` asks for them first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ci.proofs.answers import Reply
from ci.proofs.inquiry import Inquiry
from ci.proofs.questions import (
    dead,
    failing_case,
    gap,
    graph,
    idle,
    invariant,
    joint,
    lifting,
    priority_mismatch,
    reach,
    redundant,
)

QUESTIONS: Mapping[str, Callable[[Inquiry], Iterable[Reply]]] = {
    "dead-rule": dead.dead_rule,
    "unreachable-exception": lifting.lifting_exception,
    "self-contradiction": joint.self_contradiction,
    "violated-invariant": invariant.violated_invariant,
    "never-wins": reach.never_wins_rule,
    "redundant-rule": redundant.redundant_rule,
    "idle-override": idle.idle_override,
    "gap": gap.undecided_case,
    "failing-case": failing_case.failing_case,
    graph.QUESTION: graph.differing_graph,
    "priority-mismatch": priority_mismatch.priority_mismatch,
}
ASKED = ("conflict", *QUESTIONS)  # by name, in order
OF_OTHERS: Mapping[str, str] = {"gap": "outcome", "failing-case": "case"}  # questions about no policy
