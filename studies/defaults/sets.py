"""The real sets: which, how they are cut to a common size, and which half the rule was developed on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve import datasets
from streamsieve.exceptions import StreamSieveError
from studies._data import MissingDataError

#: Embedded in scikit-learn, or files of the folder of data sets.
NAMES = (
    "arcene", "breast_cancer", "colon_raw", "covtype", "dexter", "digits", "electricity", "emailing_list",
    "gisette_valid", "hiva_train", "ionosphere", "leukemia_golub_raw", "lymphoma_disc", "madelon",
    "prostate_spls6033", "rcv1_vw_slice", "spambase", "spect", "spectf", "usenet1", "wine",
)  # fmt: skip
#: Sets that came after the rule, of scikit-feature and datamicroarray, as files of the folder of data sets.
LATER = (
    "ALLAML", "GLIOMA", "ORL", "TOX-171", "Yale", "christensen", "khan", "lung_small", "pomeroy", "shipp",
    "sorlie", "su", "warpAR10P", "west", "COIL20",
)  # fmt: skip
#: Those of them that had a say in the number of columns per class.
DECIDED = ("ORL", "Yale", "lung_small")
#: Left out, so that the study takes less than half an hour.
TOO_LONG = ("dexter", "gisette_valid", "hiva_train", "lymphoma_disc", "rcv1_vw_slice")
#: At most this many rows, drawn at random with each class in its share.
MOST_ROWS = 1000
#: A column of a sparse set counts if it is not 0 in at least this many rows.
LEAST_FILLED = 5
#: Seed of the halves.
HALF_SEED = 0


class Sample(NamedTuple):
    """Rows and classes of a set."""

    X: Any
    y: npt.NDArray[np.int64]


def halves(names: tuple[str, ...] = NAMES, seed: int = HALF_SEED) -> tuple[list[str], list[str]]:
    """Return two halves of some names, drawn by a seed, each in the order of the alphabet."""
    order = np.random.default_rng(seed).permutation(len(names))
    middle = (len(names) + 1) // 2
    first, second = (sorted(names[i] for i in part) for part in (order[:middle], order[middle:]))
    return first, second


def loaded(name: str) -> datasets.Dataset:
    """Return a data set that is embedded or in the folder of data sets."""
    try:
        return datasets.load(
            name, "embedded" if datasets.available()[name]["where"] == "embedded" else "local"
        )
    except (KeyError, StreamSieveError) as error:
        raise MissingDataError(f"{name}: {error}") from error


def sample(name: str, rows: int = MOST_ROWS) -> Sample:
    """Return at most ``rows`` rows of a set, without classes that have fewer than five of them."""
    data = loaded(name)
    rng = np.random.default_rng(0)
    share = min(1.0, rows / len(data.y))
    drawn = []
    for label in np.unique(data.y):
        own = np.flatnonzero(data.y == label)
        count = round(share * len(own))
        if count >= 5:  # one row per fold
            drawn.append(rng.choice(own, count, replace=False))
    chosen = np.sort(np.concatenate(drawn))
    X = data.X[chosen]
    if sp.issparse(X):
        X = X[:, np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= LEAST_FILLED)]
    return Sample(X, data.y[chosen])
