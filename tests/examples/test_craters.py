"""The crater study, on a small terrain: its parts do what they say, and it computes no more than it needs."""

import numpy as np
import pytest

pytest.importorskip("skimage")

import streamsieve as ss
from examples import craters


@pytest.fixture(scope="module")
def study():
    return craters.make_study((560, 840), 560, seed=1)


def test_there_are_1089_masks_and_each_lies_inside_the_candidate():
    masks = craters.all_masks()
    assert len(masks) == len({str(mask) for mask in masks}) == 1089
    for mask in masks:
        assert mask.row + mask.side <= craters.SIDE
        assert mask.column + mask.side <= craters.SIDE
        assert all(mask.side % cells == 0 for cells in np.shape(craters.MASKS[mask.kind]))


def test_a_bowl_has_its_shadow_towards_the_sun_and_is_found():
    z = np.zeros((200, 200))
    crater = craters.Crater(100, 110, 16, 0.15)
    craters.dig(z, crater)
    rng = np.random.default_rng(0)
    picture = craters.shaded(z, rng)
    level = picture[:40].mean()
    assert picture[96:105, 98:104].mean() < level < picture[96:105, 117:123].mean()
    squares = craters.candidates(picture)
    assert craters.are_craters(squares, [crater]).any()
    assert not craters.are_craters(squares, [crater._replace(row=20, column=20)]).any()


def test_a_feature_is_the_weighted_mean_over_the_cells_of_its_mask(study):
    patches = study.training
    pixels = np.diff(np.diff(patches.integral, axis=1), axis=2)
    for mask in craters.in_any_order(craters.all_masks(), 0)[:40]:
        weights = np.array(craters.MASKS[mask.kind])
        cells = np.kron(weights, np.ones(mask.side // np.array(weights.shape)))
        window = pixels[:, mask.row : mask.row + mask.side, mask.column : mask.column + mask.side]
        expected = np.tensordot(window, cells, axes=2) / mask.side**2
        np.testing.assert_allclose(patches.texture(mask), expected, atol=1e-12)


def test_the_training_candidates_are_apart_from_the_others(study):
    tested = sum(len(y) for _, y in study.testing.values())
    assert len(study.y) + tested == len(study.squares)
    assert min(study.y.sum(), (~study.y).sum()) > 5


def test_the_study_runs_and_stops_early(study, tmp_path):
    masks = craters.in_any_order(craters.all_masks(), 0)[:150]
    courses = craters.compare(study, 0.7, masks)
    unselected, *selectors, stopped = (course.moments[-1] for course in courses)
    assert unselected.computed == unselected.kept == 150
    assert all(moment.computed == 150 and 0 < moment.kept < 75 for moment in selectors)
    assert stopped.computed < 0.6 * 150
    assert courses[-1].seconds < courses[-2].seconds
    table = craters.table(courses, 150)
    assert "no selection" in table
    assert "Fast-OSFS, stop at 0.7" in table
    craters.draw(study, courses, 150, tmp_path / "craters.png")
    assert (tmp_path / "craters.png").stat().st_size > 10_000


def test_marks_differ_by_more_than_red_and_green_and_cover_no_crater(study):
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    craters.draw_picture(axes, study)
    assert not axes.patches
    marks = {line.get_label(): line for line in axes.lines}
    assert {name: line.get_marker() for name, line in marks.items()} == {"crater": "o", "other": "x"}
    assert len(marks["crater"].get_xdata()) == study.truth.sum()
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"crater", "other"}


def test_features_are_computed_until_the_stop_and_no_further(study):
    masks = craters.all_masks()
    computed = []

    def texture(mask):
        computed.append(mask)
        return study.training.texture(mask)

    sieve = ss.FastOSFS(stop=ss.Stop(max_features=2))
    ss.run(ss.features([(str(mask), mask) for mask in masks], study.y, compute=texture), sieve)
    assert computed == masks[: sieve.n_features_in_]
    assert len(sieve.selected_) == 2
