"""What an answer may claim, how its text bears that, and which of its words may stay unclaimed (bylaw.hold.answers)."""
