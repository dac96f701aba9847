"""What an answer claims, held against its own text and against the logic (bot.claims)."""
