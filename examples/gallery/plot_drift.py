"""
Relevance that drifts
=====================

Every 250 rows one of the relevant features is replaced. A screen that weighs all rows alike holds on to features that were relevant once; with
a half-life it follows.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import streamsieve as ss

plt.style.use("style.mplstyle")
stream = ss.DriftingStream(n_rows=40_000, n_features=400, n_relevant=40, shift_every=250)
screens = {
    "all rows alike": ss.Screen("f", k=40),
    "half-life 10,000 rows": ss.Screen("f", k=40, half_life=10_000),
    "half-life 1,500 rows": ss.Screen("f", k=40, half_life=1_500),
    "half-life 150 rows": ss.Screen("f", k=40, half_life=150),
}
found = {name: [] for name in screens}
seen = 0
for batch in stream.rows(1_000):
    seen += len(batch.y)
    now = stream.relevant(seen - 1)
    for name, screen in screens.items():
        screen.learn(batch)
        found[name].append(np.isin(screen.selected_, now).mean())

# %%
# Too short a half-life forgets what it has just learned: it sees too few rows to tell features apart.
fig, ax = plt.subplots()
for name, share in found.items():
    ax.plot(np.arange(1, len(share) + 1) * 1_000, share, label=name)
ax.set(
    xlabel="rows",
    ylabel="selected features that are relevant now",
    ylim=(0, 1.02),
    title="40 relevant of 400, one replaced every 250 rows",
)
ax.legend()
plt.show()
