"""What decides whether a change passes, and how a change could decide that for itself."""
