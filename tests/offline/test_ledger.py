"""Every feature has one decision in the ledger of an offline selector."""

import numpy as np
import pandas as pd
import pytest

import streamsieve as ss
from streamsieve import registry
from streamsieve.exceptions import ParameterError
from streamsieve.testing._data import sample_for

SELECTORS = [cls for cls in registry.selectors().values() if registry.axis(cls) == "offline"]


@pytest.mark.parametrize("cls", SELECTORS, ids=lambda cls: cls.__name__)
def test_one_decision_per_feature(cls):
    selector = next(iter(cls.variants()))
    X, y, _ = sample_for(selector)
    names = [f"feature {j}" for j in range(X.shape[1])]
    selector.fit(pd.DataFrame(X, columns=names), y)
    assert [d.feature for d in selector.ledger_] == names
    kept = {d.feature for d in selector.ledger_ if d.event == "kept"}
    assert kept == {names[j] for j in selector.ranked_}
    scores = getattr(selector, "scores_", None)
    if scores is not None:
        assert [d.statistic for d in selector.ledger_] == scores.tolist()
    few = cls(ledger="kept").fit(pd.DataFrame(X, columns=names), y)
    assert {d.feature for d in few.ledger_} == {names[j] for j in few.ranked_}
    assert len(cls(ledger="none").fit(X, y).ledger_) == 0


def test_reasons():
    rng = np.random.default_rng(0)
    signal, noise = rng.normal(size=(2, 2000))
    y = (signal > 0).astype(int)
    X = np.c_[noise, signal, signal, np.ones(2000), signal + 0.3 * noise]
    fcbf = ss.FCBF(delta=0.05).fit(X, y).ledger_
    assert [str(d.reason) for d in fcbf] == ["irrelevant", "relevant", "redundant", "constant", "redundant"]
    assert fcbf.why("x2").by == ("x1",)
    hiton = ss.HITONPC().fit(X[:, [0, 1, 3]], y).ledger_
    assert [str(d.reason) for d in hiton] == ["irrelevant", "relevant", "constant"]
    assert hiton.why("x1").p_value < 1e-6
    relief = ss.ReliefF(1).fit(X, y).ledger_
    assert relief.counts() == {"kept": 1, "constant": 1, "outscored": 3}


def test_another_kind_of_ledger_is_refused():
    with pytest.raises(ParameterError, match="ledger must be one of 'all', 'kept', 'none'"):
        ss.MRMR(ledger="some").fit(np.eye(4), [0, 1, 0, 1])
