"""The words of a review on GitHub: what is shown already, and what has to change."""
