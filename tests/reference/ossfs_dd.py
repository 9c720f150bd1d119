"""Slow twin of ``streamsieve.columns.ossfs_dd``: one column at a time, partial correlations by least squares.

dep is |r| or the correlation ratio, mu and sigma mean and standard deviation of all dep(., y) so far, the
newcomer's included (constant columns are rejected and do not count).  For a new column F with v = dep(F, y):

1. "code": the first two columns become members.
2. v <= mu + lower sigma: discarded.
3. v >= mu + upper sigma =: U: for each member s in order of arrival: if F is a copy of s, F falls.  If
   dep(s, y) + dep(s, y | F) < 2 U (and, "code", dep(s, y | F) is significant), the weaker of the two falls,
   of equals F.  Where F falls, the search ends; "paper": members that fell before are gone, "code": they are
   not.  Otherwise F becomes a member.
4. else F waits.  If ``pool`` columns wait: every two of them, a and b, with dep(a, y) + dep(a, y | b) > 2 U
   become members; the others are discarded.

At the end, step 4 for those that wait.  Floor: if there never were ``floor`` members at once, also not at
the end, the answer is that of TopK with k = floor, at alpha.  Once there were, no member falls while there
are not more than ``floor``.

The ledger: a verdict is final once there were ``floor`` members and no column up to it waits.  A member
that falls before its verdict is final is rejected, afterwards it is evicted.  "Equal" is up to 1e-12.

Source: Zhou, Zhao, Yan, Wu (2022).
"""

import numpy as np

from tests.reference import fisher_z
from tests.reference.lines import Line
from tests.reference.saola import TIE, Correlations
from tests.reference.top_k import top_k


def ossfs_dd(X, y, task, *, lower=1.0, upper=2.0, pool=100, floor=15, variant="code", alpha=0.05):
    """Return the selected columns and every decision, in order."""
    run = Run(X, y, task, lower, upper, pool, floor, variant, alpha)
    for j in range(X.shape[1]):
        run.offer(j)
    run.pair_up()
    if not run.met and len(run.members) < floor:
        return folded(*top_k(X, y, task, k=floor, alpha=alpha))
    lines = []
    for j in range(X.shape[1]):
        lines += [line for step, line in run.evicted if step == j]
        lines.append(run.verdict[j])
    return sorted(run.members), lines


def folded(selected, lines):
    """Tell of every column once: how it ended."""
    last = {}
    for place, line in enumerate(lines):
        newcomer = next((later.feature for later in lines[place:] if later.event != "evicted"), None)
        # an eviction stands before the verdict on the newcomer that caused it
        by = (newcomer,) if line.event == "evicted" else line.by
        event = "rejected" if line.event == "evicted" else line.event
        last[line.feature] = line._replace(event=event, by=by)
    return selected, [last[j] for j in sorted(last)]


class Run:
    """Members, columns that wait, and the decision on each column."""

    def __init__(self, X, y, task, lower, upper, pool, floor, variant, alpha):
        self.X, self.lower, self.upper, self.pool, self.floor, self.variant = (
            X,
            lower,
            upper,
            pool,
            floor,
            variant,
        )
        self.judge = Correlations(y, task, alpha)
        self.n, self.alpha, self.many = len(y), alpha, task == "multiclass"
        self.target = np.asarray(y, float)[:, None]
        if task != "regression":
            self.target = (np.asarray(y)[:, None] == np.unique(y)[1:]).astype(float)
        self.r = [self.judge.relevance(X[:, j]) for j in range(X.shape[1])]
        self.v = [abs(r) for r in self.r]
        self.scores, self.members, self.waiting = [], [], []
        self.verdict, self.evicted, self.met = {}, [], floor == 0

    # ---------------------------------------------------------------- numbers

    def pair(self, a, b):
        return abs(fisher_z.correlation(self.X[:, a], self.X[:, b]))

    def given(self, a, b):
        """Return dep(a, y | b)."""
        if 1 - self.pair(a, b) ** 2 <= 1e-10:
            return 0.0
        return fisher_z.partial(self.X[:, a], self.target, self.X[:, [b]])

    def significant(self, dependence):
        if self.many:
            return dependence >= fisher_z.ratio_critical(self.alpha, self.n - 1, self.target.shape[1] + 1)
        return dependence >= fisher_z.critical(self.alpha, self.n, 1)

    def threshold(self, times):
        return np.mean(self.scores) + times * np.std(self.scores)

    # ---------------------------------------------------------------- deciding

    def offer(self, j):
        if np.all(self.X[:, j] == self.X[0, j]):
            self.tell(j, "constant")
            return
        self.scores.append(self.v[j])
        if self.variant == "code" and len(self.scores) <= 2:
            self.join(j)
        elif self.v[j] <= self.threshold(self.lower) + TIE:
            self.tell(j, "irrelevant")
        elif self.v[j] >= self.threshold(self.upper) - TIE:
            self.challenge(j)
        else:
            self.tell(j, "irrelevant")
            self.waiting.append(j)
            if len(self.waiting) == self.pool:
                self.pair_up()
        self.met = self.met or len(self.members) >= self.floor

    def challenge(self, j):
        before, gone = len(self.members), []
        final = [s for s in self.members if self.met and not any(w <= s for w in self.waiting)]
        lost = None
        for s in sorted(self.members):
            given = self.given(s, j)
            redundant = self.v[s] + given < 2 * self.threshold(self.upper) - TIE
            if self.variant == "code":
                redundant = redundant and self.significant(given)
            if self.pair(s, j) >= 1 - TIE or (redundant and self.v[j] <= self.v[s] + TIE):
                lost = s
                break
            if redundant:
                gone.append(s)
        if lost is None:
            self.join(j)
        else:
            self.blame(j, lost)
            gone = [] if self.variant == "code" else gone
        if self.met:
            gone = gone[: max(before - self.floor, 0)]
        for s in gone:
            self.members.remove(s)
            if s in final:
                pair = self.pair(s, j)
                line = Line(s, "evicted", "redundant", (j,), pair, fisher_z.p_value(pair, self.n))
                self.evicted.append((j, line))
            else:
                self.blame(s, j)

    def pair_up(self):
        level = 2 * self.threshold(self.upper) + TIE if self.scores else np.inf
        for a in self.waiting:
            for b in self.waiting:
                together = a != b and max(
                    self.v[a] + self.given(a, b), self.v[b] + self.given(b, a)
                ) > level  # fmt: skip
                if together and a not in self.members:
                    self.join(a, (b,))
        self.waiting = []

    # ---------------------------------------------------------------- telling

    def join(self, j, by=()):
        self.members.append(j)
        self.verdict[j] = Line(j, "kept", "relevant", by, self.r[j], self.judge.p_value(self.r[j]))

    def tell(self, j, reason):
        self.verdict[j] = Line(j, "rejected", reason, (), self.r[j], self.judge.p_value(self.r[j]))

    def blame(self, j, by):
        pair = self.pair(j, by)
        self.verdict[j] = Line(j, "rejected", "redundant", (by,), pair, fisher_z.p_value(pair, self.n))
