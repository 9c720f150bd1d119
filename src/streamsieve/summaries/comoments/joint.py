"""Joint moments of features and a numeric target, and their merging by Chan's formula."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from streamsieve.protocols import FloatArray


class Joint(NamedTuple):
    """Weight, means, centered second moments and co-moment of features and target, each (feature,)."""

    weight: FloatArray
    mean: FloatArray
    m2: FloatArray
    y_mean: FloatArray
    cross: FloatArray
    y_m2: FloatArray

    def merged(self, other: Joint) -> Joint:
        """Chan's formula, for two variables."""
        total = self.weight + other.weight
        share = np.divide(other.weight, total, out=np.zeros_like(total), where=total > 0)
        a = self.weight * share
        dx, dy = other.mean - self.mean, other.y_mean - self.y_mean
        return Joint(
            total,
            self.mean + dx * share,
            self.m2 + other.m2 + dx * dx * a,
            self.y_mean + dy * share,
            self.cross + other.cross + dx * dy * a,
            self.y_m2 + other.y_m2 + dy * dy * a,
        )


def target_moments(y: FloatArray, w: FloatArray) -> FloatArray:
    """Weight, mean and centered second moment of a target."""
    mass = w.sum()
    mean = (w @ y) / mass
    return np.array([mass, mean, w @ (y - mean) ** 2])


def merged_targets(a: FloatArray, b: FloatArray) -> FloatArray:
    """Chan's formula for the target."""
    total = a[0] + b[0]
    delta, share = b[1] - a[1], b[0] / total
    return np.array([total, a[1] + delta * share, a[2] + b[2] + delta**2 * a[0] * share])


def with_zeros(joint: Joint, extra: int, y: FloatArray) -> Joint:
    """Append features that are 0 in every row."""
    nothing = np.zeros(extra)
    zeros = Joint(nothing + y[0], nothing, nothing, nothing + y[1], nothing, nothing + y[2])
    return Joint(*(np.concatenate(pair) for pair in zip(joint, zeros, strict=True)))


def absorb_into_table(table: FloatArray, other: Joint, y: FloatArray) -> None:
    """Merge joint moments into a sparse table: all rows count as stored, absent ones as missing."""
    n, mean, m2, y_mean, cross, gone, y_gone, y_gone_m2 = table.T
    merged = Joint(n, mean, m2, y_mean, cross, np.zeros_like(n)).merged(other)
    table[:, :5] = np.stack(merged[:5], axis=1)
    absent = y[0] - other.weight
    y_sum = y[0] * y[1] - other.weight * other.y_mean
    y_absent = np.divide(y_sum, absent, out=np.zeros_like(n), where=absent > 0)
    between = np.divide(other.weight, y[0]) * absent * (other.y_mean - y_absent) ** 2
    y_absent_m2 = np.where(absent > 0, np.maximum(y[2] - other.y_m2 - between, 0.0), 0.0)
    lost = Joint(gone, y_gone, y_gone_m2, y_gone, y_gone_m2, y_gone_m2)
    lost = lost.merged(Joint(absent, y_absent, y_absent_m2, y_absent, y_absent_m2, y_absent_m2))
    table[:, 5], table[:, 6], table[:, 7] = lost.weight, lost.mean, lost.m2
