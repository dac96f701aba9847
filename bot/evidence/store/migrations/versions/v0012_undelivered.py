"""How a delivery ended or why it waits; up to when conversations were listened to, and pull requests looked at.

What an earlier version gave up after three attempts keeps that meaning (`given up`): a person may have it sent again.
"""

from bot.evidence.store.migrations.statements import upgrade_by

revision, down_revision = "0012", "0011"
upgrade = upgrade_by(__file__)
