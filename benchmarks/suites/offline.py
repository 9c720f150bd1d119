"""Offline baselines: against the packages that people use for them."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

import streamsieve as ss
from benchmarks._cases import Race, Size, SkipCase, case
from benchmarks._data import dense, real


def _peer(module: str, package: str) -> Any:
    """Import a peer, or skip the case."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise SkipCase(f"{package} is not installed") from error


@case("ReliefF, madelon train", bar="speedup >= 20", memory=True)
def relieff_madelon(size: Size) -> Race:
    skrebate = _peer("skrebate", "skrebate")
    X, y = real("madelon")
    X, y = X[: size(2_000, 60), : size(500, 20)], y[: size(2_000, 60)]
    best: dict[str, Any] = {}

    def ours() -> None:
        best["ours"] = ss.ReliefF(k=20).fit(X, y).selected_

    def peer() -> None:
        relieff = skrebate.ReliefF(n_neighbors=10, categorical_threshold=0, n_jobs=1)  # all are numbers
        best["peer"] = np.argsort(-relieff.fit(X.copy(), y).feature_importances_, kind="stable")[:20]

    def note() -> str:
        common = len(set(best["ours"].tolist()) & set(best["peer"].tolist()))
        return f"{X.shape[0]:,} rows x {X.shape[1]} features, k = 10; {common} of the 20 best in common"

    return Race(ours, peer, "skrebate, one process", X.size, "values", note, rounds=2)


@case('MRMR("mid"), 50 features of gisette_valid', bar="speedup >= 10", memory=True)
def mrmr_gisette(size: Size) -> Race:
    pandas, mrmr = _peer("pandas", "pandas"), _peer("mrmr", "mrmr_selection")
    X, y = real("gisette_valid")
    X = X[:, : size(5_000, 200)]
    wanted = size(50, 5)
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    target = pandas.Series(y)

    def ours() -> None:
        ss.MRMR(wanted, scheme="mid").fit(X, y)

    def peer() -> None:
        mrmr.mrmr_classif(frame, target, wanted, show_progress=False)

    note = (
        f"{X.shape[0]:,} rows x {X.shape[1]:,} features; the peer divides F by correlations, all processors; "
        "ours is mutual information"
    )
    return Race(ours, peer, "mrmr_selection", X.shape[1] * wanted, "comparisons", note, rounds=2)


@case('MRMR("fcq"), 50 features of gisette_valid', bar="speedup >= 10")
def mrmr_fcq_gisette(size: Size) -> Race:
    pandas, mrmr = _peer("pandas", "pandas"), _peer("mrmr", "mrmr_selection")
    X, y = real("gisette_valid")
    X = X[:, : size(5_000, 200)]
    wanted = size(50, 5)
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    target = pandas.Series(y)
    chosen: dict[str, Any] = {}

    def ours() -> None:
        chosen["ours"] = {f"x{j}" for j in ss.MRMR(wanted, scheme="fcq").fit(X, y).selected_}

    def peer() -> None:
        chosen["peer"] = set(mrmr.mrmr_classif(frame, target, wanted, show_progress=False))

    def note() -> str:
        common = len(chosen["ours"] & chosen["peer"])
        return (
            f"the same formula, but for redundancies below 0.001, which the peer raises to it; {common} of "
            f"{wanted} features in common"
        )

    return Race(ours, peer, "mrmr_selection", X.shape[1] * wanted, "comparisons", note, rounds=2)


@case("InfFS, 5,000 features", bar="ours <= 5 s", memory=True)
def inf_fs_gisette(size: Size) -> Race:
    return _inf_fs(size, supervised=False)


@case("InfFS with labels, 5,000 features", bar="ours <= 5 s")
def inf_fs_labels(size: Size) -> Race:
    return _inf_fs(size, supervised=True)


def _inf_fs(size: Size, *, supervised: bool) -> Race:
    n, p = size(1_000, 40), size(5_000, 50)
    X, y = dense(n, p)

    def ours() -> None:
        ss.InfFS(supervised=supervised).fit(X, y)

    return Race(ours, note=f"{n:,} rows x {p:,} features, all pairs", rounds=3)


def _others(_: Size) -> dict[str, Any]:
    selectors = {
        "FCBF": ss.FCBF(),
        "HITONPC": ss.HITONPC(),
        "TraceRatio": ss.TraceRatio(50),
        "SPFS": ss.SPFS(50),
        "SPEC": ss.SPEC(50),
        "StumpBoosting": ss.StumpBoosting(50),
        "FGM": ss.FGM(50),
        "GDM": ss.GDM(50),
        "LARS": ss.LARS(50),
    }
    return {f"{name}, gisette_valid": selector for name, selector in selectors.items()}


@case(over=_others)
def gisette(size: Size, selector: Any) -> Race:
    X, y = real("gisette_valid")
    if size.quick:
        X = X[:, :200]
        selector = selector.set_params(k=5) if "k" in selector.get_params() else selector
    last: list[Any] = []

    def ours() -> None:
        last[:] = [selector.fit(X, y)]

    def note() -> str:
        return f"{X.shape[0]:,} rows x {X.shape[1]:,} features, {len(last[0].selected_)} kept"

    return Race(ours, work=X.shape[1], unit="features", note=note, rounds=3)
