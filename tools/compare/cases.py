"""The cases: which class, with which parameters, over which stream, fed how.  Plain data, by seed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tools.compare.options import OPTIONS, Option, Parameters

#: Streams where nobody says how many.
STREAMS = 1500
#: Data sets of a run on real data, and how many of their rows and columns are taken.
REAL = {
    "arcene": (120, 100), "colon_raw": (62, 120), "dexter": (120, 100), "electricity": (150, 8),
    "ionosphere": (120, 34), "leukemia_golub_raw": (72, 120), "lymphoma_disc": (96, 80),
    "madelon": (120, 100), "rcv1_vw_slice": (120, 100), "spambase": (150, 57), "usenet1": (150, 99),
    "wdbc": (120, 30),
}  # fmt: skip

SPARSE = ("csr", "csc", "csr32")

Case = dict[str, Any]
Ops = list[list[Any]]


class _Draft(NamedTuple):
    """A case without its steps."""

    name: str
    option: Option
    parameters: Parameters
    spec: dict[str, Any]
    rng: np.random.Generator


def seeded_cases(seed: int, streams: int, only: frozenset[str]) -> Iterator[Case]:
    """Yield the cases of a run.

    Parameters
    ----------
    seed : of everything
    streams : about how many cases there are for all classes
    only : classes to take, or none for all; their cases are those of a run over all classes
    """
    total = sum(option.share for option in OPTIONS.values())
    for name, option in OPTIONS.items():
        if only and name not in only:
            continue
        count = max(2, round(streams * option.share / total))
        for turn, parameters in enumerate(_parameters(name, option, seed, count)):
            rng = np.random.default_rng([seed, turn, *name.encode()])
            yield _case(f"{name}-{turn}", name, option, parameters, rng)


def real_cases(seed: int, only: frozenset[str]) -> Iterator[Case]:
    """Yield a case with nearly default parameters for every class and real data set.

    Parameters
    ----------
    seed : of the rows and columns drawn
    only : classes to take, or none for all
    """
    for name, option in OPTIONS.items():
        if (only and name not in only) or option.axis in ("summary", "function"):
            continue
        for turn, data in enumerate(REAL):
            rng = np.random.default_rng([seed, turn, *name.encode()])
            n, p = REAL[data]
            spec = {"real": data, "seed": seed, "n": n, "p": p, "task": "binary"}
            spec["nonnegative"] = option.nonnegative
            usual = replace(option, forms=("dense", "csr"))
            ops = _OPS[option.axis](_Draft(name, usual, {}, spec, rng))
            yield {"id": f"{name}-{data}", "cls": name, "parameters": {}, "data": spec, "ops": ops}


# ------------------------------------------------------------------------------------ parameters


def _parameters(name: str, option: Option, seed: int, count: int) -> Iterator[Parameters]:
    """Yield parameters: the usual ones, each value of each parameter, then mixtures of values."""
    rng = np.random.default_rng([seed, *name.encode()])
    # where a value must be given in any case, the grid names it last and the first value is not the default
    given = {key: values[0] for key, values in option.grid.items() if key in _ALWAYS.get(name, ())}
    single = [{key: value} for key, values in option.grid.items() for value in values[1:]]
    order = rng.permutation(len(single))
    for turn in range(count):
        if turn == 0:
            chosen: Parameters = {}
        elif turn <= len(single):
            chosen = dict(single[order[turn - 1]])
            chosen |= _mixed(option, rng, 0.15, chosen)
        else:
            chosen = _mixed(option, rng, 0.4, {})
        chosen = copy.deepcopy(given | chosen)
        option.mend(chosen)
        yield chosen


#: Parameters whose default is too large for small streams.
_ALWAYS: dict[str, tuple[str, ...]] = {
    "MISSION": ("width",), "Bootstrap": ("replicas",), "RunningAverages": ("steps",),
    "VelocityScreen": ("window",), "TopK": ("k",), "OnlineSubstitution": ("budget",),
    "OSSFSDD": ("pool", "floor"), "FGM": ("group_size",), "GDM": ("group_size",),
    "FSAClassifier": ("epochs",), "FSARegressor": ("epochs",), "RJMCMC": ("moves", "burn_in"),
    "BlockBagging": ("estimator", "bags"), "SuperLearner": ("members", "folds"),
    "birth_death_process": ("n_objects",),
}  # fmt: skip


def _mixed(option: Option, rng: np.random.Generator, share: float, chosen: Parameters) -> Parameters:
    mixed = {}
    for key, values in option.grid.items():
        if rng.random() < share and key not in chosen:
            mixed[key] = values[int(rng.integers(len(values)))]
    return mixed


# ------------------------------------------------------------------------------------ streams


def _case(id_: str, name: str, option: Option, parameters: Parameters, rng: np.random.Generator) -> Case:
    spec = _stream(option, parameters, rng)
    ops = _OPS[option.axis](_Draft(name, option, parameters, spec, rng))
    return {"id": id_, "cls": name, "parameters": parameters, "data": spec, "ops": ops}


def _stream(option: Option, parameters: Parameters, rng: np.random.Generator) -> dict[str, Any]:
    most_rows, most_columns = option.largest
    task = str(rng.choice(option.tasks))
    if parameters.get("task") in ("regression", "classification"):
        wanted = [t for t in option.tasks if (t == "regression") == (parameters["task"] == "regression")]
        task = str(rng.choice(wanted)) if wanted else task
    inner = str(parameters.get("selector", "")) + str(parameters.get("criterion", ""))
    if "correlation" in inner or parameters.get("target") == "numeric":
        task = "regression"
    elif "selector" in parameters or ("criterion" in parameters and option.axis == "rows"):
        some = ("binary", "multiclass") if "'t'" not in repr(inner) and inner != "t" else ("binary",)
        either = "MutualInfo" in inner or inner in ("mutual_info", "ksg") or "KSG" in inner
        task = "regression" if either and parameters.get("task") == "regression" else str(rng.choice(some))
        task = "binary" if inner == "t" or "WelchT" in inner else task
    elif parameters.get("target") == "classes" or (option.axis == "rows" and "task" not in parameters):
        task = task if task != "regression" else "binary"
    task = _task_of_model(task, option, parameters)
    if rng.random() < 0.02:
        task = "one class"
    few = rng.random() < 0.08
    n = int(rng.integers(3, 9)) if few else int(rng.integers(min(25, most_rows // 2), most_rows + 1))
    p = int(rng.integers(max(3, most_columns // 3), most_columns + 1))
    if option.axis == "columns":
        p = int(p * 1.5)
    labels = {
        "binary": ["int", "int", "text", "bool", "shifted", "float"],
        "multiclass": ["int", "int", "text", "shifted", "float"],
        "regression": ["float", "float", "whole" if parameters.get("task") == "regression" else "float"],
    }.get(task, ["int"])
    if option.axis == "learner" and task == "binary":
        labels = ["int", "text", "shifted"]
    spec: dict[str, Any] = {"seed": int(rng.integers(2**31)), "n": n, "p": p, "task": task}
    spec["labels"] = str(rng.choice(labels))
    spec["gaps"] = bool(rng.random() < (0.35 if option.gaps else 0.02)) or (
        parameters.get("missing") == "omit" and bool(rng.random() < 0.9)
    )
    spec["nonnegative"] = option.nonnegative
    spec["drift"] = bool(option.axis == "rows" and rng.random() < 0.4)
    spec["ordered"] = bool(rng.random() < 0.08)
    spec["exact"] = bool(rng.random() < 0.3)
    return spec


def _task_of_model(task: str, option: Option, parameters: Parameters) -> str:
    """Return a target that the model inside has a meaning for."""
    binary = parameters.get("model") == "logistic" or "AlphaInvesting" in str(parameters)
    if option.axis == "columns" and (binary or parameters.get("loss") in ("logistic", "squared")):
        return "binary"
    if parameters.get("loss") == "multinomial":
        return "multiclass"
    if option.axis == "learner" and "task" in option.grid and "task" not in parameters:
        return "binary" if task == "regression" else task
    return task


def _cuts(rng: np.random.Generator, length: int, low: int = 0) -> list[int]:
    """Return where batches end: of one size, or of many."""
    size = int(rng.choice([1, 3, 7, 16, 40, 1000]))
    sizes = [size] if rng.random() < 0.7 else [int(s) for s in rng.integers(1, 20, 8)]
    ends, at = [low], low
    while at < length and len(ends) < 200:
        at = min(length, at + sizes[len(ends) % len(sizes)])
        ends.append(at)
    ends[-1] = length
    return ends


def _form(option: Option, spec: dict[str, Any], rng: np.random.Generator) -> str:
    forms = option.forms if rng.random() < 0.5 else ("dense",)
    form = str(rng.choice(forms))
    return "dense" if spec.get("gaps") and form == "int" else form


# ------------------------------------------------------------------------------------ how it is fed


def _row_ops(draft: _Draft) -> Ops:
    _, option, parameters, spec, rng = draft
    n, form = spec["n"], _form(option, spec, rng)
    weighted = option.weights and bool(rng.random() < 0.25)
    draw = rng.random()
    if parameters.get("hashed") is not None or draw < 0.2:
        way = "dicts" if rng.random() < 0.6 else "frames"
        ends = _cuts(rng, min(n, 60))
        ops = [[way, low, high] for low, high in pairwise(ends)]
    elif draw < 0.3:
        ops = [["fit", form, weighted]] * (1 + (rng.random() < 0.3))
    elif option.merges and draw < 0.5:
        cuts = sorted({0, n, *(int(c) for c in rng.integers(1, n, 3))})
        shards = [list(pair) for pair in pairwise(cuts)]
        ops = [["shards", shards, form, weighted, bool(rng.random() < 0.3)], ["look"]]
        ops += [["batch", 0, n // 2, form, weighted]]
    else:
        ends = _cuts(rng, n)
        ops = [["batch", low, high, form, weighted] for low, high in pairwise(ends)]
        if rng.random() < 0.2 and form in ("dense", *SPARSE):  # both kinds in one stream
            for op in ops[1::2]:
                op[3] = "csr" if form == "dense" else "dense"
    ops = _disturbed(ops, rng, ("nan", "inf", "narrow", "short"))
    last = "open" if ops[0][0] in ("dicts", "frames") else "dense"
    return [*ops, ["look"], ["transform", last], *([["transform", form]] if rng.random() < 0.3 else [])]


def _disturbed(ops: Ops, rng: np.random.Generator, bad: tuple[str, ...]) -> Ops:
    """Look, save and load, and offer what is refused, in the middle of a stream."""
    ops = list(ops)
    if rng.random() < 0.4:
        for at in sorted({int(i) for i in rng.integers(1, len(ops) + 1, 3)}, reverse=True):
            ops.insert(at, ["look"])
    if rng.random() < 0.15:
        ops.insert(int(rng.integers(1, len(ops) + 1)), ["bad", str(rng.choice(bad))])
    if rng.random() < 0.38:
        ops.insert(1 + len(ops) // 2 if len(ops) > 1 else 1, ["reload"])
    return ops


def _column_ops(draft: _Draft) -> Ops:
    name, option, parameters, spec, rng = draft
    p, form = spec["p"], _form(option, spec, rng)
    grouped = name in ("GroupSAOLA", "OGFS", "DOFS")
    named = bool(rng.random() < 0.4)
    if name == "TwoWay":
        return _two_way_ops(spec, rng)
    draw = rng.random()
    if grouped and draw < 0.35:
        ends = _cuts(rng, p)
        labels = bool(rng.random() < 0.5)
        ops = [["begin"]]
        for turn, (low, high) in enumerate(pairwise(ends)):
            ops.append(["group", low, high, form, named, f"group {turn}" if labels else None])
    elif grouped and draw < 0.45:
        ops = [["fit groups", form, _cuts(rng, p)]]
    elif parameters.get("redundancy") == 0 and not parameters.get("fdr") and draw < 0.5:
        ops = [["column shards", [0, p // 3, p // 2, p], form]]
    elif draw < 0.6 and not grouped and rng.random() < 0.3:
        ops = [["begin"], *(["single", j, named] for j in range(p))]
    elif draw < 0.55:
        ops = [["fit", form, False]]
    else:
        ends = _cuts(rng, p)
        ops = [["begin"]]
        for low, high in pairwise(ends):
            ops.append(["offer", low, high, form, named])
            if rng.random() < 0.1:
                ops[-1] = ["offer", low, high, "dense", named]
    ops = _disturbed(ops, rng, ("nan", "inf", "short", "twice"))
    return [*ops, ["look"], ["transform", "dense"], *([["why"]] if rng.random() < 0.5 else [])]


def _two_way_ops(spec: dict[str, Any], rng: np.random.Generator) -> Ops:
    n, p = spec["n"], spec["p"]
    rows = max(2, n // 2)
    ops: Ops = [["begin", rows]]
    ends = _cuts(rng, p)
    for low, high in pairwise(ends):
        ops.append(["offer", low, high, "dense", False])
        if rng.random() < 0.5 and rows < n:
            more = min(n, rows + int(rng.integers(1, 20)))
            ops.append(["rows", rows, more])
            rows = more
        if rng.random() < 0.1:
            ops.append(["review"])
    if rows < n:
        ops += [["rows", rows, n], ["look"], ["review"]]
    return [*_disturbed(ops, rng, ("short", "inf")), ["look"]]


def _offline_ops(draft: _Draft) -> Ops:
    _, option, _, spec, rng = draft
    form = _form(option, spec, rng)
    ops: Ops = [["fit", form, False]]
    if rng.random() < 0.2:
        ops.append(["fit", "dense", False])
    return [*_disturbed(ops, rng, ("nan", "inf", "short")), ["look"], ["transform", "dense"]]


def _learner_ops(draft: _Draft) -> Ops:
    name, option, _, spec, rng = draft
    form, p = _form(option, spec, rng), spec["p"]
    ops: Ops
    if rng.random() < 0.5:
        ops = [["fit", form, False]]
    elif name.startswith("FSA"):
        ends = _cuts(rng, spec["n"])[:12]
        ops = [["first batch", *ends[:2], form]]
        ops += [["batch", low, high, form, False] for low, high in pairwise(ends[1:])]
    else:
        ends = sorted({0, p, *(int(c) for c in rng.integers(1, p, 2))})
        ops = [["begin"], *(["offer", *pair, form, False] for pair in pairwise(ends))]
        if name == "RJMCMC":
            ops.append(["sample", 100])
    ops = _disturbed(ops, rng, ("nan", "inf", "short"))
    return [*ops, ["look"], ["predict", "dense"], ["predict", form]]


def _summary_ops(draft: _Draft) -> Ops:
    name, _, parameters, spec, rng = draft
    n, p = spec["n"], spec["p"]
    forms = ("dense", "float32", "csr") if rng.random() < 0.5 else ("dense",)
    form = str(rng.choice(forms))
    ends = _cuts(rng, n)
    ops: Ops = [["update", *pair, form, bool(rng.random() < 0.2)] for pair in pairwise(ends)]
    middle = len(ops) // 2 + 1
    some: Ops = []
    if rng.random() < 0.3:
        some.append(["fade", float(rng.choice([1.0, 0.5, 0.01]))])
    if rng.random() < 0.4:
        cut = int(rng.integers(1, n))
        some.append(["merge", [[0, cut], [cut, n]], form])
    if rng.random() < 0.25:
        some.append(["forget", sorted({int(j) for j in rng.integers(0, p, 2)})])
    if rng.random() < 0.25:
        some.append(["renumber", int(rng.integers(2**31))])
    if rng.random() < 0.35:
        some.append(["state"])
    if name == "Contingency" and "half_life" not in parameters and rng.random() < 0.4:
        some.append(["remove", ends[0], ends[1], form])
    if rng.random() < 0.4:
        some.append(["look"])
    order = rng.permutation(len(some))
    ops[middle:middle] = [some[i] for i in order]
    return [*ops, ["look"]]


def _function_ops(_: _Draft) -> Ops:
    return [["call"]]


_OPS: dict[str, Any] = {
    "rows": _row_ops,
    "columns": _column_ops,
    "offline": _offline_ops,
    "learner": _learner_ops,
    "summary": _summary_ops,
    "function": _function_ops,
}
