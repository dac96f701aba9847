"""What can be said about a workspace by looking at it: one lint a claim, all of them in `registry.py`."""
