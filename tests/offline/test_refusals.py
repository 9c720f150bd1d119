"""What offline selectors refuse and say of it: parameters, targets, sizes; and flags that come from NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.exceptions import InputError, ParameterError, TargetError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 6))
Y = (X[:, 1] > 0).astype(int)
TEXT = np.array(["yes", "no"])[Y]


@pytest.mark.parametrize(
    ("selector", "y", "remedy"),
    [
        (ss.ReliefF(), X[:, 0], "RReliefF"),
        (ss.TraceRatio(2), X[:, 0], "RReliefF"),
        (ss.RReliefF(), TEXT, "ReliefF, MRMR"),
        (ss.LARS(2), np.arange(60) % 5, "task='regression'"),
    ],
)
def test_a_target_of_another_kind_is_sent_to_methods_that_take_it(selector, y, remedy):
    with pytest.raises(TargetError, match=remedy):
        selector.fit(X, y)


WHOLE, ONE_OF = "must be a whole number at least", "must be one of"


@pytest.mark.parametrize(
    ("cls", "parameters", "message"),
    [
        (ss.ReliefF, {"k": 0}, f"k {WHOLE} 1; got 0"),
        (ss.ReliefF, {"n_neighbors": 0}, f"n_neighbors {WHOLE} 1; got 0"),
        (ss.ReliefF, {"metric": "cosine"}, f"metric {ONE_OF} 'euclidean', 'manhattan'; got 'cosine'"),
        (ss.ReliefF, {"nominal": [4]}, "nominal must be None, 'all', or a list of columns, 0 to 3.*got 4"),
        (ss.ReliefF, {"nominal": [True]}, "nominal must be .*got True"),
        (ss.ReliefF, {"nominal": 1.5}, "nominal must be .*got 1.5"),
        (ss.ReliefF, {"n_rows_sampled": 0}, f"n_rows_sampled {WHOLE} 1; got 0"),
        (ss.ReliefF, {"random_state": -1}, "random_state must be"),
        (ss.RReliefF, {"sigma": 0}, "sigma must be a number above 0; got 0"),
        (ss.MRMR, {"scheme": "mud"}, f"scheme {ONE_OF} 'mid', .*; got 'mud'; did you mean 'mid'"),
        (ss.MRMR, {"bins": 1}, f"bins {WHOLE} 2 and at most 1024; got 1"),
        (ss.MRMR, {"task": "ranking"}, f"task {ONE_OF}"),
        (ss.FCBF, {"delta": 1.0}, "delta must be a number at least 0 and below 1; got 1.0"),
        (ss.FCBF, {"bins": 2000}, f"bins {WHOLE} 2 and at most 1024; got 2000"),
        (ss.HITONPC, {"alpha": 0}, "alpha must be a number above 0 and below 1; got 0"),
        (ss.HITONPC, {"test": "t"}, f"test {ONE_OF} 'auto', 'fisher_z', 'g2', 'chi2'; got 't'"),
        (ss.HITONPC, {"max_conditioning": 4}, f"max_conditioning {WHOLE} 0 and at most 3; got 4"),
        (ss.SPFS, {"method": "lasso"}, f"method {ONE_OF} 'lars', 'omp'; got 'lasso'"),
        (ss.SPFS, {"rank": 0}, f"rank {WHOLE} 1; got 0"),
        (ss.SPFS, {"supervised": False, "rank": 4}, "rank=4, but X has 4 rows: choose rank < 4"),
        (ss.SPFS, {"gamma": -1}, "gamma must be a number above 0; got -1"),
        (ss.SPEC, {"variant": 4}, f"variant {WHOLE} 1 and at most 3; got 4"),
        (ss.SPEC, {"gamma": 0}, "gamma must be a number above 0; got 0"),
        (ss.SPEC, {"clusters": 1}, f"clusters {WHOLE} 2; got 1"),
        (ss.SPEC, {"clusters": 9}, "clusters=9, but X has 4 rows: choose clusters <= 4"),
        (ss.SPEC, {"supervised": 2}, f"supervised {ONE_OF} True, False; got 2"),
        (ss.InfFS, {"mixing": 1.5}, "mixing must be a number at least 0 and at most 1; got 1.5"),
        (ss.InfFS, {"supervised": "yes"}, f"supervised {ONE_OF} True, False; got 'yes'"),
        (ss.InfFS, {"fisher": -1}, "fisher must be a number at least 0; got -1"),
        (ss.InfFS, dict.fromkeys(("information", "fisher", "deviation"), 0), "fisher, deviation are all 0"),
        (ss.GDM, {"group_size": 0}, f"group_size {WHOLE} 1; got 0"),
        (ss.GDM, {"C": 0}, "C must be a number above 0; got 0"),
        (ss.GDM, {"tol": -0.1}, "tol must be a number at least 0; got -0.1"),
        (ss.GDM, {"max_rounds": 0}, f"max_rounds {WHOLE} 1; got 0"),
        (ss.GDM, {"tau": 1}, "tau must be a number at least 0 and below 1; got 1"),
        (ss.LARS, {"method": "ridge"}, f"method {ONE_OF} 'lar', 'lasso'; got 'ridge'"),
        (ss.TraceRatio, {"standardize": "no"}, f"standardize {ONE_OF} True, False; got 'no'"),
    ],
)
def test_parameters_are_refused_by_name(cls, parameters, message):
    selector = cls(**parameters)
    with pytest.raises(ParameterError, match=message):
        selector.fit(np.eye(4), [0.5, 1, 0, 1] if cls is ss.RReliefF else [0, 1, 0, 1])
    assert not hasattr(selector, "ranked_")


@pytest.mark.parametrize(
    ("cls", "y", "message"),
    [
        (ss.ReliefF, list("aabaacc"), "class 'b' has one row only.*give at least two rows"),
        (ss.Relief, [0, 0, 0, 1, 0, 0, 0], "class 1 has one row only"),
        (ss.Relief, [0, 1, 2, 0, 1, 2, 0], "Relief needs a binary target, but y is multiclass: ReliefF"),
        (ss.RReliefF, [0.5] * 7, "y is constant"),
        (ss.GDM, [0, 1, 2, 0, 1, 2, 0], "GDM needs a binary target"),
        (ss.LARS, [0, 1, 2, 0, 1, 2, 0], "LARS needs a binary or regression target.*SPFS"),
        (ss.StumpBoosting, [0, 1, 2, 0, 1, 2, 0], "StumpBoosting needs a binary target, but y is multiclass"),
    ],
)
def test_targets_are_refused_with_what_to_do(cls, y, message):
    with pytest.raises(TargetError, match=message):
        cls().fit(np.eye(7), y)


@pytest.mark.parametrize(
    ("selector", "shape", "message"),
    [
        (ss.SPEC(), (20_001, 2), "X has 20,001 of them: 20,000 are the most.*supervised=True"),
        (ss.InfFS(), (3, 20_001), "X has 20,001: at most 20,000 are supported; reduce them with Screen"),
    ],
)
def test_matrices_too_large_to_compare_all_pairs_are_refused(selector, shape, message):
    with pytest.raises(InputError, match=message):
        selector.fit(sp.csr_array(shape))


@pytest.mark.parametrize("cls", [ss.SPEC, ss.InfFS, ss.SPFS])
@pytest.mark.parametrize(("flag", "value"), [(True, np.True_), (True, 1), (False, np.False_), (False, 0)])
def test_flags_may_come_from_numpy(cls, flag, value):
    wanted, found = (cls(2, supervised=each).fit(X, Y).ranked_ for each in (flag, value))
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("selector", [ss.SPEC(2), ss.SPEC(2, variant=3, clusters=2)])
@pytest.mark.parametrize("unit", [2.0**-540, 2.0**-1030, 2.0**300])
def test_which_rows_are_alike_does_not_depend_on_units(form, selector, unit):
    wanted = selector.fit(form(X)).ranked_.copy()
    np.testing.assert_array_equal(selector.fit(form(X * unit)).ranked_, wanted)
