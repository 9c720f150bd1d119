"""Pictures of comparisons: they show the numbers given, legibly, for 2 to 20 methods."""

import sys
from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Rectangle

from streamsieve.evaluation.plots.comparison import critical_difference, stability_bars
from streamsieve.evaluation.plots.curves import column_stream, growth, orders, performance
from streamsieve.evaluation.plots.scores import score_map
from streamsieve.evaluation.plots.style import short
from streamsieve.exceptions import CapabilityError, ParameterError

SIZES = [5, 13, 44, 100, 400]


def names(k):
    return [f"selector number {i}" for i in range(k)]


def texts(figure):
    """Return everything written, with the box it takes, after drawing."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    found = []
    for axes in figure.axes:
        labels = [*axes.texts, axes.title, axes.xaxis.label, axes.yaxis.label]
        if axes.axison:  # ticks beyond the ends of an axis are there, but not drawn
            labels += [tick.label1 for axis in (axes.xaxis, axes.yaxis) for tick in axis._update_ticks()]
        found += [label for label in labels if label.get_text() and label.get_visible()]
    found += [text for legend in figure.legends for text in legend.get_texts()]
    found += [figure._suptitle] if figure._suptitle else []
    return [(text.get_text(), text.get_window_extent(renderer)) for text in found]


def legible(figure):
    """Check that no two texts overlap and none leaves the picture; return them."""
    written = texts(figure)
    width, height = figure.canvas.get_width_height()
    for text, box in written:
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= width + 1, text
        assert box.y1 <= height + 1, text
    for (one, a), (two, b) in combinations(written, 2):
        apart = a.x1 <= b.x0 + 1 or b.x1 <= a.x0 + 1 or a.y1 <= b.y0 + 1 or b.y1 <= a.y0 + 1
        assert apart, f"{one!r} overlaps {two!r}"
    return [text for text, _ in written]


def lines_of(axes):
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


@pytest.mark.parametrize("k", [2, 6, 20])
def test_performance(k):
    rng = np.random.default_rng(0)
    curves = {name: rng.uniform(size=(5, 7)) for name in names(k)}
    few = {names(k)[1]: np.array([0.1, 0.2, np.nan, 0.4, 0.3])}
    figure = performance(SIZES, {"best": curves, "tree": few}, {"best": 0.5}, title="dexter")
    assert legible(figure)
    left, right = figure.axes
    for name, values in curves.items():
        np.testing.assert_array_equal(lines_of(left)[name].get_ydata(), values.mean(axis=1))
    assert lines_of(left)["no screening"].get_ydata()[0] == 0.5
    assert "no screening" not in lines_of(right)
    assert lines_of(right)[names(k)[1]].get_color() == lines_of(left)[names(k)[1]].get_color()
    assert (left.get_xlabel(), left.get_ylabel(), left.get_xscale()) == ("features selected", "AUC", "log")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [*names(k), "no screening"]
    bands, rings = len(left.collections), len(left.lines) - k - 1
    assert (bands, rings) == {2: (2, 2), 6: (0, 6), 20: (0, 0)}[k]


def test_performance_refuses():
    with pytest.raises(ParameterError, match="'a' must have a value for each of 5 points; it is 4"):
        performance(SIZES, {"p": {"a": [1, 2, 3, 4]}})
    with pytest.raises(ParameterError, match="sizes must be at least one number, ascending"):
        performance([3, 2], {"p": {"a": [1, 2]}})
    with pytest.raises(ParameterError, match="panels is empty"):
        performance(SIZES, {})


@pytest.mark.parametrize("k", [2, 3, 7, 20])
@pytest.mark.parametrize("difference", [0.3, 2.0, 30.0])
def test_critical_difference(k, difference):
    ranks = np.linspace(1.2, k - 0.2, k)[::-1]
    figure = critical_difference(ranks, names(k), difference, title="accuracy")
    written = legible(figure)
    for name, rank in zip(names(k), ranks, strict=True):
        assert f"{name}  {rank:.2f}" in written
    assert f"critical difference {difference:.3g} at 0.05" in written
    bars = [line for line in figure.axes[0].lines if line.get_linewidth() == 3.2]
    if difference > k:
        assert len(bars) == 1
    if difference < 0.5:
        assert len(bars) == 0


def test_critical_difference_joins_the_right_ones():
    figure = critical_difference([1.0, 1.5, 3.0, 3.2], list("abcd"), 1.0)
    axes = figure.axes[0]
    ticks = {text.get_text(): text.get_position()[0] for text in axes.texts}
    unit = ticks["2"] - ticks["1"]
    bars = [line.get_xdata() for line in axes.lines if line.get_linewidth() == 3.2]
    ranks = [[1 + (x - ticks["1"]) / unit for x in bar] for bar in bars]
    np.testing.assert_allclose(ranks, [[1.0, 1.5], [3.0, 3.2]], atol=0.06)


def test_critical_difference_refuses():
    with pytest.raises(ParameterError, match="each of at least 2 methods; got 2 methods and 3 ranks"):
        critical_difference([1, 2, 3], ["a", "b"], 1)
    with pytest.raises(ParameterError, match="difference must be a number at least 0"):
        critical_difference([1, 2], ["a", "b"], np.nan)


@pytest.mark.parametrize(("k", "n_orders"), [(2, 12), (20, 1)])
def test_column_stream(k, n_orders):
    rng = np.random.default_rng(1)
    offered = np.arange(1_000, 20_001, 1_000)
    accuracy = {name: rng.uniform(size=(n_orders, 20)) for name in names(k)}
    sizes = {name: rng.integers(0, 50, (n_orders, 20)) for name in names(k)}
    figure = column_stream(offered, accuracy, sizes, baseline=0.7, title="madelon")
    assert legible(figure)
    above, below = figure.axes
    for name in names(k):
        np.testing.assert_allclose(lines_of(above)[name].get_ydata(), accuracy[name].mean(axis=0))
        np.testing.assert_allclose(lines_of(below)[name].get_ydata(), sizes[name].mean(axis=0))
    assert len(above.collections) == (2 if n_orders > 1 else 0)
    labels = above.get_ylabel(), below.get_ylabel(), below.get_xlabel()
    assert labels == ("accuracy", "features kept", "columns offered")
    with pytest.raises(ParameterError, match="of the same methods"):
        column_stream(offered, accuracy, {})


def test_orders():
    k = 20
    rng = np.random.default_rng(2)
    found = {name: rng.uniform(size=12) for name in names(k)}
    figure = orders({"accuracy": found, "features kept": found}, title="12 orders")
    assert legible(figure)
    circles, median = figure.axes[0].lines[:2]
    np.testing.assert_array_equal(circles.get_xdata(), found[names(k)[0]])
    assert median.get_xdata()[0] == np.median(found[names(k)[0]])
    with pytest.raises(ParameterError, match="the same methods"):
        orders({"a": found, "b": {}})


@pytest.mark.parametrize("p", [1, 130])
def test_score_map(p):
    rng = np.random.default_rng(3)
    rows = [100, 200, 500]
    scores = rng.uniform(size=(3, p))
    scores[0, 0] = np.nan
    relevant = np.zeros((3, p), bool)
    relevant[[0, 2], 0] = True
    features = [f"x{j}" for j in range(p)]
    figure = score_map(rows, scores, features, relevant=relevant, shifts=[150], title="a stream")
    assert legible(figure)
    axes = figure.axes[0]
    np.testing.assert_array_equal(np.ma.filled(axes.collections[0].get_array(), np.nan), scores.T)
    boxes = [patch.get_bbox() for patch in axes.patches if isinstance(patch, Rectangle)]
    frames = [(box.x0, box.x1) for box in boxes]
    assert frames == [(0, 100), (200, 500)]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sorted(labels) == ["not known", "relevant", "shift"]
    with pytest.raises(ParameterError, match=f"a column for each of {p} features; they are 2 x {p}"):
        score_map(rows, scores[:2], features)
    with pytest.raises(ParameterError, match="relevant must have the shape of scores"):
        score_map(rows, scores, features, relevant=relevant[:2])


def test_stability_bars():
    k = 20
    values = np.linspace(-0.1, 1, k)
    low, high = values - 0.05, np.minimum(1, values + 0.05)
    figure = stability_bars(names(k), values, low, high, title="dexter")
    assert legible(figure)
    axes = figure.axes[0]
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], values)
    ends = np.array([segment[:, 0] for segment in axes.collections[0].get_segments()])
    np.testing.assert_allclose(ends, np.c_[low, high])
    undefined = stability_bars(["a", "b"], [np.nan, 1], [np.nan, np.nan], [np.nan, np.nan])
    assert "not defined" in legible(undefined)
    with pytest.raises(ParameterError, match="for each of 2 methods"):
        stability_bars(["a", "b"], [1, 2], [1, 2], [1])


@pytest.mark.parametrize("k", [2, 20])
def test_growth(k):
    p, n = [100, 1_000, 100_000], [10, 20, 30, 40, 50, 60, 70, 80]
    times = {name: np.array([0.1, 1, 50]) * (i + 1) for i, name in enumerate(names(k))}
    repeated = {name: np.outer(n, [1, 2, 9]) for name in names(k)[:1]}
    figure = growth({"features": (p, times), "rows": (n, repeated)}, title="one core")
    assert legible(figure)
    left, right = figure.axes
    np.testing.assert_array_equal(lines_of(left)[names(k)[1]].get_ydata(), times[names(k)[1]])
    np.testing.assert_array_equal(lines_of(right)[names(k)[0]].get_ydata(), 2.0 * np.array(n))
    straight = lines_of(left)["in proportion"]
    np.testing.assert_allclose(np.divide(straight.get_ydata(), p), straight.get_ydata()[0] / 100)
    assert (left.get_xscale(), left.get_yscale(), left.get_ylabel()) == ("log", "log", "time (seconds)")
    with pytest.raises(ParameterError, match="times must be above 0; 'a' has 0"):
        growth({"rows": ([1, 2], {"a": [0, 1]})})
    with pytest.raises(ParameterError, match="sizes of 'rows' must be above 0"):
        growth({"rows": ([0, 2], {"a": [1, 1]})})


def test_counts_are_short():
    counts = {5: "5", 1_500: "1,500", 2_000: "2k", 20_000: "20k", 25_500: "25.5k", 3e6: "3M", 2.5e7: "25M"}
    assert {value: short(value) for value in counts} == counts


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(CapabilityError, match=r"pip install 'streamsieve\[cli\]'"):
        performance(SIZES, {"p": {"a": SIZES}})
