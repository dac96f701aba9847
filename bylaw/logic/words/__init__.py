"""Formulas, rules and graphs as people read them."""
