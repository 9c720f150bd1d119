"""Streams run to their end, or to the next crash, and go on from there."""

from streamsieve.running.runner import run as run

__all__ = ["run"]
