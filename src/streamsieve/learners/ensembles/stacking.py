"""Stacking weights: non-negative least squares."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning

from streamsieve._caller import warn
from streamsieve.protocols import FloatArray


def stacking_weights(predictions: FloatArray, target: FloatArray, *, convex: bool) -> FloatArray:
    """Return the non-negative weights with which members come nearest to a target.

    Parameters
    ----------
    predictions : (members, values), what each member predicted for values it did not learn from
    target : the values
    convex : whether the weights must sum to 1

    Notes
    -----
    With weights b that sum to 1, ``Z b - y = (Z - y 1') b =: D b``, the nearest point of a convex hull to 0.
    It is found without a constraint: ``|D u|^2 + (sum u - 1)^2`` over ``u = t b`` is least at ``t = 1 / (1 +
    |D b|^2)``, where it is ``|D b|^2 / (1 + |D b|^2)``, which grows with ``|D b|^2``.
    """
    columns, y = predictions.T, target
    if convex:
        columns = np.vstack([columns - y[:, None], np.ones(len(predictions))])
        y = np.append(np.zeros(len(target)), 1.0)
    # a triangle as small as the members says all about a problem as long as the rows
    triangle = np.asarray(np.linalg.qr(np.column_stack([columns, y]), mode="r"))
    most = 100 * (len(predictions) + 1)
    try:
        weights: FloatArray = nnls(triangle[:, :-1], triangle[:, -1], maxiter=most)[0]
    except RuntimeError:  # of SciPy, which has no answer then
        warn(
            f"no weights were found in {most:,} steps, so all members weigh the same: leave out members that "
            "predict the same",
            ConvergenceWarning,
        )
        weights = np.full(len(predictions), 1.0 / len(predictions))
    return weights / weights.sum() if convex else weights
