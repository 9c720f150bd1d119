"""Tests of independence between columns."""

from streamsieve.independence.fisher_z import FisherZ as FisherZ

__all__ = ["FisherZ"]
