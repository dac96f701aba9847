"""`bylaw import`: the semantic layer that others wrote, as context files."""
