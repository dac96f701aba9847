"""Who asks: tokens, and what a proxy says."""
