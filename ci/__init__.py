"""Offline: load, lint, formalize, prove, assign, compile, report."""
