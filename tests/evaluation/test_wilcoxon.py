"""Signed ranks and Holm: scipy, all signs counted out, Demsar's example."""

import numpy as np
import pytest
from scipy import stats

from streamsieve.evaluation.significance import holm, signed_rank, wilcoxon
from streamsieve.exceptions import InputError, ParameterError
from tests.evaluation.test_friedman import DEMSAR, TREES
from tests.reference import significance as twin


def test_equals_scipy_where_it_is_exact():
    rng = np.random.default_rng(0)
    for n in range(2, 41):
        a, b = rng.normal(size=n), rng.normal(size=n)
        found = signed_rank(a, b)
        expected = stats.wilcoxon(a, b, method="exact")
        assert found.exact
        assert min(found.plus, found.minus) == expected.statistic
        assert found.p_value == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize(("zeros", "theirs"), [("drop", "wilcox"), ("pratt", "pratt")])
def test_equals_scipy_where_it_is_normal(zeros, theirs):
    """Many values with ties and zeros; scipy's correction for ties gives the same variance."""
    rng = np.random.default_rng(1)
    for n in (150, 400):
        a, b = rng.integers(0, 9, n), rng.integers(0, 9, n)
        found = signed_rank(a, b, zeros=zeros)
        expected = stats.wilcoxon(a, b, method="approx", zero_method=theirs)
        assert not found.exact
        assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_all_signs_counted_out():
    rng = np.random.default_rng(2)
    for _ in range(60):
        differences = rng.integers(-4, 5, rng.integers(1, 10))  # full of ties and zeros
        found = signed_rank(differences, np.zeros(len(differences)))
        if differences.any():
            assert found.p_value == pytest.approx(min(1, twin.signed_rank_p(differences.tolist())), abs=1e-12)
        else:
            assert (found.n, found.p_value) == (0, 1)


def test_exact_and_normal_meet():
    rng = np.random.default_rng(3)
    a = rng.normal(0.2, 1, 100)
    exact = signed_rank(a, np.zeros(100))
    assert exact.exact
    z = (min(exact.plus, exact.minus) - 100 * 101 / 4) / np.sqrt(100 * 101 * 201 / 24)
    assert exact.p_value == pytest.approx(2 * stats.norm.cdf(z), rel=0.02)


def test_demsar():
    """Table 2: R+ is 93 and R- 12, of which the two zeros give 1.5 to either side."""
    found = signed_rank(DEMSAR[:, 1], DEMSAR[:, 0], zeros="pratt")
    assert (found.plus + 1.5, found.minus + 1.5, found.n) == (93, 12, 12)
    assert found.p_value < 0.05


def test_differences_tie_though_their_last_bits_differ():
    found = signed_rank([0.9, 0.8, 0.3], [0.8, 0.7, 0.2])
    assert len({0.9 - 0.8, 0.8 - 0.7, 0.3 - 0.2}) > 1
    assert (found.plus, found.minus, found.n) == (6, 0, 3)
    mixed = signed_rank([0.9, 0.7, 0.3], [0.8, 0.8, 0.2])
    assert (mixed.plus, mixed.minus) == (4, 2)
    assert signed_rank([0.1 + 0.2], [0.3]).n == 0


def test_holm():
    """The example of Demsar 2006, section 3.2.2: p-values 0.016, 0.607, 0.018 for three comparisons."""
    np.testing.assert_allclose(holm([0.016, 0.607, 0.018]), [0.048, 0.607, 0.048])
    rng = np.random.default_rng(4)
    for _ in range(200):
        p = rng.uniform(size=rng.integers(0, 8))
        adjusted = holm(p)
        # step by step, as the procedure is defined
        for alpha in (0.01, 0.05, 0.2):
            rejected = np.zeros(len(p), bool)
            for step, i in enumerate(np.argsort(p)):
                if p[i] > alpha / (len(p) - step):
                    break
                rejected[i] = True
            np.testing.assert_array_equal(adjusted <= alpha, rejected)
    with pytest.raises(InputError, match="from 0 to 1"):
        holm([0.1, 1.1])


def test_pairs_and_control():
    all_pairs = wilcoxon(DEMSAR, TREES)
    pairs = [(each.first, each.second) for each in all_pairs.comparisons]
    assert pairs[:2] == [("C4.5", "C4.5+m"), ("C4.5", "C4.5+cf")]
    assert len(all_pairs.comparisons) == 6
    control = wilcoxon(DEMSAR, TREES, "C4.5+m")
    assert {each.first for each in control.comparisons} == {"C4.5+m"}
    first = control.comparisons[0]
    assert first.test.p_value == all_pairs.comparisons[0].test.p_value
    assert first.better == "C4.5+m"
    assert all_pairs.comparisons[0].better == ("C4.5+m" if all_pairs.comparisons[0].holm < 0.05 else "")
    errors = wilcoxon(1 - DEMSAR, TREES, "C4.5+m", higher_is_better=False)
    assert [each.better for each in errors.comparisons] == [each.better for each in control.comparisons]
    assert "C4.5+m vs C4.5 " in str(control)


def test_equals_scikit_posthocs():
    """What ``posthoc_wilcoxon(table.T, p_adjust="holm")`` of scikit-posthocs 0.17.1 gives, exact as well."""
    i, j = np.meshgrid(np.arange(12), np.arange(4), indexing="ij")
    found = wilcoxon(np.sin(7.0 * i * i + 3 * j) + 0.4 * j, list("abcd"))
    expected = [1.0, 0.0029296875, 0.13671875, 1.0, 0.0029296875, 1.0]  # ab, ac, ad, bc, bd, cd
    np.testing.assert_allclose([each.holm for each in found.comparisons], expected, rtol=1e-12)


def test_bad_input_is_refused():
    with pytest.raises(ParameterError, match=r"no method 'C4\.5\+x'; did you mean"):
        wilcoxon(DEMSAR, TREES, "C4.5+x")
    with pytest.raises(ParameterError, match="zeros must be one of"):
        signed_rank([1], [2], zeros="split")
    with pytest.raises(InputError, match="two rows of equal length"):
        signed_rank([1, 2], [2])
    with pytest.raises(InputError, match="finite"):
        signed_rank([1, np.inf], [2, 1])
