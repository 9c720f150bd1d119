"""Real data sets for checks: ``NAME.npz`` in the folder that STREAMSIEVE_DATA names.

Dense files hold ``X``; sparse ones the pieces of a CSR matrix (``data, indices, indptr, shape``).  Both
hold ``y`` as codes 0..K-1, and ``train_idx`` where the source published a split.
"""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp


def folder():
    """Return the folder of real data, or skip the test that asked."""
    named = os.environ.get("STREAMSIEVE_DATA")
    if not named:
        pytest.skip("STREAMSIEVE_DATA is not set: real-data check skipped")
    return Path(named)


def load_real(name, split="all"):
    """Return X (float64 array or csr_array) and y (int64 codes) of a data set.

    ``split="train"`` keeps the published training rows, ``"all"`` every row.
    """
    if split not in ("train", "all"):
        raise ValueError(f"split must be 'train' or 'all'; got {split!r}")
    path = folder() / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"{path} is not there: real-data check skipped")
    with np.load(path, allow_pickle=False) as file:
        X, y = _matrix(file), file["y"].astype(np.int64)
        if split == "all":
            return X, y
        if "train_idx" not in file:
            raise ValueError(f"{name} has no published split: ask for split='all'")
        rows = file["train_idx"]
        return X[rows], y[rows]


def _matrix(file):
    if "X" in file:
        return file["X"].astype(np.float64)
    pieces = file["data"].astype(np.float64), file["indices"].astype(np.int32), file["indptr"]
    return sp.csr_array(pieces, shape=tuple(file["shape"]))
