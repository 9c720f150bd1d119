"""Laws of every criterion; see :class:`streamsieve.criteria.Criterion`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from streamsieve.criteria import Criterion, Needs
from streamsieve.criteria.criterion import target_of
from streamsieve.exceptions import StateError, TargetError
from streamsieve.protocols import FloatArray, Task
from streamsieve.rows import Screen
from streamsieve.summaries.nesting import innermost, lacks
from streamsieve.testing._data import TASKS, Sample, named, sample
from streamsieve.testing._summary_rows import same_bits
from streamsieve.testing.parts import LEVEL, MOST_REJECTIONS, NULL_PAIRS

#: Columns of :func:`streamsieve.testing._data.sample`: informative, constant, noise.
INFORMATIVE, CONSTANT, NOISE = 0, 5, slice(7, None)


def check_criterion(criterion: Any) -> None:
    """Check every law of a criterion; the first violation raises ``AssertionError`` with its name.

    Scores are finite, one per feature, and at least ``worst``; informative columns score higher than noise,
    constant columns no higher than any other, columns without values ``worst``.  A score depends on its own
    column only, not on batches, merges or the unit of ``mass`` and ``counts``, and exists before the second
    class has appeared.  p-values lie in [0, 1], are 1 for constant columns, and are at most 0.05 for no more
    than about 5% of columns that are independent of the target.  ``Screen`` with the criterion can be saved.

    Parameters
    ----------
    criterion : an instance

    Examples
    --------
    >>> from streamsieve.criteria import Fisher
    >>> from streamsieve.testing import check_criterion
    >>> check_criterion(Fisher())
    """
    has_the_members(criterion)
    for task in TASKS:
        if task in criterion.tasks:
            data = sample(task)
            for law in (
                scores_are_numbers, larger_is_better, degenerate_columns_score_worst, columns_are_apart,
                rows_come_in_any_batches, p_values_are_probabilities, classes_may_be_missing,
                mass_has_no_unit, p_values_are_not_liberal, survives_a_file,
            ):  # fmt: skip
                with named(f"{type(criterion).__name__} fails with a {task} target"):
                    law(criterion, data, task)
    too_many_classes_are_refused(criterion)


def has_the_members(criterion: Any) -> None:
    """The criterion derives from ``Criterion`` and says its name, its tasks and what it needs."""
    assert not isinstance(criterion, type), f"check_criterion takes an instance: {criterion.__name__}()"
    kind = type(criterion).__name__
    assert isinstance(criterion, Criterion), f"{kind} must derive from streamsieve.criteria.Criterion"
    for name in ("name", "tasks", "needs"):
        assert hasattr(criterion, name), f"{kind} has no `{name}`"
    needs = criterion.needs
    assert isinstance(needs, Needs) or (isinstance(needs, type) and lacks(needs) is None), (
        f"{kind}.needs must be one of {', '.join(Needs.__members__)}, or the class of a summary"
    )
    assert criterion.tasks, f"{kind}.tasks is empty: name the targets it can score, such as Task.BINARY"
    assert all(isinstance(task, Task) for task in criterion.tasks), f"{kind}.tasks must hold Task members"


def scores_are_numbers(criterion: Criterion, data: Sample, task: Task) -> None:
    """One float64 score per feature, never NaN or infinite, never below ``worst``; none without features."""
    summary = innermost(summary_of(criterion, task, data))
    before = summary.state()
    scores = criterion(summary)
    same_bits(before, summary.state(), "scoring must leave the summary as it is")
    assert scores.shape == (data.X.shape[1],), (
        f"there are {scores.shape} scores for {data.X.shape[1]} features"
    )
    assert scores.dtype == np.float64, f"scores are {scores.dtype}, not float64"
    assert np.all(np.isfinite(scores)), f"scores must be finite, got {scores}: see criteria.ratio"
    assert np.all(scores >= criterion.worst), (
        f"a score is below `worst`, the score of a feature without information, which is {criterion.worst}"
    )
    empty = innermost(summary_of(criterion, task))
    assert criterion(empty).shape == (0,), "a summary without rows must give no scores"


def larger_is_better(criterion: Criterion, data: Sample, task: Task) -> None:
    """A column that follows the target scores higher than noise."""
    scores = scored(criterion, data, task)
    assert scores[INFORMATIVE] > np.median(scores[NOISE]), "an informative column must outscore noise"


def degenerate_columns_score_worst(criterion: Criterion, data: Sample, task: Task) -> None:
    """A constant column scores no higher than any other, and a column without values scores ``worst``."""
    X = data.X.copy()
    X[:, -1] = np.nan
    scores = scored(criterion, data._replace(X=X), task)
    assert np.all(scores[CONSTANT] <= scores[:-1]), "a constant column must not outscore any other"
    assert scores[-1] == criterion.worst, (
        f"a column without values (all NaN) scores {scores[-1]}: it must score `worst`, {criterion.worst}"
    )


def classes_may_be_missing(criterion: Criterion, data: Sample, task: Task) -> None:
    """Scores are finite before the second class has appeared, and where a class lacks values of a feature."""
    if task is Task.REGRESSION or target_of(criterion) == "numeric":
        return
    one = data._replace(y=np.zeros_like(data.y))
    X = data.X.copy()
    X[data.y == 1, INFORMATIVE] = np.nan
    for rows, what in (
        (one, "one class only"),
        (data._replace(X=X), "a class that has no value of a feature"),
    ):
        with named(f"{type(criterion).__name__} fails with {what}"):
            summary = innermost(summary_of(criterion, task, rows))
            scores = criterion(summary)
            p = criterion.p_values(summary) if criterion.has_p_values else np.ones(len(scores))
        assert np.all(np.isfinite(scores)), f"with {what}, a score is not finite: {scores}"
        assert np.all((p >= 0) & (p <= 1)), f"with {what}, p-values must lie in [0, 1], got {p}"


def columns_are_apart(criterion: Criterion, data: Sample, task: Task) -> None:
    """A score depends on its own column only: permuted columns have permuted scores."""
    order = np.random.default_rng(1).permutation(data.X.shape[1])
    turned = scored(criterion, data._replace(X=data.X[:, order]), task)
    _same(scored(criterion, data, task)[order], turned, "permuting columns must permute the scores")


def rows_come_in_any_batches(criterion: Criterion, data: Sample, task: Task) -> None:
    """Neither batches nor merges change a score."""
    whole = scored(criterion, data, task)
    for size in (1, 40):
        _same(whole, scored(criterion, data, task, size), f"batches of {size} rows give other scores")
    left = summary_of(criterion, task, Sample(data.X[:70], data.y[:70], data.names))
    left.merge(summary_of(criterion, task, Sample(data.X[70:], data.y[70:], data.names)))
    _same(whole, criterion(innermost(left)), "merged parts give other scores than the whole")


def p_values_are_probabilities(criterion: Criterion, data: Sample, task: Task) -> None:
    """Where there are p-values, they lie in [0, 1], and that of a constant column is 1."""
    if not criterion.has_p_values:
        return
    p = criterion.p_values(innermost(summary_of(criterion, task, data)))
    assert p.shape == (data.X.shape[1],), f"there are {p.shape} p-values for {data.X.shape[1]} features"
    assert np.all((p >= 0) & (p <= 1)), f"p-values must lie in [0, 1], got {p}"
    assert p[CONSTANT] == 1, f"the p-value of a constant column must be 1, got {p[CONSTANT]}"
    assert p[INFORMATIVE] < 0.05, f"the p-value of an informative column is {p[INFORMATIVE]:.3g}"


def p_values_are_not_liberal(criterion: Criterion, data: Sample, task: Task) -> None:  # noqa: ARG001
    """Of columns that are independent of the target, few have small p-values."""
    if not criterion.has_p_values:
        return
    rng = np.random.default_rng(5)
    X = rng.integers(0, 4, (200, NULL_PAIRS)).astype(np.float64)  # categories
    if criterion.needs is not Needs.COUNTS:
        X = np.abs(rng.normal(size=X.shape))
    label = rng.integers(0, 2 if task is Task.BINARY else 4, 200)
    y = rng.normal(size=200) if task is Task.REGRESSION else label
    p = criterion.p_values(innermost(summary_of(criterion, task, Sample(X, y, []))))
    rejected = int((p <= LEVEL).sum())
    assert rejected <= MOST_REJECTIONS, (
        f"p-values are liberal: {rejected} of {NULL_PAIRS} columns have p <= {LEVEL}, although they are "
        f"independent of a {task} target"
    )


def mass_has_no_unit(criterion: Criterion, data: Sample, task: Task) -> None:
    """Neither scores nor p-values change with a common factor of ``mass`` or ``counts``, as fading has it."""
    methods = [criterion.score, criterion.p_value] if criterion.has_p_values else [criterion.score]
    for block in criterion.blocks(innermost(summary_of(criterion, task, data))):
        for name in {"mass", "counts"} & {*getattr(block, "_fields", ())}:
            faded = block._replace(**{name: 2.0**-20 * getattr(block, name)})
            for method in methods:
                _same(
                    method(block), method(faded), f"{method.__name__} depends on the unit of {name}, which "
                    "fading moves: use ratios of it, and `n` as the number of rows",
                )  # fmt: skip


def too_many_classes_are_refused(criterion: Criterion) -> None:
    """``Screen`` refuses more than two classes if ``tasks`` do not have ``Task.MULTICLASS``."""
    if Task.BINARY not in criterion.tasks or Task.MULTICLASS in criterion.tasks:
        return
    if target_of(criterion) == "numeric":
        return  # labels are numbers to it
    data = sample(Task.MULTICLASS)
    try:
        Screen(criterion, k=2, task="classification").fit(data.X, data.y)
    except TargetError:
        return
    raise AssertionError(
        f"{type(criterion).__name__}.tasks have no Task.MULTICLASS, but four classes are taken: "
        "say most_classes = 2"
    )


def survives_a_file(criterion: Criterion, data: Sample, task: Task) -> None:  # noqa: ARG001
    """``Screen`` takes the criterion, selects by it, and reads the same scores back from a file."""
    screen = Screen(criterion, k=2).fit(data.X, data.y)
    assert len(screen.get_support(indices=True)) == 2, "Screen(criterion, k=2) must select two features"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "screen.sieve"
        try:
            screen.save(path)
        except StateError as error:
            kind = type(criterion).__name__
            raise AssertionError(
                f"{kind} cannot be saved: decorate it with @register and @dataclass(frozen=True) ({error})"
            ) from error
        again = Screen.load(path)
    read = again.get_params()["criterion"]
    assert read == criterion, (
        f"{criterion!r} is read back from a file as {read!r}: fields of the dataclass must be numbers, "
        "texts, None or registered objects, and compare equal"
    )
    assert np.array_equal(again.scores_, screen.scores_), "scores read back from a file differ"


def summary_of(criterion: Criterion, task: Task, data: Sample | None = None, size: int = 10**9) -> Any:
    """Return the criterion's summary of some rows, taken in batches of ``size``."""
    numeric = task is Task.REGRESSION or target_of(criterion) == "numeric"
    summary = criterion.new_summary(target="numeric" if numeric else "classes")
    if data is not None:
        y = data.y.astype(np.float64) if numeric else data.y
        for low in range(0, len(y), size):
            summary.update(data.X[low : low + size], y[low : low + size])
    return summary


def scored(criterion: Criterion, data: Sample, task: Task, size: int = 10**9) -> FloatArray:
    """Return the scores of some rows."""
    return criterion(innermost(summary_of(criterion, task, data, size)))


def _same(a: FloatArray, b: FloatArray, message: str) -> None:
    assert np.allclose(a, b, rtol=1e-9, atol=1e-12), message
