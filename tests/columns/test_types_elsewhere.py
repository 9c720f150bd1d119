"""Types of columns in methods over tables alone: names keep their levels, quantities have bins."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.exceptions import ManyLevelsWarning, ParameterError, SchemaError
from streamsieve.offline import FCBF, MRMR
from tests.rows.test_screen_types import hub

#: Methods that rank or keep a hub whose codes are names; without types, 100 levels in 1,000 rows are bins.
METHODS = {
    "fcbf": lambda **types: FCBF(**types),
    "mrmr": lambda **types: MRMR(k=1, **types),
    "group_saola": lambda **types: ss.GroupSAOLA(measure="mutual_info", **types),
}


def few_rows(seed=0):
    return hub(100, n=1000, seed=seed)


@pytest.mark.parametrize("method", METHODS)
def test_a_declared_hub_keeps_its_levels(method):
    X, y = few_rows()
    make = METHODS[method]
    with pytest.warns(ManyLevelsWarning, match="51 rarest are pooled"):
        declared = make(types={"x0": "nominal"}).fit(X, y)
    assert 0 in declared.selected_.tolist()
    assert declared.column_types_["x0"] == "nominal"
    binned, codes = make().fit(X, y), declared
    kept = {decision.feature: decision.statistic for decision in binned.ledger_}
    found = {decision.feature: decision.statistic for decision in codes.ledger_}
    assert found["x0"] > 1.5 * kept["x0"]  # five bins hide most of it


@pytest.mark.parametrize("method", METHODS)
def test_text_is_nominal(method):
    X, y = hub(40)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(11)])
    codes = METHODS[method](types={"x0": "nominal"}).fit(frame, y)
    frame["x0"] = frame["x0"].map("level {:.0f}".format)
    text = METHODS[method]().fit(frame, y)
    assert text.column_types_ == codes.column_types_
    assert text.selected_.tolist() == codes.selected_.tolist()
    loaded = type(text).from_bytes(text.to_bytes())
    assert loaded.column_types_ == text.column_types_


@pytest.mark.parametrize("method", ["fcbf", "mrmr"])
def test_sparse_is_dense(method):
    X, y = few_rows(1)
    X[:, 1:] *= X[:, 1:] > 1
    types = {"x0": "nominal", "x1": "numeric"}
    with pytest.warns(ManyLevelsWarning):
        dense, sparse = (METHODS[method](types=types).fit(form(X), y) for form in (np.asarray, sp.csr_array))
    assert dense.ranked_.tolist() == sparse.ranked_.tolist()
    assert dense.column_types_ == sparse.column_types_


def test_a_scan_of_pairs_takes_names():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 12, (2, 3000))
    y = (rng.permutation(12)[a] % 2) ^ (rng.permutation(12)[b] % 2)
    frame = pd.DataFrame({"a": a, "b": b, "noise": rng.normal(size=3000)})
    text = frame.assign(a=frame["a"].map("a{}".format), b=frame["b"].map("b{}".format))
    with pytest.warns(ManyLevelsWarning, match="12 levels over 3,000 rows; the 5 rarest are pooled"):
        scan = ss.InteractionScan().fit(text, y)
    assert scan.get_feature_names_out().tolist() == ["a", "b"]
    assert scan.column_types_ == {"a": "nominal", "b": "nominal", "noise": "numeric"}
    with pytest.warns(ManyLevelsWarning):
        declared = ss.InteractionScan(types={"a": "nominal", "b": "nominal"}).fit(frame, y)
    assert declared.get_feature_names_out().tolist() == ["a", "b"]
    assert ss.InteractionScan.from_bytes(scan.to_bytes()).column_types_ == scan.column_types_


def test_groups_of_columns_may_be_text():
    X, y = hub(40)
    sieve = ss.GroupSAOLA(measure="su").begin(y)
    towns = pd.DataFrame({"hub": [f"t{value:.0f}" for value in X[:, 0]], "other": X[:, 1]})
    sieve.offer_group(towns, group="towns")
    sieve.offer_group(X[:, 2:5], names=["c", "d", "e"], group="rest")
    assert "hub" in sieve.get_feature_names_out()
    assert sieve.column_types_["hub"] == "nominal"


def test_what_knows_no_names_says_so():
    X, y = hub(40)
    for wrong, message in (
        (ss.GroupSAOLA(types="nominal"), "use measure='su'"),
        (MRMR(scheme="fcq", types="nominal"), "take scheme='mid' or 'miq'"),
        (ss.GroupSAOLA(measure="auto"), "measure must be one of 'fisher_z', 'su', 'mutual_info'"),
    ):
        with pytest.raises(ParameterError, match=message):
            wrong.fit(X, y)
    with pytest.raises(SchemaError, match="types declares column 'zap'"):
        FCBF(types={"zap": "nominal"}).fit(X, y)


@pytest.mark.parametrize("make", [ss.SAOLA, ss.TopK, ss.FastOSFS], ids=lambda make: make.__name__)
def test_single_columns_of_codes_are_decided_as_blocks_are(make):
    X, y = hub(40)
    rng = np.random.default_rng(2)
    X = np.c_[
        X, rng.integers(0, 5, (len(y), 12)), rng.integers(0, 2, (len(y), 4)), rng.normal(size=(len(y), 4))
    ]
    block, single = make().begin(y), make().begin(y)
    block.offer(X)
    for x in X.T:
        single.offer(np.ascontiguousarray(x))
    assert single.column_types_ == block.column_types_
    for one, other in zip(single.ledger_, block.ledger_, strict=True):
        assert one[:4] + one[6:] == other[:4] + other[6:]
        np.testing.assert_allclose(one[4:6], other[4:6], rtol=1e-9)


@pytest.mark.parametrize("make", [ss.SAOLA, ss.TopK], ids=lambda make: make.__name__)
def test_an_irrelevant_code_needs_no_block(make, monkeypatch):
    rng = np.random.default_rng(3)
    y, noise = rng.integers(0, 2, 500), rng.integers(0, 5, 500).astype(float)
    sieve = make(alpha=1e-9).begin(y)
    monkeypatch.setattr(sieve, "_offer_block", lambda *_: pytest.fail("the block was taken"))
    (decision,) = sieve.offer(noise)
    assert decision.reason == "irrelevant"
