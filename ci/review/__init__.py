"""A pull request reviewed: what was found as data, the same in words, and the words on GitHub."""
