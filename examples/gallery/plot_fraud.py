"""
A fraud stream, one in a thousand
=================================

With one positive in a thousand rows and amounts that are lognormal, the F test calls noise significant far too often; a test over quantiles does
not. This is the size of each test: how often a feature that has nothing to do with fraud is called significant.
"""

# %%
# 600 features, all of them noise, in batches of 5,000 rows.
import matplotlib.pyplot as plt
import numpy as np

import streamsieve as ss

plt.style.use("style.mplstyle")
rng = np.random.default_rng(0)
screens = {
    name: ss.Screen(name, alpha=0.01, correction="none")
    for name in ("t", "f", "chi2", "mutual_info")
}
for _ in range(4):
    fraud = np.zeros(5_000, int)
    fraud[rng.choice(5_000, 5, replace=False)] = 1
    amounts = np.exp(1.5 * rng.normal(size=(5_000, 600)))
    for screen in screens.values():
        screen.partial_fit(amounts, fraud)

# %%
levels = np.geomspace(0.001, 0.2, 30)
fig, ax = plt.subplots()
for name, screen in screens.items():
    ax.plot(
        levels,
        [(screen.pvalues_ <= level).mean() for level in levels],
        label=f'Screen("{name}")',
        linestyle="--" if name == "mutual_info" else "-",  # it lies on "chi2"
    )
ax.plot(levels, levels, color="black", linestyle=":", label="as it should be, at most")
ax.set(
    xscale="log",
    yscale="log",
    ylim=(1e-3, 1),
    xlabel="level",
    ylabel="share of noise called significant",
    title="20,000 rows, 20 frauds, 600 lognormal features of noise",
)
ax.legend()
plt.show()
