"""Slow twin of ``streamsieve.rows.drift.change_points``: every value is kept, every mean computed from them.

    D(t) = (mean after t - mean before t) / sqrt(s2 (1/a + 1/b)),     s2 = max(1, variance within both sides)

Possible change points are the borders of an exponential histogram: a list of bucket sizes, to which each
value adds a 1; of more than 3 buckets of a size, the two oldest become one; of more than 24, the oldest is
dropped.
"""

import math


class ChangePoints:
    def __init__(self):
        self.values, self.sizes = [], []  # of one signal; values before the start are None

    def update(self, x):
        self.values.append(x)
        self.sizes.append(1)
        size = 1
        while self.sizes.count(size) > 3:
            i = self.sizes.index(size)
            self.sizes[i : i + 2] = [2 * size]
            size *= 2
        if len(self.sizes) > 24:
            del self.sizes[0]
            self.values[: -sum(self.sizes)] = [None] * (len(self.values) - sum(self.sizes))

    def borders(self):
        """Return the number of values before each possible change point."""
        return [len(self.values) - sum(self.sizes[i:]) for i in range(1, len(self.sizes))]

    def differences(self):
        out = []
        for t in self.borders():
            first, second = (
                [x for x in part if x is not None] for part in (self.values[:t], self.values[t:])
            )
            a, b = len(first), len(second)
            if a < 3 or b < 2 or a + b < 8:
                out.append(0.0)
                continue
            m1, m2 = sum(first) / a, sum(second) / b
            within = sum((x - m1) ** 2 for x in first) + sum((x - m2) ** 2 for x in second)
            out.append((m2 - m1) / math.sqrt(max(1.0, within / (a + b - 2)) * (1 / a + 1 / b)))
        return out

    def restart(self, point):
        t = self.borders()[point]
        self.values[:t] = [None] * t
