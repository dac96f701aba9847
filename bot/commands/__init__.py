"""The verbs of the bot: each parses, calls one function and renders."""
