"""Pictures: they show the numbers given, differ in grey, and are written whole."""

import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

import streamsieve as ss
from streamsieve.evaluation import detection_curve, plots, track
from streamsieve.evaluation.plots.style import COLORS, style
from streamsieve.exceptions import ParameterError

STREAM = {"n_rows": 3_000, "n_features": 40, "n_relevant": 4, "shift_every": 500}


@pytest.fixture(scope="module")
def seen():
    screens = {"forgets": ss.Screen("t", k=6, half_life=400), "remembers": ss.Screen("t", k=6)}
    return track(ss.DriftingStream(**STREAM), screens, every=250)


def truths(seen):
    stream = ss.DriftingStream(**STREAM)
    return [stream.relevant(row - 1) for row in seen.rows.tolist()]


def tops(seen):
    return {name: shown.selected for name, shown in seen.screens.items()}


def lines_of(figure):
    return {line.get_label(): line for axes in figure.axes for line in axes.lines}


def drawn(figure):
    """Draw it, so that what cannot be drawn fails here."""
    content = io.BytesIO()
    figure.savefig(content, format="png")
    return Image.open(content)


def test_scores_draws_the_best_features_of_one_screen(seen):
    figure = plots.scores(seen, "forgets", top=5, shifts=range(500, 3_000, 500))
    drawn(figure)
    shown = seen["forgets"]
    lines = lines_of(figure)
    curves = [label for label in lines if label in shown.names]
    assert len(curves) == 5
    for label in curves:
        place = shown.names.index(label)
        np.testing.assert_array_equal(lines[label].get_ydata(), shown.scores[:, place])
    last = [lines[label].get_ydata()[-1] for label in curves]
    assert last == sorted(last, reverse=True)
    assert "shift" in lines
    assert figure.axes[0].get_xlabel() == "rows seen"
    assert "forgets" in figure.axes[0].get_title()


def test_scores_takes_the_features_with_the_best_places():
    y = np.tile([0, 1], 200)
    X = np.random.default_rng(0).normal(size=(400, 6))
    X[:, 0] += 9 * y
    X[:100, 4] += 20 * y[:100]  # first for a quarter, then nothing
    X[:, 2] += 5 * y
    seen = track(ss.sources.ArraySource(X, y), ss.Screen("t", k=3, half_life=20), every=25)
    labels = set(lines_of(plots.scores(seen, top=3)))
    assert labels == {"x0", "x2", "x4"}


def test_small_scores_are_drawn_apart_and_curves_named_at_their_ends():
    y = np.tile([0, 1], 200)
    X = np.random.default_rng(0).normal(size=(400, 8))
    X[:, 0] += 9 * y
    seen = track(ss.sources.ArraySource(X, y), ss.Screen("f", k=8), every=50)
    figure = plots.scores(seen, top=8, measure="F")
    drawn(figure)
    axes = figure.axes[0]
    assert axes.get_yscale() == "symlog"
    assert axes.get_ylabel().startswith("F (logarithmic above ")
    names = [text for text in axes.texts if text.get_text().startswith("x")]
    assert {text.get_text() for text in names} == {f"x{j}" for j in range(8)}
    heights = [text.get_position()[1] for text in names]
    assert min(np.diff(heights)) >= 0.05  # none is over another
    assert max(heights) <= 1
    ends = [lines_of(figure)[text.get_text()].get_ydata()[-1] for text in names]
    assert ends == sorted(ends)
    X[:, 1:] += 9 * y[:, None]
    seen = track(ss.sources.ArraySource(X, y), ss.Screen("f", k=8), every=50)
    assert plots.scores(seen).axes[0].get_yscale() == "linear"


def test_scores_takes_other_names_and_the_only_screen(seen):
    only = track(ss.DriftingStream(**STREAM), ss.Screen("t", k=2), every=1_000)
    names = [f"word {j}" for j in range(40)]
    assert all(label.startswith("word") for label in lines_of(plots.scores(only, names=names, top=2)))
    with pytest.raises(ParameterError, match="several screens were tracked"):
        plots.scores(seen)
    with pytest.raises(ParameterError, match="top must be"):
        plots.scores(only, top=0)


def test_without_any_selected_feature_there_is_nothing_to_draw():
    rng = np.random.default_rng(0)
    source = ss.sources.ArraySource(rng.normal(size=(50, 3)), rng.integers(0, 2, 50))
    seen = track(source, ss.Screen("f", alpha=1e-12), every=10)
    with pytest.raises(ParameterError, match="no feature was ever selected"):
        plots.scores(seen)


@pytest.mark.parametrize("shifts", [(), range(500, 3_000, 500), range(10, 3_000, 10)])
def test_detection_draws_shares_and_shifts(seen, shifts):
    figure = plots.detection(seen.rows, tops(seen), truths(seen), shifts, n_features=40, title="a stream")
    drawn(figure)
    lines = lines_of(figure)
    for name, top in tops(seen).items():
        np.testing.assert_array_equal(lines[name].get_ydata(), detection_curve(top, truths(seen)))
    axes = figure.axes[0]
    marked = len(axes.collections) + ("shift" in lines)
    assert marked == (1 if len(shifts) else 0)
    assert any(text.get_text() == "random selection" for text in axes.texts)
    assert axes.get_title() == "a stream"


def test_drift_draws_one_panel_a_screen(seen):
    figure = plots.drift(seen.rows.tolist(), tops(seen), truths(seen), 40)
    drawn(figure)
    above, first, _, scale = figure.axes
    assert scale.get_ylabel() == "share of 20 neighbors selected"
    assert [text.get_text() for text in first.get_legend().get_texts()] == ["relevant features lie between"]
    truth = {line.get_color() for line in first.lines}
    assert not truth & {line.get_color() for line in above.lines}


def test_heat_map_writes_every_share_and_frames_the_best():
    grid = np.array([[0.1, 0.9, 0.5], [0.2, 0.3, 0.8]])
    figure = plots.heat_map(grid, [100, 1_000, None], [250, 500])
    drawn(figure)
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.texts] == ["0.10", "0.90", "0.50", "0.20", "0.30", "0.80"]
    frames = [(round(patch.get_x() + 0.46), round(patch.get_y() + 0.44)) for patch in axes.patches]
    assert frames == [(1, 0), (2, 1)]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["100", "1,000", "never\nforgets"]
    with pytest.raises(
        ParameterError, match="a row for each of 2 rates and a column for each of 2 half-lives"
    ):
        plots.heat_map(grid, [100, None], [250, 500])


def test_by_size_draws_pairs_of_curves():
    sizes = [10, 50, 100]
    one = {"t": (np.array([0.5, 0.9, 1.0]), np.array([0.3, 0.6, 1.0]))}
    figure = plots.by_size(sizes, {"slow": one, "fast": one}, n_features=100)
    drawn(figure)
    assert [axes.get_title() for axes in figure.axes] == ["slow", "fast"]
    solid, dashed = figure.axes[1].lines[:2]
    assert (solid.get_linestyle(), dashed.get_linestyle()) == ("-", "--")
    np.testing.assert_array_equal(solid.get_ydata(), one["t"][0])
    np.testing.assert_array_equal(dashed.get_ydata(), one["t"][1])


def test_curves_differ_without_color():
    looks = [style(i, 100) for i in range(20)]
    assert len({(look["linestyle"], look["marker"]) for look in looks}) == 20
    greys = sorted(float(np.dot(to_rgb(color), (0.299, 0.587, 0.114))) for color in COLORS)
    assert min(np.diff(greys)) > 0.05


@pytest.mark.parametrize("suffix", plots.FORMATS)
def test_files_are_whole_and_the_same_every_time(seen, tmp_path, suffix):
    contents = []
    for name in ("a", "b"):
        path = tmp_path / f"{name}{suffix}"
        plots.save(plots.detection(seen.rows, tops(seen), truths(seen)), path)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    if suffix == ".png":
        with Image.open(tmp_path / "a.png") as image:
            image.verify()
    elif suffix == ".svg":
        assert ET.fromstring(contents[0]).tag.endswith("svg")  # noqa: S314 - our own file
    else:
        assert contents[0].startswith(b"%PDF-")
        assert contents[0].rstrip().endswith(b"%%EOF")


def test_a_picture_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "old.png"
    path.write_bytes(b"old")

    class Broken:
        def savefig(self, *_args, **_kwargs):
            raise RuntimeError("no ink")

    with pytest.raises(RuntimeError, match="no ink"):
        plots.save(Broken(), path, overwrite=True)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["old.png"]


def test_bad_paths_are_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"ends in .png, .svg, .pdf; got 'a.gif'"):
        plots.check_path(tmp_path / "a.gif")
    with pytest.raises(ParameterError, match="does not exist: make it first"):
        plots.check_path(tmp_path / "no" / "a.png")


def test_names_of_any_length_and_with_underscores_leave_room_and_stand_in_legends():
    names = ["_id", "x" * 10_000, "c", "d", "e"]
    figure = plots.performance([1, 2], {"learner": {name: [0.5, 0.6] for name in names}}, title="y" * 10_000)
    drawn(figure)  # matplotlib would warn that no room is left, which is an error here
    written = [text.get_text() for text in figure.legends[0].get_texts()]
    assert written[0] == " _id"
    assert written[1] == "x" * 40 + "..." + "x" * 17
    sieve = ss.SAOLA().begin([0, 1] * 10)
    sieve.offer([[float(i % 2 + i / 50)] for i in range(20)], names=["z" * 10_000])
    drawn(sieve.plot().figure)
