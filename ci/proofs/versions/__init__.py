"""Two versions of a policy set: which cases change outcome, and that no others do."""
