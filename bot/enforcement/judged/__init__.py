"""The verdict on an answer: claims, checks, score."""
