"""Slow twin of ``streamsieve.rows.partial_ofs``: the rule as in the paper, on whole vectors.

w = 0.  For each row x with label y = -1 or +1:

    C = B columns at random with probability e (always, while w = 0), else those with w != 0
    f = sum over C of w x;  if y f <= 0:
        x^ = x / P(column is in C) on C, and 0 elsewhere, where
             P = (B/d) e + (1 - e) [w != 0], and B/d while w = 0
        w <- w + rate y x^
        w <- w min(1, R / |w|)
        keep the B largest |w|, of equals the first

Random numbers: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011), key = seed, counter = (draw, row), 53 bits.
Draw 0 decides whether to explore; Floyd's algorithm (Bentley, 1987) takes the columns from draws 1 to B.

Source: Wang, Zhao, Hoi, Jin (2014), algorithm 3.
"""

import numpy as np

from tests.reference.ofs import added, shortened, truncated

WORD = 2**32


def partial_ofs(X, y, *, k, learning_rate=0.02, exploration=0.2, radius=10.0, seed=0):
    """Return the weights after every row, y f of every row before that, and the columns looked at."""
    d = X.shape[1]
    w = np.zeros(d)
    history, margins, looked_at = [], [], []
    for row, (x, label) in enumerate(zip(X, y, strict=True)):
        probability = exploration if w.any() else 1.0
        explores = probability == 1.0 or uniform(seed, row, 0) < probability
        chosen = draw(d, k, seed, row) if explores else np.flatnonzero(w).tolist()
        looked_at.append(chosen)
        margins.append(label * added(w[j] * x[j] for j in sorted(chosen)))
        if margins[-1] <= 0:
            w = w + learning_rate * label * estimate(x, w, chosen, k, exploration)
            w = truncated(shortened(w, radius), k)
        history.append(w)
    return history, np.array(margins), looked_at


def estimate(x, w, chosen, k, exploration):
    """Return what is known of a row of which some columns were looked at; right on average."""
    guess = np.zeros(len(x))
    for j in chosen:
        guess[j] = x[j] / probability(w, k, exploration)[j]
    return guess


def probability(w, k, exploration):
    """Return for every column the probability that it is looked at."""
    if not w.any():
        return np.full(len(w), k / len(w))
    return k / len(w) * exploration + (1 - exploration) * (w != 0)


def draw(d, k, seed, row):
    """Return k of d columns, every set of them as likely as any other (Floyd)."""
    chosen = []
    for i, last in enumerate(range(d - k, d)):
        column = int(uniform(seed, row, 1 + i) * (last + 1))
        chosen.append(last if column in chosen else column)
    return chosen


def uniform(seed, row, number):
    a, b, _, _ = philox([number % WORD, number // WORD, row % WORD, row // WORD], [seed % WORD, seed // WORD])
    return ((a >> 5) * 2**26 + (b >> 6)) / 2**53


def philox(counter, key):
    """Return four random words of 32 bits."""
    (a, b, c, d), (left, right) = counter, key
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = q // WORD ^ b ^ left, q % WORD, p // WORD ^ d ^ right, p % WORD
        left, right = (left + 0x9E3779B9) % WORD, (right + 0xBB67AE85) % WORD
    return [a, b, c, d]
