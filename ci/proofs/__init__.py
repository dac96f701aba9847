"""The questions that CI asks about a whole set of policies."""
