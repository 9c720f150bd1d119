"""Streams run to their end, or to the next crash, and go on from there."""
