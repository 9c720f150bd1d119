"""How good is a selection: protocols, significance, pictures."""

from streamsieve.evaluation import plots as plots

__all__ = ["plots"]
