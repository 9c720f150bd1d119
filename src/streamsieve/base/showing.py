"""Presentation of a fitted selector: ranking as a dataframe, plot, text, and HTML for notebooks."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from streamsieve._extras import needs
from streamsieve._frames import new_frame
from streamsieve._text import plot_name, shown
from streamsieve._validation import describe_target, whole_labels
from streamsieve.base.effects import effect_name
from streamsieve.protocols import Statistic, Task

#: Maximum number of kept features listed in the HTML.
LISTED = 20


def types_of(selector: Any) -> dict[str, str]:
    """Return the types of columns by name if some column is not numeric, else an empty dict."""
    types: dict[str, str] = getattr(selector, "column_types_", {})
    return types if {*types.values()} - {"numeric"} else {}


class Shown(BaseEstimator):
    """Mixin for selectors that present their results."""

    #: How the target was interpreted, in the words of ``describe_target``; empty if not known.
    _target_text: str = ""
    #: The class that a positive statistic goes with, of two; empty if there are more or fewer, or not known.
    _positive_class: str = ""
    #: Why this method was chosen, where `streamsieve.select` chose it.
    _chosen_by: str = ""
    #: Column of the dataframe that was the target.
    _target_column: str | None = None
    #: Library of the dataframe that was learned from; None: any.
    _library: str | None = None

    @property
    def _statistic(self) -> Statistic:
        """What the number beside a feature is; an attribute of the class unless parameters decide."""
        return Statistic()

    @property
    def _decider(self) -> Shown:
        """The selector that decides: another one, where this one leaves it to that."""
        return self

    def ranking(self: Any, library: str | None = None) -> Any:
        """Return the kept features as a dataframe, best first.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"} or None, default=None
            Dataframe library.  If None, that of the data, or the first of these that is installed.

        Returns
        -------
        dataframe
            With the columns ``rank``, ``feature``, ``score`` and ``p_value``, and ``type`` if some feature is
            not numeric. The score of a column selector is the statistic by which the feature was kept;
            unknown values are NaN.
        """
        names, scores, p_values = self._ranking()
        types = types_of(self)
        columns = {
            "rank": list(range(1, len(names) + 1)),
            # no library holds a lone surrogate
            "feature": [name.encode("utf-8", "backslashreplace").decode() for name in names],
            **({"type": [types[name] for name in names]} if types else {}),
            "score": scores,
            "p_value": p_values,
        }
        return new_frame(columns, self._library if library is None else library)

    def _ranking(self: Any) -> tuple[list[str], list[float], list[float]]:
        """Return names, scores and p-values of the kept features, best first."""
        names = [str(name) for name in self.get_feature_names_out()]
        lines = {line.feature: line for line in self.ledger_.kept()}
        scores = np.array([lines[name].statistic if name in lines else np.nan for name in names])
        p_values = np.array([lines[name].p_value if name in lines else np.nan for name in names])
        order = np.lexsort((-np.abs(np.nan_to_num(scores)), np.nan_to_num(p_values, nan=1.0)))
        return [names[i] for i in order], scores[order].tolist(), p_values[order].tolist()

    def plot(self: Any, ax: Any = None, *, k: int = LISTED) -> Any:
        """Plot the scores of the kept features as a bar chart, best first.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on.  If None, a new figure.
        k : int, default=20
            Maximum number of features to draw.

        Returns
        -------
        matplotlib Axes
        """
        pyplot = needs("matplotlib.pyplot", "pictures")
        names, scores, _ = (part[:k] for part in self._ranking())
        if ax is None:
            _, ax = pyplot.subplots(figsize=(6, 1 + 0.25 * max(1, len(names))), layout="constrained")
        sizes = np.nan_to_num(np.array(scores, np.float64), posinf=np.nan)
        ax.barh(range(len(names)), sizes, color="#4477aa")
        ax.set_yticks(range(len(names)), [plot_name(name) for name in names])
        ax.invert_yaxis()
        ax.set_xlabel(self._effect())
        ax.set_title(f"{type(self).__name__}: {self._progress()}")
        return ax

    def _effect(self) -> str:
        """Return what the scores of the kept features are, in the words of the field."""
        types = types_of(self)
        return effect_name(self, [types[name] for name in self._ranking()[0]] if types else ())

    # ---------------------------------------------------------------- text and HTML

    def _progress(self: Any) -> str:
        """Return a summary of progress, without computing or changing anything."""
        kept, n = len(self.selected_), self.n_features_in_
        return f"{kept:,} of {n:,} feature{'s' * (n != 1)} kept"

    def _describe_target(self, y: npt.NDArray[Any], task: Task) -> None:
        """Remember how the target was interpreted."""
        self._target_text = describe_target(y, task=str(task)).removeprefix("target: ")
        self._positive_class = ""
        if task is Task.BINARY:
            label = whole_labels(np.unique(y)).tolist()[-1]
            self._positive_class = shown(label) if isinstance(label, str) else f"class {label}"

    def _target_line(self) -> str:
        """Return how the target was interpreted; empty if there was none, or it is not known."""
        return f"target: {self._target_text}" if self._target_text else ""

    def _facts(self: Any) -> list[str]:
        """Return facts about a fitted selector, one line each; empty if it is not fitted."""
        if not {"ledger_", "_ledger_"} & self.__dict__.keys():
            return []
        return [line for line in (self._chosen_by, self._target_line(), self._progress()) if line]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text: str = super().__repr__(N_CHAR_MAX)
        facts = self._facts()
        return f"{text}  # {'; '.join(facts)}" if facts else text

    def _repr_html_inner(self) -> str:
        return f"{super()._repr_html_inner()}{self._page()}"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def _page(self: Any) -> str:
        """Return the kept features and the reasons as HTML; empty before fitting."""
        facts = self._facts()
        if not facts:
            return ""
        lines = "".join(f"<p>{html.escape(line)}</p>" for line in facts)
        names, scores, p_values = self._ranking()
        cells = [
            f"<tr><td>{i}</td><td>{html.escape(shown(name))}</td><td>{score:.4g}</td><td>{p:.2g}</td></tr>"
            for i, (name, score, p) in enumerate(zip(names, scores, p_values, strict=True), 1)
        ]
        more = f"<p>and {len(cells) - LISTED:,} more</p>" if len(cells) > LISTED else ""
        head = f"<tr><th>rank</th><th>feature</th><th>{self._effect()}</th><th>p</th></tr>"
        table = f"<table>{head}{''.join(cells[:LISTED])}</table>{more}" if cells else ""
        why = "<p><code>ledger_.why(name)</code> says why a feature was kept or not.</p>"
        return f"<div>{lines}{table}{why}</div>"
