"""What a question is about, and which part of a decision it asks for."""
