"""Selectors for rows that stream in over many features."""

from streamsieve.rows.screen import Screen as Screen

__all__ = ["Screen"]
