"""What offline selectors say of targets and values they cannot take, and of flags that are not quite True."""

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.exceptions import TargetError

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
