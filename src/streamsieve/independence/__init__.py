"""Tests of independence between columns."""

from streamsieve.independence.chi_square import ChiSquareTest as ChiSquareTest
from streamsieve.independence.fisher_z import FisherZ as FisherZ
from streamsieve.independence.g_squared import GSquared as GSquared

__all__ = ["ChiSquareTest", "FisherZ", "GSquared"]
