"""Findings for those who read them: people in a terminal, and machines."""
