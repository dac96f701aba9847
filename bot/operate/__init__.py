"""For whoever runs an installation: what happened, how good it was, which walls stand."""
