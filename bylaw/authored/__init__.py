"""What people write: one model per file format."""
