"""Slow twin of test-then-train: one row after the other, and every weight written out."""

import math


def fading(y, predicted, half_life, before=None):
    """Return accuracy, faded accuracy, kappa and temporal kappa after the last prediction.

    ``before`` is the class of the row before the first one predicted.
    """
    n = len(y)
    weights = [0.5 ** ((n - 1 - i) / half_life) for i in range(n)]
    total = sum(weights)
    right = sum(w for w, a, b in zip(weights, y, predicted, strict=True) if a == b) / total
    expected = 0.0
    for label in {*y, *predicted}:
        true = sum(w for w, a in zip(weights, y, strict=True) if a == label) / total
        said = sum(w for w, b in zip(weights, predicted, strict=True) if b == label) / total
        expected += true * said
    last = [before, *y[:-1]]
    same = sum(w for w, a, b in zip(weights, y, last, strict=True) if a == b) / total
    return {
        "accuracy": sum(a == b for a, b in zip(y, predicted, strict=True)) / n,
        "fading_accuracy": right,
        "kappa": (right - expected) / (1 - expected) if expected < 1 else math.nan,
        "kappa_temporal": (right - same) / (1 - same) if same < 1 else math.nan,
    }


def fading_numbers(y, predicted, half_life):
    """Return mean absolute error, and faded ones with r2."""
    n = len(y)
    weights = [0.5 ** ((n - 1 - i) / half_life) for i in range(n)]
    total = sum(weights)
    mean = sum(w * a for w, a in zip(weights, y, strict=True)) / total
    spread = sum(w * (a - mean) ** 2 for w, a in zip(weights, y, strict=True))
    errors = [a - b for a, b in zip(y, predicted, strict=True)]
    return {
        "mae": sum(abs(e) for e in errors) / n,
        "fading_mae": sum(w * abs(e) for w, e in zip(weights, errors, strict=True)) / total,
        "fading_r2": 1 - sum(w * e * e for w, e in zip(weights, errors, strict=True)) / spread,
    }


def followed(batches, half_life, learner, select):
    """Test then train with batches (X, y), for a selection ``select(X, y)`` over all rows so far.

    ``learner`` has predict and learn, and gets rows whose other features are 0.
    """
    truth, said, past_X, past_y = [], [], [], []
    chosen = None
    first_batch_ends = None
    for X, y in batches:
        if past_y:
            seen = [[v if j in chosen else 0.0 for j, v in enumerate(row)] for row in X]
            said += list(learner.predict(seen))
            truth += list(y)
        past_X += list(X)
        past_y += list(y)
        chosen = set(select(past_X, past_y))
        learner.learn([[v if j in chosen else 0.0 for j, v in enumerate(row)] for row in X], list(y))
        if first_batch_ends is None:
            first_batch_ends = y[-1]
    return fading(truth, said, half_life, first_batch_ends)
