"""One table a file, and the only code that writes to it."""
