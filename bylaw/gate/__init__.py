"""Decisions for agents that act: one engine behind every door. It knows no HTTP, no database and no clock."""
