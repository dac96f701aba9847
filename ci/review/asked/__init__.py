"""Comments that ask something of bylaw, and their answers."""
