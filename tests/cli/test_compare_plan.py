"""What ``streamsieve compare`` settles before it runs: sizes, selectors, batches."""

import re

import numpy as np
import pytest

from streamsieve.cli.compare_plan import Options, plan_for
from streamsieve.evaluation.engine.problem import Problem
from streamsieve.exceptions import ParameterError


def planned(n, p, protocol="screening", sizes=None, jobs=1, regression=False):
    said = dict.fromkeys(("selectors", "learners", "runs", "folds", "metric"))
    options = Options(protocol, sizes=sizes, task="auto", jobs=jobs, seed=0, **said)
    y = np.linspace(0, 1, n) if regression else np.arange(n) % 2
    return plan_for(options, Problem.of(np.random.default_rng(0).normal(size=(n, p)), y))


@pytest.mark.parametrize(
    ("p", "sizes"),
    [
        (1, [1]),
        (2, [1]),
        (3, [1, 2]),
        (20, [1, 2, 5, 10]),
        (21, [1, 2, 5, 10, 20]),
        (51, [1, 2, 5, 10, 20, 50]),
        (101, [2, 5, 10, 20, 50, 100]),
        (300, [5, 10, 20, 50, 100, 200]),
    ],
)
def test_sizes_are_below_the_number_of_features_and_at_most_six(p, sizes):
    assert planned(40, p).settings["sizes"] == sizes


def test_sizes_that_were_asked_for_are_cut_sorted_and_different():
    assert planned(40, 8, sizes="20,3,9,3").settings["sizes"] == [3, 8]
    for wrong in ("0", "2.5", "-1", "few"):
        with pytest.raises(ParameterError, match="--sizes wants numbers of features"):
            planned(40, 8, sizes=wrong)
    with pytest.raises(ParameterError, match="takes one number of features"):
        planned(40, 8, "streaming", sizes="2,3")


@pytest.mark.parametrize(("p", "k"), [(1, 1), (2, 1), (7, 3), (20, 10), (60, 10)])
def test_a_stream_is_offered_half_of_the_features_up_to_ten(p, k):
    assert planned(200, p, "prequential").selectors["f"].k == k


@pytest.mark.parametrize(("n", "rows"), [(39, 1), (80, 2), (4000, 100), (9000, 100)])
def test_rows_stream_in_forty_parts_of_at_most_a_hundred(n, rows):
    assert planned(n, 3, "prequential").batch_size == rows


def test_default_selectors_follow_task_and_protocol():
    shared = ["top_k", "saola", "fast_osfs"]
    assert list(planned(40, 8).selectors) == ["none", "f", "relief_f", *shared]
    assert list(planned(40, 8, regression=True).selectors) == ["none", "correlation", "r_relief_f", *shared]
    assert list(planned(40, 8, "streaming").selectors) == ["none", "f", *shared, "alpha_investing"]


@pytest.mark.parametrize("regression", [False, True])
def test_the_method_that_select_takes_is_among_the_default_selectors(regression):
    plan = planned(40, 8, regression=regression)
    taken, tried = re.match("select takes (.+) by default: .+; also try (.+)", plan.description[0]).groups()
    assert {taken, tried} <= {*plan.selectors}
    assert not any("select takes" in line for line in planned(40, 8, "prequential").description)
