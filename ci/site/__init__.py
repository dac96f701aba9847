"""The rule book as static pages: what `bylaw report` writes for people who would rather look than read YAML."""
