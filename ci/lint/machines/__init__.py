"""Lints of the rules for machines: agents, tools, rights, lookups."""
