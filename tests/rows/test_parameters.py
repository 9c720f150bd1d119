"""Parameters of row selectors out of range are refused on the first rows, by name and with what came."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import streamsieve as ss
from streamsieve.exceptions import ParameterError

CASES = [
    (ss.BARDA(learning_rate=0), "learning_rate must be a number above 0"),
    (ss.BARDA(l2=-1), "l2 must be a number at least 0"),
    (ss.BARDA(damping=0), "damping must be a number at least 1e-30"),
    (ss.FIRES(learning_rate_mean=-1), "learning_rate_mean must be a number at least 0"),
    (ss.FIRES(learning_rate_spread=1e9), "learning_rate_spread must be a number at least 0 and at most 1000"),
    (ss.FIRES(penalty_spread=-0.1), "penalty_spread must be a number at least 0"),
    (ss.FIRES(l2=0), "l2 must be a number at least 1e-30"),
    (ss.FIRES(epochs=0), "epochs must be a whole number at least 1"),
    (ss.FIRES(batch_size=0), "batch_size must be a whole number at least 1"),
    (ss.FSDS(rank=0), "rank must be a whole number at least 1; got 0"),
    (ss.FSDS(sketch_size=1), "sketch_size must be a whole number at least 2; got 1"),
    (ss.FSDS(sketch_size=3, rank=3), "sketch_size=3 must be above rank=3"),
    (ss.FSDS(penalty=0.0), r"penalty must be a number at least 1e-06; got 0\.0"),
    (ss.FSDS(center="yes"), "center must be one of True, False; got 'yes'"),
    (ss.FSDS(batch_size=0), "batch_size must be a whole number at least 1 and at most"),
    (ss.MISSION(depth=4), "depth must be odd.*got 4: use 3 or 5"),
    (ss.MISSION(depth=33), "depth must be a whole number at least 1 and at most 31"),
    (ss.MISSION(width=0), "width must be a whole number at least 1"),
    (ss.MISSION(width=2**31), "width must be"),
    (ss.MISSION(k=0), "k must be a whole number at least 1"),
    (ss.MISSION(learning_rate=0), "learning_rate must be a number above 0"),
    (ss.MISSION(half_life=0.5), "half_life must be a number at least 1"),
    (ss.MISSION(random_state=-1), "random_state must be a whole number at least 0"),
    (ss.MISSION(random_state="one"), "random_state must be a whole number"),
    (ss.MISSION(output="both"), "output must be one of"),
    (ss.OFS(k=0), "k must be a whole number at least 1"),
    (ss.OFS(learning_rate=0), "learning_rate must be a number above 0"),
    (ss.OFS(l2=0), "l2 must be a number at least 1e-12"),
    (ss.OFS(learning_rate=100, l2=0.01), r"learning_rate \* l2 must be below 1.*100 \* 0.01"),
    (ss.PartialOFS(exploration=0), "exploration must be a number at least 1e-06 and at most 1"),
    (ss.PartialOFS(radius=0), "radius must be a number above 0"),
    (ss.PartialOFS(learning_rate=-1), "learning_rate must be a number above 0"),
    (ss.PartialOFS(random_state=1.5), "random_state must be a whole number"),
    *(
        (ss.SOFS(regularization=v), "regularization must be a number at least 1e-06")
        for v in (0, -1, 1e-7, "1")
    ),
    (ss.RunningAverages(model="olasso"), "model must be one of .*; got 'olasso'; did you mean 'lasso'"),
    (ss.RunningAverages(alpha=0.1), "alpha=0.1 has no meaning for model='mcp'.*use model='t_test'"),
    (ss.RunningAverages(2, alpha=0.1, model="t_test"), "one of k and alpha, not k=2 and alpha=0.1"),
    (ss.RunningAverages(alpha=1.0, model="t_test"), "alpha must be a number above 0 and below 1"),
    (ss.RunningAverages(correction="fdr"), "correction must be one of"),
    (ss.RunningAverages(l2=-1), "l2 must be a number at least 0"),
    (ss.RunningAverages(steps=1), "steps must be a whole number at least 2"),
    (ss.RunningAverages(annealing=-1), "annealing must be a number at least 0"),
    (ss.RunningAverages(gamma=1), "gamma must be a number above 1"),
    (ss.RunningAverages(balanced="yes"), "balanced must be one of"),
    (ss.RunningAverages(half_life=0), "half_life must be a number at least 1"),
    (ss.RunningAverages(task="ranking"), "task must be one of"),
    (ss.VelocityScreen(k=0), "k must be a whole number at least 1; got 0"),
    (ss.VelocityScreen(window=9), "window must be a whole number at least 10; got 9"),
    (ss.VelocityScreen(bins=1), "bins must be a whole number at least 2 and at most 1024; got 1"),
    (ss.VelocityScreen(fence=-0.5), r"fence must be a number at least 0; got -0\.5"),
    (ss.VelocityScreen(alarm=0), "alarm must be a number above 0; got 0"),
    (ss.VelocityScreen(output="zeros"), r"did you mean 'zero'\?"),
    (ss.VelocityScreen(ledger="some"), "ledger must be one of 'all', 'kept', 'none'; got 'some'"),
    (ss.WinnowEFS(promotion=1), "promotion must be a number above 1"),
    (ss.WinnowEFS(demotion=1), "demotion must be a number at least 1e-06 and below 1"),
    (ss.WinnowEFS(margin=-0.1), "margin must be a number at least 0"),
    (ss.WinnowEFS(theta=np.inf), "theta must be a number"),
    (ss.WinnowEFS(extremes=0.6), "extremes must be a number at least 0 and at most 0.5"),
]


@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_parameters_out_of_range_are_refused(verb):
    for selector, message in CASES:
        with pytest.raises(ParameterError, match=message):
            getattr(selector, verb)(np.ones((12, 4)), np.arange(12) % 2)
        with pytest.raises(NotFittedError):
            selector.get_support()
