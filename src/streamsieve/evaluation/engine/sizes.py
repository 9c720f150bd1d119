"""Numbers of features to try."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from streamsieve._parameters import check_number
from streamsieve.exceptions import ParameterError

#: Without a tau, the grid ends at this share of the features, or at this number.
SHARE, MOST = 0.8, 5000


def size_grid(n_features: int, n_sizes: int = 30, tau: float | None = None) -> list[int]:
    """Return a grid of numbers of features, fine at first: ``floor((4 i)^tau)`` for i = 1, ..., n_sizes.

    Parameters
    ----------
    n_features : int
        Number of features, at which sizes are capped; equal sizes are left out.
    n_sizes : int, default=30
        Length of the grid before duplicates are left out.
    tau : float or None, default=None
        Rate at which the grid grows, above 0.  If None, such that it ends at 80 % of the features, or at
        5000, which agrees with the values of the thesis to a few hundredths.

    References
    ----------
    Wang, Online and Offline Feature Screening and Applications, FSU thesis, 2021, table 2.1.

    Examples
    --------
    >>> from streamsieve.evaluation import size_grid
    >>> grid = size_grid(500, tau=1.25)
    >>> grid[:3], grid[-1]
    ([5, 13, 22], 397)
    """
    check_number("n_features", n_features, low=1, integer=True)
    check_number("n_sizes", n_sizes, low=1, integer=True)
    if tau is None:
        tau = math.log(max(1.0, min(SHARE * n_features, MOST))) / math.log(4 * n_sizes)
    else:
        check_number("tau", tau, low=0, high=100, open_low=True)
    # a power such as 4^1.5 may be below a whole number by rounding
    sizes = (math.floor((4 * i) ** tau * (1 + 1e-12)) for i in range(1, n_sizes + 1))
    return sorted({max(1, min(size, n_features)) for size in sizes})


def checked_sizes(sizes: Sequence[int] | None, n_features: int, n_sizes: Any, tau: Any) -> list[int]:
    """Return the sizes given, capped, or the grid."""
    if sizes is None:
        return size_grid(n_features, n_sizes, tau)
    if isinstance(sizes, (str, bytes)) or not isinstance(sizes, Iterable):
        raise ParameterError(f"sizes are numbers of features, as [5, 10, 20]; got {sizes!r}")
    sizes = list(sizes)
    if not sizes:
        raise ParameterError("sizes is empty: give numbers of features, or None for a grid of them")
    for size in sizes:
        check_number("sizes", size, low=1, integer=True)
    return sorted({min(int(size), n_features) for size in sizes})
