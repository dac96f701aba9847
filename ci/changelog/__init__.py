"""`bylaw changelog`: what changed between two versions, in words for people who were not there."""
