"""Validation of a selection of columns on held-out rows, and the counts of columns found and kept.

Rows held out from selection are split off here, and the values of the kept columns in them are stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from streamsieve._caller import warn
from streamsieve._parameters import check_number
from streamsieve._values import refuse_non_finite
from streamsieve.base.holdout import Holdout, held_out
from streamsieve.base.row_fingerprints import RowsIdentity
from streamsieve.decisions import IRRELEVANT, RELEVANT, Outcome
from streamsieve.dependence.contract import Relevance
from streamsieve.exceptions import CapabilityError, ManyColumnsWarning, ParameterError
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray, Task

if TYPE_CHECKING:
    from streamsieve.base.column_lifecycle import ColumnLifecycle as MixinBase
else:
    MixinBase = object


#: Rows below which the number of kept columns is not compared with that of rows: these are toys.
FEWEST_ROWS = 20


class HoldoutValidation(MixinBase):
    """Counts of columns found and kept, and the test of the kept ones on rows that selection never saw."""

    @property
    def n_found_(self) -> int:
        """Number of columns found relevant, whether they were kept or not.

        Bounds on the false discovery rate apply to these columns.  A redundancy rule drops some of them,
        often true ones, so the proportion of false discoveries among the kept columns may be larger; their
        number is not.
        """
        if not hasattr(self, "ledger_"):
            raise AttributeError("n_found_ is available after begin(y) or fit(X, y)")
        deferred: int = self._process_.outlook().n_found() if self.traits.defers else 0
        return self._found_ + deferred

    @property
    def n_kept_(self) -> int:
        """Number of columns kept, at most ``n_found_``."""
        return len(self.selected_)

    def _compare_with_rows(self, outcome: Outcome) -> None:
        """Warn where the columns of a block make more kept columns than there are rows.

        Only selectors that drop redundant columns promise a small set; others list what was found.
        """
        entered = len(outcome.kept())
        asked = self._began_with.size_parameter is not None
        if not entered or asked or not self._statistic.redundancy:
            return
        kept, rows = len(self._selected()), self._n_rows
        if kept > rows >= max(FEWEST_ROWS, kept - entered + len(outcome.evictions)):
            warn(
                f"{kept:,} columns are kept, more than the {rows:,} rows, so that a linear model of them "
                "fits any target: set a smaller alpha or a larger penalty, or bound their number, as "
                "TopK(k=20) and stop=Stop(max_features=20) do",
                ManyColumnsWarning,
            )

    @property
    def confirmed_(self) -> list[str]:
        """Names of the kept columns that are confirmed at a false discovery rate of 0.05; see `confirm`."""
        if not self._has_holdout:
            raise AttributeError(
                "confirmed_ is available after begin(y, holdout=...) or fit(X, y, holdout=...)"
            )
        table = self.confirm()
        return [name for name, sure in zip(table["feature"], table["confirmed"], strict=True) if sure]

    def confirm(self, alpha: float = 0.05) -> dict[str, list[Any]]:
        """Test the kept columns on the held-out rows (data splitting).

        Selection never saw these rows, so the p-values hold whatever it did: evictions, redundancy, early
        stopping.  The null hypothesis is that a column is independent of y, on its own; the test is that of
        the selector, or of the correlation (the F test for more than two classes) if it has none.  As for an
        online procedure, p-values hold at every level up to alpha, whatever the level of the selector.
        Adjusted p-values are Benjamini and Hochberg's over all kept columns.

        The false discovery rate of the confirmed columns is at most alpha if rows are independent and the
        p-values of the kept columns are independent or positively dependent (PRDS).  Call it once, at the
        end: stopping the stream because enough columns are confirmed uses the held-out rows for selection,
        and voids the guarantee.

        Parameters
        ----------
        alpha : float, default=0.05
            Bound on the false discovery rate of the confirmed columns, in (0, 1).

        Returns
        -------
        dict of lists, one entry per kept column, ready for any dataframe library
            ``feature``, ``statistic``, ``p_value``, ``adjusted`` and ``confirmed``.

        References
        ----------
        Cox: A note on data-splitting for the evaluation of significance levels, Biometrika 62, 1975.
        Benjamini, Yekutieli: The control of the false discovery rate in multiple testing under dependency,
        Annals of Statistics 29, 2001.
        """
        self._check_begun("confirming columns")
        check_number("alpha", alpha, low=0, high=1, open_low=True, open_high=True)
        if not self._has_holdout:
            raise CapabilityError(
                "no rows were held out, so there are none to confirm columns on: use begin(y, holdout=0.3), "
                "or fit(X, y, holdout=0.3)"
            )
        names = self.get_feature_names_out().tolist()
        statistic, p_value = self._validated(self._holdout_, alpha)
        adjusted = adjusted_p_values(p_value)
        return {
            "feature": names, "statistic": statistic.tolist(), "p_value": p_value.tolist(),
            "adjusted": adjusted.tolist(), "confirmed": (adjusted <= alpha).tolist(),
        }  # fmt: skip

    def _validated(self, holdout: Holdout, alpha: float) -> tuple[FloatArray, FloatArray]:
        """Return statistics and p-values of the kept columns over the rows held out.

        Benjamini and Hochberg's procedure compares p-values with all levels up to alpha, while those of a
        selector at a fixed level are confirmed up to this level only.
        """
        from streamsieve.independence import FisherZ  # noqa: PLC0415 - with its kernels, and seldom needed

        X, task = holdout.columns.of(self.selected_), Task(self.task_)
        if not X.shape[1]:
            return np.zeros(0), np.zeros(0)
        refuse_non_finite(X, None, missing=self.traits.missing)
        if task is not Task.REGRESSION:  # a rare class may be absent
            task = Task.BINARY if len(np.unique(holdout.y)) == 2 else Task.MULTICLASS
        relevance: Relevance | None = None
        if hasattr(self.__dict__.get("_process_"), "measure"):
            parameters = self.get_params(deep=False)
            level = max(alpha, parameters.get("alpha") or alpha)
            online = {"alpha": level, "fdr": "alpha_spending"}
            test = type(self)(**parameters | {name: online[name] for name in online if name in parameters})
            process: Any = test._compose(holdout.y, task)  # noqa: SLF001 - its own class
            relevance = process.measure(ColumnBlock(X, types=self._kept_types())).relevance
        if relevance is None or relevance.p_value is None:
            relevance = FisherZ(holdout.y, task, alpha, online=True).measure(X)
        tested = (relevance.reason == RELEVANT) | (relevance.reason == IRRELEVANT)
        return relevance.statistic, np.where(tested, np.asarray(relevance.p_value), 1.0)

    def _kept_types(self) -> IntArray | None:
        """Return the types of the kept columns, if the test depends on them."""
        types: IntArray | None = self._types_.codes[self.selected_] if "_types_" in self.__dict__ else None
        return types

    # ---------------------------------------------------------------- held-out rows and stored values

    def _hold_out(self, holdout: Any, y: npt.NDArray[Any], rows: Any, task: Task) -> npt.NDArray[Any]:
        """Hold rows out; return the target of the others."""
        if self._no_holdout:
            raise CapabilityError(f"{type(self).__name__} takes no holdout: {self._no_holdout}")
        mask = held_out(holdout, y, task, getattr(self, "_seed", 0))
        self._holdout_ = Holdout(mask, y, task, RowsIdentity.of(y, rows))
        return y[~mask]

    @property
    def _has_holdout(self) -> bool:
        """Whether rows are held out from selection."""
        return "_holdout_" in self.__dict__

    @property
    def _all_rows(self) -> RowsIdentity:
        """Identity of the rows over which columns are offered, held out or not."""
        return self._holdout_.identity if self._has_holdout else self._identity_

    @property
    def _n_rows(self) -> int:
        """Number of rows of a column, held out or not."""
        return len(self._holdout_.mask) if self._has_holdout else self.n_samples_seen_

    def _seen(self, X: Any) -> Any:
        """Return x without the held-out rows."""
        return self._holdout_.seen(X) if self._has_holdout else X

    def _keep_held_out(self, block: ColumnBlock, start: int) -> None:
        """Store the held-out values of the columns that are kept or may still be kept."""
        self._holdout_.take(block.X, block.arrived(start), self._named())

    def _keep_values(self, block: ColumnBlock, start: int) -> None:
        """Store the values of the columns that are kept or may still be kept, for ``stop.accuracy``."""
        if not hasattr(self, "_values_"):
            raise ParameterError(
                "stop.accuracy was set after columns had been offered, whose values were not kept: set it "
                "before begin(y)"
            )
        self._values_.take(self._seen(block.X), block.arrived(start), self._named())

    def _kept_values(self) -> FloatArray:
        """Return the values of the kept columns, rows x kept, in order of arrival."""
        return self._values_.of(self.selected_)

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        holdout, kept = self.__dict__.get("_holdout_"), self.selected_.tolist()
        if holdout is not None and (
            np.sum(~holdout.mask) != self.n_samples_seen_ or not {*kept} <= {*holdout.columns.features}
        ):
            yield "the rows held out, or the columns kept of them, are others than the selector's"
        if not len(kept) <= self.n_found_ <= self.n_features_in_:
            yield f"{self.n_found_} columns were found, {len(kept)} kept and {self.n_features_in_} offered"


def adjusted_p_values(p_values: FloatArray) -> FloatArray:
    """Return Benjamini and Hochberg's adjusted p-values."""
    order = np.argsort(p_values)[::-1]
    ranks = np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum.accumulate(np.minimum(1.0, p_values[order] * (len(p_values) / ranks)))
    return adjusted
