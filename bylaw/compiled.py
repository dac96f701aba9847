"""The whole compiled bundle as one model: its logic, and beside it the data context, the decisions and the rules."""

from pydantic import Field

from bylaw.authored.business import Business
from bylaw.authored.context import Context
from bylaw.authored.decisions import Decisions
from bylaw.authored.machines.rules import Rules
from bylaw.sections import BundleLogic


class CompiledPolicyBundle(BundleLogic):
    """All sections. The lookups a bot needs are built from it."""

    context: Context
    decisions: Decisions
    rules: Rules
    business: Business | None = Field(default=None, exclude_if=lambda value: value is None)
