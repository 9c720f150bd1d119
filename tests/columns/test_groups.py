"""Columns in groups: DOFS, OGFS and Group-SAOLA decide as their slow twins do, whatever the blocks."""

from collections import Counter
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.columns import dofs as module
from streamsieve.columns.groups.dpp import uniform_draws
from tests.columns.streams import (
    TASKS,
    by_t,
    columns,
    equal_twin,
    has_freedom,
    kept_by_group,
    lines,
    offered,
    reloaded,
    rows,
    slices,
    target,
)
from tests.helpers.tier import cases
from tests.reference.dofs import dofs
from tests.reference.group_saola import group_saola
from tests.reference.ogfs import ogfs

SEED = 7


def dofs_parameters(rng, task):
    stages = [*(["all", "all"] if task != "regression" else []), "unsupervised", "draw"]
    choices = {
        "stages": stages, "kernel": module.KERNELS, "sampler": module.SAMPLERS,
        "redundancy_test": module.REDUNDANCY, "scatter": module.SCATTER, "reading": module.READINGS,
        "local": module.LOCAL, "refit": module.REFITS, "gamma": [0.3, 1.0, 2.0],
        "truncation": [0.0, 0.05, 0.3], "max_rank_correlation": [0.3, 0.9], "min_gain": [0.0, 0.001, 0.1],
        "alpha": [0.05, 0.3], "l1": [0.0, 0.1, 0.4], "l1_ratio": [0.5, 1.0], "least_weight": [0.0, 0.1],
    }  # fmt: skip
    return {name: values[int(rng.integers(len(values)))] for name, values in choices.items()}


def ogfs_parameters(rng, task):
    choices = {"min_gain": [0.0, 0.001, 0.1], "alpha": [0.05, 0.3], "l1": [0.05, 0.15, 0.5]}
    return {name: float(rng.choice(values)) for name, values in choices.items()}


def saola_parameters(rng, task, measure):
    parameters = {"measure": measure, "variant": str(rng.choice(["corrected", "paper"]))}
    if measure == "fisher_z":
        return parameters | {"alpha": float(rng.choice([0.05, 0.2, 0.6]))}
    return parameters | {"delta": float(rng.choice([0.0, 0.05])), "bins": int(rng.choice([2, 5, 7]))}


def dofs_twin(X, y, task, ends, **parameters):
    return dofs(X, y, task, ends, uniform_draws(SEED, np.arange(X.shape[1])), **parameters)


class Method(NamedTuple):
    """A selector over groups, its slow twin, and how to draw parameters."""

    make: Any
    twin: Any
    parameters: Any
    tasks: tuple
    #: Parameters with which several columns of a small stream are kept.
    some: dict
    #: Decisions that a hundred random streams must show, and how often at least.
    seen: dict


REDUNDANT = {("rejected", "redundant"): 10, ("evicted", "redundant"): 3, ("rejected", "constant"): 5}
METHODS = {
    "dofs": Method(
        partial(ss.DOFS, random_state=SEED), dofs_twin, dofs_parameters, TASKS[:2], {"l1": 0.05},
        {**REDUNDANT, ("evicted", "redundant"): 1, ("rejected", "not sampled"): 30,
         ("rejected", "irrelevant"): 30},
    ),
    "ogfs": Method(
        ss.OGFS, ogfs, ogfs_parameters, TASKS, {"l1": 0.05}, {**REDUNDANT, ("kept", "relevant"): 10}
    ),
    **{
        f"saola {measure}": Method(
            ss.GroupSAOLA, group_saola, partial(saola_parameters, measure=measure), TASKS,
            {"alpha": 0.3, "measure": measure}, {**REDUNDANT, ("kept", "relevant"): 10},
        )
        for measure in ("fisher_z", "su", "mutual_info")
    },
}  # fmt: skip
every = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


@every
@pytest.mark.parametrize("task", TASKS)
def test_random_streams_in_mixed_blocks_equal_the_twin(method, task):
    """Blocks never fit the groups, and the last group is mostly left open."""
    rng, seen = np.random.default_rng(0), Counter()
    for case in range(cases(100)):
        y = target(rng, task, rows(rng, task))
        X = columns(rng, y, int(rng.integers(1, 20)), far=case % 3 == 0)
        parameters, size = method.parameters(rng, task), int(rng.choice([1, 2, 3, 5, 30]))
        *twin, groups = method.twin(X, y, task, slices(X.shape[1], size), **parameters)
        sieve = offered(by_t(method.make(group_size=size, **parameters)).begin(y), X, rng)
        what = (case, size, parameters)
        equal_twin(sieve, twin, what=what, p_values=method.make is not ss.GroupSAOLA or has_freedom(y, task))
        assert kept_by_group(sieve) == groups, what
        assert sieve.n_groups_ == len(groups)
        assert sieve.n_open_ == X.shape[1] % size
        seen.update((line.event, line.reason) for line in twin[1])
    assert all(seen[decision] >= cases(least, 0) for decision, least in method.seen.items()), seen


@every
def test_groups_of_any_size_offered_whole_equal_the_twin(method):
    rng = np.random.default_rng(1)
    for case in range(30):
        task = method.tasks[case % len(method.tasks)]
        y = target(rng, task, 30)
        X = columns(rng, y, 20, far=False)
        ends = sorted({20, *rng.integers(1, 20, 5).tolist()})
        parameters = method.parameters(rng, task)
        *twin, groups = method.twin(X, y, task, ends, **parameters)
        whole, decided = by_t(method.make(group_size=3, **parameters)).begin(y), []
        for low, high in zip([0, *ends], ends, strict=False):
            form = (np.ascontiguousarray, np.asfortranarray, sp.csc_array)[int(rng.integers(3))]
            decided += whole.offer_group(form(X[:, low:high]))
        labels = np.repeat([f"g{k}" for k in range(len(ends))], np.diff([0, *ends]))
        labelled = by_t(method.make(**parameters)).fit(X, y, groups=labels)
        for sieve in (whole, labelled):
            equal_twin(sieve, twin, what=(case, parameters))
        assert [d[:4] for d in decided] == [d[:4] for d in whole.ledger_]
        assert kept_by_group(whole) == groups
        assert kept_by_group(labelled) == {f"g{k}": kept for k, kept in groups.items()}


@every
def test_groups_of_one_by_any_way_are_the_same(method):
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 40)
    X = columns(rng, y, 20, far=False)
    expected = method.make(**method.some, group_size=None).fit(X, y)
    single = method.make(**method.some).begin(y)
    for j in range(20):
        single.offer_group(X[:, j])
    labelled = method.make(**method.some).fit(X, y, groups=range(20))
    for other in (single, labelled, method.make(**method.some, group_size=1).fit(X, y)):
        assert lines(other) == lines(expected)
        assert kept_by_group(other) == kept_by_group(expected)
    assert len(expected.selected_) > 1


@every
@pytest.mark.parametrize("ledger", ["all", "kept", "none"])
def test_a_run_saved_anywhere_inside_a_group_goes_on_as_before(method, ledger):
    rng = np.random.default_rng(9)
    names = [f"f{j}" for j in range(30)]
    for task in method.tasks:
        y = target(rng, task, 60)
        X = columns(rng, y, 30, far=False)
        make = partial(method.make, **method.some, group_size=7, ledger=ledger)
        whole = make().fit(pd.DataFrame(X, columns=names), y)
        for half in (1, 6, 7, 12, 29):
            first = make().begin(y)
            first.offer(X[:, :half], names=names[:half])
            resumed = reloaded(first)
            assert resumed.n_open_ == half % 7
            assert resumed.selected_.tolist() == first.selected_.tolist()
            resumed.offer(X[:, half:], names=names[half:])
            assert [d[:4] + d[6:] for d in resumed.ledger_] == [d[:4] + d[6:] for d in whole.ledger_]
            assert resumed.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
            assert kept_by_group(resumed) == kept_by_group(whole)


@every
def test_a_stop_closes_the_open_group(method):
    rng = np.random.default_rng(10)
    y = rng.integers(0, 2, 80)
    X = y[:, None] + 2 * rng.normal(size=(80, 20))
    expected = lines(method.make(**method.some, group_size=5).fit(X[:, :8], y))
    sieve = method.make(**method.some, group_size=5, stop=ss.Stop(max_offers=8)).fit(X, y)
    assert sieve.stopped_ == "max_offers=8"
    assert sieve.n_open_ == 0
    assert lines(sieve)[: len(expected)] == expected
