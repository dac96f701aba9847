"""A question in the words of the context, and its SQL."""
