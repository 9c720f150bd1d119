"""What fitted selectors show: rankings, pictures, texts and pages."""

import sys
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import streamsieve as ss
from streamsieve.exceptions import CapabilityError, ParameterError

mpl.use("agg")
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(200, 5)), columns=["age", "<b>dose</b>", "pulse", "$x^2$", "noise"])
Y = np.where(X["<b>dose</b>"] + 0.4 * X["pulse"] + 0.3 * RNG.normal(size=200) > 0, "yes", "no")
SELECTORS = [ss.SAOLA(), ss.FastOSFS(), ss.Screen(k=2), ss.OFS(k=2), ss.MRMR(k=2), ss.ReliefF(k=2)]


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_a_ranking_is_the_selection_best_first(selector):
    selector = clone(selector).fit(X, Y)
    ranking = selector.ranking()
    assert isinstance(ranking, pd.DataFrame)
    assert list(ranking) == ["rank", "feature", "score", "p_value"]
    assert sorted(ranking["feature"]) == sorted(selector.get_feature_names_out())
    assert ranking["feature"][0] == "<b>dose</b>"
    assert not ranking["score"].isna().any()


def test_rankings_come_in_the_library_of_the_data():
    for frame in (pl.from_pandas(X), pa.Table.from_pandas(X)):
        assert type(ss.SAOLA().fit(frame, Y).ranking()) is type(frame)
    assert isinstance(ss.SAOLA().fit(X, Y).ranking("polars"), pl.DataFrame)
    with pytest.raises(ParameterError, match="library must be one of 'pandas', 'polars', 'pyarrow'"):
        ss.SAOLA().fit(X, Y).ranking("dask")


def test_rows_by_name_have_a_ranking():
    screen = ss.Screen(k=2)
    for row, label in zip(X.to_dict("records"), Y, strict=True):
        screen.learn_one(row, label)
    assert screen.ranking()["feature"].tolist() == ["<b>dose</b>", "pulse"]


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_text_and_page_say_what_happened(selector):
    selector = clone(selector)
    before = repr(selector)
    selector.fit(X, Y)
    text = repr(selector)
    assert text.startswith(f"{before}  # target: 2 classes (no")
    assert repr(clone(selector)) == before
    assert before in repr(make_pipeline(selector))  # one line each
    page = selector._repr_html_()
    assert "&lt;b&gt;dose&lt;/b&gt;" in page
    assert "<b>dose</b>" not in page
    assert "target: 2 classes" in page
    assert selector._repr_mimebundle_()["text/html"]


def test_a_text_changes_nothing():
    screen = ss.Screen(k=2).partial_fit(X, Y)
    repr(screen)
    assert len(screen._ledger_) == 0


def test_pictures_draw_names_as_they_are():
    selector = ss.Screen(k=5).fit(X, Y)
    axes = selector.plot(k=4)
    assert len(axes.patches) == 4
    axes.figure.canvas.draw()  # a name that is half a formula would fail here
    assert selector.plot(axes) is axes
    mpl.pyplot.close(axes.figure)


def test_ledgers_become_frames_of_every_library():
    ledger = ss.SAOLA().fit(X, Y).ledger_
    for frame in (ledger.to_pandas(), ledger.to_polars(), ledger.to_arrow()):
        assert len(frame) == len(ledger)
    assert ledger.to_pandas()["feature"].tolist() == [line.feature for line in ledger]
    page = ledger._repr_html_()
    assert "&lt;b&gt;dose" in page
    assert "<b>dose" not in page
    many = ss.SAOLA().fit(RNG.normal(size=(50, 100)), Y[:50]).ledger_._repr_html_()
    assert many.count("<tr>") == 1 + 10 + 1 + 10


@pytest.mark.parametrize(
    ("method", "package"), [("to_pandas", "pandas"), ("to_polars", "polars"), ("to_arrow", "pyarrow")]
)
def test_a_missing_library_is_named(method, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(CapabilityError, match=rf"needs {package}, which is not installed: pip install"):
        getattr(ss.Ledger(), method)()


def test_questions_about_unknown_features_are_answered():
    sieve = ss.SAOLA().fit(X, Y)
    with pytest.raises(KeyError, match=r"no feature named 'puls' in the ledger; did you mean 'pulse'\?"):
        sieve.ledger_.why("puls")
    behind = make_pipeline(StandardScaler(), ss.SAOLA()).fit(X, Y)[-1]
    with pytest.raises(
        KeyError, match=r"came without names, as x0 to x4: .*set_output\(transform='pandas'\)"
    ):
        behind.ledger_.why("pulse")
    with pytest.raises(KeyError, match="is empty"):
        ss.SAOLA(ledger="none").fit(X, Y).ledger_.why("pulse")


@pytest.mark.parametrize(
    "selector", [ss.Screen(k=9), ss.OFS(k=9), ss.MRMR(k=9), ss.ReliefF(k=9), ss.FSDS(k=9)], ids=repr
)
def test_a_k_beyond_the_width_warns_as_scikit_learn_does(selector):
    with pytest.warns(
        UserWarning, match=r"k=9 is greater than n_features=5. All the features will be returned"
    ):
        selector.fit(X, Y)
    assert selector.get_support().sum() <= 5
    again = type(selector).from_bytes(selector.to_bytes())
    assert again.get_support().tolist() == selector.get_support().tolist()


def test_a_grid_over_k_goes_on():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        search = GridSearchCV(make_pipeline(ss.Screen(), GaussianNB()), {"screen__k": [1, 2, 50]}, cv=3)
        assert np.isfinite(search.fit(X.to_numpy(), Y).cv_results_["mean_test_score"]).all()
