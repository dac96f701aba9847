"""New weights as a pull request on `rules/risk.yaml`: the figures they come from, and the lines that change. Only that.

Nobody's weights change before people have merged it and the bundle is compiled anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bylaw.authoring import set_value
from bylaw.errors import UsageError
from bylaw.github.pull_request import Proposal

FILE = "rules/risk.yaml"
BRANCH = "bylaw/risk-weights"


def proposal(found: Mapping[str, Any], text: str, base: str = "main") -> Proposal:
    """The pull request that a calibration asks for; *text* is the file. Raises UsageError where it has none."""
    new = found["proposed"]
    if new is None:
        few = f"{found['failures']} answers failed in {found['window_days']} days"
        raise UsageError(f"no weights are proposed: {few}", f"it takes {found['minimum_failures']} failures")
    if dict(new) == dict(found["weights"]):
        raise UsageError("no weights are proposed: they would stay as they are", "nothing is to be done")
    for name, weight in sorted(new.items()):
        text = set_value(text, ("weights", name), weight)
    return Proposal(
        branch=BRANCH,
        title="Weigh the risk factors by the errors that were seen",
        why=(
            f"{found['failures']} of {found['answers']} answers failed within {found['window_days']} days. "
            "Factors that move with failures weigh more, the others less, within the bounds of the file."
        ),
        files={FILE: text},
        base=base,
        basis=tuple(_basis(found, name) for name in sorted(new)),
    )


def _basis(found: Mapping[str, Any], name: str) -> str:
    moves = found["correlations"][name]
    told = "never moves" if moves is None else f"moves with failures by {moves:+.2f}"
    return f"{name}: {found['weights'][name]} -> {found['proposed'][name]}; it {told}"
