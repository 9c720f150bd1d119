"""Small streams of nasty columns, and every way of offering them."""

import numpy as np
import scipy.sparse as sp

TASKS = ("binary", "multiclass", "regression")
OFFSET = 1e9


# ------------------------------------------------------------------------------------ targets


def target(rng, task, n):
    """Return a target of n rows: labels 0 and 1, at least three labels (some of one row), or fractions."""
    if task == "regression":
        return rng.normal(size=n) + 0.01
    classes = 2 if task == "binary" else int(rng.integers(3, min(n, 6) + 1))
    share = rng.dirichlet(np.full(classes, 1.0))
    y = rng.choice(classes, n, p=share)
    y[:classes] = np.arange(classes)
    return rng.permutation(y)


def rows(rng, task):
    """Return a number of rows: very few, few, or so many that fractions have more than 32 values."""
    least = 3 if task == "multiclass" else 2
    return int(rng.choice([rng.integers(least, 7), rng.integers(7, 31), rng.integers(40, 61)]))


# ------------------------------------------------------------------------------------ columns


def _noise(rng, y, before):
    return rng.normal(size=len(y))


def _informative(rng, y, before):
    return y * rng.choice([-2.0, 0.5, 1.0]) + rng.normal(size=len(y))


def _target_itself(rng, y, before):
    return y * float(rng.choice([-1.0, 1.0, 3.0]))


def _constant(rng, y, before):
    return np.full(len(y), rng.choice([0.0, 0.1, -7.0]))


def _near_constant(rng, y, before):
    x = np.full(len(y), rng.choice([0.0, 0.1, 5.0]))
    x[rng.integers(len(y))] += rng.choice([1.0, -0.25])
    return x


def _codes(rng, y, before):
    return rng.integers(0, rng.integers(2, 6), len(y)).astype(float)


def _signed_codes(rng, y, before):
    return rng.choice([-2.0, 0.0, 2.0], len(y)) * (rng.random(len(y)) < 0.7)


def _informative_codes(rng, y, before):
    return np.round(np.clip(y + rng.normal(size=len(y)), -2, 4))


def _sparse(rng, y, before):
    return rng.normal(size=len(y)) * (rng.random(len(y)) < 0.2)


def _sparse_informative(rng, y, before):
    return (rng.random(len(y)) < np.where(y > np.median(y), 0.6, 0.1)) * 1.0


def _copy(rng, y, before):
    return _earlier(rng, y, before).copy()


def _negated(rng, y, before):
    return -_earlier(rng, y, before)


def _scaled(rng, y, before):
    return 4.0 * _earlier(rng, y, before)


def _noisy_copy(rng, y, before):
    x = _earlier(rng, y, before)
    return x + 0.1 * (np.ptp(x) + 0.1) * rng.normal(size=len(y))


def _sum(rng, y, before):
    return _earlier(rng, y, before) + _earlier(rng, y, before)


def _constant_far_away(rng, y, before):
    return np.full(len(y), OFFSET + 0.1)


def _codes_far_away(rng, y, before):
    return OFFSET + rng.integers(0, 4, len(y))


def _informative_far_away(rng, y, before):
    return OFFSET + y + rng.normal(size=len(y))


def _earlier(rng, y, before):
    return before[rng.integers(len(before))] if before else _noise(rng, y, before)


NEAR = (
    _noise, _informative, _target_itself, _constant, _near_constant, _codes, _signed_codes,
    _informative_codes, _sparse, _sparse_informative, _copy, _negated, _scaled, _noisy_copy, _sum,
)  # fmt: skip
FAR = (_constant_far_away, _codes_far_away, _informative_far_away)


def columns(rng, y, p, *, far):
    """Return p columns over the rows of y; ``far`` ones lie about 1e9."""
    kinds, made = NEAR + FAR if far else NEAR, []
    for _ in range(p):
        made.append(kinds[rng.integers(len(kinds))](rng, y, made))
    return np.column_stack(made)


# ------------------------------------------------------------------------------------ offering


def all_stored(X):
    """Return CSC that stores every value, zeros included."""
    n, p = X.shape
    return sp.csc_array((X.T.ravel(), np.tile(np.arange(n), p), np.arange(p + 1) * n), shape=X.shape)


def some_zeros_stored(X):
    """Return CSC whose even rows are stored whatever they hold."""
    stored = (X != 0) | (np.arange(len(X)) % 2 == 0)[:, None]
    i, j = np.nonzero(stored)
    return sp.csc_array(sp.coo_array((X[i, j], (i, j)), shape=X.shape))


def upside_down(X):
    """Return CSC whose columns list their rows from the last to the first."""
    S = sp.csc_array(X[::-1])
    return sp.csc_array((S.data, len(X) - 1 - S.indices, S.indptr), shape=X.shape)


def rows_apart(X):
    """Return a view with a gap after every row and every value."""
    wide = np.zeros((2 * X.shape[0], 2 * X.shape[1]))
    wide[::2, ::2] = X
    return wide[::2, ::2]


DENSE = {
    "row by row": np.ascontiguousarray,
    "column by column": np.asfortranarray,
    "a view with gaps": rows_apart,
    "one by one": None,
}
SPARSE = {
    "csc_array": sp.csc_array,
    "csc_matrix": sp.csc_matrix,
    "csr_array": sp.csr_array,
    "all stored": all_stored,
    "some zeros stored": some_zeros_stored,
    "upside down": upside_down,
}
FORMS = DENSE | SPARSE
#: With columns about 1e9 in the stream, all values of all columns are handed over.
WHOLE = (*DENSE, "all stored")


def offered(sieve, X, rng, forms=tuple(FORMS)):
    """Offer all columns in blocks of random width, each in a form drawn from ``forms``."""
    low = 0
    while low < X.shape[1]:
        high = min(low + int(rng.choice([1, 2, 3, 7, 40])), X.shape[1])
        form = forms[rng.integers(len(forms))]
        if FORMS[form] is None:
            for j in range(low, high):
                sieve.offer(X[:, j].copy())
        else:
            sieve.offer(FORMS[form](X[:, low:high]))
        low = high
    return sieve


# ------------------------------------------------------------------------------------ comparing


def lines(sieve):
    """Return the ledger's (feature, event, reason, by) with numbers for names."""
    return [
        (_number(d.feature), str(d.event), str(d.reason), tuple(map(_number, d.by))) for d in sieve.ledger_
    ]


def _number(name):
    return int(name.removeprefix("x"))


def equal_twin(sieve, twin, *, what, p_values=True):
    """Assert that a sieve chose what its twin chose, by the same decisions, from the same numbers."""
    selected, expected = twin
    assert lines(sieve) == [(e.feature, e.event, e.reason, e.by) for e in expected], what
    assert sieve.selected_.tolist() == selected, what
    found, wanted = list(sieve.ledger_), expected
    # how large t is where nothing but rounding is left, nobody knows
    _close(*([np.clip(d.statistic, -1e6, 1e6) for d in side] for side in (found, wanted)), what, atol=1e-8)
    if p_values:  # a correlation of 1 - 1e-16 over so few rows has a p-value of about 1e-7, not 0
        _close(*([d.p_value for d in side] for side in (found, wanted)), what, atol=1e-6)


def _close(found, wanted, what, atol):
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=atol, err_msg=str(what))
