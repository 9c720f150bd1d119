"""Formulas over a summary: one score a feature, larger is better, never NaN."""

from streamsieve.criteria.chi2 import ChiSquare as ChiSquare
from streamsieve.criteria.correlation import Correlation as Correlation
from streamsieve.criteria.f import AnovaF as AnovaF
from streamsieve.criteria.fisher import Fisher as Fisher
from streamsieve.criteria.gini import Gini as Gini
from streamsieve.criteria.ksg import KSG as KSG
from streamsieve.criteria.mutual_info import MutualInfo as MutualInfo
from streamsieve.criteria.su import SymmetricUncertainty as SymmetricUncertainty
from streamsieve.criteria.t import WelchT as WelchT

__all__ = [
    "KSG",
    "AnovaF",
    "ChiSquare",
    "Correlation",
    "Fisher",
    "Gini",
    "MutualInfo",
    "SymmetricUncertainty",
    "WelchT",
]
