"""
Sensors with lags: columns that come in groups
==============================================

Each of 12 sensors contributes its last ten readings as ten columns. Lags of one sensor belong together: a group is settled as a whole, inside
the group first, then against the groups kept before. Neighboring rows are correlated, which must be said (``serial=True``), or every p-value
is too small.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import lfilter

import streamsieve as ss

plt.style.use("style.mplstyle")
rng = np.random.default_rng(2)
n, sensors, lags = 1_500, 12, 10
readings = lfilter([1], [1, -0.7], rng.normal(size=(n + lags, sensors)), axis=0)
y = (
    readings[lags - 3 : n + lags - 3, 2]
    - readings[lags - 7 : n + lags - 7, 8]
    + rng.normal(size=n)
)

blocks = [
    np.column_stack([readings[lags - k : n + lags - k, s] for k in range(lags)])
    for s in range(sensors)
]

# %%
# Groups, by pairwise redundancy at a strict level, since ``GroupSAOLA`` has no test for time series; and single columns with the effective
# number of rows.
groups = ss.GroupSAOLA(alpha=0.001, task="regression", group_size=lags).begin(y, serial=False)
columns = ss.SAOLA(alpha=0.001, task="regression").begin(y, serial=True)
for s, block in enumerate(blocks):
    names = [f"sensor {s}, lag {k}" for k in range(lags)]
    groups.offer(block, names=names)
    columns.offer(block, names=names)
print("as groups:", *groups.get_feature_names_out(), sep="\n  ")
print("as a time series:", *columns.get_feature_names_out(), sep="\n  ")

# %%
fig, axes = plt.subplots(1, 2, sharey=True)
for ax, (title, sieve) in zip(
    axes, {"groups of lags": groups, "columns of a time series": columns}.items(), strict=True
):
    kept = np.zeros(sensors * lags)
    kept[sieve.selected_] = 1
    ax.imshow(kept.reshape(sensors, lags), cmap="Blues", vmin=0, vmax=1.3, aspect="auto")
    ax.plot(
        [3, 7], [2, 8], "o", markerfacecolor="none", markeredgecolor="#e07b39", markersize=12
    )
    ax.set(title=title, xlabel="lag")
    ax.grid(visible=False)
axes[0].set(ylabel="sensor")
fig.suptitle("Kept columns; circles mark the two that y depends on")
plt.show()
