"""Conditioning sets of kept columns by partial correlation.

A test needs correlations, never rows.  Two matrices are kept for the columns in order of arrival: ``total``,
their correlations, and ``within``, what is left of these given the target.  Given a set Z, a column t has the
variance t' in the first and w' in the second (both by elimination of Z), and 1 - w' / t' is its squared
partial correlation (ratio) with the target.  So independence reads ``w' > share t'``, whatever the number of
classes.

Eliminating a column a is one step: ``c_uv - c_ua c_va / c_aa``.  The last column of a set is never
eliminated: both sides are multiplied by its variances instead, and a test is a few products in a loop without
branches.  A column of variance 0 takes no part in a search.

A variance below 1e-10 (columns have length 1) is rounding: the column is collinear with the others of the
set, and a smaller set was tried before.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def separates(
    t: float, w: float, tc: float, wc: float, dt: float, dw: float, share: float, single: bool
) -> bool:
    """Whether one more column makes t independent of the target, or leaves nothing of it.

    t and w are the target column's variances, dt and dw those of the column to add, tc and wc the
    covariances.  With a ``single`` contrast, a column that has no variance within the target determines it.
    """
    inside = dw > 1e-10 * dt
    vt = t * dt - tc * tc
    vw = w * dw - wc * wc if inside else w
    scale = dw if inside else 1.0
    fits = single & (not inside)
    return bool((dt > 1e-10) & ((vw * dt > share * vt * scale) | (vt <= 1e-10 * dt) | fits))


@nb.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def separator(
    total: FloatArray, within: FloatArray, row_t: FloatArray, row_w: FloatArray, t: float, w: float,
    dt: FloatArray, dw: FloatArray, q: int, known: int, most: int, share: FloatArray, single: bool,
    work: FloatArray, found: IntArray,
) -> int:  # fmt: skip
    """Return the size of the first set that separates a column from the target, 0 if there is none.

    The column has variances t, w and covariances row_t, row_w with columns 0..q - 1, whose variances are dt
    and dw.  ``known`` columns are in every set and eliminated already.  ``share[s]`` is the share
    of variance that must be left for independence given s columns.  Sets of known + 1..most columns, by
    size, then by position; ``found`` takes the positions of what is added to the known ones.

    Loops that do not begin at 0 run over unsigned numbers: a signed index may wrap around, which would not
    vectorize.
    """
    t1, w1, dt1, dw1 = work[0], work[1], work[2], work[3]
    for more in range(1, most - known + 1):
        level = share[known + more]
        for a in range(q - more + 1 if more > 1 else 1):
            # columns a and b of a set {a, b, v} are eliminated; a set without them eliminates by 0
            over_at = over_aw = 0.0
            if more > 1:
                if dt[a] <= 1e-10:
                    continue
                over_at = 1.0 / dt[a]
                over_aw = 1.0 / dw[a] if dw[a] > 1e-10 * dt[a] else 0.0
            total_a, within_a = total[a], within[a]
            ft, fw = row_t[a] * over_at, row_w[a] * over_aw
            ta, wa = t - ft * row_t[a], w - fw * row_w[a]
            for v in range(q):
                ct, cw = total_a[v], within_a[v]
                t1[v] = row_t[v] - ft * ct
                w1[v] = row_w[v] - fw * cw
                dt1[v] = dt[v] - ct * ct * over_at
                dw1[v] = dw[v] - cw * cw * over_aw
            for b in range(a + 1 if more > 2 else a, q - 1 if more > 2 else a + 1):
                over_bt = over_bw = 0.0
                if more > 2:
                    if dt1[b] <= 1e-10:
                        continue
                    over_bt = 1.0 / dt1[b]
                    over_bw = 1.0 / dw1[b] if dw1[b] > 1e-10 * dt1[b] else 0.0
                total_b, within_b = total[b], within[b]
                gt, gw = total_a[b] * over_at, within_a[b] * over_aw
                ht, hw = t1[b] * over_bt, w1[b] * over_bw
                tb, wb = ta - ht * t1[b], wa - hw * w1[b]
                first = np.uint64(b + 1 if more > 1 else 0)
                hits = 0
                for v in range(first, np.uint64(q)):
                    # covariances of b and v given a, made on the way
                    ct = total_b[v] - gt * total_a[v]
                    cw = within_b[v] - gw * within_a[v]
                    hits += separates(
                        tb, wb, t1[v] - ht * ct, w1[v] - hw * cw,
                        dt1[v] - ct * ct * over_bt, dw1[v] - cw * cw * over_bw, level, single,
                    )  # fmt: skip
                if hits == 0:
                    continue
                for v in range(first, np.uint64(q)):
                    ct = total_b[v] - gt * total_a[v]
                    cw = within_b[v] - gw * within_a[v]
                    if separates(
                        tb, wb, t1[v] - ht * ct, w1[v] - hw * cw,
                        dt1[v] - ct * ct * over_bt, dw1[v] - cw * cw * over_bw, level, single,
                    ):  # fmt: skip
                        found[0], found[1] = a, b
                        found[more - 1] = v
                        return known + more
    return 0


@nb.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def strength(
    total: FloatArray, loads: FloatArray, t: int, members: IntArray, size: int, single: bool
) -> tuple[float, float]:
    """Return the partial correlation (ratio) of column t with the target given a set, and t's variance.

    From ``loads``, the products of columns and contrasts, because 1 - w' / t' has lost the digits of a small
    correlation.  With L L' the correlations of the set, E = L^-1 (loads of the set) and u what the set
    leaves of the loads of t, the target explains ``|u|^2 + |K^-1 E u|^2`` of t, where K K' = I - E E'.
    """
    contrasts = loads.shape[1]
    lower, left, e = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, contrasts))
    u, h = np.empty(contrasts), np.empty(3)
    variance = 1.0
    for d in range(contrasts):
        u[d] = loads[t, d]
    for i in range(size):
        for j in range(i + 1):
            c = total[members[i], members[j]]
            for k in range(j):
                c -= lower[i, k] * lower[j, k]
            lower[i, j] = np.sqrt(max(c, 0.0)) if i == j else c / lower[j, j]
        along = total[t, members[i]]
        for k in range(i):
            along -= lower[i, k] * h[k]
        along /= lower[i, i]
        h[i] = along
        variance -= along * along
        for d in range(contrasts):
            load = loads[members[i], d]
            for k in range(i):
                load -= lower[i, k] * e[k, d]
            e[i, d] = load / lower[i, i]
            u[d] -= along * e[i, d]
    if variance <= 1e-10:
        return 0.0, 0.0
    explained = 0.0
    for d in range(contrasts):
        explained += u[d] * u[d]
    for i in range(size):
        for j in range(i + 1):
            c = 1.0 if i == j else 0.0
            for d in range(contrasts):
                c -= e[i, d] * e[j, d]
            for k in range(j):
                c -= left[i, k] * left[j, k]
            if i == j:
                left[i, i] = np.sqrt(c) if c > 1e-10 else 0.0
            else:
                left[i, j] = c / left[j, j] if left[j, j] > 0.0 else 0.0
        if left[i, i] == 0.0:  # the set determines the target, or one more contrast of it
            if single:
                return 0.0, variance
            h[i] = 0.0
            continue
        along = 0.0
        for d in range(contrasts):
            along += e[i, d] * u[d]
        for k in range(i):
            along -= left[i, k] * h[k]
        h[i] = along / left[i, i]
        explained += h[i] * h[i]
    return np.sqrt(min(explained / variance, 1.0)), variance


@nb.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def sweep(matrix: FloatArray, q: int, out: FloatArray, diagonal: FloatArray) -> None:
    """Eliminate column q from columns 0..q - 1; if nothing is left of it, they stay as they are."""
    over = 1.0 / matrix[q, q] if matrix[q, q] > 1e-10 else 0.0
    newcomer = matrix[q]
    for i in range(q):
        factor = newcomer[i] * over
        source, target = matrix[i], out[i]
        for j in range(q):
            target[j] = source[j] - factor * newcomer[j]
        diagonal[i] = target[i]


@nb.njit(nogil=True, cache=True, error_model="numpy")
def standardize(
    rows: npt.NDArray[np.int32], values: FloatArray, sparse: bool, mean: float, norm: float, out: FloatArray
) -> None:
    """Write a column without its mean, of length 1."""
    n = len(out)
    for i in range(n):
        out[i] = -mean / norm
    for i in range(len(values)):
        out[rows[i] if sparse else i] = (values[i] - mean) / norm
    if len(values) == n:
        # the mean may be far from 0 and rounded; what that leaves would meet the offset of later candidates
        rest = 0.0
        for i in range(n):
            rest += out[i]
        for i in range(n):
            out[i] -= rest / n


@nb.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def enter(
    rows: npt.NDArray[np.int32], values: FloatArray, sparse: bool, mean: float, norm: float,
    basis: FloatArray, columns: FloatArray, order: IntArray, q: int,
    total: FloatArray, within: FloatArray, loads: FloatArray,
) -> None:  # fmt: skip
    """Write the correlations of a candidate with the target and the kept columns into row and column q.

    A dense candidate moves into the next free slot for that; a sparse one stays sparse.  Kept columns and
    contrasts sum to 0, so only the offset of a sparse candidate without zeros has to go.
    """
    contrasts, n = basis.shape
    column = columns[order[q]]
    if not sparse:
        standardize(rows, values, sparse, mean, norm, column)
    shift = mean if len(values) == n else 0.0
    for i in range(contrasts + q):
        other = basis[i] if i < contrasts else columns[order[i - contrasts]]
        s = 0.0
        if sparse:
            for j in range(len(values)):
                s += (values[j] - shift) * other[rows[j]]
            s /= norm
        else:
            for j in range(n):
                s += column[j] * other[j]
        if i < contrasts:
            loads[q, i] = s
        else:
            total[q, i - contrasts] = s
            total[i - contrasts, q] = s
    total[q, q] = 1.0
    for i in range(q + 1):
        left = total[q, i]
        for d in range(contrasts):
            left -= loads[q, d] * loads[i, d]
        within[q, i] = left
        within[i, q] = left


@nb.njit(nogil=True, cache=True, error_model="numpy")
def close_gaps(
    gone: npt.NDArray[np.bool_], q: int, total: FloatArray, within: FloatArray, loads: FloatArray,
    feature: IntArray, order: IntArray,
) -> int:  # fmt: skip
    """Move what is left of columns 0..q - 1, and the newcomer's row q, together; return how many are left.

    Columns stay in their slots; the newcomer's comes next in order, then those of the columns that go.
    """
    slots = np.empty(q + 1, np.int64)
    for i in range(q + 1):
        slots[i] = order[i]
    left = 0
    for i in range(q + 1):
        if i < q and gone[i]:
            continue
        if left < i:
            for j in range(q + 1):
                total[left, j] = total[i, j]
                within[left, j] = within[i, j]
            for j in range(q + 1):
                total[j, left] = total[j, i]
                within[j, left] = within[j, i]
            for d in range(loads.shape[1]):
                loads[left, d] = loads[i, d]
        if i < q:
            feature[left] = feature[i]
            order[left] = slots[i]
            left += 1
    order[left] = slots[q]
    free = left + 1
    for i in range(q):
        if gone[i]:
            order[free] = slots[i]
            free += 1
    return left


@nb.njit(nogil=True, cache=True, error_model="numpy")
def decide(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, sparse: bool,
    mean: FloatArray, norm: FloatArray, feature: IntArray, first: int,
    newcomer_first: bool, largest: int, many_kept: int, share: FloatArray, basis: FloatArray,
    columns: FloatArray, total: FloatArray, within: FloatArray, loads: FloatArray,
    kept_feature: IntArray, order: IntArray, q: int,
    verdict: IntArray, statistic: FloatArray, by: IntArray,
    evicted: IntArray, evicted_at: IntArray, evicted_verdict: IntArray, evicted_statistic: FloatArray,
    evicted_by: IntArray, n_evicted: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Offer relevant candidates ``first``, first + 1, ... to the kept columns.

    Candidate k has values ``data[indptr[k]:indptr[k + 1]]`` in rows ``indices`` (if not sparse: in all rows).
    Verdicts are sizes of the sets that made columns redundant, negative where a set leaves nothing of the
    column; 0 means kept.  Sets have up to ``largest`` columns, but at most two while ``many_kept`` or more
    are kept, and one while twice as many are.  Returns (next candidate, kept, evicted); it comes back early
    when all slots are taken.
    """
    capacity, single = len(order), len(basis) == 1
    given_t, given_w = np.empty((capacity, capacity)), np.empty((capacity, capacity))
    # variances of the columns that take part in a search: on their own, and given the newcomer
    dt, dw, given_dt, given_dw = (
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity),
    )
    work, found, gone = np.empty((4, capacity)), np.empty(3, np.int64), np.empty(capacity, np.bool_)
    for k in range(first, len(feature)):
        if q == capacity:
            return k, q, n_evicted
        most = min(largest, 1 if q >= 2 * many_kept else 2 if q >= many_kept else 3)
        rows = indices[indptr[k] : indptr[k + 1]] if sparse else indices
        values = data[indptr[k] : indptr[k + 1]]
        enter(rows, values, sparse, mean[k], norm[k], basis, columns, order, q, total, within, loads)
        for i in range(q):
            dt[i] = 1.0
            dw[i] = within[i, i]
            gone[i] = False
        verdict[k] = 0
        swept = False
        before = n_evicted
        for turn in range(q + 1):
            t = (q if turn == 0 else turn - 1) if newcomer_first else turn
            if t == q:
                matrix_t, matrix_w, var_t, var_w = total, within, dt, dw
                t_left, w_left = 1.0, within[q, q]
                size = 0
            else:
                # an older column has met every set without the newcomer: eliminate that once, and search
                # for sets of one member less in what is left
                if most == 0:
                    continue
                if not swept:
                    sweep(total, q, given_t, given_dt)
                    sweep(within, q, given_w, given_dw)
                    swept = True
                matrix_t, matrix_w, var_t, var_w = given_t, given_w, given_dt, given_dw
                t_left, w_left = given_dt[t], given_dw[t]
                given_dt[t] = 0.0
                determined = single and within[q, q] <= 1e-10
                size = 1 if w_left > share[1] * t_left or t_left <= 1e-10 or determined else 0
            if size == 0:
                size = separator(
                    matrix_t, matrix_w, matrix_t[t], matrix_w[t], t_left, w_left, var_t, var_w, q,
                    1 if t < q else 0, most, share, single, work, found,
                )  # fmt: skip
            if size == 0:
                if t < q:
                    given_dt[t] = t_left
                continue
            if t < q:
                found[size - 1] = q
            r, left = strength(total, loads, t, found, size, single)
            signed = size if left > 0.0 else -size
            if t == q:
                verdict[k] = signed
                statistic[k] = r
                for i in range(size):
                    by[k, i] = kept_feature[found[i]]
                if newcomer_first:
                    break
                continue
            evicted[n_evicted] = kept_feature[t]
            evicted_at[n_evicted] = feature[k]
            evicted_verdict[n_evicted] = signed
            evicted_statistic[n_evicted] = r
            for i in range(size - 1):
                evicted_by[n_evicted, i] = kept_feature[found[i]]
            evicted_by[n_evicted, size - 1] = feature[k]
            n_evicted += 1
            gone[t] = True
            dt[t] = 0.0
        if n_evicted > before:
            q = close_gaps(gone, q, total, within, loads, kept_feature, order)
        if verdict[k] == 0:
            if sparse:
                standardize(rows, values, sparse, mean[k], norm[k], columns[order[q]])
            kept_feature[q] = feature[k]
            q += 1
    return len(feature), q, n_evicted
