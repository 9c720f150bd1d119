"""Pictures of selections."""

from streamsieve.evaluation import plots as plots

__all__ = ["plots"]
