"""Variance between and within classes: what the Fisher score and the F test share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc

from streamsieve.criteria._formula import ratio
from streamsieve.protocols import FloatArray
from streamsieve.summaries.moments import MomentsBlock


class Split(NamedTuple):
    """Sums of squares of some features, and the degrees of freedom behind them."""

    between: FloatArray
    within: FloatArray
    df_between: FloatArray
    df_within: FloatArray


def split(block: MomentsBlock) -> Split:
    """Divide each feature's variance; classes in which it never occurred do not count."""
    # only shares of the mass matter, and the product of a faded mass with a square might overflow
    mass = block.mass / max(float(block.mass.max(initial=0.0)), 1e-300)
    present = mass > 0
    total = mass.sum(axis=0)
    # Means relative to the first class present: equal ones then differ by exactly 0, whatever their size,
    # and a constant column cannot be mistaken for a perfect one.
    first = present.argmax(axis=0) if len(mass) else np.zeros(0, np.intp)
    mean = np.where(present, block.mean - np.take_along_axis(block.mean, first[None], axis=0), 0.0)
    centre = np.divide((mass * mean).sum(axis=0), total, out=np.zeros_like(total), where=total > 0)
    n_classes = present.sum(axis=0)
    return Split(
        (mass * (mean - centre) ** 2).sum(axis=0),
        (mass * block.variance).sum(axis=0),
        n_classes - 1.0,
        block.n.sum(axis=0) - n_classes,
    )


def f_statistic(s: Split) -> FloatArray:
    """One-way analysis of variance."""
    usable = (s.df_between > 0) & (s.df_within > 0)
    numerator = np.where(usable, s.between, 0.0) * np.maximum(s.df_within, 0.0)
    return ratio(numerator, s.within * np.maximum(s.df_between, 1.0))


def f_p_value(s: Split) -> FloatArray:
    """Probability of such an F under equal means; 1 where it cannot be tested."""
    usable = (s.df_between > 0) & (s.df_within > 0)
    p = np.ones(len(usable))
    p[usable] = fdtrc(s.df_between[usable], s.df_within[usable], f_statistic(s)[usable])
    return p
