"""From judged claims (`bot.claims`) to the verdict on an answer: further checks, score, who must look at it."""
