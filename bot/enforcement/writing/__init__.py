"""A decision in words, without a model."""
