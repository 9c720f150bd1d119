"""Streams run to their end, or to the next crash, and go on from there."""

from streamsieve.running._run import run as run

__all__ = ["run"]
