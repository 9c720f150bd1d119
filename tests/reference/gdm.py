"""Slow twin of ``streamsieve.offline.gdm``: the features of FGM, and those correlated with one of them.

Each feature with |correlation| > tau to a supporting feature is affiliated with the one it is most correlated
with (of equals the first).

Source: Zhai, Tan, Tsang and Ong (2012).
"""

from tests.reference.fisher_z import correlation


def affiliated(X, supporting, tau=0.9):
    """Return {feature: supporting feature}."""
    found = {}
    for j in range(X.shape[1]):
        best = tau + 1e-12
        for s in supporting:
            r = abs(correlation(X[:, j], X[:, s]))
            if j not in supporting and r > best + 1e-12:
                best, found[j] = r, int(s)
    return found
