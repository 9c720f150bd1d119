"""Selectors that need all data at hand: the baselines that streams are compared with."""

__all__: list[str] = []
