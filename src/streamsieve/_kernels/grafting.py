"""The solver of grafting: a model with an L1 penalty, refitted when a column has joined.

The objective is ``mean loss + sum of level |v| + ridge v^2 / 2`` over coefficients v, one per column and
class.  Column 0 is constant and not penalized: its coefficients, the first of all, are the intercepts.  Of
the others only nonzero ones are kept, so that all matrices are small.  A row of ``facts`` begins with the
level and the ridge of a column.

The loss is 0 squared (half), 1 logistic, 2 softmax with one row of ``target`` per class.  Newton's method:
the loss is replaced by a quadratic approximation with the curvature at ``reference``, probabilities of some
steps ago.  Its matrix H then only grows by a row when a column joins; it is computed again at the present
probabilities when convergence slows.  For the squared loss the approximation is exact.

Arrays are copied in loops: they compile several times faster than assignments to slices.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _dot(a: FloatArray, b: FloatArray) -> float:
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


@nb.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _add(out: FloatArray, factor: float, a: FloatArray) -> None:
    for i in range(len(a)):
        out[i] += factor * a[i]


@nb.njit(nogil=True, cache=True, error_model="numpy")
def _copy(out: FloatArray, a: FloatArray) -> None:
    for i in range(len(a)):
        out[i] = a[i]


@nb.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def respond(
    loss: int, target: FloatArray, predictor: FloatArray, probability: FloatArray, residual: FloatArray
) -> float:
    """Fill in probabilities and residuals, and return the mean loss."""
    classes, n = target.shape
    total = 0.0
    if loss == 0:
        for i in range(n):
            r = target[0, i] - predictor[0, i]
            residual[0, i] = r
            total += 0.5 * r * r
    elif loss == 1:
        for i in range(n):
            z = predictor[0, i]
            small = math.exp(-abs(z))
            p = (1.0 if z >= 0.0 else small) / (1.0 + small)
            probability[0, i] = p
            residual[0, i] = target[0, i] - p
            total += math.log1p(small) + max(z, 0.0) - target[0, i] * z
    else:
        for i in range(n):
            top = predictor[0, i]
            for c in range(1, classes):
                top = max(top, predictor[c, i])
            s = 0.0
            for c in range(classes):
                probability[c, i] = math.exp(predictor[c, i] - top)
                s += probability[c, i]
                total -= target[c, i] * (predictor[c, i] - top)
            total += math.log(s)
            for c in range(classes):
                probability[c, i] /= s
                residual[c, i] = target[c, i] - probability[c, i]
    mean: float = total / n
    return mean


@nb.njit(nogil=True, cache=True, error_model="numpy")
def curve(
    loss: int, reference: FloatArray, columns: FloatArray, facts: FloatArray,
    owner: IntArray, class_of: IntArray, first: int, many: int, H: FloatArray,
) -> None:  # fmt: skip
    """Fill in the curvature of coefficients first, first + 1, ... with all before them."""
    classes, n = reference.shape
    weighed = np.empty(n)
    for e in range(first, many):
        column, mine = columns[owner[e]], class_of[e]
        for c in range(classes):
            p, q = reference[mine], reference[c]
            for i in range(n):
                w = 1.0
                if loss > 0:
                    w = p[i] * (1.0 - p[i]) if mine == c else -p[i] * q[i]
                weighed[i] = w * column[i]
            for f in range(e + 1):
                if class_of[f] == c:
                    H[e, f] = _dot(weighed, columns[owner[f]]) / n
                    H[f, e] = H[e, f]
        H[e, e] += facts[owner[e], 1]


# ``v'Gv / 2 - c'v + sum of level |v|`` over q coefficients is held in ``work``, an array of q columns: the
# rows of G, the slopes of the loss, the levels, how exact slopes must be (slack), the rest c - Gv, and v


@nb.njit(nogil=True, cache=True, error_model="numpy")
def _factorize(G: FloatArray, active: IntArray, L: FloatArray) -> int:
    """Cholesky factor of some rows and columns; returns the first that depends on those before it, if any."""
    for a in range(len(active)):
        i = active[a]
        for b in range(a):
            L[a, b] = (G[i, active[b]] - _dot(L[a, :b], L[b, :b])) / L[b, b]
        left = G[i, i] - _dot(L[a, :a], L[a, :a])
        if not left > 1e-11 * G[i, i]:
            return a
        L[a, a] = math.sqrt(left)
    return len(active)


@nb.njit(nogil=True, cache=True, error_model="numpy")
def walk(work: FloatArray) -> None:
    """Minimize the quadratic approximation over the nonzero coefficients, keeping their signs.

    A coefficient that would change its sign becomes 0 and drops out.  If the columns are collinear, the step
    goes along the null direction, where the fit stays and the penalty falls, until one of them is 0.
    """
    q = work.shape[1]
    G, level, rest, v = work[:q], work[q + 1], work[q + 3], work[q + 4]
    active, move, L = np.empty(q, np.int64), np.empty(q), np.empty((q, q))
    for _ in range(2 * q + 1):
        m = 0
        for i in range(q):
            if v[i] != 0.0 or level[i] == 0.0:
                active[m] = i
                m += 1
        depends = _factorize(G, active[:m], L)
        # where to: Newton's step, or along the dependence
        for a in range(depends):
            i = active[a]
            move[a] = rest[i] - math.copysign(level[i], v[i])
            if depends < m:
                move[a] = G[i, active[depends]]
            move[a] = (move[a] - _dot(L[a, :a], move[:a])) / L[a, a]
        for a in range(depends - 1, -1, -1):
            move[a] /= L[a, a]
            for b in range(a):
                move[b] -= L[a, b] * move[a]
        # how far: to the minimum, or to the first that becomes 0
        end = 1.0
        if depends < m:
            m = depends + 1
            move[depends] = -1.0
            slope, bend = 0.0, 0.0
            for a in range(m):
                i = active[a]
                slope += move[a] * (math.copysign(level[i], v[i]) - rest[i])
                for b in range(m):
                    bend += move[a] * G[i, active[b]] * move[b]
            end = abs(slope) / bend if bend > 0.0 else np.inf
            if slope > 0.0:
                for a in range(m):
                    move[a] = -move[a]
        hit = -1
        for a in range(m):
            i = active[a]
            if level[i] > 0.0 and v[i] * move[a] < 0.0 and -v[i] / move[a] <= end:
                end = -v[i] / move[a]
                hit = a
        if end == np.inf:
            return
        for a in range(m):
            i = active[a]
            before = v[i]
            v[i] = before + end * move[a]
            if a == hit:
                v[i] = 0.0
            _add(rest, before - v[i], G[i])
        if hit < 0 and depends == m:
            return


@nb.njit(nogil=True, cache=True, error_model="numpy")
def descend(work: FloatArray, rounds: int) -> float:
    """Coordinate descent on the quadratic approximation, for at most ``rounds`` rounds.

    Ends early when every coefficient meets its optimality condition within ``slack``.  Returns the largest
    violation, in units of the slack.
    """
    q = work.shape[1]
    G, level, slack, rest, v = work[:q], work[q + 1], work[q + 2], work[q + 3], work[q + 4]
    excess = np.inf
    for _ in range(rounds):
        for i in range(q):
            z = v[i] * G[i, i] + rest[i]
            new = (z - math.copysign(level[i], z)) / G[i, i] if abs(z) > level[i] else 0.0
            change = new - v[i]
            if change != 0.0:
                v[i] = new
                _add(rest, -change, G[i])
        excess = 0.0
        for i in range(q):
            wrong = abs(rest[i]) - level[i]
            if v[i] != 0.0:
                wrong = abs(rest[i] - math.copysign(level[i], v[i]))
            excess = max(excess, wrong / slack[i])
        if excess <= 1.0:
            break
    return excess


@nb.njit(nogil=True, cache=True, error_model="numpy")
def prepare(
    loss: int, columns: FloatArray, facts: FloatArray, owner: IntArray, class_of: IntArray, value: FloatArray,
    built: int, probability: FloatArray, residual: FloatArray, accuracy: float, floor: float, last: float,
    damp: float, reference: FloatArray, H: FloatArray, work: FloatArray,
) -> tuple[float, int]:  # fmt: skip
    """Fill in the quadratic approximation at the present values of the first ``work.shape[1]`` coefficients.

    Returns the largest violation of the optimality conditions, in units of the slack, and of how many
    coefficients ``H`` is known; at most 1 is near enough, and no approximation is made.  ``last`` is the
    violation a step ago, and ``damp`` is added to the curvature.
    """
    many, n = work.shape[1], columns.shape[1]
    G, slope, level, slack = work[:many], work[many], work[many + 1], work[many + 2]
    rest, new = work[many + 3], work[many + 4]
    worst = 0.0
    for e in range(many):
        k = owner[e]
        level[e] = facts[k, 0]
        slack[e] = accuracy * level[e] + floor
        slope[e] = _dot(residual[class_of[e]], columns[k]) / n - facts[k, 1] * value[e]
        wrong = abs(slope[e]) - level[e]
        if value[e] != 0.0:
            wrong = abs(slope[e] - math.copysign(level[e], value[e]))
        worst = max(worst, wrong / slack[e])
    if worst <= 1.0:
        return worst, built
    if loss > 0 and worst > 0.25 * last:
        built = 0
        for c in range(len(probability)):
            _copy(reference[c], probability[c])
    curve(loss, reference, columns, facts, owner, class_of, built, many, H)
    # the minimum of an approximation need not be exact far from that of the loss
    looser = max(1.0, 0.001 * worst) if loss > 0 else 1.0
    for e in range(many):
        for f in range(many):
            G[e, f] = H[e, f]
        G[e, e] = max(G[e, e], 1e-12) + damp
        rest[e], new[e] = slope[e], value[e]
        slack[e] *= looser
    return worst, many


@nb.njit(nogil=True, cache=True, error_model="numpy")
def advance(
    loss: int, target: FloatArray, columns: FloatArray, facts: FloatArray, owner: IntArray,
    class_of: IntArray, value: FloatArray, work: FloatArray, mean_loss: float, predictor: FloatArray,
    probability: FloatArray, residual: FloatArray,
) -> tuple[float, bool]:  # fmt: skip
    """Line search toward the minimum of the approximation, as far as loss and penalty fall.

    Returns the mean loss, and whether a step was found.
    """
    many = work.shape[1]
    slope, level, new = work[many], work[many + 1], work[many + 4]
    classes, n = target.shape
    shift, trial = np.zeros((classes, n)), np.empty((classes, n))
    new_probability, new_residual = np.empty((classes, n)), np.empty((classes, n))
    decrease, price = 0.0, 0.0
    for e in range(many):
        change = new[e] - value[e]
        _add(shift[class_of[e]], change, columns[owner[e]])
        price += level[e] * abs(value[e]) + 0.5 * facts[owner[e], 1] * value[e] ** 2
        decrease += level[e] * (abs(new[e]) - abs(value[e])) - slope[e] * change
    length = 1.0
    while length > 1e-6:
        after = 0.0
        for e in range(many):
            there = value[e] + length * (new[e] - value[e])
            after += level[e] * abs(there) + 0.5 * facts[owner[e], 1] * there**2
        for c in range(classes):
            _copy(trial[c], predictor[c])
            _add(trial[c], length, shift[c])
        next_loss = respond(loss, target, trial, new_probability, new_residual)
        allowed = mean_loss + price + 1e-4 * length * decrease + 1e-14 * (1.0 + mean_loss + price)
        if loss == 0 or after + next_loss <= allowed:
            for c in range(classes):
                _copy(predictor[c], trial[c])
                _copy(probability[c], new_probability[c])
                _copy(residual[c], new_residual[c])
            for e in range(many):
                value[e] = new[e] if length == 1.0 else value[e] + length * (new[e] - value[e])
            return next_loss, True
        length *= 0.5
    return mean_loss, False


@nb.njit(nogil=True, cache=True, error_model="numpy")
def prune(
    columns: FloatArray, residual: FloatArray, facts: FloatArray, feature: IntArray, n_columns: int,
    owner: IntArray, class_of: IntArray, value: FloatArray, many: int, intercepts: int, H: FloatArray,
    gone: IntArray, gradient: FloatArray,
) -> tuple[int, int, int]:  # fmt: skip
    """Drop coefficients that are 0, then columns without any; the last one takes the place.

    Returns the numbers of columns, coefficients, and dropped columns; ``gone`` and ``gradient`` take the
    arrival numbers and steepest gradients of these.
    """
    n = columns.shape[1]
    used = np.zeros(n_columns, np.bool_)
    used[0] = True
    e = intercepts
    while e < many:
        if value[e] != 0.0:
            used[owner[e]] = True
            e += 1
            continue
        many -= 1
        owner[e], class_of[e], value[e] = owner[many], class_of[many], value[many]
        for f in range(many):
            H[e, f] = H[many, f]
        H[e, e] = H[many, many]
        for f in range(many):
            H[f, e] = H[e, f]
    dropped = 0
    k = 1
    while k < n_columns:
        if used[k]:
            k += 1
            continue
        gone[dropped], gradient[dropped] = feature[k], 0.0
        for c in range(len(residual)):
            g = _dot(residual[c], columns[k]) / n
            if abs(g) > abs(gradient[dropped]):
                gradient[dropped] = g
        dropped += 1
        n_columns -= 1
        used[k], feature[k] = used[n_columns], feature[n_columns]
        _copy(columns[k], columns[n_columns])
        _copy(facts[k], facts[n_columns])
        for e in range(intercepts, many):
            if owner[e] == n_columns:
                owner[e] = k
    return n_columns, many, dropped
