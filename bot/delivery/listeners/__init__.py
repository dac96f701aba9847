"""What Slack sends, read into values and answered: one file a kind, all of them in `registry`."""
