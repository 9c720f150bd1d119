"""
The neighbors of a target in a known network
=============================================

In a Bayesian network the target depends directly on its parents and children only. Fast-OSFS looks for them by conditional tests: a column is
redundant if a few others make it independent of the target.
"""

# %%
# A random linear network of 60 variables, and 2,000 rows drawn from it.
import matplotlib.pyplot as plt
import numpy as np

import streamsieve as ss

plt.style.use("style.mplstyle")
rng = np.random.default_rng(4)
p, target = 60, 30
parents = {
    j: rng.choice(j, min(j, 3), replace=False) if j else np.array([], int) for j in range(p)
}
weights = {j: rng.uniform(0.15, 0.6, len(parents[j])) for j in range(p)}
true = set(parents[target].tolist()) | {j for j in range(p) if target in parents[j]}


def draw(n):
    """Return n rows of the network."""
    X = np.zeros((n, p))
    for j in range(p):
        X[:, j] = X[:, parents[j]] @ weights[j] + rng.normal(size=n)
    return X


# %%
# How many of the columns kept are parents or children, and how many of those are found, as rows accumulate?
sizes, precision, recall, marginal = [50, 100, 200, 500, 1_000, 2_000, 5_000], [], [], []
others = np.delete(np.arange(p), target)
for n in sizes:
    X = draw(n)
    kept = others[ss.FastOSFS(alpha=0.01).fit(X[:, others], X[:, target]).selected_]
    alone = others[ss.OnlineFDR(alpha=0.05).fit(X[:, others], X[:, target]).selected_]
    precision.append(np.isin(kept, list(true)).mean() if len(kept) else 0)
    recall.append(np.isin(list(true), kept).mean())
    marginal.append(np.isin(alone, list(true)).mean() if len(alone) else 0)

fig, ax = plt.subplots()
ax.plot(sizes, recall, marker="o", label="Fast-OSFS: neighbors found")
ax.plot(sizes, precision, marker="s", label="Fast-OSFS: kept ones that are neighbors")
ax.plot(
    sizes, marginal, marker="^", label="tests of single columns: kept ones that are neighbors"
)
ax.set(
    xscale="log",
    xlabel="rows",
    ylabel="share",
    ylim=(0, 1.05),
    title=f"Target with {len(true)} neighbors among 59 variables",
)
ax.legend()
plt.show()
