"""Rows in groups that have one target each: the groups are the independent rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from streamsieve.protocols import FloatArray, IntArray, Matrix


class GroupMeans:
    """Means of columns over groups of rows.

    If the target is one value per group, a group's rows are one observation, and tests over the means of
    groups are tests over independent rows.  Groups of different sizes count alike.

    Parameters
    ----------
    groups : code of each row's group, 0, 1, 2, ...

    Examples
    --------
    >>> import numpy as np
    >>> means = GroupMeans(np.array([0, 1, 0]))
    >>> means.of(np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]])).tolist()
    [[2.0, 6.0], [2.0, 6.0]]
    """

    def __init__(self, groups: IntArray) -> None:
        self.n_groups = int(groups.max()) + 1
        self._size = np.bincount(groups).astype(np.float64)
        self._sums = sp.csr_array((np.ones(len(groups)), (groups, np.arange(len(groups)))))

    def of(self, X: Matrix) -> Matrix:
        """Return the means of columns; NaN is left out, and stays where a group has nothing else.

        Sums are of differences from one of the column's values, so that an offset costs no digits and a
        constant column stays one.
        """
        if sp.issparse(X):
            return self._of_sparse(X)
        observed = ~np.isnan(X)
        if observed.all():
            means: FloatArray = X[0] + (self._sums @ (X - X[0])) / self._size[:, None]
            return means
        offset = X[observed.argmax(axis=0), np.arange(X.shape[1])]
        with np.errstate(invalid="ignore"):
            means = (self._sums @ np.where(observed, X - offset, 0.0)) / (self._sums @ observed)
        return offset + means

    def _of_sparse(self, X: Matrix) -> Matrix:
        if np.isnan(X.data).any():
            return sp.csc_array(self.of(X.toarray()))
        entries = np.diff(X.indptr)
        offset = np.zeros(X.shape[1])
        offset[entries > 0] = X.data[X.indptr[:-1][entries > 0]]
        rest = X.copy()
        rest.data = X.data - np.repeat(offset, entries)
        stored = X.copy()
        stored.data = np.ones(len(X.data))
        rest, stored = self._means(rest), self._means(stored)
        stored.data *= np.repeat(offset, np.diff(stored.indptr))
        means = sp.csc_array(rest + stored)
        means.sort_indices()
        return means

    def _means(self, X: Matrix) -> Matrix:
        sums = sp.csc_array(self._sums @ X)
        sums.data /= self._size[sums.indices]
        return sums
