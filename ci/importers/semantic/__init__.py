"""Semantic models that others wrote: one file a format, and what several of them need."""
