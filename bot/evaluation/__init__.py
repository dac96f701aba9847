"""Suites of questions, put to the bot as people would: what it did, and whether that was right."""
