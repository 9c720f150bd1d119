"""Selection rules of ``Screen``: the k best, a percentage, by p-value, or above the mean score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streamsieve._caller import warn
from streamsieve.base.choose import above_mean, best, significant
from streamsieve.criteria.criterion import named_criteria
from streamsieve.exceptions import CapabilityError, ParameterError, WeightsWarning
from streamsieve.protocols import BoolArray, FloatArray, IntArray
from streamsieve.state import Choice, Float
from streamsieve.summaries.class_totals import FREQUENCY

if TYPE_CHECKING:
    from streamsieve.base import RowSelector

    MixinBase = RowSelector
else:
    MixinBase = object

#: Mean weight below which rows are surely not counted by their weights.
LIGHT_MEAN = 0.1
#: Rows from which on this is said.
FEWEST_ROWS = 20


class ChoiceOfFeatures(MixinBase):
    """Mixin of ``Screen`` for ``k``, ``percentile``, ``alpha`` and ``min_zscore``."""

    parameters = {
        "percentile": Float(0, 100, open_low=True, optional=True),
        "alpha": Float(0, 1, open_low=True, open_high=True, optional=True),
        "correction": Choice("none", "bonferroni", "bh"),
        "looks": Choice("once", "any"),
        "min_zscore": Float(optional=True),
    }

    def _check_choice_of_features(self) -> None:
        ways = {name: getattr(self, name) for name in ("k", "percentile", "alpha", "min_zscore")}
        given = [f"{name}={value!r}" for name, value in ways.items() if value is not None]
        if self.min_zscore is None and len(given) > 1:
            raise ParameterError(f"give one of k, percentile and alpha, not {' and '.join(given)}")
        if self.min_zscore is not None and (self.percentile is not None or self.alpha is not None):
            raise ParameterError(
                f"min_zscore can be combined with k only, not with {' and '.join(given)}: give one of them"
            )
        if self.alpha is not None and not self._criterion.has_p_values:
            able = ", ".join(name for name, c in named_criteria().items() if c.has_p_values)
            raise CapabilityError(
                f"criterion={self._criterion.name!r} has no p-values, so alpha cannot be used: use k or "
                f"percentile, or one of {able}"
            )
        if self.correction != "none" and self.alpha is None:
            raise ParameterError(
                f"correction={self.correction!r} corrects alpha, which was not given: give alpha"
            )
        if self.looks == "any" and (self.alpha is None or self.on_drift is not None):
            what = "spends alpha, which was not given" if self.alpha is None else "does not go with on_drift"
            raise ParameterError(f"looks='any' {what}: use looks='once'")
        if getattr(self, "_spends_", self.looks == "any") != (self.looks == "any"):
            raise ParameterError(
                f"looks={self.looks!r} was set after rows were learned, and errors are counted from the "
                "first row on: set it before fit"
            )

    def _question_weights(self, weight: FloatArray | None) -> None:
        """Warn if weights cannot be numbers of copies: tests would see next to no rows."""
        if weight is None or self.weight_kind != FREQUENCY or not self._criterion.has_p_values:
            return
        rows, total = int((weight > 0).sum()), float(weight.sum())
        if rows >= FEWEST_ROWS and total < LIGHT_MEAN * rows:
            warn(
                f"the weights of {rows:,} rows sum to {total:.3g}, and weight_kind='frequency' takes them "
                f"for numbers of copies, so that tests see {total:.3g} rows and p-values are near 1: set "
                "weight_kind='importance', or leave sample_weight out",
                WeightsWarning,
            )

    def _select(self) -> IntArray:
        return self._top_.features if self.looks == "any" else super()._select()

    def _choose(self) -> BoolArray:
        if self.alpha is not None:
            return significant(self.pvalues_, self.alpha, self.correction)
        if self.min_zscore is not None:
            return above_mean(self.scores_, self.min_zscore, self._criterion.worst, self.k)
        scores, k = self.scores_, self._k
        if self.percentile is not None:
            k = max(1, round(self.n_features_in_ * self.percentile / 100))
        informative = np.asarray(scores > self._criterion.worst)
        if not informative.any():
            return best(scores, k)  # too few rows to tell, and a pipeline needs columns
        mask: BoolArray = best(scores, k) & informative
        return mask
