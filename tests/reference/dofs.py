"""Slow twin of ``streamsieve.columns.dofs``: every probability by enumerating all subsets of a group.

For each group G, X being what is kept, L the similarities of columns and u_f a lot in [0, 1) for each column:

1. M = L_GG - L_GX L_XX^-1 L_XG.  The smallest eigenvalues of M go, as long as their sum is below
   ``truncation`` of the trace of L_GG.  Then a set Y of columns has probability det(M_Y) / sum over Y' of
   det(M_Y') ("dpp"); or the eigenvalues that are left all become 1, and Y has as many columns as there are
   ("fixed_size").  Columns are asked in order: f is drawn if u_f is below the probability that f is in Y,
   given what became of those before.  "greedy": as many, each time the one with the largest det(M_Y).
2. In order of arrival, or by score from best to worst ("literal"), f is redundant if its |rank correlation|
   with a column of X or an admitted one reaches ``max_rank_correlation``; or if Wilcoxon's p is above alpha
   ("wilcoxon_literal") or below ("wilcoxon_reversed").  It separates classes as in OGFS, with U the columns
   admitted of this group, or by the paper's t, (mean - s(f)) / (sd / sqrt(|U|)) > alpha ("literal").
   Admitted: not redundant and separates; or one of the two ("either").
3. Elastic net over X and what is admitted, as in OGFS; weights below ``least_weight`` go.  Once, or for each
   admitted column ("column"); then X changes on the way.

Errata (equations have no numbers in the paper): the between-class scatter of the first definition lacks the
class shares; the second sums ordered pairs twice; in the third the two graphs are swapped; Algorithm 2 takes
for redundant what differs in place; in Algorithm 3 the t statistic is compared with a level; Algorithm 5 fits
the model inside the loop over columns.

Source: Siu, Xu (2018), Algorithms 1 to 5.
"""

import itertools
import warnings
from types import SimpleNamespace

import numpy as np
import scipy.stats

from tests.reference import fisher_z
from tests.reference.lines import Line
from tests.reference.ogfs import LEAST_WITHIN, Columns, lasso, raises, refitted, stands_out

DEFAULTS = {
    "stages": "all", "kernel": "rbf", "gamma": 1.0, "sampler": "dpp", "truncation": 0.05,
    "redundancy_test": "spearman", "max_rank_correlation": 0.9, "scatter": "moments", "reading": "corrected",
    "local": "both", "min_gain": 0.001, "alpha": 0.05, "l1": 0.15, "l1_ratio": 0.5, "least_weight": 0.0,
    "refit": "group",
}  # fmt: skip


def dofs(X, y, task, ends, uniforms, **parameters):
    """Return the selected columns, every decision in order, and the kept columns by number of the group."""
    how = SimpleNamespace(**DEFAULTS | parameters)
    columns = Columns(X, y, task)
    kept, weights, lines, groups = [], {}, [], {}
    for number, (low, high) in enumerate(zip([0, *ends], ends, strict=False)):
        group = [j for j in range(low, high) if not columns.constant(j)]
        drawn, probability = draw(columns, kept, group, uniforms, how)
        out = [j for j in group if j not in drawn]
        fate = {j: Line(j, "rejected", "not sampled", (), probability[j], np.nan) for j in out}
        departures = []
        if how.stages == "draw":
            kept = kept + drawn
        elif drawn:
            judgment = Judgment(columns, kept, weights, drawn, how)
            kept, weights, departures = judgment.model, judgment.weights, judgment.departures
            fate |= judgment.fate
        for j in range(low, high):
            lines += [line for step, line in departures if step == j]
            lines.append(fate.get(j) or columns.alone(j, None))
        groups |= dict.fromkeys(range(low, high), number)
    by_group = {}
    for j in kept:
        by_group.setdefault(groups[j], []).append(j)
    return kept, lines, by_group


class Judgment:
    """What becomes of the columns drawn from a group, and of those kept."""

    def __init__(self, columns, kept, weights, drawn, how):
        self.columns, self.kept, self.drawn, self.how = columns, kept, drawn, how
        self.model, self.weights, self.fate, self.departures = list(kept), weights, {}, []
        self.score = {}
        for j in drawn:
            b, w = scatters(columns, j, how.scatter) if how.stages == "all" else (1.0, 1.0)
            self.score[j] = b, max(w, LEAST_WITHIN)
        order = drawn
        if how.stages == "all" and how.reading == "literal":
            order = sorted(drawn, key=lambda j: -round(np.log1p(self.score[j][0] / self.score[j][1]), 9))
        admitted = []
        for batch in [[j] for j in order] if how.refit == "column" else [order]:
            new = self.admit(batch, admitted)
            admitted += new
            self.model = sorted(self.model + new)
            if new and how.l1 > 0:
                self.fit(new)

    def admit(self, batch, admitted):
        new, how = [], self.how
        for f in batch:
            by = redundant(self.columns, f, self.model + new, how)
            separates = True
            if how.stages == "all":
                known = [self.score[g] for g in admitted + new]
                separates = separating(known, self.score[f], how)
            either = how.stages == "all" and how.local == "either" and (separates or by is None)
            if either or (by is None and separates):
                new.append(f)
            else:
                self.fate[f] = by or self.columns.alone(f, "irrelevant")
        return new

    def fit(self, new):
        columns, how = self.columns, self.how
        cost, ridge = how.l1 * how.l1_ratio, how.l1 * (1 - how.l1_ratio)
        B = lasso(columns.Z[self.model], columns.C, self.weights, self.model, cost, ridge)
        gone, self.model, self.weights = refitted(columns, self.model, B, cost, ridge, how.least_weight)
        for j, by in gone:
            event = "evicted" if j in self.kept else "rejected"
            blamed = columns.redundant(j, event, by) if by is not None else None
            line = blamed or columns.alone(j, "irrelevant", event)
            if j in self.kept:
                self.departures.append((by if by in self.drawn else max(new), line))
            else:
                self.fate[j] = line


# ------------------------------------------------------------------------------------ drawing

SIMILARITIES = {
    "rbf": lambda a, b, gamma: np.exp(-gamma * len(a) * np.mean((a - b) ** 2)),
    "squared_correlation": lambda a, b, gamma: (a @ b) ** 2,
}


def draw(columns, kept, group, uniforms, how):
    """Return the columns drawn, and the probability of each."""
    if not group:
        return [], {}

    def table(some, others):
        Z = columns.Z
        similarity = SIMILARITIES[how.kernel]
        found = [[similarity(Z[a], Z[b], how.gamma) for b in others] for a in some]
        return np.array(found).reshape(len(some), len(others))

    own = table(group, group)
    M = conditional(own, table(group, kept), table(kept, kept))
    M, size = truncated(M, how.truncation * np.trace(own), flat=how.sampler != "dpp")
    if how.sampler == "greedy":
        given = conditional(own, table(group, kept), table(kept, kept))
        taken = greedy(given, size)
        return [group[i] for i in sorted(taken)], {j: float(i in taken) for i, j in enumerate(group)}
    sets = probabilities(M, None if how.sampler == "dpp" else size)
    probability = {j: sum(p for Y, p in sets.items() if i in Y) for i, j in enumerate(group)}
    drawn = []
    for i, j in enumerate(group):
        total = sum(sets.values())
        inside = sum(p for Y, p in sets.items() if i in Y)
        if uniforms[j] < inside / total and inside / total > 1e-8:
            drawn.append(j)
        sets = {Y: p for Y, p in sets.items() if (i in Y) == (j in drawn)}
    return drawn, probability


def conditional(own, cross, kept):
    """Return the similarities of a group given others: the Schur complement."""
    return own - cross @ np.linalg.solve(kept, cross.T) if len(kept) else own


def truncated(M, least, *, flat):
    """Return a matrix without its small eigenvalues, and how many are left; ``flat`` makes these 1."""
    values, vectors = np.linalg.eigh(M)
    left = [i for i in range(len(values)) if values[: i + 1].clip(0).sum() >= least and values[i] > 1e-8]
    size = len(left)
    values = np.ones(size) if flat else values[left]
    return (vectors[:, left] * values) @ vectors[:, left].T, size


def probabilities(M, size=None):
    """Return the probability of every set of items, or of every set of one size."""
    weight = {}
    for k in range(len(M) + 1) if size is None else [size]:
        sets = np.array(list(itertools.combinations(range(len(M)), k)), dtype=int)
        minors = np.linalg.det(M[sets[:, :, None], sets[:, None, :]])  # of the empty set: 1
        weight |= zip(map(tuple, sets.tolist()), minors.clip(0).tolist(), strict=True)
    total = sum(weight.values())
    return {Y: w / total for Y, w in weight.items()}


def greedy(M, size):
    """Return items, each time the one that makes the determinant largest."""
    taken = []
    for _ in range(size):
        best, most = None, 0.0
        for i in range(len(M)):
            if i not in taken:
                Y = [*taken, i]
                before = np.linalg.det(M[np.ix_(taken, taken)]) if taken else 1.0
                gain = np.linalg.det(M[np.ix_(Y, Y)]) / before
                if gain > max(1e-8, most + 1e-12):
                    best, most = i, gain
        if best is None:
            break
        taken.append(best)
    return taken


def redundant(columns, f, beside, how):
    """Return the line that says by whom a column is redundant, or None."""
    found = []
    for g in beside:
        a, b = columns.X[:, f], columns.X[:, g]
        if how.redundancy_test == "spearman":
            r = abs(fisher_z.correlation(*(scipy.stats.rankdata(x) for x in (a, b))))
            if r >= how.max_rank_correlation - 1e-12:
                found.append((g, min(r, 1.0), fisher_z.p_value(min(r, 1.0), columns.n)))
            continue
        p = wilcoxon(a, b)
        literal = how.redundancy_test == "wilcoxon_literal"
        shared = p if literal else 1 - p
        if shared > (how.alpha if literal else 1 - how.alpha):
            found.append((g, shared, p))
    if not found:
        return None
    most = max(shared for _, shared, _ in found)
    g, shared, p = next(entry for entry in found if entry[1] >= most - 1e-12)
    return Line(f, "rejected", "redundant", (g,), shared, p)


def wilcoxon(a, b):
    """Return the p-value of the signed-rank test; 1 for equal columns."""
    if np.array_equal(a, b):
        return 1.0
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sample size too small")  # of SciPy before 1.14
        return scipy.stats.wilcoxon(a, b, zero_method="wilcox", correction=False, method="approx").pvalue


def separating(known, new, how):
    """Whether a column with (between, within) separates classes beside those known."""
    between, within = [b for b, _ in known], [w for _, w in known]
    if raises(between, within, *new, how.min_gain):
        return True
    if how.reading == "corrected":
        return stands_out(between, within, new[0] / new[1], how.alpha)
    scores = np.array(between) / np.array(within)
    if len(scores) < 2 or np.std(scores, ddof=1) <= 1e-9 * (1 + np.mean(scores)):
        return False
    return (scores.mean() - new[0] / new[1]) / (scores.std(ddof=1) / np.sqrt(len(scores))) > how.alpha


def scatters(columns, j, scatter):
    """Return the variance of a column between and within classes."""
    z = columns.Z[j] * np.sqrt(columns.n)
    classes = [z[columns.y == label] for label in columns.labels]
    share = [len(c) / columns.n for c in classes]
    within = sum(p * np.mean((c - c.mean()) ** 2) for p, c in zip(share, classes, strict=True))
    if scatter == "moments_literal":
        return sum((c.mean() - z.mean()) ** 2 for c in classes), within
    if scatter == "pairwise":
        k = len(classes)
        inside = sum(np.mean((c[:, None] - c) ** 2) for c in classes) / k
        pairs = itertools.permutations(classes, 2)
        return sum(np.mean((c[:, None] - d) ** 2) for c, d in pairs) / (k * (k - 1)), inside
    # label graphs, by their Laplacians: f'L f = sum of W_ij (f_i - f_j)^2 / 2
    same = columns.y[:, None] == columns.y
    own = np.array([np.sum(columns.y == label) for label in columns.y])
    W_within = np.where(same, 1 / own, 0.0)
    W_between = np.where(same, 1 / columns.n - 1 / own, 1 / columns.n)
    squares = (z[:, None] - z) ** 2 / 2
    b, w = np.sum(W_between * squares) / columns.n, np.sum(W_within * squares) / columns.n
    return (w, b) if scatter == "labels_literal" else (b, w)
