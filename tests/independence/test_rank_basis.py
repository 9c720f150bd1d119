"""The joint F test of a rank basis equals its slow twin and statsmodels, holds its level, and sees curves."""

import numpy as np
import pytest
import scipy.special
import scipy.stats
import statsmodels.api as sm
from statsmodels.multivariate.multivariate_ols import _MultivariateOLS

import streamsieve as ss
from streamsieve.decisions import CONSTANT, IRRELEVANT, RELEVANT, UNRELIABLE
from streamsieve.independence.rank_basis import BasisGram, RankBasis, RankBasisF, rank_bases
from streamsieve.protocols import Task
from tests.columns.streams import TASKS, columns, equal_twin, offered, reloaded, rows, target
from tests.helpers.tier import cases
from tests.reference import rank_basis as twin
from tests.reference.fast_osfs import fast_osfs
from tests.reference.osfs import osfs


class Judge:
    """Answers of the slow twin, for the twins of OSFS and Fast-OSFS."""

    def __init__(self, X, y, task, *, alpha, skip):
        self.X, self.y, self.task, self.alpha, self.skip = X, y, task, alpha, skip

    def answer(self, j, Z):
        given = [self.X[:, k] for k in Z]
        squared, p, a, b = twin.joint_f(self.X[:, j], self.y, self.task, given)
        known = twin.rank(np.hstack([np.ones((len(self.y), 1)), *map(twin.basis, given)])) - 1
        n = len(self.y) - known
        return twin.strength(squared, n, a, b), p, a, n - a - b

    def relevance(self, j):
        if np.all(self.X[:, j] == self.X[0, j]):
            return "constant", 0.0, 1.0
        statistic, _, _, freedom = self.answer(j, ())
        # random arrangements are compared with those of the twin elsewhere
        p = float(
            RankBasisF.of(self.y, Task(self.task), None, online=False).measure(self.X[:, [j]]).p_value[0]
        )
        if freedom < 1:
            return "unreliable test", statistic, 1.0
        return None if p <= self.alpha else "irrelevant", statistic, p

    def given(self, j, Z):
        statistic, p, a, freedom = self.answer(j, Z)
        if a == 0:
            return "redundant", 0.0, 1.0
        if freedom < 1:
            return None if self.skip else ("redundant", 0.0, 1.0)
        return None if p <= self.alpha else ("redundant", statistic, p)


@pytest.mark.parametrize("task", TASKS)
def test_random_columns_equal_the_twin(task):
    rng = np.random.default_rng(0)
    seen, ways = set(), []
    for case in range(cases(300)):
        y = target(rng, task, rows(rng, task))
        X = columns(rng, y, int(rng.integers(1, 9)), far=case % 2 == 0)
        found = RankBasisF.of(y, Task(task), 0.05, online=False).measure(X)
        for j, x in enumerate(X.T):
            squared, p, a, b = twin.joint_f(x, y, task)
            constant = np.all(x == x[0])
            way = "f" if constant or len(y) - a - b < 1 else twin.way(x, y, task, p)
            if way != "f":
                p = confirmed(found.p_value[j], p, x, y, task, way)
            ways.append(way)
            wanted = CONSTANT if constant else UNRELIABLE if len(y) - a - b < 1 else None
            if wanted is None:
                wanted = RELEVANT if p <= 0.05 else IRRELEVANT
                assert found.statistic[j] == pytest.approx(twin.strength(squared, len(y), a, b), abs=1e-6)
            assert found.p_value[j] == pytest.approx(p, rel=1e-6, abs=1e-12), (case, j)
            assert found.reason[j] == wanted, (case, j)
            seen.add(wanted)
    assert len(seen) == 4
    assert {"f", "draws"} <= {*ways}


def confirmed(found, p, x, y, task, way):
    """Check a p-value that is confirmed; return it."""
    if way == "fisher":
        table = [[np.sum((x == v) & (y == c)) for c in np.unique(y)] for v in np.unique(x)]
        return scipy.stats.fisher_exact(table).pvalue
    share = twin.arranged(x, y, task, 400, np.random.default_rng(0))
    noise = 5 * np.sqrt(max(share, 0.01) / 400) + 0.5 * share
    assert found >= p * (1 - 1e-9)
    assert found <= max(p, share + noise)
    assert found >= share - noise
    return found


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("fast", [True, False])
def test_conditioning_on_bases_equals_the_twin(fast, task):
    rng = np.random.default_rng(1)
    redundant = 0
    for case in range(cases(60, 20)):
        y = target(rng, task, int(rng.integers(30, 80)))
        X = columns(rng, y, int(rng.integers(2, 9)), far=False)
        X[:, -1] = X[:, 0] ** 2 + 0.1 * rng.normal(size=len(y))
        alpha, most = float(rng.choice([0.01, 0.2])), int(rng.integers(0, 4))
        unreliable = str(rng.choice(["skip", "independent"]))
        judge = Judge(X, y, task, alpha=alpha, skip=unreliable == "skip")
        wanted = (fast_osfs if fast else osfs)(judge, X.shape[1], most)
        cls = ss.FastOSFS if fast else ss.OSFS
        sieve = cls(alpha, test="basis", max_conditioning=most, unreliable=unreliable)
        how = "regression" if task == "regression" else "classification"
        sieve = offered(reloaded(sieve.set_params(task=how).begin(y)), X, rng)
        equal_twin(sieve, wanted, what=(case, task))
        redundant += sum(line.reason == "redundant" for line in wanted[1])
    assert redundant > 5


def test_the_joint_f_test_is_that_of_statsmodels():
    rng = np.random.default_rng(2)
    for _ in range(cases(40)):
        n = int(rng.integers(20, 200))
        x, z = rng.normal(size=(2, n))
        y = x**2 + z + rng.normal(size=n)
        test = RankBasisF.of(y, Task.REGRESSION, 0.05, online=False)
        scores = twin.responses(y, "regression")[:, 0]
        full = sm.OLS(scores, sm.add_constant(np.hstack([twin.basis(z), twin.basis(x)]))).fit()
        given = sm.OLS(scores, sm.add_constant(twin.basis(z))).fit()
        gram = BasisGram(test)
        gram.enter(0, x)
        gram.enter(1, z)
        assert gram.tested(0, (1,))[1] == pytest.approx(full.compare_f_test(given)[1], rel=1e-8)
        alone = sm.OLS(scores, sm.add_constant(twin.basis(x))).fit()
        assert test.measure(x[:, None]).p_value[0] == pytest.approx(alone.f_pvalue, rel=1e-8)
        labels = rng.integers(0, 4, n)
        labels[:4] = range(4)
        indicators = twin.responses(labels, "multiclass")
        model = _MultivariateOLS(indicators, sm.add_constant(twin.basis(x))).fit()
        hypothesis = [("x", np.eye(4)[1:], None, None)]
        wilks = model.mv_test(hypothesis).results["x"]["stat"].loc["Wilks' lambda", "Pr > F"]
        found = RankBasisF.of(labels, Task.MULTICLASS, 0.05, online=False).measure(x[:, None])
        assert found.p_value[0] == pytest.approx(float(wilks), rel=1e-6)


def test_monotone_transformations_change_nothing():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 200))
    one = RankBasisF.of(y, Task.REGRESSION, 0.05, online=False).measure(x[:, None])
    other = RankBasisF.of(np.exp(3 * y), Task.REGRESSION, 0.05, online=False).measure(np.exp(x)[:, None])
    assert one.p_value[0] == other.p_value[0]
    assert one.statistic[0] == other.statistic[0]


def test_bases_are_orthonormal_and_as_wide_as_the_values_allow():
    rng = np.random.default_rng(4)
    X = np.stack([np.zeros(50), rng.random(50) < 0.3, rng.integers(0, 3, 50), rng.normal(size=50)]).astype(
        float
    )
    bases, rank = rank_bases(X)
    assert rank.tolist() == [0, 1, 2, 3]
    for basis, functions in zip(bases, rank, strict=True):
        np.testing.assert_allclose(basis @ basis.T, np.diag(np.arange(3) < functions), atol=1e-12)
        np.testing.assert_allclose(basis.sum(axis=1), 0, atol=1e-12)


def test_dependence_of_two_columns_equals_the_twin_and_is_symmetric():
    rng = np.random.default_rng(5)
    measure = RankBasis()
    for _ in range(cases(200)):
        y = target(rng, "regression", rows(rng, "regression"))
        x, z = columns(rng, y, 2, far=False).T
        found = measure.dependence(x, z)
        assert found == measure.dependence(z, x)
        if np.ptp(x) and np.ptp(z):
            assert found == pytest.approx(twin.dependence(x, z), abs=1e-6)
        else:
            assert found == 0.0


@pytest.mark.parametrize(
    ("n", "make"),
    [
        (50, lambda rng, n: rng.normal(size=n)),
        (100, lambda rng, n: rng.lognormal(size=n)),
        (50, lambda rng, n: np.arange(n) % 2),
        (300, lambda rng, n: np.arange(n) % 5),
    ],
    ids=["normal", "lognormal", "two classes", "five classes"],
)
def test_the_level_holds(n, make):
    rng = np.random.default_rng(6)
    draws, p_values = cases(200_000, 40_000), []
    for _ in range(20):  # targets
        y = make(rng, n)
        task = Task.REGRESSION if y.dtype.kind == "f" else Task.BINARY if y.max() == 1 else Task.MULTICLASS
        test = RankBasisF.of(y, task, 0.05, online=False)
        p_values.append(test.measure(rng.normal(size=(n, draws // 20))).p_value)
    p = np.concatenate(p_values)
    for level in (0.05, 0.01, 0.001):
        noise = 4 * np.sqrt(level * (1 - level) / draws)
        assert np.mean(p <= level) <= 1.15 * level + noise, level
        assert np.mean(p <= level) >= 0.6 * level - noise, level


def skewed(rng, shape):
    return np.searchsorted([0.6, 0.85, 0.95, 0.99], rng.random(shape)).astype(float)


@pytest.mark.parametrize(
    ("counts", "make"),
    [
        ((4, 4), lambda rng, shape: rng.normal(size=shape)),
        ((10, 10), lambda rng, shape: rng.normal(size=shape)),
        ((14, 2, 2, 2), lambda rng, shape: rng.normal(size=shape)),
        ((97, 3), lambda rng, shape: rng.normal(size=shape)),
        ((92, 8), lambda rng, shape: np.maximum(rng.normal(size=shape) - 0.84, 0)),
        ((60, 25, 9, 4, 2), skewed),
    ],
    ids=["8 rows", "20 rows", "four classes", "class of 3", "zeros, class of 8", "skewed levels and classes"],
)
def test_the_level_holds_with_few_rows_ties_and_rare_classes(counts, make):
    """The F test has sizes of up to .12, .04, .018 here."""
    rng = np.random.default_rng(10)
    y, draws = np.repeat(np.arange(len(counts)), counts), cases(40_000, 10_000)
    task = Task.BINARY if len(counts) == 2 else Task.MULTICLASS
    p = RankBasisF.of(y, task, None, online=True).measure(make(rng, (len(y), draws))).p_value
    for level in (0.05, 0.01, 0.001):
        assert np.mean(p <= level) <= 1.2 * level + 4 * np.sqrt(level / draws), level


def test_a_rare_class_is_found_below_what_arrangements_resolve():
    """A class of 12 rows at the top of 200: its p-value is a bound, not 1e-5."""
    x, y = np.arange(200.0), (np.arange(200) >= 188).astype(int)
    found = RankBasisF.of(y, Task.BINARY, 0.05, online=True).measure(x[:, None]).p_value[0]
    exact = 4 / scipy.special.comb(200, 12)
    assert exact <= found <= 1e-10


def test_p_values_do_not_depend_on_the_order_of_rows_or_on_what_was_tested_before():
    rng = np.random.default_rng(11)
    X, y = np.round(rng.normal(size=(40, 30))), (np.arange(40) < 6).astype(int)
    order = rng.permutation(40)
    one = RankBasisF.of(y, Task.BINARY, 0.05, online=True).measure(X).p_value
    test = RankBasisF.of(y[order], Task.BINARY, 0.05, online=True)
    other = [test.measure(X[order][:, [j]]).p_value[0] for j in range(29, -1, -1)][::-1]
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_a_u_is_seen_where_a_correlation_sees_nothing():
    """300 rows, y = .21 x^2 + noise, level .01."""
    rng = np.random.default_rng(7)
    runs, found = 400, {"basis": 0, "fisher_z": 0}
    for _ in range(runs):
        x = rng.normal(size=300)
        y = 0.21 * x**2 + rng.normal(size=300)
        for measure in found:
            found[measure] += len(ss.SAOLA(0.01, measure=measure).fit(x[:, None], y).selected_)
    assert found["basis"] >= 0.85 * runs, found
    assert found["fisher_z"] <= 0.08 * runs, found


@pytest.mark.parametrize(
    "sieve",
    [
        ss.SAOLA(measure="basis"), ss.TopK(5, measure="basis"), ss.OnlineFDR(test="basis"),
        ss.FastOSFS(test="basis"), ss.OSFS(test="basis"), ss.SAOLA(measure="basis", fdr="addis"),
    ],
    ids=repr,
)  # fmt: skip
def test_selectors_find_a_u_and_a_trend(sieve):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(400, 30))
    y = np.abs(X[:, 4]) + 0.5 * X[:, 11] + 0.3 * rng.normal(size=400)
    assert {4, 11} <= {*sieve.fit(X, y).selected_.tolist()}
    labels = np.digitize(y, [0.5, 1.2])
    assert {4, 11} <= {*sieve.fit(X, labels).selected_.tolist()}
    assert reloaded(sieve).offer(X[:, 0] + 1)[0].event == sieve.offer(X[:, 0] + 1)[0].event


def test_a_curve_of_a_kept_column_is_redundant_given_its_basis_but_not_given_the_column():
    rng = np.random.default_rng(9)
    x = rng.uniform(-1, 1, 1000)
    y = x + 2 * x**2 + 0.5 * rng.normal(size=1000)
    X = np.c_[x, x**2 + 0.2 * rng.normal(size=1000)]
    assert ss.FastOSFS(test="basis").fit(X, y).selected_.tolist() == [0]
    assert ss.FastOSFS().fit(X, y).selected_.tolist() == [0, 1]
