"""Rules as guards and effects, and their readings: plain Python, boxes, Z3 and English."""
