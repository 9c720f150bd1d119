"""Rows in time order: the effective number of rows of two autocorrelated series."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import betainc

from streamsieve._kernels.lagged_products import lagged_products
from streamsieve._threads import over_features
from streamsieve.independence.dependent_rows.correlation import Conditions, DependentRowsTest
from streamsieve.independence.fisher_z import FisherZ
from streamsieve.protocols import FloatArray
from streamsieve.state import Int, Nested, register

#: Largest lag up to which sums of products cost less than Fourier transforms.
MOST_DIRECT = 64
#: Fewest rows that any two series are worth.
FEWEST_EFFECTIVE = 3.0


def default_lag(n: int) -> int:
    """Return the largest lag of autocorrelations over n rows: 20 log10(n), at most n / 4, at least 1."""
    return max(1, int(min(n / 4, 20 * math.log10(n))))


@register
class SerialCorrelation(DependentRowsTest):
    """Correlation of a column with a target, both of which may be autocorrelated along the rows.

    The correlation of two independent stationary series over n rows has the variance of one over n_eff
    independent rows, ``n / n_eff = 1 + 2 sum_j (1 - j / n) rho_x(j) rho_y(j)``.  The p-value is that of the t
    test with ``n_eff - 2 - k`` degrees of freedom given k columns, where the autocorrelations are those of
    residuals.  n_eff is at least 3 and at most n.  For more than two classes it is that of the contrast of
    classes that has the least, and the test the F test, which is then conservative.

    Parameters
    ----------
    independent : the test for independent rows
    lag : largest lag of autocorrelations, below n

    References
    ----------
    Bartlett, JRSS 98, 1935.  Bayley, Hammersley: The effective number of independent observations in an
    autocorrelated time series, JRSS Supplement 8, 1946.  Dutilleul: Modifying the t test for assessing the
    correlation between two spatial processes, Biometrics 49, 1993.
    """

    fields = {"independent": Nested(FisherZ, shares=("rows",)), "lag": Int(1, 2**31)}

    def __init__(self, independent: FisherZ, lag: int) -> None:
        super().__init__(independent)
        self.lag = lag
        self._lagged = self._lagged_products(independent.basis)

    def effective_rows(self, Z: FloatArray, under: Conditions | None = None) -> FloatArray:
        """Return the effective number of rows of columns, the rows of Z, centered and of unit length."""
        marginal = under is None or under is self._marginal
        lagged = self._lagged if under is None or marginal else self._lagged_products(under.basis)
        rho = autocovariances(Z, self.lag)
        if lagged.shape[1] == 1:
            inflation = 1 + (rho * lagged[:, 0, 0]).sum(axis=1)
        else:  # one column at a time, because a column costs lag x contrasts^2 values
            matrices = [(each[:, None, None] * lagged).sum(axis=0) for each in rho]
            inflation = 1 + np.array([np.linalg.eigvalsh(matrix)[-1] for matrix in matrices])
        effective: FloatArray = np.maximum(self.n / np.maximum(inflation, 1.0), min(FEWEST_EFFECTIVE, self.n))
        return effective

    def p_values(self, Z: FloatArray, under: Conditions) -> FloatArray:
        """Return p-values of columns, the rows of Z."""
        n_contrasts = under.basis.shape[1]
        freedom = self.effective_rows(Z, under) - under.given.shape[1] - n_contrasts - 1
        explained = sum((Z * b).sum(axis=1) ** 2 for b in under.basis.T)
        p = betainc(np.maximum(freedom, 1e-3) / 2, n_contrasts / 2, np.clip(1 - explained, 0, 1))
        p_values: FloatArray = np.where(freedom > 0, p, np.nan)
        return p_values

    def _lagged_products(self, basis: FloatArray) -> FloatArray:
        """Return, for each lag, ``2 (1 - j / n)`` times the lagged products of the target's contrasts."""
        lags = np.arange(1, self.lag + 1)
        products = np.array([basis[j:].T @ basis[:-j] for j in lags])
        weight = 2 * (1 - lags / self.n)
        symmetric: FloatArray = weight[:, None, None] * (products + products.transpose(0, 2, 1)) / 2
        return symmetric

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        if record["lag"] >= record["independent"].n:
            yield f"there are {record['independent'].n} rows, fewer than a lag of {record['lag']} needs"

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        return cls(record["independent"], record["lag"])


def autocovariances(Z: FloatArray, lag: int) -> FloatArray:
    """Return ``sum_i z_i z_(i+j)`` for the rows of Z and the lags j = 1, 2, ..., lag."""
    out = np.empty((len(Z), lag))
    if lag <= MOST_DIRECT:

        def work(low: int, high: int) -> None:
            lagged_products(Z, low, high, out)

        over_features(len(Z), Z.size * lag, work)
        return out
    size = next_fast_len(Z.shape[1] + lag, real=True)
    for i, z in enumerate(Z):  # one at a time: batches of transforms need not give the same bits
        spectrum = rfft(z, size)
        out[i] = irfft(spectrum.real**2 + spectrum.imag**2, size)[1 : lag + 1]
    return out
