"""G2 and Pearson's chi-squared against scipy, causal-learn, mutual information and the slow twin."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2, chi2_contingency

from streamsieve.decisions import REASONS
from streamsieve.exceptions import BadValueError, InputTypeError, ParameterError, SchemaError, TargetError
from streamsieve.independence.chi_square import ChiSquareTest
from streamsieve.independence.g_squared import GSquared
from streamsieve.independence.table_p_values import p_value
from streamsieve.protocols import Reason, Task
from tests.helpers.tier import cases
from tests.reference import g_squared as twin
from tests.reference.chi_square import chi_square

FORMS = {
    "row by row": np.ascontiguousarray,
    "column by column": np.asfortranarray,
    "csc_array": sp.csc_array,
    "float32": lambda X: X.astype(np.float32),
    "every second row of a view": lambda X: np.repeat(X, 2, axis=0)[::2],
}
TASKS = {2: Task.BINARY, 3: Task.MULTICLASS, 5: Task.MULTICLASS}
#: Per test: its name in scipy and in causal-learn, and the statistic of the twin.
TESTS = {GSquared: ("log-likelihood", "gsq", twin.g_squared), ChiSquareTest: ("pearson", "chisq", chi_square)}
WAYS = pytest.mark.parametrize("way", ["moments", "chi2"])
both = pytest.mark.parametrize("cls", TESTS, ids=lambda cls: cls.__name__)


def case(rng, most_levels=6):
    """Return labels, a column and what is given: up to three columns, some of them copies or constant."""
    n, C, given = int(rng.integers(8, 400)), int(rng.choice(list(TASKS))), int(rng.integers(0, 4))
    y = np.concatenate([np.arange(C), rng.integers(0, C, n - C)])
    columns = []
    for _ in range(given + 1):
        levels = int(rng.integers(2, most_levels))
        column = rng.integers(0, levels, n)
        follows = rng.random(n) < rng.choice([0.0, 0.3, 0.9])
        columns.append(np.where(follows, rng.permutation(max(C, levels))[y] % levels, column) - 1.0)
    if given and rng.random() < 0.1:
        columns[-1] = columns[0] if rng.random() < 0.5 else np.zeros(n)
    return y, columns[0], np.array(columns[1:]).T.reshape(n, given)


def by_scipy(x, y, Z, **kwargs):
    """Return statistic and degrees of freedom, stratum by stratum."""
    statistic, freedom = 0.0, 0
    strata = np.unique(Z, axis=0, return_inverse=True)[1] if Z.shape[1] else np.zeros(len(x), int)
    for z in np.unique(strata):
        inside = strata == z
        table = [[np.sum(inside & (x == a) & (y == b)) for b in np.unique(y)] for a in np.unique(x)]
        table = np.array(table)
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        if min(table.shape) > 1:
            found = chi2_contingency(table, correction=False, **kwargs)
            statistic += found.statistic
            freedom += found.dof
    return statistic, freedom


def information(*columns):
    """Return the joint entropy in nats."""
    share = np.unique(np.column_stack(columns), axis=0, return_counts=True)[1] / len(columns[0])
    return -np.sum(share * np.log(share))


@both
def test_statistic_and_freedom_are_those_of_scipy(cls):
    rng = np.random.default_rng(0)
    for _ in range(cases(200)):
        y, x, Z = case(rng)
        tested = cls(y, TASKS[y.max() + 1], 0.01, p_value="chi2").given(x, Z)
        statistic, freedom = by_scipy(x, y, Z, lambda_=TESTS[cls][0])
        assert tested.statistic == pytest.approx(statistic, rel=1e-12, abs=1e-12 * len(y))
        assert tested.freedom == freedom
        assert tested.p_value == pytest.approx(chi2.sf(statistic, freedom) if freedom else 1.0, abs=1e-10)


@both
def test_p_values_are_those_of_causal_learn(cls):
    cit = pytest.importorskip("causallearn.utils.cit", reason="causal-learn is not there: oracle skipped")
    rng = np.random.default_rng(1)
    for _ in range(cases(100)):
        y, x, Z = case(rng)
        if len(np.unique(x)) < 2:
            continue
        oracle = cit.CIT(np.column_stack([x, y, Z]), TESTS[cls][1])
        wanted = oracle(0, 1, tuple(range(2, 2 + Z.shape[1])))
        tested = cls(y, TASKS[y.max() + 1], 0.01, p_value="chi2").given(x, Z)
        assert tested.p_value == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_there_is_no_continuity_correction():
    table = np.array([[3, 9], [7, 2]])
    x, y = np.repeat([0, 0, 1, 1], table.ravel()), np.repeat([0, 1, 0, 1], table.ravel())
    statistic = ChiSquareTest(y, Task.BINARY, 0.01).given(x, np.zeros((21, 0))).statistic
    assert statistic == pytest.approx(chi2_contingency(table, correction=False).statistic, rel=1e-12)
    assert statistic != pytest.approx(chi2_contingency(table).statistic, rel=0.1)


def test_it_is_twice_the_rows_times_the_conditional_information():
    rng = np.random.default_rng(2)
    for _ in range(100):
        y, x, Z = case(rng)
        nothing = np.zeros((len(y), 1))
        Z = np.hstack([Z, nothing])
        shared = information(x, Z) + information(y, Z) - information(x, y, Z) - information(Z)
        tested = GSquared(y, TASKS[y.max() + 1], 0.01).given(x, Z[:, :-1])
        assert tested.statistic == pytest.approx(2 * len(y) * shared, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("degrees", ["nominal", "zero_cells", "strata"])
@pytest.mark.parametrize("reliable", ["nominal", "occupied"])
@WAYS
def test_every_rule_is_that_of_the_twin(degrees, reliable, way):
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(cases(100)):
        y, x, Z = case(rng)
        rules = {"degrees": degrees, "reliable": reliable, "p_value": way}
        test = GSquared(y, TASKS[y.max() + 1], 0.05, **rules)
        tested = test.given(x, Z)
        levels = [twin.levels(z) for z in Z.T]
        wanted = twin.conditional(twin.levels(x), y, levels, **rules, alpha=0.05)
        if wanted.reliable or Z.shape[1]:
            assert tested.statistic == pytest.approx(wanted.statistic, rel=1e-12, abs=1e-12 * len(y))
        assert tested.reliable == wanted.reliable
        if way == "chi2":
            assert tested.freedom == wanted.freedom
        elif not wanted.reliable and not Z.shape[1]:
            assert tested.p_value == 1.0
            continue
        assert tested.p_value == pytest.approx(wanted.p_value, rel=1e-9, abs=1e-12)
        seen.add(tested.reliable)
    assert seen == {True, False}


def test_the_order_and_the_names_of_levels_and_members_mean_nothing():
    rng = np.random.default_rng(4)
    for _ in range(30):
        y, x, Z = case(rng)
        test = GSquared(y, TASKS[y.max() + 1], 0.01)
        names = rng.permutation(8) * 3.5 - 7
        renamed = test.given(names[x.astype(int) + 1], names[Z.astype(int) + 1][:, ::-1])
        assert renamed == pytest.approx(test.given(x, Z), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("given", [1, 2, 3])
def test_what_repeats_the_column_leaves_nothing(given):
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 3, (2, 200))
    Z = np.column_stack([x, *rng.integers(0, 2, (given - 1, 200))])
    for way in ("moments", "chi2"):
        assert GSquared(y, Task.MULTICLASS, 0.01, p_value=way).given(x, Z) == (0.0, 0, 1.0, given < 3)


def test_what_repeats_the_target_leaves_nothing():
    rng = np.random.default_rng(6)
    x, y = rng.integers(0, 3, (2, 200))
    assert GSquared(y, Task.MULTICLASS, 0.01).given(x, y[:, None])[:3] == (0.0, 0, 1.0)


def block(rng, n, C):
    """Return labels and columns of every kind."""
    y = np.concatenate([np.arange(C), rng.integers(0, C, n - C)])
    columns = [
        (rng.random(n) < 0.2).astype(float),  # sparse and binary
        np.where(y == 0, 1.0, 2.0),  # one value a class, never 0
        np.full(n, 4.2),  # constant
        np.zeros(n),
        rng.integers(-1, 2, n) * 2.0,
        rng.integers(0, 32, n) - 5.0,
        rng.integers(0, 40, n) + y * 3.0,  # more than 32 values
        np.where(rng.random(n) < 0.7, 0.0, rng.normal(size=n)),  # zeros and more
        rng.normal(size=n) + y,
        np.where(rng.random(n) < 0.9, 3.0, rng.normal(size=n)),  # bins without rows
        y + 0.0,
        np.exp(rng.normal(size=n)) * 1e90,
    ]
    return y, np.array(columns).T


@both
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("way", "degrees"),
    [("chi2", "nominal"), ("chi2", "zero_cells"), ("chi2", "strata"), ("moments", "strata")],
)
def test_a_block_is_judged_as_the_twin_judges_its_columns(cls, form, way, degrees):
    rng = np.random.default_rng(7)
    for _ in range(15):
        n, C = int(rng.integers(10, 200)), int(rng.choice(list(TASKS)))
        y, X = block(rng, n, C)
        if form == "float32":
            X = np.minimum(X, 1e30).astype(np.float32).astype(float)
        bins = int(rng.choice([2, 5, 7]))
        test = cls(y, TASKS[C], 0.05, degrees=degrees, bins=bins, p_value=way)
        measured = test.relevance(FORMS[form](X))
        rules = {"degrees": degrees, "bins": bins, "statistic": TESTS[cls][2], "p_value": way}
        judge = twin.Tables(X, y, alpha=0.05, **rules)
        p_values = test.p_values(measured.tested, measured.freedom)
        for j in range(X.shape[1]):
            reason, statistic, p = judge.relevance(j)
            assert REASONS[measured.reason[j]] == (reason or "relevant")
            assert measured.statistic[j] == pytest.approx(statistic, rel=1e-12, abs=1e-12 * n)
            assert p_values[j] == pytest.approx(p, rel=1e-9, abs=1e-12)
            assert measured.levels[j] == judge.X[j].max() + 1


def test_dense_and_sparse_are_the_same_to_the_last_bit():
    rng = np.random.default_rng(8)
    for _ in range(10):
        y, X = block(rng, 100, 3)
        test = GSquared(y, Task.MULTICLASS, 0.05)
        for dense, sparse in zip(test.relevance(X), test.relevance(sp.csc_array(X)), strict=True):
            np.testing.assert_array_equal(dense, sparse)


def test_explicit_zeros_of_a_sparse_block_are_zeros():
    y = np.arange(40) % 2
    X = sp.csc_array(np.column_stack([y, 1 - y]).astype(float))
    X.data[::3] = 0.0
    test = GSquared(y, Task.BINARY, 0.05)
    np.testing.assert_array_equal(test.relevance(X).statistic, test.relevance(X.toarray()).statistic)


def test_a_single_column_is_judged_as_in_a_block():
    rng = np.random.default_rng(9)
    irrelevant = 0
    for _ in range(20):
        y, X = block(rng, 60, 2)
        test = GSquared(y, Task.BINARY, 0.05)
        measured = test.relevance(X)
        for j in range(X.shape[1]):
            found, reason = test.measure_one(np.ascontiguousarray(X[:, j])), REASONS[measured.reason[j]]
            if reason in (Reason.IRRELEVANT, Reason.RELEVANT):
                p = test.p_values(measured.tested, measured.freedom)[j]
                assert found == (reason, measured.statistic[j], p)
                irrelevant += reason is Reason.IRRELEVANT
            else:
                assert found is None
    assert irrelevant > 50
    assert test.measure_one(np.full(60, np.nan)) is None
    assert test.measure_one(np.r_[np.inf, np.ones(59)]) is None


def test_a_numeric_target_is_cut_into_five():
    rng = np.random.default_rng(10)
    for n in (3, 4, 7, 50, 203):
        y = rng.normal(size=n).round(1)
        test = GSquared(y, Task.REGRESSION, 0.05)
        np.testing.assert_array_equal(test.y, twin.classes(y.tolist(), "regression"))
    lumped = GSquared(np.r_[0.5, np.ones(99)], Task.REGRESSION, 0.05)
    assert set(lumped.relevance(rng.normal(size=(100, 3))).statistic) == {0.0}


def test_too_few_rows_are_reported_and_not_guessed():
    y = np.arange(24) % 3
    X = np.column_stack([y, np.arange(24) % 4])
    measured = GSquared(y, Task.MULTICLASS, 0.05, p_value="chi2").relevance(
        X
    )  # 4 and 6 degrees: 4 can be tested
    assert [REASONS[code] for code in measured.reason] == [Reason.RELEVANT, Reason.UNRELIABLE]
    assert measured.statistic[1] == measured.freedom[1] == 0
    measured = GSquared(y, Task.MULTICLASS, 0.05).relevance(X)
    assert [REASONS[code] for code in measured.reason] == [Reason.RELEVANT, Reason.IRRELEVANT]
    as_many = GSquared(np.arange(10), Task.MULTICLASS, 0.99).relevance(np.arange(10.0)[:, None] % 2)
    assert REASONS[as_many.reason[0]] is Reason.UNRELIABLE


def test_critical_values_are_where_the_p_value_is_alpha():
    for alpha in (1e-6, 0.01, 0.05, 0.9):
        test = GSquared(np.arange(1000) % 2, Task.BINARY, alpha, p_value="chi2")
        assert test.critical(2)[0] == math.inf
        critical = test.critical(5, 3)
        assert len(critical) == 1 + min(1000 // 5, 4 * 5**3)
        np.testing.assert_allclose(p_value(critical[1:], np.arange(1, len(critical))), alpha, rtol=1e-8)
        assert test.critical(3) is critical


def test_what_is_no_number_is_refused():
    test = GSquared(np.arange(10) % 2, Task.BINARY, 0.05)
    with pytest.raises(InputTypeError, match="encode categories as numbers"):
        test.relevance(np.array([["a"], ["b"]] * 5))
    for bad in (np.nan, np.inf, -np.inf):
        for kind in (np.arange(10.0), np.zeros(10), np.arange(10.0) * 10):
            for form in (np.ascontiguousarray, sp.csc_array):
                X = np.column_stack([np.ones(10), kind])
                X[3, 1] = bad
                with pytest.raises(BadValueError, match="column 1 holds NaN or infinity"):
                    test.relevance(form(X))
    wide = GSquared(np.arange(100) % 2, Task.BINARY, 0.05)
    X = np.arange(100.0)[:, None]
    X[77] = np.nan
    with pytest.raises(BadValueError):
        wide.relevance(X)


def test_whole_numbers_and_booleans_are_numbers():
    y = np.arange(40) % 2
    test = GSquared(y, Task.BINARY, 0.05)
    for dtype in (bool, np.int8, np.uint64, np.float32):
        assert REASONS[test.relevance(y[:, None].astype(dtype)).reason[0]] is Reason.RELEVANT


def test_shapes_and_parameters_are_checked():
    y = np.arange(10) % 2
    with pytest.raises(SchemaError, match="8 rows, but the target has 10"):
        GSquared(y, Task.BINARY, 0.05).relevance(np.zeros((8, 1)))
    with pytest.raises(SchemaError, match=r"shapes \(10,\) and \(10, 4\)"):
        GSquared(y, Task.BINARY, 0.05).given(np.zeros(10), np.zeros((10, 4)))
    with pytest.raises(ParameterError, match="degrees must be one of"):
        GSquared(y, Task.BINARY, 0.05, degrees="zero cells")
    with pytest.raises(ParameterError, match="reliable must be one of"):
        GSquared(y, Task.BINARY, 0.05, reliable="always")
    with pytest.raises(ParameterError, match="alpha must be a number above 0"):
        GSquared(y, Task.BINARY, 0.0)
    with pytest.raises(ParameterError, match="bins must be a whole number"):
        GSquared(y, Task.BINARY, 0.05, bins=1)
    with pytest.raises(TargetError, match="70,000 classes"):
        GSquared(np.arange(70_000), Task.MULTICLASS, 0.05)


def test_a_state_comes_back():
    test = GSquared(np.arange(30) % 3, Task.MULTICLASS, 0.02, "nominal", 7, "occupied", exact=True)
    again = GSquared.from_state(test.state())
    assert (again.alpha, again.degrees, again.bins, again.reliable) == (0.02, "nominal", 7, "occupied")
    assert (again.p_value, again.exact) == ("moments", True)
    X = np.random.default_rng(0).normal(size=(30, 4))
    for ours, theirs in zip(test.relevance(X), again.relevance(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@both
@WAYS
def test_a_search_is_compiled_once_for_all_p_values(cls, way):
    """Numba compiles a kernel again for arrays that are read-only."""
    test = cls(np.arange(40) % 2, Task.BINARY, 0.05, p_value=way)
    assert not test.bounds(2, 1).flags.writeable
    assert test.critical(2, 2).flags.writeable
