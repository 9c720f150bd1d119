"""Types of columns: the guess equals its slow twin on random and nasty columns."""

import copy

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.column_types import BINARY, NUMERIC, ORDINAL, few_levels, guessed_type, guessed_types


def slow_guess(x):
    """The rule, from its text."""
    values = np.unique(x[~np.isnan(x)])
    if len(values) == 2:
        return BINARY
    whole = np.all(values == np.floor(values))
    return ORDINAL if whole and 2 < len(values) <= few_levels(len(x)) else NUMERIC


def columns(rng, n):
    yield rng.normal(size=n)
    yield rng.integers(-3, int(rng.integers(-2, n)), n).astype(float)
    yield rng.poisson(rng.gamma(2.0), n).astype(float)
    yield rng.choice([0.5, 0.7, 1.0][: int(rng.integers(1, 4))], n)
    yield rng.integers(0, few_levels(n) + int(rng.integers(0, 3)), n).astype(float)
    yield np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 3, n))
    yield rng.integers(0, 4, n) * 1e9 - 1e15
    yield np.zeros(n)
    yield np.where(rng.random(n) < 0.5, -0.0, 0.0) + (rng.random(n) < 0.1)
    yield np.full(n, np.nan)


@pytest.mark.parametrize("n", [1, 2, 5, 60, 81, 400, 6000])
def test_the_guess_equals_its_slow_twin(n):
    rng = np.random.default_rng(n)
    for _ in range(30):
        X = np.column_stack(list(columns(rng, n)))
        wanted = [slow_guess(x) for x in X.T]
        assert [guessed_type(np.ascontiguousarray(x)) for x in X.T] == wanted
        for same in (X, np.asfortranarray(X), sp.csc_array(X), sp.csr_array(X)):
            assert guessed_types(same).tolist() == wanted


@pytest.mark.parametrize(("n", "levels"), [(10, 4), (100, 5), (1000, 50), (100_000, 256)])
def test_how_many_levels_are_few(n, levels):
    assert few_levels(n) == levels


@pytest.mark.parametrize(
    "text", [lambda X: X.astype(str), lambda X: np.where(X > 1, "high", X.astype(object))]
)
def test_an_array_with_text_is_refused_by_fit_and_transform_alike(text):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    sieve = ss.FastOSFS().fit(X, y)
    for call in (sieve.transform, lambda X: ss.FastOSFS().fit(X, y)):
        with pytest.raises(TypeError, match="X is an array with text; give a dataframe"):
            call(text(X))


@pytest.mark.parametrize(
    "make", [ss.FastOSFS, ss.SAOLA, ss.FCBF, lambda: ss.Screen(k=2, task="classification")]
)
def test_a_ledger_knows_the_types_of_its_columns(make, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    town = np.where(rng.random(400) < 0.3, "a", np.where(y == 1, "b", "c"))
    X = pd.DataFrame({"dose": y + rng.normal(size=400), "town": town})
    sieve = make().fit(X, y)
    sieve.save(tmp_path / "sieve")
    for each in (sieve, ss.load(tmp_path / "sieve"), copy.deepcopy(sieve)):
        assert each.ledger_.why("town")._asdict()["type"] == "nominal"
        assert str(each.ledger_.why("town")).startswith("town (nominal): kept")
        assert str(each.ledger_.why("dose")).startswith("dose: kept")
        table = each.ledger_.columns()
        assert dict(zip(table["feature"], table["type"], strict=True)) == {
            "dose": "numeric",
            "town": "nominal",
        }
        assert each.ledger_.to_arrow().column("type").to_pylist() == table["type"]
        each.ledger_.to_csv(tmp_path / "ledger.csv")
        assert pd.read_csv(tmp_path / "ledger.csv")["type"].tolist() == table["type"]


def test_a_ledger_of_numbers_has_no_types(tmp_path):
    rng = np.random.default_rng(0)
    sieve = ss.FastOSFS().fit(rng.normal(size=(100, 3)), rng.integers(0, 2, 100))
    assert "type" not in sieve.ledger_.columns()
    sieve.ledger_.to_csv(tmp_path / "ledger.csv")
    assert (tmp_path / "ledger.csv").read_text().splitlines()[0].endswith(",by")
    assert str(sieve.ledger_.why("x1")).startswith("x1: rejected")
