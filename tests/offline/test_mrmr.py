"""mRMR chooses as its slow twin does, on hundreds of nasty little data sets, and keeps its laws."""

import numpy as np
import pytest

import streamsieve as ss
from tests.helpers.tier import cases
from tests.offline.cases import FORMS, TASKS, features, labels, some_form, target
from tests.reference.mrmr import mrmr

SCHEMES = ("mid", "miq", "fcd", "fcq")


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_random_data_equal_the_twin(scheme, task):
    rng = np.random.default_rng(0)
    for case in range(cases(60)):
        y = target(rng, task, int(rng.choice([rng.integers(10, 20), rng.integers(40, 60)])))
        X = features(rng, y, int(rng.integers(1, 9)))
        wanted, bins = int(rng.integers(1, X.shape[1] + 1)), int(rng.choice([2, 3, 5]))
        order, balance, relevance = mrmr(X, y, task, wanted, scheme, bins)
        found = ss.MRMR(wanted, scheme=scheme, bins=bins).fit(some_form(rng, X), y)
        assert found.ranked_.tolist() == order, (case, scheme, task)
        np.testing.assert_allclose(found.relevance_, relevance, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.objective_, balance, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_forms_and_chunks_of_columns_agree(scheme, form, monkeypatch):
    rng = np.random.default_rng(1)
    y = labels(rng, 50, 3)
    X = features(rng, y, 12)
    expected = ss.MRMR(6, scheme=scheme).fit(X, y)
    monkeypatch.setattr("streamsieve.offline.shared.discrete.CHUNK_VALUES", 130)
    found = ss.MRMR(6, scheme=scheme).fit(FORMS[form](X), y)
    assert found.ranked_.tolist() == expected.ranked_.tolist()
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=1e-9, atol=1e-12)


def test_the_first_feature_is_the_most_informative_one():
    rng = np.random.default_rng(2)
    for _ in range(20):
        y = labels(rng, 200, 3)
        X = rng.normal(size=(200, 10)) + y[:, None] * rng.random(10)
        first = ss.MRMR(1).fit(X, y)
        screen = ss.Screen("mutual_info", k=1).fit(X, y)
        assert first.ranked_.tolist() == screen.ranked_.tolist()
        np.testing.assert_allclose(first.relevance_, screen.scores_, atol=1e-12)


def test_a_copy_of_the_best_feature_is_balanced_at_its_information_minus_its_entropy():
    rng = np.random.default_rng(3)
    y = labels(rng, 300, 2)
    codes = np.where(rng.random(300) < 0.9, y, 1 - y).astype(float)
    X = np.column_stack([codes, codes, y ^ (rng.random(300) < 0.3)]).astype(float)
    found = ss.MRMR(3).fit(X, y)
    assert found.ranked_.tolist() == [0, 2, 1]
    share = np.bincount(codes.astype(int)) / 300
    entropy = -(share * np.log(share)).sum()
    I_02 = ss.MRMR(1).fit(X[:, [0]], X[:, 2].astype(int)).relevance_[0]
    assert found.objective_[2] == pytest.approx(found.relevance_[1] - (entropy + I_02) / 2)


def test_mrmr_selection_is_the_quotient_of_f_and_correlation():
    pandas = pytest.importorskip("pandas")
    peer = pytest.importorskip("mrmr")
    rng = np.random.default_rng(6)
    y = labels(rng, 200, 2)
    shared = rng.normal(size=(200, 1))  # so that no correlation is below its floor of 0.001
    X = rng.normal(size=(200, 12)) + 2 * shared + y[:, None] * rng.random(12)
    names = [f"x{j}" for j in range(12)]
    theirs = peer.mrmr_classif(
        pandas.DataFrame(X, columns=names), pandas.Series(y), 6, n_jobs=1, show_progress=False
    )
    assert [names[j] for j in ss.MRMR(6, scheme="fcq").fit(X, y).ranked_] == list(theirs)
