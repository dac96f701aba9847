"""The language model as a proposer of rules, opened the way this installation is set up, for a verb of ci."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from bot import settings
from bot.enforcement.refining import proposer_of
from bylaw.llm.registry import open_llm

if TYPE_CHECKING:
    from bylaw.authored.machines.rules import Rules
    from bylaw.refine.model import ModelProposer


def open_proposer(root: Path, rules: Rules) -> ModelProposer | None:
    """The model of the environment, under the limits of *rules*; None where none is wanted."""
    wanted = settings.read(root).llm
    return proposer_of(open_llm(wanted, time.monotonic), rules) if wanted.is_any else None
