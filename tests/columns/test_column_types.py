"""The type of a column chooses its test: declared, by dtype, or guessed from the values."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.column_types import NOMINAL, NUMERIC
from streamsieve.columns.redundancy.slots import FIRST_SLOTS
from streamsieve.exceptions import (
    CapabilityError,
    InputTypeError,
    ManyLevelsWarning,
    ParameterError,
    SchemaError,
)
from streamsieve.independence.degenerate_gaussian import compared, embedded
from tests.columns.streams import reloaded
from tests.helpers.tier import cases
from tests.reference.degenerate_gaussian import degenerate_gaussian

BY_TEST = (ss.OSFS, ss.FastOSFS)
EVERY = (*BY_TEST, ss.SAOLA, ss.TopK, ss.OnlineFDR)
each = pytest.mark.parametrize("cls", EVERY, ids=lambda cls: cls.__name__)


def same(one, other, *, tolerance=0.0):
    mine, theirs = ([(d.step, d.feature, d.event, d.reason, d.by) for d in s.ledger_] for s in (one, other))
    assert mine == theirs
    for name in ("statistic", "p_value"):
        mine, theirs = ([getattr(d, name) for d in sieve.ledger_] for sieve in (one, other))
        np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)


def target(rng, z, kind):
    noisy = z + rng.normal(size=len(z))
    return noisy if kind == "regression" else np.digitize(noisy, [0] if kind == "binary" else [-1, 1])


def hub_and_children(levels, n=5000, seed=0):
    """A target and ten children that depend on a nominal hub alone."""
    rng = np.random.default_rng(seed)
    hub, of = rng.integers(0, levels, n), rng.integers(0, 3, (11, levels))

    def noisy(v):
        return np.where(rng.random(n) < 0.1, rng.integers(0, 3, n), v)

    return np.c_[hub, *[noisy(of[i][hub]) for i in range(1, 11)]], noisy(of[0][hub])


# ------------------------------------------------------------------------------------ levels


@pytest.mark.parametrize("levels", [32, 33, 60, 200])
@pytest.mark.parametrize(
    "sieve",
    [
        ss.FastOSFS(), ss.FastOSFS(test="g2"), ss.SAOLA(), ss.SAOLA(measure="su"), ss.FCBF(),
        ss.HITONPC(test="g2"), ss.TopK(1), ss.TopK(1, measure="mutual_info"),
    ],
    ids=str,
)  # fmt: skip
def test_a_hub_of_names_is_found_whatever_the_number_of_its_levels(sieve, levels):
    X, y = hub_and_children(levels)
    assert sieve.fit(X, y).selected_.tolist() == [0]


def test_the_rarest_of_too_many_levels_are_pooled_with_a_warning():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    street = np.where(rng.random(400) < 0.5, y, rng.integers(2, 300, 400))
    with pytest.warns(ManyLevelsWarning, match=r"'x0' has \d+ levels over 400 rows; the \d+ rarest"):
        sieve = ss.FastOSFS(types={"x0": "nominal"}).fit(street[:, None], y)
    assert sieve.selected_.tolist() == [0]


def test_declared_numbers_are_binned_in_tables():
    """An age is a quantity, although it is a whole number that repeats."""
    rng = np.random.default_rng(1)
    age = rng.integers(18, 98, 4000)
    y = (age + rng.normal(0, 30, 4000) > 60).astype(int)
    binned = ss.FastOSFS(test="g2", types="numeric").fit(age[:, None], y)
    by_hand = ss.FastOSFS(test="g2").fit(age[:, None] + 0.5, y)
    as_levels = ss.FastOSFS(test="g2").fit(age[:, None], y)
    assert [d.statistic for d in binned.ledger_] == [d.statistic for d in by_hand.ledger_]
    assert as_levels.ledger_[0].statistic > binned.ledger_[0].statistic


# ------------------------------------------------------------------------------------ one kind


@each
@pytest.mark.parametrize("kind", ["binary", "multiclass", "regression"])
def test_numbers_alone_are_compared_by_correlation_bit_for_bit(cls, kind):
    rng = np.random.default_rng(2)
    name = "measure" if cls in (ss.SAOLA, ss.TopK) else "test"
    for n in (40, 300):
        z = rng.normal(size=n)
        X, y = z[:, None] * rng.random(25) + rng.normal(size=(n, 25)), target(rng, z, kind)
        same(cls().fit(X, y), cls(**{name: "fisher_z"}).fit(X, y))
        same(cls().fit(sp.csc_array(X), y), cls(**{name: "fisher_z"}).fit(sp.csc_array(X), y))
        one = cls().begin(y)
        for j in range(25):
            one.offer(X[:, j].copy())
        same(one, cls().fit(X, y), tolerance=1e-9)


@pytest.mark.parametrize("cls", BY_TEST, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("kind", ["binary", "multiclass"])
@pytest.mark.parametrize("levels", [2, 4])
def test_few_levels_alone_are_compared_by_tables_bit_for_bit(cls, kind, levels):
    rng = np.random.default_rng(3)
    z = rng.normal(size=300)
    X = np.digitize(z[:, None] + rng.normal(size=(300, 20)), np.linspace(-1, 1, levels - 1)).astype(float)
    y = target(rng, z, kind)
    same(cls().fit(X, y), cls(test="g2").fit(X, y))


# ------------------------------------------------------------------------------------ trends


def counts_of(rng, n, levels, strength=0.0):
    """A column of whole numbers, and two classes of which one has larger values."""
    x = rng.integers(0, levels, n).astype(float)
    return x, (rng.random(n) < 1 / (1 + np.exp(-strength * (x - x.mean()) / x.std()))).astype(int)


@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_p_values_of_ordinal_columns_are_twice_the_smaller_of_table_and_trend(kind):
    rng = np.random.default_rng(20)
    for _ in range(cases(20)):
        n = int(rng.integers(150, 600))
        x = rng.integers(0, rng.integers(5, 8), n).astype(float)
        y = target(rng, x * rng.choice([0.0, 0.1]), kind)
        shape = np.c_[x, np.abs(x - 2), rng.integers(0, 6, n)]
        shape[:, 1] += 3 * (rng.random(n) < 0.5)
        found = ss.OnlineFDR(fdr="lond").fit(shape, y)
        assert {*found.column_types_.values()} == {"ordinal"}
        by_table, by_trend = (
            [d.p_value for d in ss.OnlineFDR(fdr="lond", **way).fit(shape, y).ledger_]
            for way in ({"types": "nominal"}, {"test": "fisher_z"})
        )
        wanted = np.minimum(2 * np.minimum(by_table, by_trend), 1)
        np.testing.assert_allclose([d.p_value for d in found.ledger_], wanted, rtol=1e-9)


@each
def test_a_weak_trend_over_many_levels_is_found(cls):
    """The table of 70 ages has 69 degrees of freedom, and hardly any power against a trend."""
    rng = np.random.default_rng(21)
    hits = {"trend": 0, "noise": 0}
    for _ in range(20):
        for name, strength in {"trend": 0.25, "noise": 0.0}.items():
            x, y = counts_of(rng, 1500, 70, strength)
            hits[name] += len(cls(**({"k": 1} if cls is ss.TopK else {})).fit(x[:, None], y).selected_)
    assert hits["trend"] >= 17
    assert hits["noise"] <= 2


@each
def test_levels_without_order_are_found_as_before(cls):
    """Codes of names: every second one goes with a class, so there is no trend."""
    rng = np.random.default_rng(22)
    town = rng.integers(0, 20, 800).astype(float)
    y = np.where(rng.random(800) < 0.2, rng.integers(0, 2, 800), town.astype(int) % 2)
    assert cls().fit(town[:, None], y).selected_.tolist() == [0]


@pytest.mark.parametrize("cls", [ss.SAOLA, *BY_TEST], ids=lambda cls: cls.__name__)
def test_a_copy_of_an_ordinal_column_is_redundant(cls):
    rng = np.random.default_rng(23)
    for levels in (7, 60):
        x, y = counts_of(rng, 2000, levels, 0.8)
        near = np.clip(x + rng.integers(-1, 2, 2000), 0, levels - 1)
        assert len(cls().fit(np.c_[x, near], y).selected_) == 1


def test_ordinal_columns_are_kept_untested_without_a_level():
    rng = np.random.default_rng(24)
    y, noise = rng.integers(0, 2, 300), rng.integers(0, 9, (300, 8)).astype(float)
    assert len(ss.TopK(5, alpha=None).fit(noise, y).selected_) == 5
    assert len(ss.TopK(5, alpha=None).fit(noise % 3, y).selected_) == 5


# ------------------------------------------------------------------------------------ both kinds


def mixed(rng, n, width=16):
    """Columns of all types in random order, around one hidden variable."""
    z = rng.normal(size=n)
    frame = {}
    for j in range(width):
        x = z * rng.random() + rng.normal(size=n)
        kind = rng.choice(["number", "count", "bit", "name"])
        if kind == "name":
            x = rng.permutation(list("abcd"))[np.digitize(x, [-1, 0, 1])]
        elif kind == "grade":  # with more than four levels, and a trend
            x = np.digitize(x, np.linspace(-2, 2, rng.choice([5, 13])))
        elif kind != "number":
            x = np.digitize(x, [-1, 0, 1]) if kind == "count" else x > 0
        frame[f"{kind}{j}"] = x
    return pd.DataFrame(frame), z


@each
@pytest.mark.parametrize("kind", ["binary", "multiclass", "regression"])
def test_blocks_of_any_size_and_resumed_runs_decide_alike(cls, kind):
    rng = np.random.default_rng(4)
    for _ in range(cases(4)):
        frame, z = mixed(rng, 300)
        y = target(rng, z, kind)
        whole = cls(alpha=0.1).fit(frame, y)
        parts = cls(alpha=0.1).begin(y)
        for low in range(0, frame.shape[1], 3):
            parts = reloaded(parts)
            parts.offer(frame.iloc[:, low : low + 3])
        same(parts, whole, tolerance=1e-9)
        assert parts.column_types_ == whole.column_types_
        ahead = cls(alpha=0.1).begin(y)
        for low in range(0, frame.shape[1], 5):
            ahead.offer(ahead.measure_block(frame.iloc[:, low : low + 5]))
        same(ahead, whole, tolerance=1e-9)


def test_a_buffer_of_mixed_types_grows():
    rng = np.random.default_rng(12)
    frame, z = mixed(rng, 300, width=90)
    y = target(rng, z, "regression")
    whole, parts = ss.TopK(70, alpha=0.9).fit(frame, y), ss.TopK(70, alpha=0.9).begin(y)
    assert len(whole.selected_) > 2 * FIRST_SLOTS
    for part in np.array_split(np.arange(90), 3):
        parts = reloaded(parts)
        parts.offer(frame.iloc[:, part])
    same(parts, whole, tolerance=1e-9)


def test_a_nominal_column_after_a_thousand_numeric_ones():
    rng = np.random.default_rng(5)
    n = 400
    town = rng.integers(0, 9, n)
    y = rng.normal(size=9)[town] * 2 + rng.normal(size=n)
    sieve = ss.FastOSFS(alpha=1e-4, types={"town": "nominal"}).begin(y)
    sieve.offer(np.column_stack([y + rng.normal(size=n), rng.normal(size=(n, 999))]))
    sieve.offer(town.astype(float), names="town")
    assert "town" in sieve.get_feature_names_out()
    assert sieve.ledger_.why("town").p_value < 1e-20


def test_a_mixed_proxy_is_separated_by_the_cause_of_another_type():
    """Town decides income and the target; income is redundant given town, and the other way round is not."""
    rng = np.random.default_rng(6)
    n = 2000
    town = rng.integers(0, 6, n)
    income = np.array([0.0, 3, 1, 5, 2, 4])[town] + rng.normal(size=n)
    y = np.array([0.0, 3, 1, 5, 2, 4])[town] + rng.normal(size=n)
    frame = pd.DataFrame({"income": income, "town": pd.Categorical(town), "noise": rng.normal(size=n)})
    for goal in (y, np.digitize(y, [1.5, 3.5])):
        for cls in BY_TEST:
            assert cls().fit(frame, goal).get_feature_names_out().tolist() == ["town"]


@pytest.mark.parametrize("nominal", [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)])
def test_wilks_lambda_equals_the_slow_twin(nominal):
    rng = np.random.default_rng(7)
    for case in range(cases(25)):
        n = int(rng.integers(25, 200))
        given = [rng.integers(0, 4, n) if nominal[2] else rng.normal(size=n) for _ in range(case % 3)]
        base = sum(given, np.zeros(n)) + rng.normal(size=n)
        x, y = (
            np.digitize(base + rng.normal(size=n), [-1, 1]) if names else base + rng.normal(size=n)
            for names in nominal[:2]
        )
        parts = [
            embedded(np.asarray(v, float), NOMINAL if names else NUMERIC)
            for v, names in zip([x, y, *given], [*nominal[:2], *[nominal[2]] * len(given)], strict=True)
        ]
        basis = np.column_stack([part.basis for part in parts])
        ends = np.cumsum([0, *(part.basis.shape[1] for part in parts)])
        rest = np.arange(ends[2], ends[-1])
        found = compared(basis.T @ basis, n, np.arange(ends[1]), np.arange(ends[1], ends[2]), rest)
        wanted = degenerate_gaussian(
            x, y, given, nominal_x=nominal[0], nominal_y=nominal[1], nominal_z=[nominal[2]] * len(given)
        )
        np.testing.assert_allclose((found.strength, found.p_value), wanted, rtol=1e-6, atol=1e-10)


def test_too_few_rows_and_collinear_columns_are_answered():
    rng = np.random.default_rng(8)
    x = rng.normal(size=30)
    gram = np.corrcoef([x, rng.normal(size=30), 3 * x])
    assert compared(gram, 30, np.array([0]), np.array([1]), np.array([2])).p_value == 1.0
    assert compared(np.eye(3), 3, np.array([0]), np.array([1]), np.array([2])) is None


# ------------------------------------------------------------------------------------ known and refused


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_dataframes_with_names_stay_what_they_are(library):
    rng = np.random.default_rng(9)
    plan = rng.choice(["basic", "plus", "pro"], 300)
    y = (plan == "pro") * 2.0 + rng.normal(size=300)
    frame = library({"plan": plan, "age": rng.normal(size=300), "member": rng.random(300) < 0.5})
    sieve = ss.FastOSFS().fit(frame, y)
    assert sieve.column_types_ == {"plan": "nominal", "age": "numeric", "member": "binary"}
    out = sieve.transform(library({"plan": ["new", "pro"], "age": [0.0, 1.0], "member": [True, False]}))
    assert type(out) is type(frame)
    assert list(np.asarray(out["plan"])) == ["new", "pro"]


def test_ordered_categories_are_ordinal_in_their_order():
    rng = np.random.default_rng(10)
    size = rng.choice(["small", "medium", "large"], 200)
    y = np.array([{"small": 0, "medium": 1, "large": 2}[s] for s in size]) + rng.normal(0, 0.3, 200)
    frame = pd.DataFrame({"size": pd.Categorical(size, ["small", "medium", "large"], ordered=True)})
    sieve = ss.SAOLA().fit(frame, y)
    assert sieve.column_types_ == {"size": "ordinal"}
    assert sieve.ledger_[0].statistic > 0.9


@each
def test_what_cannot_be_used_is_refused(cls):
    y = np.tile([0, 1], 30)
    frame = pd.DataFrame({"name": np.tile(["a", "b", "c"], 20)})
    name = "measure" if cls in (ss.SAOLA, ss.TopK) else "test"
    with pytest.raises(InputTypeError, match="column 'name' does not hold numbers"):
        cls(**{name: "fisher_z"}).fit(frame, y)
    with pytest.raises(ParameterError, match="types=.* does not go with"):
        cls(**{name: "fisher_z"}, types={"name": "nominal"}).begin(y)
    with pytest.raises(ParameterError, match=r"types\['name'\] must be one of .*did you mean 'nominal'"):
        cls(types={"name": "nominl"}).begin(y)
    with pytest.raises(SchemaError, match="types declares column 'nam', .*did you mean 'name'"):
        cls(types={"nam": "nominal"}).fit(frame, y)
    with pytest.raises(SchemaError, match="'name' binary, but it has more than two values"):
        cls(types={"name": "binary"}).fit(frame, y)
    with pytest.raises(CapabilityError, match="column 'name' holds names, but"):
        cls().begin(y, groups=np.arange(60) // 2).offer(frame)
    with pytest.raises(ValueError, match="'name' has missing values"):
        cls().fit(pd.DataFrame({"name": ["a", None, "b", "c"] * 15}), y)
