"""What an editor is told while somebody types: the findings of the check, words to choose from, and their places."""
