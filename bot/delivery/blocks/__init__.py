"""Replies as Block Kit: values in, JSON out; nothing here talks to Slack."""
