"""The questions that are asked about one version of a policy set: one file a question."""
