"""Plan of ``streamsieve compare``: selectors, learners, sizes and repetitions, given or by default."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import joblib  # type: ignore[import-untyped]  # they ship no types
import scipy.sparse as sp

from streamsieve._parameters import check_choice, check_number, did_you_mean
from streamsieve._validation import TASKS
from streamsieve.base import Selector
from streamsieve.choosing import Profile, choose
from streamsieve.cli.parameters import parts_of
from streamsieve.evaluation import learner_names, prequential, screening_protocol, selector_names
from streamsieve.evaluation import streaming_protocol as streaming
from streamsieve.evaluation.candidates.selectors import as_selectors, size_parameter
from streamsieve.evaluation.candidates.stream_learners import baselines
from streamsieve.evaluation.engine.problem import Problem
from streamsieve.evaluation.measures.accuracy import METRICS, metric_for
from streamsieve.evaluation.reports.report import Report
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import Task
from streamsieve.rows import Screen
from streamsieve.sources import ArraySource

#: A number above that of any table's features, to check options before it is read.
MOST_FEATURES = 2**31
PROTOCOLS = ("screening", "streaming", "prequential")
RUNS, FOLDS = 5, 5
#: Default sizes: the last ``N_SIZES`` of these below the number of features.
SIZES, N_SIZES = (1, 2, 5, 10, 20, 50, 100, 200), 6
#: Number of features to keep if there is only one size.
K = 10
#: Rows x rows x features up to which methods that compare all pairs of rows are included by default.
MOST_PAIRS = 1e10
#: Number of values up to which one process is faster than starting others.
SMALL = 200_000
MOST_PROCESSES = 8
#: Rows of a stream that are predicted together, and looks at it.
BATCH, LOOKS = 100, 40


@dataclass(frozen=True)
class Options:
    """The options given; None if not given."""

    protocol: str
    selectors: str | None
    learners: str | None
    sizes: str | None
    runs: int | None
    folds: int | None
    metric: str | None
    task: str
    jobs: int | None
    seed: int
    groups: str | None = None
    time: str | None = None


@dataclass(frozen=True)
class Plan:
    """The plan: selectors by name (None keeps all features), ``cells`` independent parts of work.

    ``batch_size`` is the number of rows per batch; None if all rows are available.
    """

    protocol: str
    selectors: dict[str, Any]
    learners: list[str]
    settings: dict[str, Any]
    jobs: int
    cells: int
    description: list[str]
    batch_size: int | None = None

    def run(self, problem: Problem, y: Any, task: str, **running: Any) -> Report:
        """Run the protocol."""
        common = {**self.settings, "task": task, "n_jobs": self.jobs, "errors": "report", **running}
        if self.protocol == "prequential":
            source = ArraySource(problem.X, y, problem.names)
            return prequential(source, self.selectors, self.learners, **common)
        protocol: Callable[..., Report] = screening_protocol if self.protocol == "screening" else streaming
        about = {"names": problem.names, "types": problem.types}
        return protocol(problem.X, y, self.selectors, self.learners, **about, **common)


def check_options(options: Options) -> None:
    """Refuse options that are invalid for any data, before the data is read."""
    check_choice("--protocol", options.protocol, PROTOCOLS)
    _refuse_strangers(options)
    _refuse_split(options)
    _sizes(options, MOST_FEATURES)
    where = "streamsieve methods lists methods and criteria"
    for name in parts_of("--selectors", options.selectors) if options.selectors is not None else ():
        spelled("selector", name, selector_names(), where)
    known = [
        *learner_names(),
        *learner_names(regression=True),
        *baselines(regression=True),
        *baselines(regression=False),
    ]
    for name in parts_of("--learners", options.learners) if options.learners is not None else ():
        spelled("learner", name, known, f"there is {', '.join(dict.fromkeys(known))}")


def plan_for(options: Options, problem: Problem) -> Plan:
    """Return the plan for these data; refuse what cannot be done."""
    check_options(options)
    n, p = problem.X.shape
    sizes = _sizes(options, p)
    selectors, own = _selectors(options, problem, sizes)
    learners, own_learners = _learners(options, problem)
    if options.metric is not None:  # before the plan is printed
        metric_for(options.metric, regression=problem.regression, otherwise="auc")
    description = [
        f"selectors {', '.join(selectors)}{' (by default)' * own}",
        f"learners {', '.join(learners)}{' (by default)' * own_learners}",
    ]
    if own and options.protocol != "prequential":
        profile = Profile(rows=n, columns=p, task=problem.task, classes=len(problem.classes))
        choice = choose(profile)
        description.insert(
            0, f"select takes {choice.method} by default: {choice.reason}; also try {choice.rival}"
        )
    settings: dict[str, Any] = {"random_state": options.seed}
    runs, folds = 1 if options.time else options.runs or RUNS, options.folds or FOLDS
    cells, batch_size = runs * folds * len(selectors), None
    if options.protocol == "screening":
        settings |= {"sizes": sizes, "runs": runs, "folds": folds, "metric": options.metric or "auto"}
        description.append(
            f"sizes {', '.join(map(str, sizes))}   {runs} run{'s' * (runs != 1)} of {folds} folds"
            f"{f' by groups of {options.groups}' if options.groups else ''}"
            f"{f' in order of {options.time}' if options.time else ''}"
        )
    elif options.protocol == "streaming":
        settings |= {"orders": runs, "split": folds, "metric": options.metric or "auto"}
        description.append(f"{runs} random order{'s' * (runs != 1)} of columns, each with {folds} folds")
    else:
        cells, batch_size = len(selectors), min(BATCH, max(1, n // LOOKS))
        every, half_life = max(batch_size, -(-n // LOOKS)), max(100.0, min(1000.0, n / 10))
        settings |= {"batch_size": batch_size, "every": every, "half_life": half_life}
        description.append(f"rows as they stand, {batch_size} at a time")
    jobs = _processes(options, n * p, cells)
    description[-1] += f"   {jobs} process{'es' * (jobs != 1)}"
    return Plan(options.protocol, selectors, learners, settings, jobs, cells, description, batch_size)


def _processes(options: Options, values: int, cells: int) -> int:
    """Return the number of processes."""
    if options.jobs is not None and options.jobs > 0:
        return options.jobs
    there = int(joblib.cpu_count())
    if options.jobs is not None:
        return there
    # the times of a single pass must not be disturbed
    alone = options.protocol == "prequential" or values <= SMALL
    return 1 if alone else min(MOST_PROCESSES, there, cells)


def _refuse_split(options: Options) -> None:
    """Refuse splits of the rows that exclude each other, or that a protocol does not support."""
    if options.groups and options.time:
        raise ParameterError("--groups and --time exclude each other: for several time series, give --groups")
    if options.time and options.runs not in (None, 1):
        raise ParameterError(
            f"--runs {options.runs} has no meaning with --time, which has one order: leave it out"
        )
    by = "--groups" if options.groups else "--time" if options.time else ""
    if by and options.protocol != "screening":
        raise ParameterError(f"{by} goes with --protocol screening, not with {options.protocol}")


def _refuse_strangers(options: Options) -> None:
    """Refuse options that this protocol does not use, and invalid numbers."""
    if options.metric is not None:
        check_choice("--metric", options.metric, METRICS)
    check_choice("--task", options.task, TASKS)
    if options.protocol == "prequential":
        for name in ("runs", "folds", "metric"):
            if getattr(options, name) is not None:
                raise ParameterError(
                    f"--{name} has no meaning with --protocol prequential, which follows the rows once: "
                    "leave it out"
                )
    for name, low in (("runs", 1), ("folds", 2)):
        value = getattr(options, name)
        if value is not None:
            check_number(f"--{name}", value, low=low, integer=True)
    if options.jobs is not None and options.jobs < 1 and options.jobs != -1:
        raise ParameterError(f"--jobs must be at least 1, or -1 for all processors; got {options.jobs}")


# ------------------------------------------------------------------------------------ lists


def spelled(what: str, name: str, known: Iterable[str], where: str) -> str:
    """Return the known name for an input without regard to underscores and case; suggest the nearest one."""
    names = {_bare(each): each for each in known}
    if _bare(name) not in names:
        raise ParameterError(
            f"there is no {what} {name!r}{did_you_mean(name.lower(), names.values())}; {where}"
        )
    return names[_bare(name)]


def _bare(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


def _sizes(options: Options, width: int) -> list[int]:
    """Return the numbers of features to try; for a protocol that takes one, one."""
    one = options.protocol != "screening"
    if options.sizes is None:
        few = max(1, min(K, width // 2))  # all of them would be no selection
        return [few] if one else [size for size in SIZES if size < width][-N_SIZES:] or [width]
    found = []
    for part in parts_of("--sizes", options.sizes):
        if not part.isdecimal() or int(part) < 1:
            raise ParameterError(f"--sizes wants numbers of features, such as 5,10,20; got {part!r}")
        found.append(min(int(part), width))
    if one and len(found) > 1:
        raise ParameterError(
            f"--protocol {options.protocol} takes one number of features; got --sizes {options.sizes}: "
            "choose one, or --protocol screening"
        )
    return sorted(set(found))


def _selectors(options: Options, problem: Problem, sizes: list[int]) -> tuple[dict[str, Any], bool]:
    """Return selectors by name, and whether they are the default."""
    if options.selectors is None and options.protocol == "prequential":
        return _followers(problem, sizes[0]), True
    if options.selectors is None:
        names = _default_selectors(options, problem)
    else:
        names = [
            spelled("selector", name, selector_names(), "streamsieve methods lists methods and criteria")
            for name in parts_of("--selectors", options.selectors)
        ]
    found = as_selectors(list(dict.fromkeys(names)), problem.task)
    _check_types(found, problem)
    for selector in found.values() if options.protocol != "screening" else ():
        parameter = None if selector is None else size_parameter(selector)
        if parameter is not None:
            selector.set_params(**{parameter: sizes[0]})
    return found, options.selectors is None


def _check_types(selectors: dict[str, Any], problem: Problem) -> None:
    """Refuse methods that would treat the codes of nominal columns as numbers."""
    nominal = next((name for name, kind in problem.types.items() if kind == "nominal"), None)
    for name, selector in selectors.items() if nominal is not None else ():
        if isinstance(selector, Selector) and "types" not in selector.parameters:
            raise ParameterError(
                f"--nominal {nominal}: selector {name} knows no types of columns: leave it out of "
                "--selectors, or leave out --nominal (text becomes an indicator for each category)"
            )


def _default_selectors(options: Options, problem: Problem) -> list[str]:
    n, p = problem.X.shape
    if "nominal" in problem.types.values():
        return ["none", "screen", "top_k", "saola", "fast_osfs"]
    names = ["none", "correlation" if problem.regression else "f"]
    if options.protocol == "screening" and n * n * p <= MOST_PAIRS and not sp.issparse(problem.X):
        names.append("r_relief_f" if problem.regression else "relief_f")
    names += ["top_k", "saola", "fast_osfs"]
    if options.protocol == "streaming" and problem.task is not Task.MULTICLASS:
        names.append("alpha_investing")
    return names


def _followers(problem: Problem, k: int) -> dict[str, Any]:
    """Return the default selectors over rows: all features, a screen, and a screen with a half-life."""
    criterion = "correlation" if problem.regression else "f"
    half_life = max(100, min(1000, len(problem.y) // 4))
    return {
        "none": None,
        criterion: Screen(criterion, k=k),
        f"{criterion} (half-life {half_life:,})": Screen(criterion, k=k, half_life=half_life),
    }


def _learners(options: Options, problem: Problem) -> tuple[list[str], bool]:
    """Return names of learners, and whether they are the default."""
    rows, plain = options.protocol == "prequential", baselines(regression=problem.regression)
    if options.learners is None:
        if rows:
            return ["sgd", *(plain[:1] if problem.regression else plain)], True
        if problem.regression:
            return ["knn", "ridge", "tree"], True
        return ["knn", "logistic", *(() if sp.issparse(problem.X) else ("nb",))], True
    known = [*learner_names(), *learner_names(regression=True), *(plain if rows else ())]
    able = learner_names(regression=problem.regression)
    where = f"there is {', '.join([*able, *(plain if rows else ())])}"
    names = [spelled("learner", name, known, where) for name in parts_of("--learners", options.learners)]
    return list(dict.fromkeys(names)), False
