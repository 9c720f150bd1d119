"""Slow twin of ``streamsieve.rows.velocity_screen``: window after window, feature after feature.

For feature j in two adjacent windows, over the rows that have it:

    v_j = |mean_now - mean_before| / s_j,    s_j^2 = (SS_now + SS_before) / (n_now + n_before - 2)
    t_j = v_j sqrt(n_now n_before / (n_now + n_before))
    e_j = t_j - (quantile of Student's t that is exceeded with probability 0.005 / m),  m features compared

A feature is compared if both windows have it, three values in all, and it is not constant over both.  The
signal is ln(1 + sum of positive e_j), followed by Page's test (rises of 0.1 tolerated, no alarm before the
third signal since the last one).  An alarm at a signal above its mean so far: features with e_j > 0 and
v_j > Q3 + fence (Q3 - Q1) of the compared drift; if there are none, all with e_j > 0.  They get their mutual
information from the window that has ended, and once more from the next one.  So do features that were
constant whenever they were scored, as soon as they vary.

Source: Hammoodi 2018, with choices of ours where the thesis leaves details; Page (1954).
"""

import functools
import math

import numpy as np
import scipy.stats

from tests.reference import mutual_info


class Page:
    """Page's test for a change of mean, written down again from all values since the last alarm."""

    def __init__(self, threshold, delta=0.1, patience=3):
        self.threshold, self.delta, self.patience = threshold, delta, patience
        self.values = []

    def alarm(self, value):
        """Whether the mean has changed; True only if it has risen."""
        before = self.values
        self.values = [*before, value]
        means = [math.fsum(self.values[: i + 1]) / (i + 1) for i in range(len(self.values))]
        steps = [x - m for x, m in zip(self.values, means, strict=True)]
        up = np.cumsum([step - self.delta for step in steps])
        down = np.cumsum([step + self.delta for step in steps])
        changed = up[-1] - up.min() > self.threshold or down.max() - down[-1] > self.threshold
        if not changed or len(self.values) < self.patience:
            return False
        self.values = []
        return value > (math.fsum(before) / len(before) if before else 0.0)


@functools.cache
def student(probability, freedom):
    """Return what Student's t exceeds with that probability."""
    return float(scipy.stats.t.isf(probability, freedom))


def compare(old, new):
    """Return (velocity, its standard errors, degrees of freedom) of one feature, or None."""
    a, b = old[~np.isnan(old)], new[~np.isnan(new)]
    if not (len(a) and len(b) and len(a) + len(b) > 2) or np.all(
        np.concatenate([a, b]) == np.append(a, b)[0]
    ):
        return None
    shift = abs(b.mean() - a.mean())
    freedom = len(a) + len(b) - 2
    spread = math.sqrt((((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum()) / freedom)
    size = 1e-14 * max(abs(a.mean()), abs(b.mean()))
    shift, spread = (0.0 if value <= size else value for value in (shift, spread))
    if shift == spread == 0:
        return None
    velocity = min(1e6, shift / spread if spread else math.inf) if shift else 0.0
    return velocity, velocity * math.sqrt(len(a) * len(b) / (len(a) + len(b))), freedom


def movers(old, new, fence):
    """Return the velocities of all features, the signal, and the features that drift if there is an alarm."""
    found = {j: each for j in range(new.shape[1]) if (each := compare(old[:, j], new[:, j])) is not None}
    velocity = np.zeros(new.shape[1])
    excess = {}
    for j, (v, errors, freedom) in found.items():
        velocity[j] = v
        excess[j] = errors - student(0.005 / len(found), freedom)
    signal = math.log1p(math.fsum(max(0.0, e) for e in excess.values()))
    beyond = [j for j in excess if excess[j] > 0]
    if not beyond:
        return velocity, signal, []
    first, third = np.quantile([v for v, _, _ in found.values()], [0.25, 0.75])
    outside = [j for j in beyond if velocity[j] > third + fence * (third - first)]
    return velocity, signal, outside or beyond


def screen(X, y, window, *, bins=5, fence=1.5, alarm=1.0):
    """Return scores, velocities and events (row, feature, before, after) after all complete windows."""
    p = X.shape[1]
    scores, scored, velocity = np.zeros(p), np.zeros(p, bool), np.zeros(p)
    page, again, events = Page(alarm), [], []
    turns = len(y) // window
    for turn in range(turns):
        part = slice(turn * window, (turn + 1) * window)
        drifted = []
        if turn:
            old = X[part.start - window : part.start]
            velocity, signal, candidates = movers(old, X[part], fence)
            drifted = candidates if page.alarm(signal) else []
        values = [x[~np.isnan(x)] for x in X[part].T]
        varies = np.array([len(x) > 0 and bool(np.any(x != x[0])) for x in values])
        rescored = sorted({*drifted, *again, *np.flatnonzero(varies & ~scored).tolist()})
        if rescored:
            fresh = dict(
                zip(rescored, mutual_info.score(X[part][:, rescored], y[part], bins=bins), strict=True)
            )
            events += [(part.stop, j, scores[j], fresh[j]) for j in sorted({*drifted, *again})]
            scores[rescored] = list(fresh.values())
            scored[rescored] = varies[rescored]
        again = drifted
    if not turns:
        scores = np.asarray(mutual_info.score(X, y, bins=bins))
    return scores, velocity, events
