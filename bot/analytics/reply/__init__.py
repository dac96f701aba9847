"""Rows as an answer: sentences, charts, sources, and what was taken for granted."""
