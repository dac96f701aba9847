"""The endpoints: one file a concern."""
