"""Small streams of nasty columns, every way of offering them, and the comparison with a slow twin."""

from collections import Counter

import numpy as np
import scipy.sparse as sp

TASKS = ("binary", "multiclass", "regression")
OFFSET = 1e9


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
    """Return a number of rows: very few, few, or enough for fractions of more than 32 values."""
    least = 3 if task == "multiclass" else 2
    return int(rng.choice([rng.integers(least, 7), rng.integers(7, 31), rng.integers(40, 61)]))


def _earlier(rng, y, before):
    return before[rng.integers(len(before))] if before else rng.normal(size=len(y))


def _near_constant(rng, y, before):
    x = np.full(len(y), rng.choice([0.0, 0.1, 5.0]))
    x[rng.integers(len(y))] += rng.choice([1.0, -0.25])
    return x


def _noisy_copy(rng, y, before):
    x = _earlier(rng, y, before)
    return x + 0.1 * (np.ptp(x) + 0.1) * rng.normal(size=len(y))


#: Makers of columns, from a generator, the target and the columns before.
NEAR = (
    lambda rng, y, _: rng.normal(size=len(y)),  # noise
    lambda rng, y, _: y * rng.choice([-2.0, 0.5, 1.0]) + rng.normal(size=len(y)),  # informative
    lambda rng, y, _: y * float(rng.choice([-1.0, 1.0, 3.0])),  # the target itself
    lambda rng, y, _: np.full(len(y), rng.choice([0.0, 0.1, -7.0])),  # constant
    _near_constant,
    lambda rng, y, _: rng.integers(0, rng.integers(2, 6), len(y)).astype(float),  # codes
    lambda rng, y, _: rng.choice([-2.0, 0.0, 2.0], len(y)) * (rng.random(len(y)) < 0.7),  # signed codes
    lambda rng, y, _: np.round(np.clip(y + rng.normal(size=len(y)), -2, 4)),  # informative codes
    lambda rng, y, _: rng.normal(size=len(y)) * (rng.random(len(y)) < 0.2),  # sparse
    lambda rng, y, _: (rng.random(len(y)) < np.where(y > np.median(y), 0.6, 0.1)) * 1.0,  # and informative
    lambda rng, y, before: _earlier(rng, y, before).copy(),
    lambda rng, y, before: -_earlier(rng, y, before),
    lambda rng, y, before: 4.0 * _earlier(rng, y, before),
    _noisy_copy,
    lambda rng, y, before: _earlier(rng, y, before) + _earlier(rng, y, before),
)
FAR = (
    lambda rng, y, _: np.full(len(y), OFFSET + 0.1),
    lambda rng, y, _: OFFSET + rng.integers(0, 4, len(y)),
    lambda rng, y, _: OFFSET + y + rng.normal(size=len(y)),
)


def columns(rng, y, p, *, far):
    """Return p columns over the rows of y; ``far`` ones lie about 1e9."""
    kinds, made = NEAR + FAR if far else NEAR, []
    for _ in range(p):
        made.append(kinds[rng.integers(len(kinds))](rng, y, made))
    return np.column_stack(made)


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
    """Return a view into a larger array, of every second row and column."""
    wide = np.zeros((2 * X.shape[0], 2 * X.shape[1]))
    wide[::2, ::2] = X
    return wide[::2, ::2]


DENSE = {
    "row by row": np.ascontiguousarray,
    "column by column": np.asfortranarray,
    "a strided view": rows_apart,
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
    # where nothing but rounding is left, the size of t has no meaning
    _close(*([np.clip(d.statistic, -1e6, 1e6) for d in side] for side in (found, wanted)), what, atol=1e-8)
    if p_values:  # a correlation of 1 - 1e-16 over so few rows has a p-value of about 1e-7, not 0
        _close(*([d.p_value for d in side] for side in (found, wanted)), what, atol=1e-6)


def _close(found, wanted, what, atol):
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=atol, err_msg=str(what))


def has_freedom(y, task):
    """Whether the test has degrees of freedom, so that its p-value has a meaning."""
    return len(y) > (len(set(y)) if task == "multiclass" else 3)


def by_t(sieve):
    """Return a sieve whose correlations are tested by t, as in the twins of redundancy rules.

    Confirmed p-values, the default, have a twin of their own: ``tests/reference/confirmed.py``.
    """
    parameters = sieve.get_params(deep=False)
    chosen = [parameters[name] for name in ("measure", "test", "scope") if name in parameters]
    by_correlation = chosen in (["fisher_z"], ["fisher_z", "marginal"]) or type(sieve).__name__ == "OSSFSDD"
    return sieve.set_params(p_value="t") if by_correlation else sieve


def equal_twins(
    make, twin, tasks, cases, width, parameters=lambda rng: {}, *, seed=0, forms=tuple(FORMS), far=True,
    n_rows=rows, p_values=True, change=None, check=equal_twin,
):  # fmt: skip
    """Compare sieves with their slow twin on random streams; return how often the twin took each decision.

    ``make(**parameters)`` is a sieve and ``twin(X, y, task, **parameters)`` what it should do; ``tasks`` take
    turns, and ``change(rng, X)`` alters the columns.
    """
    rng, seen = np.random.default_rng(seed), Counter()
    for case in range(cases):
        task = tasks[case % len(tasks)]
        y = target(rng, task, n_rows(rng, task))
        distant = far and case % 3 == 0
        X = columns(rng, y, int(rng.integers(*width)), far=distant)
        X = X if change is None else change(rng, X)
        drawn = parameters(rng)
        expected = twin(X, y, task, **drawn)
        sieve = offered(by_t(make(**drawn)).begin(y), X, rng, forms(distant) if callable(forms) else forms)
        meaningful = p_values(y, task) if callable(p_values) else p_values
        check(sieve, expected, what=(case, drawn), p_values=meaningful)
        seen.update((line.event, line.reason) for line in expected[1])
    return seen


def reloaded(sieve):
    """Return the sieve as it comes back from its saved state."""
    return type(sieve).from_bytes(sieve.to_bytes())


def orthogonal(rng, n, p):
    """Return p columns without mean, of unit length, at right angles."""
    Z = rng.normal(size=(n, p))
    return np.linalg.qr(Z - Z.mean(axis=0))[0]


def with_missing(rng, X, shares=(0.0, 0.0, 0.0, 0.1, 0.1, 0.2, 0.2, 0.4, 0.9, 1.0)):
    """Return columns of which some miss a few values, many, or all of them."""
    return np.where(rng.random(X.shape) < rng.choice(shares, X.shape[1]), np.nan, X)


def woven(rng, task, n, noise=0.3, *, some_exact=False):
    """Return a target made of three factors, and columns made of factors: large sets are needed."""
    factors = rng.normal(size=(n, 4))
    y = factors[:, :3].sum(axis=1) + 0.7 * rng.normal(size=n)
    weights = np.vstack([np.eye(4)[:3], rng.random((6, 4)) < 0.6])
    X = factors @ rng.permutation(weights).T
    X = X + noise * rng.normal(size=(n, 9)) * (rng.integers(0, 2, 9) if some_exact else 1)
    labels = {"binary": 2, "multiclass": 4}.get(task)
    return X, y if labels is None else np.searchsorted(np.quantile(y, np.arange(1, labels) / labels), y)


def slices(p, size):
    """Return where groups of a size end in a stream of p columns."""
    return [*range(size, p, size), p]


def kept_by_group(sieve):
    """Return the columns kept, by the label of their group."""
    return {group: kept.tolist() for group, kept in sieve.groups_.items()}
