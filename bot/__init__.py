"""Online: route, answer, check, deliver, remember."""
