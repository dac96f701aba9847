"""What a person can look up: policies, words and findings explained; schemas for editors."""
