"""Adapters for other libraries; one that is not installed is skipped aloud, with the way to get it."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFdr, f_classif, mutual_info_classif

from benchmarks.streaming_fs.entries import ABSENT, enter
from studies.defaults.methods import Lasso


def _dense(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) else np.asarray(X, np.float64)


def _best(scores: Any, k: int | None) -> Any:
    """Return the columns with the best scores, constant ones (NaN) last."""
    return np.argsort(-np.nan_to_num(np.asarray(scores, np.float64), nan=-np.inf), kind="stable")[:k]


@enter("none", kind="baseline")
def everything(X: Any, _y: Any, _k: int | None) -> Any:
    """Keep all columns."""
    return np.arange(X.shape[1])


@enter("L1", kind="peer", decides=True, most_values=1e7)
def lasso(X: Any, y: Any, k: int | None) -> Any:
    """L1-penalized linear support vector machine of scikit-learn, C by inner folds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes that an inner fold lacks
        return Lasso().fit(X, y).selected_[:k]


@enter("sklearn f_classif", kind="peer")
def f_scores(X: Any, y: Any, k: int | None) -> Any:
    """SelectKBest with the F statistic."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant columns
        return _best(f_classif(X, y)[0], k)


@enter("sklearn SelectFdr", kind="peer", decides=True)
def select_fdr(X: Any, y: Any, k: int | None) -> Any:
    """SelectFdr at 0.05 with the F statistic."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant columns
        selector = SelectFdr(f_classif).fit(X, y)
    return _best(
        np.where(selector.get_support(), selector.scores_, np.nan), int(selector.get_support().sum())
    )[:k]


@enter("sklearn mutual_info", kind="peer", most_values=6e5)
def information(X: Any, y: Any, k: int | None) -> Any:
    """SelectKBest with the nearest-neighbor estimate of mutual information."""
    return _best(mutual_info_classif(X, y, random_state=0), k)


@enter("sklearn forest", kind="peer", most_values=6e6)
def forest(X: Any, y: Any, k: int | None) -> Any:
    """Impurity importance of a random forest of 100 trees."""
    return _best(RandomForestClassifier(100, random_state=0).fit(X, y).feature_importances_, k)


def _has(package: str, name: str) -> bool:
    if importlib.util.find_spec(package) is None:
        ABSENT[name] = f"{package} is not installed: pip install 'streamsieve[judges]'"
        return False
    return True


if _has("fastcan", "fastcan"):

    @enter("fastcan", kind="peer", most_values=1e7)
    def fastcan(X: Any, y: Any, k: int | None) -> Any:
        """Sum of squared canonical correlations, greedily."""
        from fastcan import FastCan  # noqa: PLC0415 - may be absent

        X, target = _dense(X), np.eye(int(np.max(y)) + 1)[y][:, 1:]
        varied = np.flatnonzero(np.ptp(X, axis=0) > 0)
        count = min(k or 10, len(varied), X.shape[0] - 2)
        return varied[FastCan(count, verbose=0).fit(X[:, varied], target).indices_]


if _has("mrmr", "mrmr_selection"):

    @enter("mrmr_selection", kind="peer", most_values=1e5, slow=True)
    def mrmr_selection(X: Any, y: Any, k: int | None) -> Any:
        """The mRMR of the package mrmr_selection."""
        import pandas as pd  # noqa: PLC0415 - may be absent
        from mrmr import mrmr_classif  # noqa: PLC0415

        frame = pd.DataFrame(_dense(X))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.array(
                mrmr_classif(frame, pd.Series(y), K=min(k or 10, X.shape[1]), show_progress=False, n_jobs=1)
            )


if _has("boruta", "Boruta"):

    @enter("Boruta", kind="peer", decides=True, most_values=1e5, slow=True)
    def boruta(X: Any, y: Any, k: int | None) -> Any:
        """Boruta with 20 rounds of a shallow forest of 50 trees."""
        from boruta import BorutaPy  # noqa: PLC0415 - may be absent

        model = RandomForestClassifier(max_depth=5, n_jobs=1, class_weight="balanced", random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = BorutaPy(model, n_estimators=50, max_iter=20, random_state=0).fit(
                _dense(X), np.asarray(y)
            )
        order = np.argsort(found.ranking_, kind="stable")
        return order[: int(found.support_.sum())][:k]


_BNLEARN = """
d <- read.csv(commandArgs(TRUE)[1], colClasses = "factor")
cat(bnlearn::learn.mb(d, node = "y", method = "inter.iamb", alpha = 0.01), sep = "\\n")
"""


def has_bnlearn() -> bool:
    """Whether Rscript finds the package bnlearn."""
    script = shutil.which("Rscript")
    if script is None:
        return False
    command = [script, "-e", "quit(status = !requireNamespace('bnlearn', quietly = TRUE))"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


if has_bnlearn():

    @enter("bnlearn inter.iamb", kind="peer", decides=True, most_values=5e6)
    def bnlearn(X: Any, y: Any, k: int | None) -> Any:
        """The Markov blanket of R's bnlearn; columns must be codes."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "data.csv"
            header = ",".join([*(f"x{j}" for j in range(X.shape[1])), "y"])
            np.savetxt(path, np.c_[_dense(X), y], "%d", delimiter=",", header=header, comments="")
            command = [str(shutil.which("Rscript")), "-e", _BNLEARN, str(path)]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return np.array([int(name[1:]) for name in said.split()], np.int64)[:k]

else:
    ABSENT["bnlearn"] = "Rscript with the R package bnlearn is not there"
