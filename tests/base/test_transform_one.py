"""Row by row, a selection is reviewed now and then: not after every row, and never if it is frozen."""

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.base.ranking import REVIEW_EVERY, REVIEW_SHARE
from streamsieve.exceptions import ParameterError


def dict_rows(n, p=6, seed=0):
    """Rows of which x0 says the class at first, and x1 in the second half."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, p))
    X[: n // 2, 0] += 3 * y[: n // 2]
    X[n // 2 :, 1] += 3 * y[n // 2 :]
    return [{f"x{j}": value for j, value in enumerate(row)} for row in X.tolist()], y.tolist()


@pytest.fixture
def counted(monkeypatch):
    """The number of rows at every computation of scores by a Screen."""
    rows, scores = [], ss.Screen._scores

    def counting(self):
        rows.append(self.n_samples_seen_)
        return scores(self)

    monkeypatch.setattr(ss.Screen, "_scores", counting)
    return rows


@pytest.mark.parametrize("review_every", [None, 7, 200])
def test_scores_are_computed_at_reviews_only(counted, review_every):
    screen = ss.Screen("f", k=2, review_every=review_every)
    for x, y in zip(*dict_rows(1000), strict=True):
        screen.learn_one(x, y)
        screen.transform_one(x)
    most = review_every or REVIEW_EVERY
    # an eighth of the rows while they are few, then `most` rows
    assert len({*counted}) <= 8 + REVIEW_SHARE * np.log(1000 / 8) + 1000 / most + 1
    assert max(np.diff(sorted({*counted}))) <= most


def test_a_frozen_output_computes_scores_once(counted):
    screen = ss.Screen("f", k=2, output="frozen")
    rows, labels = dict_rows(1000)
    for x, y in zip(rows[:100], labels, strict=False):
        screen.learn_one(x, y)
    first = screen.transform_one(rows[0])
    before = len(counted)
    for x, y in zip(rows[100:], labels[100:], strict=True):
        screen.learn_one(x, y)
        assert screen.transform_one(x).keys() == first.keys()
    assert len(counted) == before


@pytest.mark.parametrize("selector", [ss.Screen("f", k=1, half_life=50), ss.OFS(k=1)])
def test_the_output_of_a_row_is_that_of_the_latest_review(selector):
    rows, labels = dict_rows(600)
    seen, reviewed, chosen = set(), 0, set()
    for n, (x, y) in enumerate(zip(rows, labels, strict=True), 1):
        selector.learn_one(x, y)
        if n - reviewed >= max(1, min(REVIEW_EVERY, n // REVIEW_SHARE)):
            reviewed, chosen = n, {*type(selector).from_bytes(selector.to_bytes()).get_feature_names_out()}
        assert selector.transform_one(x).keys() == chosen
        seen |= chosen
    assert {"x0", "x1"} <= seen


@pytest.mark.parametrize("parameters", [{}, {"hashed": 64}, {"output": "zero"}, {"output": "frozen"}])
def test_saving_on_the_way_changes_no_output(parameters):
    rows, labels = dict_rows(600)
    plain, saved = (ss.Screen("f", k=1, half_life=50, **parameters) for _ in range(2))
    for n, (x, y) in enumerate(zip(rows, labels, strict=True)):
        plain.learn_one(x, y)
        saved.learn_one(x, y)
        if n % 37 == 0:
            saved = ss.Screen.from_bytes(saved.to_bytes())
        assert saved.transform_one(x) == plain.transform_one(x)


def test_reading_the_selection_is_a_review():
    rows, labels = dict_rows(1000)
    screen = ss.Screen("f", k=1, half_life=5)
    for x, y in zip(rows[:500], labels, strict=False):
        screen.learn_one(x, y)
    assert screen.transform_one(rows[0]).keys() == {"x0"}
    for x, y in zip(rows[500:540], labels[500:], strict=False):
        screen.learn_one(x, y)
    assert screen.transform_one(rows[0]).keys() == {"x0"}
    assert screen.get_feature_names_out().tolist() == ["x1"]
    assert screen.transform_one(rows[0]).keys() == {"x1"}


def test_a_parameter_set_on_the_way_is_checked_first():
    rows, labels = dict_rows(100)
    screen = ss.Screen("f", k=1)
    for x, y in zip(rows, labels, strict=True):
        screen.learn_one(x, y)
    screen.transform_one(rows[0])
    with pytest.raises(ParameterError, match="output must be"):
        screen.set_params(output="fog").transform_one(rows[0])
