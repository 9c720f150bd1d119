"""Laws of row selectors that learn row by row, to the last bit: batches, resuming, labels, late features."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import streamsieve as ss
from streamsieve import registry
from streamsieve.exceptions import CapabilityError, TargetError

SELECTORS = [
    ss.BARDA(3),
    ss.FIRES(4),
    ss.FIRES(4, batch_size=10),
    ss.MISSION(5, width=64),
    ss.MISSION(5, width=64, half_life=1),
    ss.MISSION(5, width=64, half_life=7),
    ss.OFS(5),
    ss.PartialOFS(5),
    ss.SOFS(5),
    ss.VelocityScreen(4, window=40),
    ss.WinnowEFS(5),
]
ROW_CLASSES = [cls for cls in registry.selectors().values() if registry.axis(cls) == "rows"]
each = pytest.mark.parametrize("selector", SELECTORS, ids=repr)
forms = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


def data(selector, n=300, p=20):
    """Rows that are often 0; two labels, or three of which the last one comes late."""
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(n, p))) * (rng.random((n, p)) < 0.4)
    classes = 2 if selector.traits.tasks == {"binary"} else 3
    return X, np.minimum(rng.integers(0, classes, n), 1 + np.arange(n) // 50)


def streamed(selector, X, y, cut):
    for low in range(0, len(y), cut):
        selector.partial_fit(X[low : low + cut], y[low : low + cut])
    return selector


def bits(selector):
    """All that a fitted selector shows, but for the ledger, which depends on when it is read."""
    public = (name for name in dir(selector) if name.endswith("_") and not name.startswith("_"))
    shown = (name for name in public if name != "ledger_" and hasattr(selector, name))
    return {name: np.array(getattr(selector, name)).tobytes() for name in shown}


@each
@forms
def test_batches_of_any_size_give_the_same_bits(selector, form):
    X, y = data(selector)
    whole = clone(selector).fit(form(X), y)
    for cut in (1, 7, 100):
        assert bits(streamed(clone(selector), form(X), y, cut)) == bits(whole)


@each
@forms
def test_resumed_in_mid_stream_it_goes_on_bit_for_bit(selector, form, tmp_path):
    X, y = data(selector)
    streamed(clone(selector), form(X[:171]), y[:171], 16).save(tmp_path / "half.sieve")
    resumed = type(selector).load(tmp_path / "half.sieve").partial_fit(form(X[171:]), y[171:])
    assert bits(resumed) == bits(clone(selector).fit(form(X), y))


@each
def test_dict_rows_with_late_features_equal_sparse_rows(selector):
    if isinstance(selector, (ss.MISSION, ss.PartialOFS)):
        pytest.skip("names are hashed, or draws depend on the number of features: tests of their own")
    X, y = data(selector, n=120)
    X[np.arange(120)[:, None] < 3 * np.arange(20)] = 0.0  # feature j comes with row 3 j
    by_dicts = clone(selector)
    for row, label in zip(X, y, strict=True):
        by_dicts.learn_one({f"f{j}": v for j, v in enumerate(row) if v != 0}, int(label))
    order = [int(name[1:]) for name in by_dicts.feature_names_in_]
    whole = clone(selector).fit(sp.csr_array(X[:, order]), y)
    np.testing.assert_allclose(by_dicts.scores_, whole.scores_, rtol=1e-12)
    for name in ("coef_", "spread_"):
        if hasattr(whole, name):
            assert np.array_equal(getattr(by_dicts, name), getattr(whole, name))


@each
def test_labels_that_do_not_fit_are_refused_and_change_nothing(selector):
    X, y = data(selector)
    fitted, before = clone(selector).fit(X, y), bits(clone(selector).fit(X, y))
    refused = [(np.where(y > 0, "a", "b"), "use text or numbers throughout")]
    if selector.traits.tasks == {"binary"}:
        refused.append(
            (np.arange(len(y)) % 3, f"{type(selector).__name__} separates 2 classes, but y holds 3")
        )
    for labels, message in refused:
        with pytest.raises(TargetError, match=message):
            fitted.partial_fit(X, labels)
        assert bits(fitted) == before


@each
@forms
@pytest.mark.parametrize("scale", [1e99, 1e30, 1e6, 1e-40, 1e-160, 1e-300])
def test_scores_stay_finite_at_any_scale(selector, form, scale):
    rates = ("learning_rate", "learning_rate_mean", "learning_rate_spread")
    fast = clone(selector).set_params(**{name: 99.0 for name in rates if name in selector.get_params()})
    X, y = data(selector, n=60)
    for labels in (y, y[::-1]):
        fast.partial_fit(form(X * scale), labels)
    assert np.all(np.isfinite(fast.scores_))
    assert np.all(np.isfinite(getattr(fast, "coef_", 0.0)))


@pytest.mark.parametrize("cls", ROW_CLASSES, ids=lambda cls: cls.__name__)
def test_attributes_are_there_after_the_first_row(cls):
    public = [name for name in dir(cls) if name.endswith("_") and not name.startswith("_")]
    assert {"scores_", "selected_", "ranked_", "ledger_"} <= set(public)
    for name in public:
        assert not hasattr(cls(), name), name
    with pytest.raises(AttributeError, match=f"{cls.__name__}.scores_ is available after fit or partial_fit"):
        _ = cls().scores_
    for ask in ("get_support", "get_feature_names_out", "to_bytes"):
        with pytest.raises(NotFittedError):
            getattr(cls(), ask)()


ORDERED = [ss.BARDA(), ss.FIRES(), ss.FSDS(), ss.OFS(), ss.Screen(on_drift="reset"), ss.VelocityScreen()]


@pytest.mark.parametrize("selector", ORDERED, ids=repr)
def test_what_depends_on_the_order_of_rows_does_not_merge(selector):
    X, y = np.eye(20), np.arange(20) % 2
    with pytest.raises(CapabilityError, match="cannot merge: .*order of rows; Screen"):
        clone(selector).fit(X, y).merge(clone(selector).fit(X, y))
