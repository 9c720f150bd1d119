"""Slow twin of ``streamsieve.rows.barda``: the whole weight vector again after every row.

State: G, the sum of gradients; s2, the sum of their squares; t, the rows seen.  A row with y = -1 or +1:
f = w.x; if y f < 1 then g = -2 y (1 - y f) x, G += g, s2 += g * g; t += 1; H = damping + sqrt(s2);
w = -rate G / (ridge rate t + H), and if more than B of the weights are not 0, only the B largest of
w * w * H stay, the lower column first among equals.

Several classes: the first two labels share one learner from the first row on, +1 being the second label.
When a third label comes, the first one's learner is the mirror image, and every further label gets a learner
of its own, which begins with the row of that label.

Source: Zhai, Wang, Koriche, Gao, ECML-PKDD 2018, algorithm B-ARDA.  A row without loss counts
in t all the same.
"""

import numpy as np


class Learner:
    """One class against the rest."""

    def __init__(self, n_features, budget, rate=0.05, ridge=0.01, damping=0.01):
        self.G, self.s2, self.t = np.zeros(n_features), np.zeros(n_features), 0
        self.budget, self.rate, self.ridge, self.damping = budget, rate, ridge, damping
        self.w = np.zeros(n_features)

    @property
    def full(self):
        """Weights before the smallest are set to 0, and the numbers they are ranked by."""
        H = self.damping + np.sqrt(self.s2)
        w = -self.rate * self.G / (self.ridge * self.rate * self.t + H)
        return w, w * w * H

    def predict(self, x):
        f = 0.0
        for j in np.flatnonzero(self.w):  # one by one, from left to right: no other order of sums
            f += self.w[j] * x[j]
        return f

    def learn(self, x, y):
        f = self.predict(x)
        if y * f < 1:
            g = np.clip(-2 * y * (1 - y * f) * x, -1e140, 1e140)  # or squares would overflow
            self.G = self.G + g
            self.s2 = self.s2 + g * g
        self.t += 1
        w, score = self.full
        if np.count_nonzero(w) > self.budget:
            w[np.argsort(-score, kind="stable")[self.budget :]] = 0.0
        self.w = w
        return f

    def mirrored(self):
        other = Learner(len(self.G), self.budget, self.rate, self.ridge, self.damping)
        other.G, other.s2, other.t, other.w = -self.G, self.s2, self.t, -self.w
        return other


class OneVersusRest:
    """Learners for any number of labels that appear at any time, and how often they were wrong."""

    def __init__(self, n_features, budget, **parameters):
        self.make = lambda: Learner(n_features, budget, **parameters)
        self.classes, self.learners, self.mistakes = [], [self.make()], 0

    def learn(self, x, label):
        new = label not in self.classes
        if new:
            self.classes.append(label)
            if len(self.classes) == 3:
                self.learners.insert(0, self.learners[0].mirrored())
            if len(self.classes) > 2:
                self.learners.append(self.make())
        own = self.classes.index(label)
        if len(self.classes) <= 2:
            y = 1 if own == 1 else -1
            self.mistakes += y * self.learners[0].learn(x, y) <= 0
            return
        f = [learner.learn(x, 1 if c == own else -1) for c, learner in enumerate(self.learners)]
        self.mistakes += new or f[own] <= max(f[:own] + f[own + 1 :])

    @property
    def scores(self):
        return np.max([learner.full[1] for learner in self.learners], axis=0)

    @property
    def coef(self):
        return np.array([learner.w for learner in self.learners])


def barda(X, y, budget, **parameters):
    """Learn rows with labels of any kind."""
    model = OneVersusRest(np.shape(X)[1], budget, **parameters)
    for x, label in zip(np.asarray(X, float), y, strict=True):
        model.learn(x, label)
    return model
