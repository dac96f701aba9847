"""What the bot remembers between processes: one file a concern, SQLite or PostgreSQL underneath."""
