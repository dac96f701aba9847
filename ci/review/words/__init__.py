"""The data of a review in words."""
