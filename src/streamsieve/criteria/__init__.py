"""Formulas over a summary: one score a feature, larger is better, never NaN."""

from streamsieve.criteria.correlation import Correlation as Correlation
from streamsieve.criteria.f import AnovaF as AnovaF
from streamsieve.criteria.fisher import Fisher as Fisher
from streamsieve.criteria.t import WelchT as WelchT

__all__ = ["AnovaF", "Correlation", "Fisher", "WelchT"]
