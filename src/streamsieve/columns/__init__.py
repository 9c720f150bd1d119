"""Selectors for columns that stream in over fixed rows."""

from streamsieve.columns.alpha_investing import AlphaInvesting as AlphaInvesting
from streamsieve.columns.saola import SAOLA as SAOLA

__all__ = ["SAOLA", "AlphaInvesting"]
