"""Slow twin of ``streamsieve.learners.fsa``: annealing straight from the text, one row at a time.

Columns are centered and divided by their standard deviations (a constant one becomes 0).  All weights start
at 0.  For epochs e = 1..N: rows in a random order, cut into minibatches of equal size but for one row; for
each of them v <- m v + (1 - m) g with the mean gradient g of its losses, b <- (1 - rate ridge) b - rate v,
intercepts likewise without the ridge.  After epoch e the k + (p - k) max(0, (N - 2e) / (2 e mu + N)) largest
|b| stay, rounded down; among equals the first.  Over several outputs, |b| is the length.

Losses of a margin u = y f: log(1 + exp(-u)); log(1 + (u - 1)^2) for u < 1; the hinge rounded off between .9
and 1.1; (u - 1)^2 / 2.  Of a residual r = f - y: r^2 / 2; log(1 + r^2).  Several classes: the sum over all
other classes of the loss of f_own - f_other.

A chosen rate is 1 over the steepest curvature met: the largest second derivative of the loss, times the
number of outputs if there are several, times the largest eigenvalue of the products of a minibatch's rows,
each with a 1 for the intercept, divided by their number; plus the ridge.  The minibatch is the first of the
epoch, and the largest eigenvalue counts since the columns last fell below three quarters.  It is estimated by
six multiplications of a vector, and raised by a tenth.  After half of the epochs the rate falls in equal
steps, nearly to 0.  If rate |g|^2 > 2 L with the gradient g and the mean loss L of a minibatch, g is
multiplied by 2 L / (rate |g|^2) first.

Columns that are only centered are ranked by |b| times their standard deviation.

Source: Barbu, She, Ding, Gramajo (2017); Wang 2021, equation 2.26.  The thesis prints no
momentum, ridge, minibatch or rate.
"""

import numpy as np

CURVATURE = {"logistic": 0.25, "lorenz": 2.0, "hinge": 5.0, "squared": 1.0}
RESIDUAL_CURVATURE = {"squared": 1.0, "lorenz": 2.0}


def margin_slope(loss, u):
    if loss == "logistic":
        return -1 / (1 + np.exp(u)) if u > -700 else -1.0
    if loss == "lorenz":
        return 2 * (u - 1) / (1 + (u - 1) ** 2) if u < 1 else 0.0
    if loss == "hinge":
        return -min(max((1.1 - u) / 0.2, 0.0), 1.0)
    return u - 1


def margin_loss(loss, u):
    if loss == "logistic":
        return np.logaddexp(0.0, -u)
    if loss == "lorenz":
        return np.log1p((u - 1) ** 2) if u < 1 else 0.0
    if loss == "hinge":
        return 1 - u if u <= 0.9 else max(1.1 - u, 0.0) ** 2 / 0.4
    return (u - 1) ** 2 / 2


def loss_of(loss, y, f, regression):
    """Loss of one row; y is a number, -1 or 1, or a class."""
    if regression:
        r = f[0] - y
        return r * r / 2 if loss == "squared" else np.log1p(r * r)
    if len(f) == 1:
        return margin_loss(loss, y * f[0])
    return sum(margin_loss(loss, f[y] - f[c]) for c in range(len(f)) if c != y)


def slopes(loss, y, f, regression):
    """Slopes of one row's loss along its outputs; y is a number, -1 or 1, or a class."""
    if regression:
        r = f[0] - y
        return np.array([r if loss == "squared" else 2 * r / (1 + r * r)])
    if len(f) == 1:
        return np.array([y * margin_slope(loss, y * f[0])])
    out = np.zeros(len(f))
    for c in range(len(f)):
        if c != y:
            slope = margin_slope(loss, f[y] - f[c])
            out[c] -= slope
            out[y] += slope
    return out


def columns_left(p, k, epochs, mu, e):
    return int(k + (p - k) * max(0.0, (epochs - 2 * e) / (2 * e * mu + epochs)))


def minibatches(order, batch):
    steps = -(-len(order) // batch)
    return [order[t * len(order) // steps : (t + 1) * len(order) // steps] for t in range(steps)]


def standardized(X, standardize):
    Z = X - X.mean(axis=0)
    if standardize:
        spread = Z.std(axis=0)
        constant = (X[0] == X).all(axis=0)
        Z = np.where(constant, 0.0, Z / np.where(constant, 1.0, spread))
    return Z


def steepness(rows):
    """Largest eigenvalue of the products of all pairs of rows, nearly."""
    products = rows @ rows.T
    vector = np.random.default_rng(0).normal(size=len(rows))
    for _ in range(5):
        vector = products @ vector
        vector /= np.linalg.norm(vector) or 1.0
    return 1.1 * np.linalg.norm(products @ vector)


def fsa(
    X, y, k, *, outputs=1, loss="logistic", regression=False, epochs=100, mu=30.0, rate=None, momentum=0.9,
    ridge=1e-3, batch=32, weight=None, standardize=True, seed=0,
):  # fmt: skip
    """Return the columns left, their weights (outputs, columns), the intercepts, and the narrowest decision.

    y holds numbers, -1 and 1, or classes 0, 1, ...  The last value is the smallest distance, as a share,
    between a weight that stayed and one that went, unless their columns are equal: below rounding it means
    nothing.
    """
    n, p = X.shape
    Z = standardized(X, standardize)
    weight = np.ones(n) if weight is None else weight
    beta, velocity = np.zeros((outputs, p)), np.zeros((outputs, p))
    intercept, its_velocity = np.zeros(outputs), np.zeros(outputs)
    left, steepest, counted, narrowest = np.arange(p), 0.0, p, np.inf
    for e in range(1, epochs + 1):
        order = np.random.default_rng([seed, e]).permutation(n)
        eta = rate
        if rate is None:
            if len(left) < 0.75 * counted:
                steepest, counted = 0.0, len(left)
            sample = order[: min(-(-n // len(minibatches(order, batch))), 256)]
            rows = np.column_stack([Z[np.ix_(sample, left)], np.ones(len(sample))])
            rows *= np.sqrt(weight[sample])[:, None]
            steepest = max(steepest, steepness(rows) / len(sample))
            curvature = (RESIDUAL_CURVATURE if regression else CURVATURE)[loss]
            eta = 1 / (curvature * outputs * steepest + ridge)
            if e > epochs / 2:
                eta *= max(epochs - e + 1, 1) / (epochs / 2 + 1)
        for some in minibatches(order, batch):
            gradient, its_gradient, met = np.zeros((outputs, p)), np.zeros(outputs), 0.0
            for i in some:
                f = intercept + np.array([np.sum(Z[i, left] * beta[c, left]) for c in range(outputs)])
                d = weight[i] * slopes(loss, y[i], f, regression)
                for c in range(outputs):
                    gradient[c, left] += d[c] * Z[i, left]
                its_gradient += d
                met += weight[i] * loss_of(loss, y[i], f, regression)
            gradient, its_gradient = gradient / len(some), its_gradient / len(some)
            square = np.sum(gradient**2) + np.sum(its_gradient**2)
            if rate is None and eta * square > 2 * met / len(some):
                shorter = 2 * met / len(some) / (eta * square)
                gradient, its_gradient = gradient * shorter, its_gradient * shorter
            velocity[:, left] = momentum * velocity[:, left] + (1 - momentum) * gradient[:, left]
            beta[:, left] = (1 - eta * ridge) * beta[:, left] - eta * velocity[:, left]
            its_velocity = momentum * its_velocity + (1 - momentum) * its_gradient
            intercept = intercept - eta * its_velocity
        many = columns_left(p, k, epochs, mu, e)
        if many < len(left):
            unit = np.ones(p) if standardize else X.std(axis=0)
            size = {j: np.sqrt(np.sum(beta[:, j] ** 2)) * unit[j] for j in left}
            ranked = sorted(left, key=lambda j: (-size[j], j))
            last, next_one = ranked[many - 1], ranked[many]
            one, other = X[:, last], X[:, next_one]
            constant = np.ptp(one) == np.ptp(other) == 0
            if not (constant or np.array_equal(one, other) or np.array_equal(one, -other)):
                narrowest = min(narrowest, (size[last] - size[next_one]) / (size[last] or 1.0))
            left = np.array(sorted(ranked[:many]))
    return left, beta[:, left], intercept, narrowest
