"""Performance of predictions over a stream, over all rows and with exponential fading."""

from __future__ import annotations

import numpy as np

from streamsieve.protocols import FloatArray, IntArray


class FadingClasses:
    """Accuracy and kappa of predicted classes, over all rows and with exponential fading."""

    def __init__(self, n_classes: int, half_life: float) -> None:
        self._alpha = 0.5 ** (1.0 / half_life)
        #: Faded counts of (true, predicted), and of rows whose class was that of the row before.
        self._table = np.zeros((n_classes, n_classes))
        self._same = 0.0
        self._last: int | None = None
        self.rows = self.hits = 0

    def update(self, y: IntArray, predicted: IntArray) -> None:
        """Add the predictions of rows, in order."""
        n = len(y)
        if not n:
            return
        weight = self._alpha ** np.arange(n - 1, -1, -1.0)
        fade = self._alpha**n
        self._table *= fade
        np.add.at(self._table, (y, predicted), weight)
        before = np.concatenate([[-1 if self._last is None else self._last], y[:-1]])
        self._same = self._same * fade + float(weight[before == y].sum())
        self._last = int(y[-1])
        self.rows += n
        self.hits += int(np.count_nonzero(y == predicted))

    def follow(self, y: IntArray) -> None:
        """Note rows that were not predicted: the next row's class is compared with the last of them."""
        if len(y):
            self._last = int(y[-1])

    def measures(self) -> dict[str, float]:
        """Return accuracy over all rows, and faded accuracy and kappas.

        Cohen's kappa corrects for agreement that is expected by chance, of independent predictions with the
        same frequencies; ``kappa_temporal`` for a classifier that repeats the class of the row before.
        """
        total = float(self._table.sum())
        if total == 0:
            return dict.fromkeys(("accuracy", "fading_accuracy", "kappa", "kappa_temporal"), float("nan"))
        right = float(np.trace(self._table)) / total
        expected = float(self._table.sum(axis=1) @ self._table.sum(axis=0)) / total**2
        return {
            "accuracy": self.hits / self.rows,
            "fading_accuracy": right,
            "kappa": _kappa(right, expected),
            "kappa_temporal": _kappa(right, self._same / total),
        }


class FadingNumbers:
    """Errors of predicted numbers, over all rows and with exponential fading."""

    def __init__(self, half_life: float) -> None:
        self._alpha = 0.5 ** (1.0 / half_life)
        #: Faded sums of 1, the error's size, and its square.
        self._sums = np.zeros(3)
        #: Faded mean of the target, and sum of squares around it: plain sums would cancel if it moves far.
        self._mean, self._spread = 0.0, 0.0
        self._total = 0.0
        self.rows = 0

    def update(self, y: FloatArray, predicted: FloatArray) -> None:
        """Add the predictions of rows, in order."""
        n = len(y)
        if not n:
            return
        weight = self._alpha ** np.arange(n - 1, -1, -1.0)
        error, faded = y - predicted, self._alpha**n
        old, new = float(self._sums[0]) * faded, float(weight.sum())
        mean = float(weight @ y) / new
        apart = mean - self._mean
        self._spread = (
            self._spread * faded + float(weight @ (y - mean) ** 2) + apart**2 * old * new / (old + new)
        )
        self._mean += apart * new / (old + new)
        self._sums = self._sums * faded + np.stack([np.ones(n), np.abs(error), error**2]) @ weight
        self._total += float(np.abs(error).sum())
        self.rows += n

    def follow(self, y: FloatArray) -> None:
        """Rows that were not predicted change nothing."""

    def measures(self) -> dict[str, float]:
        """Return the mean absolute error over all rows and faded, and faded r2."""
        n, size, square = self._sums.tolist()
        if n == 0:
            return dict.fromkeys(("mae", "fading_mae", "fading_r2"), float("nan"))
        return {
            "mae": self._total / self.rows,
            "fading_mae": size / n,
            "fading_r2": 1.0 - square / self._spread if self._spread > 0 else float("nan"),
        }


def _kappa(right: float, expected: float) -> float:
    return (right - expected) / (1.0 - expected) if expected < 1 else float("nan")
