"""Decision records that are no YAML: where they lie, and how their Markdown is read."""
