"""
Kill it, start it again
=======================

A run with a checkpoint is interrupted at random moments and started again. State and position in the stream are in one file: no row is lost or
counted twice, and the scores at the end are the same to the last bit.
"""

# %%
import os
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import streamsieve as ss

plt.style.use("style.mplstyle")
rng = np.random.default_rng(0)
y = rng.integers(0, 2, 60_000)
X = rng.normal(size=(60_000, 30))
X[:, 7] += 0.2 * y
source = ss.open(X, target=y)
path = os.path.join(tempfile.mkdtemp(), "stream.sieve")


class PowerCutError(Exception):
    """A power cut."""


reached = []
while True:
    fuse = int(rng.integers(2, 6))  # batches until the next power cut

    def progress(_rows, fuse=[fuse]):
        fuse[0] -= 1
        if fuse[0] < 0:
            raise PowerCutError

    try:
        screen = ss.run(
            source,
            ss.Screen("mutual_info", k=3),
            checkpoint=path,
            every=4_096,
            resume=True,
            progress=progress,
        )
        break
    except PowerCutError:
        reached.append(ss.load(path).n_samples_seen_)
print(f"killed {len(reached)} times, {screen.n_samples_seen_:,} rows at the end")

# %%
once = ss.run(source, ss.Screen("mutual_info", k=3))
assert (once.scores_ == screen.scores_).all()
fig, ax = plt.subplots()
runs = [f"run {number}" for number in range(1, len(reached) + 2)]
learned = np.array([*reached, screen.n_samples_seen_])
before = np.array([0, *reached])
ax.bar(runs, before, label="resumed from the checkpoint", color="0.8")
ax.bar(runs, learned - before, bottom=before, label="learned in this run")
ax.legend(loc="upper left")
ax.set(ylabel="rows", title="The result equals that of one uninterrupted run, bit for bit")
ax.yaxis.set_major_formatter("{x:,.0f}")
plt.show()
