"""Selectors over rows that are not independent: begin(y, groups=...) and begin(y, serial=...)."""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from scipy.signal import lfilter
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline

import streamsieve as ss
from streamsieve import state
from streamsieve.base.row_fingerprints import RowsIdentity
from streamsieve.exceptions import (
    CapabilityError,
    DependentRowsWarning,
    MergeError,
    ParameterError,
    SchemaError,
    StateError,
    TargetError,
)
from streamsieve.independence.correlation_p_values import p_value_given
from streamsieve.testing.states import fuzz
from tests.helpers.tier import cases
from tests.reference import dependent_rows as twin

#: Selectors whose tests allow for any dependence of rows.
CAPABLE = [
    ss.SAOLA(0.05), ss.SAOLA(0.1, fdr="addis"), ss.TopK(k=4), ss.TopK(k=4, redundancy_weight=0),
    ss.OSFS(0.05), ss.FastOSFS(0.05), ss.FastOSFS(0.2, fdr="addis"), ss.OnlineFDR(),
]  # fmt: skip
#: Selectors that take groups of rows with one target each.
GROUPED = [
    *CAPABLE, ss.OnlineFDR(scope="conditional"), ss.AlphaInvesting(), ss.InformationInvesting(),
    ss.StreamwiseIC(), ss.FastOSFS(test="g2"), ss.SAOLA(measure="su"), ss.TopK(measure="mutual_info"),
    ss.GroupSAOLA(group_size=5), ss.OSSFSDD(), ss.InteractionScan(pool=10), ss.OGFS(group_size=5),
]  # fmt: skip


def ar(rng, n, m, phi):
    return lfilter([1], [1, -phi], rng.normal(size=(n + 200, m)), axis=0)[200:]


def series(seed=0, n=150, m=24, phi=0.7):
    """Return autocorrelated columns, of which three depend on an autocorrelated target."""
    rng = np.random.default_rng(seed)
    y, X = ar(rng, n, 1, phi)[:, 0], ar(rng, n, m, phi)
    X[:, 3] += y
    X[:, 8] = X[:, 3] + 0.4 * ar(rng, n, 1, phi)[:, 0]
    X[:, 11] -= y
    X[:, 5] = 2.5
    return X, y


def visits(seed=0, n_groups=40, m=24, *, varying=False):
    """Return columns and labels of subjects with several rows each, in random order, and the subjects."""
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(n_groups), rng.integers(3, 8, n_groups)))
    n, y = len(groups), rng.integers(0, 2, n_groups)[groups]
    if varying:
        y = np.where(rng.random(n) < 0.75, y, 1 - y)
    X = rng.normal(size=(n_groups, m))[groups] + 0.3 * rng.normal(size=(n, m))
    X[:, 3] += 1.5 * y
    X[:, 8] = X[:, 3] + 0.4 * rng.normal(size=n)
    X[:, 5] = 2.5
    return X, y, np.array([f"subject {g}" for g in groups])


def kinds():
    X, y = series()
    yield "serial", X, y, {"serial": True}
    yield "lag", X, (y > 0).astype(int), {"serial": 12}
    X, y, groups = visits()
    yield "groups", X, y, {"groups": groups}
    X, y, groups = visits(varying=True)
    yield "clusters", X, y, {"groups": groups}


KINDS = {name: rest for name, *rest in kinds()}


def lines(selector):
    return [repr(line) for line in selector.ledger_]


def fresh(selector):
    return sklearn.base.clone(selector)


# ------------------------------------------------------------------------------------ the promise (E8)


def run_fdr(phi, seed, rule="addis", n=300, p=1000):
    """Return (false discovery proportion, power) with and without ``serial``; 5 % of columns are true."""
    rng = np.random.default_rng(seed)
    y, X = ar(rng, n, 1, phi)[:, 0], ar(rng, n, p, phi)
    true = rng.random(p) < 0.05
    r = 0.45
    X[:, true] = np.sqrt(1 - r**2) * X[:, true] + r * y[:, None]
    found = []
    for serial in (True, False):
        kept = np.zeros(p, bool)
        kept[ss.OnlineFDR(rule, ledger="none").fit(X, y, serial=serial).selected_] = True
        found.append(((kept & ~true).sum() / max(kept.sum(), 1), (kept & true).sum() / true.sum()))
    return np.array(found)


@pytest.mark.parametrize(("phi", "power", "naive"), [(0.5, 0.97, 0.15), (0.8, 0.55, 0.6)])
def test_the_false_discovery_rate_holds_over_autocorrelated_rows(phi, power, naive):
    """Rows as if independent: FDR .28 (phi .5) and .82 (phi .8) at a bound of .05."""
    runs = np.mean([run_fdr(phi, seed) for seed in range(cases(60, 6))], axis=0)
    assert runs[0, 0] <= cases(6, 10) / 100
    assert runs[0, 1] >= power
    assert runs[1, 0] >= naive


@pytest.mark.parametrize("varying", [False, True])
def test_the_false_discovery_rate_holds_over_groups(varying):
    found = []
    for seed in range(cases(30, 6)):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(40), 8)
        y = rng.normal(size=40)[groups] + varying * rng.normal(size=320)
        X = rng.normal(size=(40, 500))[groups] + rng.normal(size=(320, 500))
        true = np.arange(500) % 25 == 0
        X[:, true] += 2.0 * y[:, None]
        for options in ({"groups": groups}, {"serial": False}):
            kept = np.zeros(500, bool)
            kept[ss.OnlineFDR(ledger="none").fit(X, y, **options).selected_] = True
            found.append(((kept & ~true).sum() / max(kept.sum(), 1), (kept & true).mean() * 25))
    robust, naive = np.mean(found[::2], axis=0), np.mean(found[1::2], axis=0)
    assert robust[0] <= cases(7, 10) / 100  # .053 +- .005 in 80 runs
    assert robust[1] >= 0.8
    assert naive[0] >= 0.15


# ------------------------------------------------------------------------------------ laws


@pytest.mark.parametrize("selector", CAPABLE, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_forms_and_breaks_do_not_matter(selector, kind):
    X, y, options = KINDS[kind]
    whole = fresh(selector).fit(X, y, **options)
    assert len(whole.selected_)
    singly = fresh(selector).begin(y, **options)
    for x in X.T:
        singly.offer(x.copy())
    assert lines(singly) == lines(whole)
    broken = fresh(selector).begin(y, **options)
    broken.offer(X[:, :7])
    broken = copy.deepcopy(broken)
    broken.offer(X[:, 7:10])
    broken = type(broken).from_bytes(broken.to_bytes())
    broken.offer(X[:, 10:])
    assert lines(broken) == lines(whole)
    measured = fresh(selector).begin(y, **options)
    measured.offer(measured.measure_block(X[:, :9]))
    measured.offer(measured.measure_block(X[:, 9:]))
    assert lines(measured) == lines(whole)
    sparse = fresh(selector).fit(sp.csc_array(X), y, **options)
    assert sparse.selected_.tolist() == whole.selected_.tolist()


@pytest.mark.parametrize("selector", GROUPED, ids=repr)
def test_groups_with_one_target_are_tested_over_their_means(selector):
    X, y, groups = visits()
    codes = pd.factorize(groups)[0]
    means = twin.group_means(X, codes)
    first = np.unique(codes, return_index=True)[1]
    whole, expected = fresh(selector).begin(y, groups=groups), fresh(selector).begin(y[first])
    whole.offer(X)
    expected.offer(means)
    assert whole.selected_.tolist() == expected.selected_.tolist()
    for mine, theirs in zip(whole.ledger_, expected.ledger_, strict=True):
        assert mine.reason == theirs.reason
        assert mine.p_value == pytest.approx(theirs.p_value, rel=1e-6, nan_ok=True)
    again = type(whole).from_bytes(whole.to_bytes())
    again.offer(X[:, 0], names="more")
    whole.offer(X[:, 0], names="more")
    assert lines(again) == lines(whole)


@pytest.mark.parametrize("selector", [ss.OSFS, ss.FastOSFS])
@pytest.mark.parametrize("seed", range(cases(10, 3)))
@pytest.mark.parametrize("kind", ["serial", "clusters", "classes"])
def test_the_markov_blanket_is_that_of_the_twins_test(selector, seed, kind):
    X, y = series(seed, n=120, m=12)
    X[:, 9], X[:, 4] = X[:, 3] + X[:, 1], y - X[:, 3]
    groups = np.random.default_rng(seed).integers(0, 15, len(y))
    labels, n_contrasts = kind == "classes", 1
    if labels:
        y, n_contrasts = np.digitize(y, [-0.7, 0.7]), 2

    class Own:
        def conditional(self, x, target, given):
            for column in (x, twin.contrasts(target, labels)):  # nothing is left of it: independent
                if np.linalg.norm(twin.residuals(column, given)) < 1e-7 * np.linalg.norm(column):
                    return 0.0, 1.0
            if kind == "clusters":
                r, p = twin.clustered(x, target, given, groups)
            else:
                r, p = twin.serial(x, target, given, 20, labels=labels)
            if not given.shape[1]:  # relevance: at least the p-value of independent rows
                p = max(p, p_value_given(r, np.array(len(x) - 1 - n_contrasts), n_contrasts).item())
            return r, 0.0 if np.isnan(p) else p

    options = {"groups": groups} if kind == "clusters" else {"serial": 20}
    found = selector(0.1, p_value="t").fit(X, y, **options)
    expected = selector(0.1, test=Own()).fit(X, y, serial=False)
    assert [line[:4] + line[6:] for line in found.ledger_] == [
        line[:4] + line[6:] for line in expected.ledger_
    ]
    for mine, theirs in zip(found.ledger_, expected.ledger_, strict=True):
        assert mine.p_value == pytest.approx(theirs.p_value, rel=1e-5, abs=1e-12)


def test_pairs_of_columns_have_no_p_value():
    X, y = series()
    found = ss.SAOLA(0.05).fit(X, y, serial=True)
    assert {line.feature for line in found.ledger_.kept()} >= {"x11"}
    other = ss.SAOLA(0.05).fit(X[:, ::-1], y, serial=True)
    lost = [line for sieve in (found, other) for line in sieve.ledger_ if line.reason == "redundant"]
    assert {line.event for line in lost} == {"rejected", "evicted"}
    assert all(np.isnan(line.p_value) for line in lost)


def test_a_new_begin_forgets_the_dependence():
    X, y = series()
    plain = ss.SAOLA().fit(X, y, serial=False)
    again = ss.SAOLA().fit(X, y, serial=True).fit(X, y, serial=False)
    assert lines(again) == lines(plain)
    X, y, groups = visits()
    again = ss.SAOLA().fit(X, y, groups=groups)
    assert lines(again.fit(X, y, serial=False)) == lines(ss.SAOLA().fit(X, y, serial=False))


def test_accuracy_is_asked_about_all_rows():
    X, y, groups = visits()
    shapes = []

    def accuracy(kept):
        shapes.append(kept.shape)
        return 0.0

    sieve = ss.OnlineFDR(stop=ss.Stop(target=1.0, accuracy=accuracy)).begin(y, groups=groups)
    sieve.offer(X)
    assert shapes[0] == (len(y), 1)
    ss.OnlineFDR.from_bytes(sieve.to_bytes())


def test_missing_values_are_left_out_of_means():
    X, y, groups = visits()
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    kept = ss.FastOSFS(missing="omit").fit(holes, y, groups=groups).selected_
    assert {3, 8} & {*kept.tolist()}


def test_equal_groups_are_known_again():
    _, y, groups = visits()
    sieve = ss.SAOLA().begin(y, groups=groups)
    renamed = np.array([label.upper() for label in groups])
    assert sieve.same_rows(y, groups=renamed) is sieve
    with pytest.raises(SchemaError, match="in another group is row"):
        sieve.same_rows(groups=np.roll(groups, 1))
    with pytest.raises(SchemaError, match="given no groups"):
        ss.SAOLA().begin(y, serial=False).same_rows(groups=groups)


def test_merging_needs_the_same_dependence():
    X, y = series()
    one, other = (ss.TopK(k=3, redundancy_weight=0).begin(y, serial=True) for _ in range(2))
    one.offer(X[:, :12], names=[f"a{j}" for j in range(12)])
    other.offer(X[:, 12:], names=[f"b{j}" for j in range(12)])
    whole = ss.TopK(k=3, redundancy_weight=0).fit(X, y, serial=True)
    assert one.merge(other).selected_.tolist() == whole.selected_.tolist()
    for options in ({"serial": 3}, {"serial": False}, {"groups": np.arange(len(y)) // 5}):
        with pytest.raises(MergeError, match="groups, serial"):
            one.merge(ss.TopK(k=3, redundancy_weight=0).begin(y, **options))


# ------------------------------------------------------------------------------------ scikit-learn


def test_groups_are_routed_through_pipelines_and_cross_validation():
    X, y, groups = visits()
    with sklearn.config_context(enable_metadata_routing=True):
        select = ss.SAOLA().set_fit_request(groups=True)
        pipeline = make_pipeline(select, LogisticRegression())
        pipeline.fit(X, y, groups=groups)
        expected = ss.SAOLA().fit(X, y, groups=groups)
        assert pipeline[0].selected_.tolist() == expected.selected_.tolist()
        scores = cross_validate(
            pipeline, X, y, params={"groups": groups}, cv=GroupKFold(4), return_estimator=True
        )
        for fold, (train, _) in enumerate(GroupKFold(4).split(X, y, groups)):
            alone = ss.SAOLA().fit(X[train], y[train], groups=groups[train])
            assert scores["estimator"][fold][0].selected_.tolist() == alone.selected_.tolist()


# ------------------------------------------------------------------------------------ refusals


def test_wrong_groups_are_refused():
    _, y, groups = visits()
    for wrong in (groups[:-1], np.c_[groups, groups]):
        with pytest.raises(SchemaError, match=f"one label for each of {len(y)} rows"):
            ss.SAOLA().begin(y, groups=wrong)
    numbers = pd.factorize(groups)[0].astype(float)
    numbers[7] = np.nan
    text = groups.astype(object)
    text[7] = None
    dates = np.array(["2020-01-01"] * len(y), "M8[D]")
    dates[7] = "NaT"
    for missing in (numbers, text, dates, pd.array(numbers, "Int64"), pd.Series(numbers)):
        with pytest.raises(SchemaError, match="missing value in row 7"):
            ss.SAOLA().begin(y, groups=missing)
    with pytest.raises(SchemaError, match="has 4 groups, too few"):
        ss.SAOLA().begin(y, groups=np.arange(len(y)) % 4)
    with pytest.warns(DependentRowsWarning, match="every row is a group of its own"):
        sieve = ss.SAOLA().begin(y, groups=np.arange(len(y)))
    assert sieve._identity_.groups is None
    for lag in (0, -1, len(y) // 2 + 1, 2.5, "yes"):
        with pytest.raises(ParameterError, match="serial must be True, False, None"):
            ss.SAOLA().begin(y, serial=lag)
    with pytest.raises(ParameterError, match="exclude each other"):
        ss.SAOLA().begin(y, groups=groups, serial=True)


def test_a_refused_begin_changes_nothing():
    X, y, groups = visits()
    sieve = ss.SAOLA().fit(X, y, groups=groups)
    before = lines(sieve)
    with pytest.raises(SchemaError):
        sieve.begin(y, groups=groups[:-1])
    assert lines(sieve) == before
    sieve.offer(X[:, 0], names="more")


@pytest.mark.parametrize(
    "selector",
    [
        ss.SAOLA(measure="su"), ss.SAOLA(missing="omit"), ss.TopK(measure="mutual_info"),
        ss.OSFS(test="chi2"), ss.FastOSFS(missing="omit"), ss.OnlineFDR(scope="conditional"),
        ss.AlphaInvesting(), ss.Grafting(),
        ss.GroupSAOLA(), ss.TwoWay(),
    ],
    ids=repr,
)  # fmt: skip
def test_selectors_without_a_test_refuse_and_name_those_that_have_one(selector):
    _, y, groups = visits(varying=True)
    with pytest.raises(CapabilityError, match="no test for rows in time order.*SAOLA, TopK, OSFS"):
        selector.begin(y, serial=True)
    with pytest.raises(CapabilityError, match="within which y varies: SAOLA, TopK, OSFS"):
        selector.begin(y, groups=groups)


def test_many_classes_are_refused():
    y = np.random.default_rng(0).integers(0, 70, 2000)
    with pytest.raises(TargetError, match="y has 70 classes; tests over dependent rows take 64"):
        ss.SAOLA(task="classification").begin(y, serial=True)


def test_models_refuse_groups():
    _, y, groups = visits()
    with pytest.raises(
        CapabilityError, match="Grafting has no test, and does not take groups of rows.*AlphaInvesting"
    ):
        ss.Grafting().begin(y, groups=groups)


def test_a_state_whose_groups_do_not_fit_is_refused():
    X, y, groups = visits()
    header, arrays = ss.SAOLA().fit(X, y, groups=groups)._saved()
    for name, value in (
        ("identity_/groups", arrays["identity_/groups"][::-1].copy()),
        ("identity_/groups", np.zeros(len(y), np.int64)),
        ("identity_/groups", None),
        ("identity_/lag", np.array(7)),
    ):
        with pytest.raises(StateError):
            _forged(ss.SAOLA, header, {**arrays, name: value})
    X, y = series()
    for selector in (ss.SAOLA(), ss.TopK(), ss.OnlineFDR()):
        header, arrays = fresh(selector).fit(X, y, serial=9)._saved()
        for lag in (None, np.array(8), np.array(len(y))):
            with pytest.raises(StateError):
                _forged(type(selector), header, {**arrays, "identity_/lag": lag})
        with pytest.raises(StateError):
            _forged(type(selector), header, {**arrays, "process_/test/lag": np.array(len(y))})
    assert RowsIdentity.from_state(RowsIdentity.of(y, None, lag=len(y) - 1).state()).lag == len(y) - 1
    with pytest.raises(StateError, match="the lag is not one of this number of rows"):
        RowsIdentity.from_state(RowsIdentity.of(y, None, lag=len(y)).state())


def _forged(cls, header, arrays):
    return cls._from_state("forged", header, {k: v for k, v in arrays.items() if v is not None})


# ------------------------------------------------------------------------------------ the warning


def test_an_autocorrelated_target_warns_once_and_names_the_parameter():
    X, y = series()
    for call in (lambda: ss.SAOLA().begin(y), lambda: ss.SAOLA().fit(X, y)):
        with pytest.warns(DependentRowsWarning, match="pass serial=True to begin or fit") as caught:
            call()
        assert len(caught) == 1
        assert caught[0].filename == __file__
    with pytest.warns(DependentRowsWarning, match="AlphaInvesting has no test for that, but SAOLA"):
        ss.AlphaInvesting().begin(y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ss.SAOLA().begin(y, serial=False)
        ss.SAOLA().begin(np.random.default_rng(0).permutation(y))
        ss.SAOLA().begin(np.sort(y))
        ss.Grafting().begin(y)  # it has no p-values


# ------------------------------------------------------------------------------------ damaged states


@pytest.mark.parametrize("selector", CAPABLE, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_states_are_refused_or_work(selector, kind):
    X, y, options = KINDS[kind]
    header, arrays = fresh(selector).fit(X, y, **options)._saved()

    def load(damaged):
        return type(selector).from_bytes(state.to_bytes(header, damaged))

    def use(sieve):
        sieve.offer(np.random.default_rng(0).normal(size=(sieve.n_samples_seen_, 3)))
        type(selector).from_bytes(sieve.to_bytes())

    n = cases(100, 40)
    refused, _, findings = fuzz(repr(selector), arrays, load, use, n, np.random.default_rng(1))
    assert not findings
    assert refused > n / 4
