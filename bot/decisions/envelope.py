"""The prompt envelope of seed 002, section C: everything an author of the answer may see, as one canonical object.

It is built for every answer, also where the templater is the author: its fingerprint names what the answer knew.
"""

from __future__ import annotations

from bot.decisions.contract import Document, Evidence, Listed
from bylaw.authored.machines.intents import Intent, Intents


def envelope(name: str, intent: Intent, question: str, evidence: Evidence | Listed, rules: Intents) -> Document:
    """The envelope of *question*. White space is normalised, so that equal questions have equal fingerprints."""
    return {
        "prompt_version": intent.prompt_id,
        "intent": name,
        "policy": {"json_mode": True, "retries": rules.prompt.retries, "temperature": 0},
        "question": " ".join(question.split()),
        "evidence": evidence.document(),
        "allowed_ids": list(evidence.allowed_ids),
        "constraints": {
            "output_schema": intent.answer_schema,
            "max_tokens": rules.prompt.max_tokens,
            "forbidden_text": list(rules.prompt.forbidden_text),
        },
        "explanations": {
            "why_these_fields": f"k={intent.k} neighbours only; the fewest fields that show what led to what",
            "why_these_ids": "the anchor, and what the intent's edges reach from it",
        },
    }
