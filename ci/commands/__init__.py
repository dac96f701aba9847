"""The verbs of an author's day, a file each: what `ci.cli` and the table of verbs call."""
