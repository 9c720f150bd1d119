"""
A feature factory over weeks
============================

Customers are fixed; every week a team computes 200 new candidate features. The selector decides on each at once, is saved over the weekend,
and goes on with the same customers on Monday. The ledger says what became of all of them.
"""

# %%
# Three latent traits drive churn; most candidates are noise, some are proxies of a trait, a few are copies of earlier features.
import os
import tempfile
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

import streamsieve as ss

plt.style.use("style.mplstyle")
rng = np.random.default_rng(0)
n = 2_000
traits = rng.normal(size=(n, 3))
churned = (traits @ [1.0, -0.8, 0.6] + rng.logistic(size=n) > 0.5).astype(int)


def candidates(week):
    """Return 200 features: noise, and proxies that become better from week to week."""
    X = rng.normal(size=(n, 200))
    for j in range(6):
        X[:, j] = traits[:, j % 3] + (6 - week) / 3 * rng.normal(size=n)
    return X, [f"week {week}, feature {j}" for j in range(200)]


# %%
# One file per weekend holds the whole state: kept columns, ledger, and a digest of the rows.
path = os.path.join(tempfile.mkdtemp(), "churn.sieve")
ss.FastOSFS(alpha=0.001).begin(churned).save(path)
kept, weeks = [], range(1, 6)
for week in weeks:
    sieve = ss.load(path).same_rows(churned)
    X, names = candidates(week)
    sieve.offer(X, names=names)
    sieve.save(path, overwrite=True)
    kept.append(sieve.get_feature_names_out())

print(sieve.ledger_.why("week 1, feature 0"))

# %%
# Better proxies evict worse ones: the set stays small, and moves to later weeks.
fig, ax = plt.subplots()
bottom = np.zeros(len(weeks))
for week in weeks:
    heights = np.array(
        [Counter(name.split(",")[0] for name in names)[f"week {week}"] for names in kept]
    )
    ax.bar(
        list(weeks),
        heights,
        bottom=bottom,
        label=f"from week {week}",
        color=plt.cm.viridis(0.15 + 0.17 * week),
    )
    bottom += heights
ax.set(xlabel="after week", ylabel="features kept", title="1,000 candidates in five weeks")
ax.legend()
plt.show()
