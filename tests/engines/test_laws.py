"""The laws of engines: repeatable, equal to one process, once, complete, in order, lean, alike, quiet."""

import os
import pickle
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve import engines
from streamsieve.base.covered import CoveredParts, Span
from streamsieve.engines import declared, local, task
from streamsieve.engines.declared import declared_of
from streamsieve.engines.local import Merging
from streamsieve.exceptions import CapabilityError, MergeError, ParameterError, SourceError, StreamSieveError
from streamsieve.sources.parts import SourcePart
from tests.engines.laws import arrays, assert_equal_to_one_process, assert_same_bits, files, opened, rows
from tests.helpers.tier import cases, spread

#: Screens of every summary, and what else merges.
SCREENS = {
    "f": lambda: ss.Screen("f", k=2),
    "fisher": lambda: ss.Screen("fisher", k=2),
    "mutual_info": lambda: ss.Screen("mutual_info", k=2, max_rank_error=0.02),
    "chi2": lambda: ss.Screen("chi2", k=2, max_rank_error=0.02),
    "discrete": lambda: ss.Screen(ss.criteria.MutualInfo(discrete=True), k=2),
    "half_life": lambda: ss.Screen("f", k=2, half_life=500),
    "window": lambda: ss.Screen("f", k=2, window=700),
    "exact": lambda: ss.Screen("gini", k=2, exact=True),
}


#: Engines whose workers are threads of this process.
in_threads = pytest.mark.parametrize("engine", ["dask", "local"])


def by_hand(source, selector, rows_per_task):
    """The engine in this process: what every other one must equal, bit for bit."""
    plan = engines.plan_of(source, rows_per_task)
    what = declared_of(source, selector, plan.run, 256)
    merging = Merging(plan)
    order = np.random.default_rng(0).permutation(len(plan.parts))  # completion decides nothing
    for number in order.tolist():
        built = engines.build(plan.parts[number], number, what)
        merging.add(number, pickle.loads(pickle.dumps(built)))  # noqa: S301 - as on its way to the driver
    return merging.root()


@pytest.mark.parametrize("name", spread([*SCREENS], 5))
@pytest.mark.parametrize("n_parts", [1, 2, 7, 64])
@pytest.mark.parametrize("kind", ["dense", "missing", "weights"])
def test_parts_equal_one_process(name, n_parts, kind, tmp_path):
    if name == "discrete":
        if kind == "missing":
            pytest.skip("codes are not missing")
        source = coded(kind)
    else:
        more = {"weight": "w"} if kind == "weights" else {}
        source = opened(files(tmp_path, n_parts, kind=kind), **more)
    make = SCREENS[name]
    one = ss.run(source, make(), batch_size=256)
    found = by_hand(source, make(), max(1, 4000 // n_parts))
    if name in {"half_life", "exact"}:
        np.testing.assert_allclose(found.scores_, one.scores_, atol=1e-9 * np.abs(one.scores_).max())
    else:
        assert_equal_to_one_process(found, one)
    threaded = ss.run(
        source, make(), engine="dask", workers=2, rows_per_task=max(1, 4000 // n_parts), batch_size=256
    )
    assert_same_bits(threaded, found)


@pytest.mark.parametrize("name", spread(["f", "fisher", "mutual_info", "chi2", "gini", "su"], 2))
@pytest.mark.parametrize("n_parts", [1, 2, 7, 64])
@pytest.mark.parametrize("kind", ["sparse", "categories"])
def test_parts_of_other_kinds_equal_one_process(name, n_parts, kind):
    if kind == "categories" and name in {"f", "fisher"}:
        pytest.skip("moments of levels mean nothing")
    levels = {"types": "nominal"} if kind == "categories" else {}
    bound = {} if name in {"f", "fisher"} else {"max_rank_error": 0.02}
    source, make = of_kind(kind), lambda: ss.Screen(name, k=2, **levels, **bound)
    size = -(-4000 // n_parts)
    one, found = ss.run(source, make(), batch_size=256), by_hand(source, make(), size)
    assert_equal_to_one_process(found, one)
    assert_same_bits(ss.run(source, make(), engine="dask", rows_per_task=size, batch_size=256), found)


@pytest.mark.parametrize("seed", range(cases(20)))
def test_wherever_the_rows_are_cut(seed, tmp_path):
    """Files of any size, some of them empty, in parts of any size, down to one row."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 300))
    source = opened(files(tmp_path, int(rng.integers(1, 9)), n, seed, str(rng.choice(["dense", "missing"]))))
    name, size = str(rng.choice(["f", "mutual_info", "chi2"])), int(rng.integers(1, n + 1))
    make = lambda: ss.Screen(name, k=2, task="classification")  # noqa: E731
    found = ss.run(source, make(), engine="local", workers=int(rng.integers(1, 4)), rows_per_task=size)
    assert_equal_to_one_process(found, ss.run(source, make()))
    assert_same_bits(found, by_hand(source, make(), size))


def of_kind(kind):
    """Rows that are sparse, or levels of a category."""
    X, y = rows(4000)
    if kind == "sparse":
        return ss.open(sp.csr_array(np.where(np.abs(X) < 0.7, 0.0, X)), target=y)
    return ss.open(np.clip(np.round(X), -2, 3), target=y)


def coded(kind):
    X, y = rows(4000, kind=kind)
    return ss.open(np.round(X[:, :6]), target=y, **({"weight": X[:, 6]} if kind == "weights" else {}))


@pytest.mark.parametrize(
    ("options", "types"),
    [({"categories": "auto"}, None), ({"nominal": "color"}, {"color": "nominal"})],
    ids=["indicators", "codes"],
)
def test_text_that_is_found_in_one_part_only(options, types, tmp_path):
    paths = files(tmp_path, 5)
    for k, path in enumerate(paths):
        table = pq.read_table(path)
        color = np.array(["red", "green", f"only in {k}"])[table["y"].to_numpy()]
        pq.write_table(table.append_column("color", pa.array(color)), path)
    source, make = opened(paths, **options), lambda: ss.Screen("su", k=2, types=types)
    one, found = ss.run(source, make()), ss.run(source, make(), engine="dask", rows_per_task=500)
    assert_equal_to_one_process(found, one)
    assert found.feature_names_in_.tolist() == one.feature_names_in_.tolist()
    assert_same_bits(found, by_hand(source, make(), 500))


@pytest.mark.parametrize(
    "matrix", [np.asarray, sp.csr_array, sp.csc_array, pd.DataFrame], ids=lambda m: m.__name__
)
def test_data_in_memory_is_cut_by_rows(matrix):
    X, y = rows(1000)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    data = matrix(X) if matrix is not pd.DataFrame else pd.DataFrame(X).rename(columns=str)
    source = ss.open(data, target=y)
    found = ss.run(source, ss.Screen("f"), engine="dask", rows_per_task=90)
    assert_equal_to_one_process(found, ss.run(source, ss.Screen("f")))
    assert found._covered_.spans[0].high == len(source.parts(90)) == 11


def check_local(source, name, workers):
    seen = []
    options = {"engine": "local", "rows_per_task": 500, "batch_size": 256, "progress": seen.append}
    found = ss.run(source, SCREENS[name](), workers=workers, **options)
    assert_same_bits(found, by_hand(source, SCREENS[name](), 500))
    assert sum(seen) == 4000


@pytest.fixture
def processes(monkeypatch):
    """Let workers of this machine be processes, however few rows there are."""
    monkeypatch.setattr(local, "FEW_VALUES", 0)


@pytest.mark.usefixtures("processes")
def test_local_processes_give_the_bits_of_any_other_engine(tmp_path):
    check_local(opened(files(tmp_path, 7)), "mutual_info", 2)


@pytest.mark.parametrize("name", ["mutual_info", "f", "half_life", "window"])
@pytest.mark.parametrize("workers", [1, 3])
def test_few_rows_are_learned_by_threads_which_start_in_no_time(name, workers, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(local._Pool, "_processes", lambda _: pytest.fail("a process was started"))
    with caplog.at_level("INFO", "streamsieve"):
        check_local(opened(files(tmp_path, 7)), name, workers)
    assert "24000 values are few for processes" in caplog.text


@pytest.mark.parametrize(("few", "started"), [(1_000, True), (3_000, False)])
def test_text_whose_rows_are_not_counted_has_a_value_in_two_bytes(few, started, tmp_path, monkeypatch):
    X, y = rows(100)
    pd.DataFrame(np.round(X), columns=list("abcdef")).assign(y=y).to_csv(tmp_path / "x.csv", index=False)
    assert 2 * 1_000 < (tmp_path / "x.csv").stat().st_size < 2 * 3_000
    monkeypatch.setattr(local, "FEW_VALUES", few)
    asked = []
    monkeypatch.setattr(local._Pool, "_processes", lambda pool: asked.append(pool) or ThreadPoolExecutor(1))
    found = ss.run(ss.open(tmp_path / "x.csv", target="y"), ss.Screen("f"), engine="local")
    assert found.n_samples_seen_ == 100
    assert bool(asked) is started


@pytest.mark.parametrize("matrix", [sp.csr_array, np.asarray])
def test_a_sparse_matrix_has_the_values_that_it_stores(matrix, monkeypatch):
    source = ss.open(matrix(np.eye(50)), target=np.arange(50) % 2)
    monkeypatch.setattr(local, "FEW_VALUES", 51)
    asked = []
    monkeypatch.setattr(local._Pool, "_processes", lambda pool: asked.append(pool) or ThreadPoolExecutor(1))
    assert ss.run(source, ss.Screen("f"), engine="local").n_samples_seen_ == 50
    assert bool(asked) is (matrix is np.asarray)


@pytest.mark.full
@pytest.mark.parametrize("name", ["f", "half_life", "window"])
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.usefixtures("processes")
def test_any_number_of_local_processes_gives_the_same_bits(name, workers, tmp_path):
    check_local(opened(files(tmp_path, 7)), name, workers)


def test_a_fitted_selector_goes_on_with_the_rows_of_the_engine(tmp_path):
    source, (X, y) = opened(files(tmp_path, 3)), rows(500, seed=5)
    first = pd.DataFrame(X, columns=source.names)
    found = ss.run(source, ss.Screen("f").partial_fit(first, y), engine="dask", rows_per_task=800)
    one = ss.run(source, ss.Screen("f").partial_fit(first, y))
    assert_equal_to_one_process(found, one)


def test_bootstrap_draws_the_weights_of_one_process(tmp_path):
    source = opened(files(tmp_path, 4, n=600))
    make = lambda: ss.Bootstrap(ss.Screen("f", k=2), replicas=5)  # noqa: E731
    found = ss.run(source, make(), engine="dask", rows_per_task=150)
    np.testing.assert_array_equal(found.scores_, ss.run(source, make()).scores_)


# ---------------------------------------------------------------- once, complete, in order


@in_threads
def test_a_part_counts_once(engine, tmp_path):
    source = opened(files(tmp_path, 3))
    found = ss.run(source, ss.Screen("f"), engine=engine, rows_per_task=900)
    again = ss.from_bytes(found.to_bytes())
    with pytest.raises(MergeError, match="both states hold part 1, 2, 3.* of the same run"):
        found.merge(again)
    assert found.n_samples_seen_ == 4000
    plan = engines.plan_of(source, 900)
    part = engines.build(plan.parts[1], 1, declared_of(source, ss.Screen("f"), plan.run, 256))
    with pytest.raises(MergeError, match="both states hold part 2 of the same run"):
        found.merge(part)
    other = ss.run(opened(files(tmp_path, 3, seed=1)), ss.Screen("f"), engine=engine, rows_per_task=900)
    assert other.merge(ss.from_bytes(found.to_bytes())).n_samples_seen_ == 8000
    assert len(other._covered_.spans) == 2


def test_spans_of_parts_are_a_set():
    rng = np.random.default_rng(0)
    for _ in range(300):
        a, b = (set(rng.choice(12, rng.integers(1, 6), replace=False).tolist()) for _ in range(2))
        ours, theirs = CoveredParts.of("r", min(a)), CoveredParts.of("r", min(b))
        for held, each in ((a, "ours"), (b, "theirs")):
            joined = CoveredParts([])
            for k in rng.permutation(sorted(held)).tolist():
                joined = joined.joined(CoveredParts.of("r", k))
            assert {k for s in joined.spans for k in range(s.low, s.high)} == held
            ours, theirs = (joined, theirs) if each == "ours" else (ours, joined)
        if a & b:
            with pytest.raises(MergeError):
                ours.joined(theirs)
        else:
            both = ours.joined(theirs)
            assert {k for s in both.spans for k in range(s.low, s.high)} == a | b
            assert (both.missing("r", 12) == "") is (len(a | b) == 12)
            CoveredParts.from_state(both.state())
    with pytest.raises(StreamSieveError, match="overlap"):
        CoveredParts.from_state(CoveredParts([Span("r", 0, 3), Span("r", 2, 4)]).state())
    forged = CoveredParts.from_state(CoveredParts([Span("r", 1, 2**62)]).state())  # takes no time or memory
    assert forged.missing("r", 3) == "1 of 3 parts are missing (part 1)"


@pytest.mark.parametrize(
    "options",
    [{"where": "c1>0"}, {"missing": "impute"}, {"where": ["c1>0", "c2<1"], "missing": "impute"}],
    ids=["where", "impute", "both"],
)
def test_parts_have_the_rows_and_the_means_of_the_whole_stream(options, tmp_path):
    paths = files(tmp_path, 3, kind="missing")
    source = ss.open(paths, target="y", **options)
    whole = [(batch.X, batch.y) for batch in source.rows(500)]
    # a part brings all it needs to another process
    parts = pickle.loads(pickle.dumps(ss.open(paths, target="y", **options).parts(700)))  # noqa: S301
    pieces = [(batch.X, batch.y) for part in parts for batch in part.rows(500)]
    for every, found in zip(zip(*whole, strict=True), zip(*pieces, strict=True), strict=True):
        np.testing.assert_array_equal(np.concatenate(found), np.concatenate(every))
    one = ss.run(source, ss.Screen("f", k=2), batch_size=256)
    assert_equal_to_one_process(by_hand(source, ss.Screen("f", k=2), 700), one)


@in_threads
def test_a_lost_part_means_no_result(engine, tmp_path, monkeypatch):
    source, selector = opened(files(tmp_path, 7)), ss.Screen("f")
    lose = lambda plan, what, *_: engines.build(plan.parts[0], 0, what)  # noqa: E731
    monkeypatch.setattr("streamsieve.engines.run.run_local", lose)
    monkeypatch.setattr("streamsieve.engines.dask.run_dask", lambda _, *given: lose(*given))
    with pytest.raises(SourceError, match=r"3 of 4 parts are missing \(part 2, 3, 4\): nothing"):
        ss.run(source, selector, engine=engine, rows_per_task=600)
    assert not hasattr(selector, "n_features_in_")


@in_threads
def test_half_life_depends_on_the_order_of_parts(engine, tmp_path):
    paths = files(tmp_path, 6)
    make = SCREENS["half_life"]
    forward = ss.run(opened(paths), make(), engine=engine, rows_per_task=300)
    backward = ss.run(opened(paths[::-1]), make(), engine=engine, rows_per_task=300)
    assert np.abs(forward.scores_ - backward.scores_).max() > 1e-3 * forward.scores_.max()


@in_threads
@pytest.mark.parametrize("empty", ["first", "middle", "last", "all but one"])
def test_parts_without_rows_change_nothing(empty, engine, tmp_path):
    X, y = rows(900)
    table = pa.table({**{f"c{j}": X[:, j] for j in range(X.shape[1])}, "y": y})
    none, pieces = table.slice(0, 0), [table.slice(0, 400), table.slice(400)]
    parts = {
        "first": [none, *pieces],
        "middle": [pieces[0], none, pieces[1]],
        "last": [*pieces, none],
        "all but one": [none, none, table, none],
    }[empty]
    for k, part in enumerate(parts):
        pq.write_table(part, tmp_path / f"{k}.parquet")
    source = ss.open(str(tmp_path / "*.parquet"), target="y")
    assert_equal_to_one_process(
        ss.run(source, ss.Screen("f"), engine=engine, rows_per_task=1000), ss.run(source, ss.Screen("f"))
    )
    for part in (source.parts(10_000), source.parts(1)):
        assert sum(p.n_rows for p in part) == 900


@in_threads
def test_a_part_whose_rows_weigh_nothing_changes_nothing(engine):
    X, y = rows(900)
    weight = np.r_[np.zeros(300), np.ones(300), np.zeros(300)]
    y[600:] = 7  # a class without any weight
    source = ss.open(X, target=y, weight=weight)
    for name in ("f", "mutual_info"):
        found = ss.run(source, SCREENS[name](), engine=engine, rows_per_task=300)
        assert_equal_to_one_process(found, ss.run(source, SCREENS[name]()))
        middle = ss.run(ss.open(X[300:600], target=y[300:600]), SCREENS[name]())
        if name == "f":
            np.testing.assert_allclose(found.scores_, middle.scores_, rtol=1e-9)
        else:  # the bins are those of ranks, which are within 0.02
            np.testing.assert_allclose(found.scores_, middle.scores_, atol=0.03)


@in_threads
def test_nothing_but_empty_files_is_refused(engine, tmp_path):
    paths = files(tmp_path, 3)
    for path in paths:
        pq.write_table(pq.read_table(path).slice(0, 0), path)
    with pytest.raises(SourceError, match=r"part-00.parquet holds no rows"):
        ss.run(opened(paths), ss.Screen("f"), engine=engine)


@in_threads
def test_classes_that_live_in_one_part_only(engine):
    X, y = rows(900)
    order = np.argsort(y, kind="stable")
    source = ss.open(X[order], target=y[order])
    for name in ("f", "mutual_info"):
        found = ss.run(source, SCREENS[name](), engine=engine, rows_per_task=100)
        assert_equal_to_one_process(found, ss.run(source, SCREENS[name]()))


@in_threads
def test_the_task_is_decided_once(engine):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(1000) < 500, rng.normal(size=1000), rng.integers(0, 3, 1000))
    source = ss.open(rng.normal(size=(1000, 3)), target=y)
    found = ss.run(source, ss.Screen("mutual_info"), engine=engine, rows_per_task=100)
    assert found.task_ == "regression"


def test_a_declared_selector_is_the_neutral_element_of_merge(tmp_path):
    source = opened(files(tmp_path, 1))
    batch = next(source.rows(50))
    for make in SCREENS.values():
        if make is SCREENS["discrete"]:
            continue
        whole = ss.run(source, make())
        bits = arrays(whole)
        left = make().declare(batch).merge(ss.from_bytes(whole.to_bytes()))
        right = ss.from_bytes(whole.to_bytes()).merge(make().declare(batch))
        for each in (left, right):
            assert each.n_samples_seen_ == 4000
            np.testing.assert_array_equal(each.scores_, whole.scores_)
        empty = make().declare(batch)
        assert ss.from_bytes(empty.to_bytes()).n_samples_seen_ == empty.n_samples_seen_ == 0
        assert arrays(whole)[0].keys() == bits[0].keys()
    with pytest.raises(CapabilityError, match="declare must be called before the first rows"):
        whole.declare(batch)


# ---------------------------------------------------------------- lean, alike, named, quiet


def test_merging_changes_none_of_its_inputs(tmp_path):
    source = opened(files(tmp_path, 4))
    plan = engines.plan_of(source, 900)
    what = declared_of(source, SCREENS["mutual_info"](), plan.run, 256)
    built = [engines.build(part, k, what) for k, part in enumerate(plan.parts)]
    before = [arrays(each) for each in built]
    engines.merge_all(*built)
    assert [arrays(each) for each in built] == before
    assert all(each._buffer is None for each in built)


def test_states_travel_and_no_rows():
    X, y = rows(20_000)
    source = ss.open(X, target=y)
    for name, most in (("f", 4_000), ("mutual_info", X.nbytes / 8)):
        plan = engines.plan_of(source, 20_000)
        built = engines.build(plan.parts[0], 0, declared_of(source, SCREENS[name](), plan.run, 256))
        assert len(pickle.dumps(built)) < most
        assert len(built.to_bytes()) < most


def test_two_parts_per_worker_are_under_way(tmp_path, monkeypatch):
    begun, ended = [], []

    def counted(part, number, *given):
        begun.append(number)
        assert len(begun) - len(ended) <= local.AHEAD * 2
        return engines.build(part, number, *given)

    monkeypatch.setattr(local, "build", counted)
    options = {"engine": "local", "workers": 2, "rows_per_task": 100, "progress": ended.append}
    assert ss.run(opened(files(tmp_path, 7)), ss.Screen("f"), **options).n_samples_seen_ == 4000
    assert len(begun) == len(ended) > 20


@in_threads
@pytest.mark.parametrize("library", ["streamsieve", "numpy", "numba", "Python", "the state format"])
def test_workers_have_the_versions_of_the_driver(library, engine, tmp_path, monkeypatch):
    found = {**declared.versions(), library: "0.0.1"}
    monkeypatch.setattr(task, "versions", lambda: found)
    with pytest.raises(SourceError, match=f"has {library} 0.0.1, the process that started the run has"):
        ss.run(opened(files(tmp_path, 3)), ss.Screen("f"), engine=engine, rows_per_task=900)


@pytest.mark.parametrize("engine", ["dask", "local"])
def test_an_error_names_part_file_and_column(engine, tmp_path):
    paths = files(tmp_path, 5)
    table = pq.read_table(paths[3])
    values = np.where(np.arange(len(table)) == 0, np.inf, 0.0)  # in one part of the file only
    pq.write_table(table.set_column(2, "c2", pa.array(values)), paths[3])
    source, selector = opened(paths), ss.Screen("f")
    with pytest.raises(
        StreamSieveError, match=r"^part \d .*part-03.parquet, row 1: .*'c2' holds inf"
    ) as caught:
        ss.run(source, selector, engine=engine, workers=2, rows_per_task=400)
    assert "Traceback" in str(caught.value.__cause__)
    assert not hasattr(selector, "n_features_in_")


@in_threads
def test_a_file_that_vanishes_is_named(engine, tmp_path):
    paths = files(tmp_path, 5)
    source = opened(paths)

    def gone(_):
        paths[-1].unlink(missing_ok=True)

    with pytest.raises(SourceError, match=r"^part \d+: .*part-04.parquet cannot be read"):
        ss.run(source, ss.Screen("f"), engine=engine, workers=1, rows_per_task=300, progress=gone)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"engine": "sparkle"}, ParameterError, "engine must be one of 'local', 'dask', 'spark', a"),
        ({"engine": "local", "workers": 0}, ParameterError, "workers"),
        ({"engine": "local", "rows_per_task": 0}, ParameterError, "rows_per_task"),
        ({"engine": "local", "retries": -1}, ParameterError, "retries"),
        ({"engine": "local", "checkpoint": "x.sieve"}, ParameterError, "without checkpoints"),
        ({"engine": "dask", "start": {"row": 9}}, ParameterError, "start is about columns, and Screen"),
        ({"engine": "dask", "block_size": 9}, ParameterError, "block_size is about columns"),
        ({"workers": 2}, ParameterError, "workers=2 is about engines"),
        ({"rows_per_task": 2}, ParameterError, "rows_per_task=2 is about engines"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, error, message, tmp_path):
    with pytest.raises(error, match=message):
        ss.run(opened(files(tmp_path, 2)), ss.Screen("f"), **options)


@in_threads
@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (ss.OFS(), "OFS with these parameters depends on the order of rows"),
        (ss.Screen("f", on_drift="reset"), "cannot be distributed"),
        (ss.Screen("f", review_every=100), "leave review_every out"),
    ],
)
def test_selectors_that_cannot_be_distributed_say_so(selector, message, engine, tmp_path):
    with pytest.raises(CapabilityError, match=message):
        ss.run(opened(files(tmp_path, 2)), selector, engine=engine)


@in_threads
def test_a_stream_that_cannot_be_cut_says_so(engine):
    X, y = rows(50)
    frame = pd.DataFrame(X).rename(columns=str).assign(y=y)
    with pytest.raises(CapabilityError, match="^the list_iterator cannot be cut into parts"):
        ss.run(ss.open(iter([frame]), target="y"), ss.Screen("f"), engine=engine)


@pytest.mark.full
def test_a_process_decodes_with_as_many_threads_as_its_kernels_have():
    with local._Pool(1, n_threads=1) as pool:
        assert pool._pool.submit(pa.cpu_count).result() == 1


@pytest.mark.parametrize("few", [local.FEW_VALUES, pytest.param(0, marks=pytest.mark.full)])
def test_ctrl_c_stops_the_workers_and_leaves_the_selector_alone(few, tmp_path, monkeypatch):
    monkeypatch.setattr(local, "FEW_VALUES", few)
    before = threading.active_count()
    source, selector = opened(files(tmp_path, 7)), ss.Screen("f")

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ss.run(source, selector, engine="local", workers=2, rows_per_task=300, progress=interrupt)
    assert not hasattr(selector, "n_features_in_")
    assert few == 0 or threading.active_count() == before
    assert ss.run(source, selector, engine="local", workers=2, rows_per_task=300).n_samples_seen_ == 4000


@pytest.mark.parametrize("ended", ["Ctrl-C", "a bad value"])
def test_threads_that_are_stopped_read_no_more_than_their_batch(ended, monkeypatch):
    """The second part, of a hundred batches, is under way when the first one ends the run."""
    X, y = rows(1_000)
    source, read, begun = ss.open(X, target=y), [], threading.Event()

    class Short:
        def rows(self, size, start=None):
            assert begun.wait(60)
            bad = np.where(X[500, 2] == X, np.inf, X) if ended == "a bad value" else X
            yield from ss.open(bad, target=y).rows(size)

    class Long:
        def rows(self, size, start=None):
            for _ in range(100):
                read.append(size)
                begun.set()
                time.sleep(0.02)
                yield from source.rows(size)

    def interrupt(_):
        if ended == "Ctrl-C":
            raise KeyboardInterrupt

    parts = [SourcePart(Short(), "short", None, 1_000), SourcePart(Long(), "long", None, 100_000)]
    monkeypatch.setattr(source, "parts", lambda _: parts)
    with pytest.raises(KeyboardInterrupt if ended == "Ctrl-C" else StreamSieveError):
        ss.run(source, ss.Screen("f"), engine="local", workers=2, batch_size=1_000, progress=interrupt)
    assert 1 <= len(read) < 100


def killer(stop, killed):
    """Kill a worker of the pool now and then."""
    import psutil

    me, children = psutil.Process(), []
    while not stop.is_set():
        time.sleep(0.05)
        with suppress(psutil.Error):  # of a worker that has just ended
            commands = {c: " ".join(c.cmdline()) for c in me.children()}
            children = [c for c, said in commands.items() if "loky" in said and "tracker" not in said]
        if children and len(killed) < 3:
            with suppress(ProcessLookupError):
                os.kill(children[0].pid, signal.SIGKILL)
                killed.append(children[0].pid)
            time.sleep(2)


class Deadly:
    """Rows of a part that ends every process which reads it."""

    def rows(self, batch_size, start=None):
        yield os.kill(os.getpid(), signal.SIGKILL)


def with_a_deadly_part(source, number):
    """Return a source with a part that ends every process which reads it."""
    cut = source.parts

    def parts(size):
        found = cut(size)
        found[number] = replace(found[number], source=Deadly(), shown="deadly.parquet")
        return found

    source.parts = parts
    return source


@pytest.mark.full
@pytest.mark.usefixtures("processes")
def test_a_part_that_kills_every_process_is_named(tmp_path):
    source = with_a_deadly_part(opened(files(tmp_path, 7)), 2)
    with pytest.raises(SourceError, match=r"part 3 \(deadly.parquet\) was under way each of the 3 times"):
        ss.run(source, ss.Screen("f"), engine="local", workers=1, rows_per_task=900, retries=2)


@pytest.mark.full
@pytest.mark.usefixtures("processes")
def test_killed_processes_change_no_bit(tmp_path):
    source = opened(files(tmp_path, 7))
    wanted = by_hand(source, SCREENS["mutual_info"](), 200)
    stop, killed = threading.Event(), []
    thread = threading.Thread(target=killer, args=(stop, killed))
    thread.start()
    try:
        while not killed:
            found = ss.run(
                source,
                SCREENS["mutual_info"](),
                engine="local",
                workers=2,
                rows_per_task=200,
                retries=20,
                batch_size=256,
            )
            assert_same_bits(found, wanted)
    finally:
        stop.set()
        thread.join()
