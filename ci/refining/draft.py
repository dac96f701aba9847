"""The draft that the loop leaves beside a policy: `<ID>.formal.yaml`, for a person to take over or to delete."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bylaw.authoring import dump
from bylaw.canonical import write_atomically
from bylaw.errors import UsageError
from bylaw.refine.loop import Run
from bylaw.refine.outcome import write_files
from ci.loading.load import Workspace

_HEAD = """\
# yaml-language-server: $schema={up}bylaw/schemas/formal_draft.schema.json
# Proposed by `bylaw formalize`, reviewed by nobody: no check and no answer rests on it. {held} of {cases} cases hold.
# To take it over, copy `formal:` into {name} and let `bylaw check` decide.
"""


def refuse_other_draft(workspace: Workspace, policy_id: str) -> None:
    """Raises UsageError where a draft lies beside the policy already: somebody may have worked on it."""
    path = next((one.path for one in workspace.policies if one.policy.policy_id == policy_id), None)
    if path is not None and (draft := _beside(workspace.root / path)).exists():
        help = "take its `formal:` over into the policy, or delete the file"
        raise UsageError(f"there is a draft for `{policy_id}` already: `{draft.name}`", help)


def _beside(policy: Path) -> Path:
    return policy.with_name(f"{policy.stem}.formal.yaml")


def write_draft(run: Run, root: Path, path: str) -> Path | None:
    """Write the best rules beside the policy at *path*; None where they are those that it has, or break a case."""
    best = run.best
    if best.mark.meaning == run.first.mark.meaning or best.mark.cases_held < best.mark.cases:
        return None
    policy = root / path
    rules: list[dict[str, Any]] = [dict(rule) for rule in best.document["logic_rules"]]
    quotes = {rule["rule_id"]: rule.pop("quote") for rule in rules if "quote" in rule}
    document = {
        "schema_version": "1.0",
        "policy_id": best.document["policy_id"],
        "draft": True,
        "proposed_by": f"{run.speaker}, prompts {run.version}",
        "formal": {"logic_rules": rules},
        **({"quotes": quotes} if quotes else {}),
        **({"assumptions": list(best.assumptions)} if best.assumptions else {}),
    }
    up = "../" * path.count("/")
    head = _HEAD.format(up=up, held=best.mark.cases_held, cases=best.mark.cases, name=policy.name)
    target = _beside(policy)
    write_atomically(target, head + dump(document))
    return target


def write_papers(run: Run, root: Path, name: str) -> Path:
    """Keep every iteration of a run under the repository's `.bylaw/refine/`; the folder."""
    return write_files(run, root / ".bylaw" / "refine" / name)
