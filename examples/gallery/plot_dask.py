"""
A Dask cluster on one machine
=============================

``ss.run(..., engine=client)`` cuts a source into parts, learns each part where the cluster likes, and merges the states in a tree that depends on
the number of parts alone. The scores are those of one process, whatever the number of workers.
"""

# %%
# Eight Parquet files of clicks; one feature in ten is informative.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from dask.distributed import Client, LocalCluster

import streamsieve as ss

plt.style.use("style.mplstyle")
rng = np.random.default_rng(0)
folder = Path(tempfile.mkdtemp())
for day in range(8):
    bought = rng.integers(0, 2, 5_000)
    clicks = rng.normal(size=(5_000, 60))
    clicks[:, ::10] += np.linspace(0.05, 0.3, 6) * bought[:, None]
    columns = {f"click {j}": clicks[:, j] for j in range(60)}
    pq.write_table(pa.table({**columns, "bought": bought}), folder / f"day_{day}.parquet")
source = ss.open(str(folder / "*.parquet"), target="bought")

# %%
# The same call with one process and with a cluster of two workers.
alone = ss.run(source, ss.Screen("f", k=6))
with (
    LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster,
    Client(cluster) as client,
):
    together = ss.run(source, ss.Screen("f", k=6), engine=client)
print(together.n_samples_seen_, "rows;", ", ".join(together.get_feature_names_out()))
print(
    "largest relative difference of a score:",
    f"{np.max(np.abs(together.scores_ / alone.scores_ - 1)):.1e}",
)

# %%
fig, ax = plt.subplots()
ax.scatter(alone.scores_, together.scores_, s=18)
ax.scatter(
    alone.scores_[alone.selected_], together.scores_[alone.selected_], s=40, label="selected"
)
ax.set(
    xscale="log",
    yscale="log",
    xlabel="F, one process",
    ylabel="F, two workers of a cluster",
    title="40,000 rows in 8 files",
)
ax.legend()
plt.show()
