"""The demos: a story of both wings, the gate before an agent, and the warehouse they read."""
