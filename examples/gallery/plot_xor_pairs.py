"""
Pairs that matter only together
===============================

The label is an exclusive or of two columns: each of them alone is independent of it, so no test of single columns finds them. ``InteractionScan``
looks at pairs, within a bounded pool of partners, and controls the probability of keeping anything by chance, if rows are independent.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import streamsieve as ss

plt.style.use("style.mplstyle")
rng = np.random.default_rng(3)
X = rng.normal(size=(1_000, 100))
y = ((X[:, 17] > 0) ^ (X[:, 62] > 0)).astype(int)
flip = rng.random(1_000) < 0.1
y[flip] = 1 - y[flip]

scan = ss.InteractionScan().fit(X, y)
print("kept:", scan.selected_, "pairs:", scan.pairs_.tolist())
print(scan.ledger_.why("x17"))
for other in (ss.SAOLA(alpha=0.01), ss.FastOSFS(alpha=0.01), ss.OnlineFDR(alpha=0.05)):
    print(type(other).__name__, other.fit(X, y).selected_)

# %%
fig, axes = plt.subplots(1, 2)
for ax, (i, j), title in zip(axes, ((17, 62), (3, 40)), ("the pair", "any other"), strict=True):
    for label in (0, 1):
        rows = y == label
        ax.plot(X[rows, i], X[rows, j], "o", markersize=2.5, alpha=0.7, label=f"y = {label}")
    ax.set(title=title, xlabel=f"x{i}", ylabel=f"x{j}", aspect="equal")
axes[0].legend(loc="upper right", frameon=True, markerscale=2)
plt.show()
