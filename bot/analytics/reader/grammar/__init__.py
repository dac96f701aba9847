"""The grammar of questions about data."""
