"""Readers of what people write: one file a kind of phrase."""
