"""The schema fixed before the first part is read, which every worker gets."""

from __future__ import annotations

import importlib.metadata
import platform
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from streamsieve import state
from streamsieve._validation import clean
from streamsieve._version import __version__
from streamsieve.base import RowSelector
from streamsieve.exceptions import CapabilityError, SourceError
from streamsieve.protocols import RowBatch
from streamsieve.sources.parts import SourcePart


def versions() -> dict[str, str]:
    """Return the versions of libraries, which must be equal everywhere: others may round differently."""
    return {
        "streamsieve": __version__,
        "the state format": str(state.FORMAT),
        "numpy": np.__version__,
        "numba": importlib.metadata.version("numba"),
        "Python": ".".join(platform.python_version_tuple()[:2]),
    }


@dataclass(frozen=True)
class Declared:
    """A selector without rows, and a few rows by which it is declared on every worker.

    Attributes
    ----------
    selector : fresh, with the parameters of the run
    head : rows that fix features, names and the type of target
    run : name of the run
    batch_size : number of rows learned at a time
    versions : of the libraries on the driver
    """

    selector: RowSelector
    head: RowBatch
    run: str
    batch_size: int
    versions: dict[str, str] = field(default_factory=versions)

    def fresh(self, part: SourcePart) -> RowSelector:
        """Return a selector for a part: declared, without rows."""
        selector: RowSelector = clone(self.selector)
        if "first_row" in selector.get_params(deep=False):
            first = selector.get_params(deep=False)["first_row"]
            if part.first_row is None:
                raise CapabilityError(
                    f"{type(selector).__name__} draws weights by row number, and {part.shown} does not say "
                    "which rows it holds: convert it to Parquet"
                )
            selector.set_params(first_row=first + part.first_row)
        return selector.declare(self.head)

    def alike(self, batch: RowBatch) -> RowBatch:
        """Convert a batch to dense or sparse, as the first rows are: mixed states do not always merge."""
        wanted = sp.issparse(self.head.X)
        if sp.issparse(batch.X) == wanted:
            return batch
        X = clean(batch.X, "csr")
        return replace(batch, X=sp.csr_array(X) if wanted else X.toarray())


def declared_of(source: Any, selector: RowSelector, run: str, batch_size: int) -> Declared:
    """Read the first rows of a source, and fix features and target by them."""
    # types of columns are guessed from all rows of the first batch
    guesses = selector.get_params(deep=False).get("types") == "auto"
    # only a few rows of a distributed frame leave the workers
    first = getattr(source, "first_rows", None)
    if callable(first):
        batch = first(batch_size, values=guesses)
    else:
        batch = next(iter(source.rows(batch_size)), None)
    if batch is None:
        raise SourceError("the source has no rows: there is nothing to learn")
    return Declared(clone(selector), batch if guesses else _few(batch), run, batch_size)


def _few(batch: RowBatch) -> RowBatch:
    """Return the first row, and one with a fractional target, if any, which makes the target numeric."""
    rows = [0]
    if batch.y is not None and batch.y.dtype.kind == "f":
        rows += np.flatnonzero(batch.y != np.floor(batch.y))[:1].tolist()
    y, weight = (None if each is None else each[rows] for each in (batch.y, batch.weight))
    if weight is not None:
        weight = np.ones(len(rows))  # the first rows may have weight 0
    return RowBatch(batch.X[rows], y, weight, batch.names)
