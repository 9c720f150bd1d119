"""Streams for the tests of engines, and how results compare with those of one process."""

import json
import re
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import streamsieve as ss

P = 6
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "dask_and_spark.md"


def rows(n, seed=0, kind="dense"):
    """Return a matrix and labels: some columns informative, one of few values.

    Of kind "weights", the last column holds what a row weighs: nothing, or up to three rows.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, P)) + np.outer(y, np.linspace(0, 1, P))
    X[:, 1] = np.round(X[:, 1])
    if kind == "missing":
        X[rng.random(X.shape) < 0.2] = np.nan
    if kind == "weights":
        X = np.column_stack([X, rng.choice([0.0, 0.5, 1.0, 3.0], n)])
    return X, y


def files(folder, n_files, n=4000, seed=0, kind="dense"):
    """Write the rows to Parquet files of unequal size; some have none."""
    X, y = rows(n, seed, kind)
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(0, n, n_files - 1)) if n_files > 1 else []
    paths = []
    for k, (low, high) in enumerate(zip([0, *cuts], [*cuts, n], strict=True)):
        paths.append(folder / f"part-{k:02}.parquet")
        columns = {f"c{j}" if j < P else "w": X[low:high, j] for j in range(X.shape[1])}
        pq.write_table(pa.table({**columns, "y": y[low:high]}), paths[-1])
    return paths


def opened(paths, **options):
    return ss.open([str(path) for path in paths], target="y", **options)


def arrays(selector):
    """Return the state without the time at which it was written."""
    data = selector.to_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__")
    return header, data[8 + length :]


def assert_same_bits(one, other):
    assert arrays(one) == arrays(other)


def assert_equal_to_one_process(found, one):
    """Counts exactly, moments to rounding, quantiles to within the certified error."""
    assert found.n_samples_seen_ == one.n_samples_seen_
    assert sorted(found.summary_.classes) == sorted(one.summary_.classes)
    if not hasattr(found.summary_, "rank_error"):
        np.testing.assert_allclose(found.scores_, one.scores_, rtol=0, atol=1e-12 * np.abs(one.scores_).max())
        return
    ours, theirs = found.summary_, one.summary_
    assert ours.rank_error().max() <= ours.max_rank_error
    order = [ours.classes.index(label) for label in theirs.classes]
    for feature in range(found.n_features_in_):
        x = np.linspace(-4, 6, 41)
        far = np.abs(ours.cdf(feature, x)[order] - theirs.cdf(feature, x))
        bound = (ours.rank_error()[order] + theirs.rank_error()) * theirs._mass + 1e-9
        assert (far <= bound[:, None]).all()


def assert_the_script_of_the_guide_moves(engine):
    """Run the first script of the guide, which writes to the working folder, here and on an engine."""
    scope = {}
    exec(re.search(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)[1], scope)  # noqa: S102
    assert scope["best"](engine=engine, rows_per_task=5_000) == scope["best"]()
