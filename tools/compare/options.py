"""Every public class with the values its parameters may take, under the names of the old tree.

A value may be a class with parameters, as ``{"class": "Screen", "criterion": "f"}``, or one of the functions
of the worker, as ``{"function": "spread"}``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tools.compare.data import FORMS

Parameters = dict[str, Any]

ANY = ("binary", "multiclass", "regression")
CLASSES = ("binary", "multiclass")
BINARY = ("binary",)
NUMERIC = ("regression",)

RULES = ["addis", "saffron", "lord", "dlord", "alpha_investing", "lond"]
OUTPUT = {"output": ["drop", "zero", "frozen"], "ledger": ["all", "all", "none"]}
K = [None, 1, 2, 3, 5]
STOPS = [
    {"class": "Stop", "max_features": 2},
    {"class": "Stop", "max_offers": 9},
    {"class": "Stop", "max_features": 4, "max_offers": 14},
    {"class": "Stop", "target": 2.5, "accuracy": {"function": "spread"}},
    {"class": "Stop", "target": 3, "callback": {"function": "kept"}},
]
TABLES = ("MutualInfo", "ChiSquare", "Gini", "SymmetricUncertainty")
LEDGER = {"ledger": ["all", "all", "kept", "none"], "stop": [None, None, None, *STOPS]}
LABELS = {"task": ["auto", "classification"]}
TASK = {"task": ["auto", "auto", "classification", "regression"]}


@dataclass
class Option:
    """A class to compare.

    Attributes
    ----------
    axis : how it is fed: "rows", "columns", "offline", "learner" or "summary"
    grid : values of its parameters; the first one of each is the usual one
    tasks : targets it has a meaning for
    share : how many streams it gets, in relation to the others
    mend : takes back combinations that are refused, so that few streams end at once
    gaps, nonnegative, weights, merges, forms : what the streams may or must have
    largest : most rows and columns of a stream
    """

    axis: str
    grid: dict[str, list[Any]]
    tasks: tuple[str, ...] = ANY
    share: float = 1.0
    mend: Callable[[Parameters], None] = lambda _: None
    gaps: bool = False
    nonnegative: bool = False
    weights: bool = False
    merges: bool = False
    largest: tuple[int, int] = (120, 24)
    forms: tuple[str, ...] = FORMS


def _screen(of: Parameters) -> None:  # noqa: C901 - many options exclude each other
    criterion = of.get("criterion", "f")
    name = criterion if isinstance(criterion, str) else criterion["class"]
    tables = name in ("mutual_info", "chi2", "gini", "su", *TABLES)
    neighbours = name in ("ksg", "KSG")
    for key in ("k", "percentile", "alpha", "threshold", "half_life", "window", "on_drift"):
        if key in of and of[key] is None:
            del of[key]
    discrete = not isinstance(criterion, str) and criterion.get("discrete")
    if not tables or discrete or of.get("half_life") or of.get("window") or of.get("on_drift"):
        of.pop("exact", None)
    if of.get("window") or neighbours:
        of.pop("half_life", None)
        of.pop("on_drift", None)
    if neighbours:
        of.pop("alpha", None)
    if "k" in of or "percentile" in of or "threshold" in of:
        of.pop("alpha", None)
    if "k" in of or "threshold" in of:
        of.pop("percentile", None)
    if name not in ("mutual_info", "MutualInfo", "ksg", "KSG"):
        of.pop("task", None)
    if "alpha" not in of:
        of.pop("correction", None)
    if "on_drift" in of:
        of.setdefault("drift_every", 20)


def _blanket(of: Parameters) -> None:
    if of.get("test", "fisher_z") != "fisher_z":
        of.pop("missing", None)
    _gate(of)


def _measure(of: Parameters) -> None:
    if of.get("measure", "fisher_z") != "fisher_z":
        of.pop("missing", None)
    elif "bins" in of and "measure" not in of:
        of["measure"] = "su"
        of.pop("missing", None)
    _gate(of)


def _saola(of: Parameters) -> None:
    if of.get("fdr") is not None or of.get("lag"):  # they need p-values
        of.pop("measure", None)
        of.pop("bins", None)
    _measure(of)


def _gate(of: Parameters) -> None:
    if of.get("lag"):
        of["fdr"] = of.get("fdr") or "addis"
    if of.get("fdr") is None:
        of.pop("lag", None)
    elif "alpha" in of and of["alpha"] is None:
        of.pop("alpha")


def _averages(of: Parameters) -> None:
    if of.get("alpha") is not None:
        of["model"] = "t_test"
    if of.get("model") != "t_test":
        of.pop("alpha", None)
        of.pop("correction", None)
    if of.get("task") == "regression":
        of.pop("balanced", None)


def _ensemble(of: Parameters) -> None:
    regression = of.get("task") == "regression"
    for name in ("estimator", "members"):
        if of.get(name) is None:
            of[name] = None
        members = of[name] if isinstance(of[name], list) else [of[name]]
        for member in filter(None, members):
            kind = {"FSAClassifier": "FSARegressor", "SGDClassifier": "Ridge"}
            if regression and member["class"] in kind:
                member["class"] = kind[member["class"]]
                member.pop("loss", None)
                if member["class"] == "Ridge":
                    member.pop("random_state", None)
        if of[name] is None:
            del of[name]


BLANKET = {
    "alpha": [0.01, 0.05, 0.2],
    "test": ["fisher_z", "fisher_z", "g2", "chi2"],
    "max_conditioning": [3, 0, 1, 2],
    "degrees": ["strata", "nominal", "zero_cells"],
    "reliable": ["occupied", "nominal"],
    "unreliable": ["skip", "independent"],
    "bins": [5, 2, 3],
}
GATE = {"fdr": [None, None, *RULES], "lag": [0, 1, 3]}
MISSING = {"missing": ["refuse", "omit"]}
MEASURE = {"measure": ["fisher_z", "su", "mutual_info"], "bins": [5, 3]}

ROWS = {
    "Screen": Option(
        "rows",
        {
            "criterion": [
                "f", "chi2", "correlation", "fisher", "gini", "mutual_info", "su", "t", "ksg",
                {"class": "MutualInfo", "discrete": True},
                {"class": "MutualInfo", "bins": 3, "bias_correction": "miller_madow"},
                {"class": "ChiSquare", "bins": 4},
                {"class": "ChiSquare", "discrete": True},
                {"class": "Gini", "discrete": True},
                {"class": "Gini", "bins": 9},
                {"class": "SymmetricUncertainty", "bins": 2},
                {"class": "SymmetricUncertainty", "discrete": True},
                {"class": "WelchT", "ddof": 0},
                {"class": "KSG", "neighbours": 3},
            ],
            "k": K,
            "percentile": [None, 20, 50],
            "alpha": [None, 0.1, 0.5],
            "correction": ["none", "bonferroni", "bh"],
            "threshold": [None, None, 0.5, 0.0],
            "half_life": [None, None, 10, 40.5, 1],
            "window": [None, None, 15, 50],
            "on_drift": [None, None, "reset", "reweigh"],
            "drift_every": [20, 10],
            "detector": ["glr", "page_hinkley", "adwin"],
            "task": ["auto", "auto", "classification", "regression"],
            "epsilon": [0.001, 0.05, 0.2],
            "exact": [False, True],
            "hashed": [None, None, 5, 16],
            "review_every": [None, 7, 30],
            **OUTPUT,
        },
        share=9, mend=_screen, gaps=True, weights=True, merges=True,
    ),
    "OFS": Option(
        "rows",
        {"k": K, "learning_rate": [0.2, 0.05, 1.0], "ridge": [0.01, 0.1], **OUTPUT},
        BINARY,
    ),
    "SOFS": Option("rows", {"k": K, "regularization": [1.0, 10.0, 0.1], **OUTPUT}, BINARY),
    "PartialOFS": Option(
        "rows",
        {
            "k": K, "learning_rate": [0.02, 0.2], "exploration": [0.2, 0.7], "radius": [10.0, 1.0],
            "random_state": [0, 1, 5], **OUTPUT,
        },
        BINARY,
    ),
    "WinnowEFS": Option(
        "rows",
        {
            "k": K, "promotion": [1.5, 2.0], "demotion": [0.5, 0.9], "threshold": [1.0, 0.2],
            "margin": [1.0, 0.0], "extremes": [0.0, 0.3], **OUTPUT,
        },
        BINARY, nonnegative=True,
    ),
    "FIRES": Option(
        "rows",
        {
            "k": K, "learning_rate_mean": [0.01, 0.2], "learning_rate_spread": [0.01, 0.3],
            "penalty_spread": [0.01, 0.5], "penalty_ridge": [0.01, 1.0], "epochs": [1, 3],
            "batch_size": [1, 10, None], **OUTPUT,
        },
        BINARY, share=1.3,
    ),
    "MISSION": Option(
        "rows",
        {
            "k": K, "depth": [3, 5, 1], "learning_rate": [0.5, 0.1], "half_life": [None, 30],
            "random_state": [0, 3], **OUTPUT, "width": [4096, 50, 7],
        },
        CLASSES, share=1.3, merges=True,
    ),
    "BARDA": Option(
        "rows",
        {"k": K, "learning_rate": [0.05, 0.5], "ridge": [0.01, 0.5, 0.0], "damping": [0.01, 0.1], **OUTPUT},
        CLASSES, share=1.3,
    ),
    "FSDS": Option(
        "rows",
        {
            "k": K, "rank": [2, 1, 3], "sketch_size": [None, 4, 6], "penalty": [8.0, 0.5],
            "centre": [True, False], "batch_size": [None, 5], **OUTPUT,
        },
        CLASSES, share=1.3,
    ),
    "Bootstrap": Option(
        "rows",
        {
            "selector": [
                None,
                {"class": "Screen", "criterion": "mutual_info", "percentile": 50},
                {"class": "Screen", "criterion": "correlation", "percentile": 50, "half_life": 20},
                {"class": "Screen", "criterion": "fisher", "k": 2},
                {"class": "Screen", "criterion": "f", "window": 30, "alpha": 0.1},
                {"class": "RunningAverages", "k": 2, "model": "omp"},
            ],
            "threshold": [0.6, 0.3, 1.0], "k": K, "random_state": [0, 2], **OUTPUT, "replicas": [4, 6, 3],
        },
        share=1.5, merges=True, largest=(80, 12),
    ),
    "RunningAverages": Option(
        "rows",
        {
            "model": [
                "omcp", "ofsa", "olasso", "oelnet", "oadalasso", "omp", "mrmr", "olsth", "t_test",
            ],
            "k": K, "alpha": [None, 0.1], "correction": ["bh", "none", "bonferroni"],
            "ridge": [0.001, 0.1], "annealing": [10.0, 1.0], "gamma": [3.0, 1.5],
            "half_life": [None, None, 30], "task": ["auto", "classification", "regression"],
            "balanced": [False, True], **OUTPUT, "steps": [50, 20],
        },
        share=3, mend=_averages, weights=True, merges=True,
    ),
    "VelocityScreen": Option(
        "rows",
        {
            "k": K, "bins": [5, 3], "fence": [1.5, 0.0], "alarm": [1.0, 0.01], **OUTPUT,
            "window": [10, 15, 25, 1000],
        },
        CLASSES, share=1.3, gaps=True, largest=(160, 10),
    ),
}  # fmt: skip

COLUMNS = {
    "SAOLA": Option(
        "columns",
        {
            "alpha": [0.01, 0.05, 0.3], **MEASURE, "delta": [0.0, 0.05], "bound": ["min", "max"],
            "mode": ["paper", "two_phase"], **MISSING, **GATE, **TASK, **LEDGER,
        },
        share=3, mend=_saola,
    ),
    "OSFS": Option("columns", {**BLANKET, **MISSING, **GATE, **TASK, **LEDGER}, share=3, mend=_blanket),
    "FastOSFS": Option("columns", {**BLANKET, **MISSING, **GATE, **TASK, **LEDGER}, share=3, mend=_blanket),
    "TopK": Option(
        "columns",
        {
            "redundancy": [1.0, 0.0, 0.5], **MEASURE, "alpha": [0.05, None, 0.3], **MISSING, **GATE,
            **TASK, **LEDGER, "k": [3, 1, 6, 15],
        },
        share=3, mend=_measure, merges=True,
    ),
    "GroupSAOLA": Option(
        "columns",
        {
            "alpha": [0.01, 0.1], **MEASURE, "delta": [0.0, 0.05], "mode": ["live", "literal"],
            "group_size": [None, 3, 5, 7], **GATE, **TASK, **LEDGER,
        },
        share=2, mend=_saola,
    ),
    "AlphaInvesting": Option(
        "columns",
        {
            "wealth": [0.5, 0.05], "payout": [0.5, 0.05, 1.0], "p_value": ["t", "likelihood_ratio"],
            "model": ["linear", "linear", "logistic"], **TASK, **LEDGER,
        },
        ("binary", "regression"), share=1.5,
    ),
    "InformationInvesting": Option(
        "columns",
        {
            "wealth": [0.5, 0.1], "payout": [0.5, 1.0], "coefficient_bits": [2.0, None, 4.0], **TASK,
            **LEDGER,
        },
        ("binary", "regression"),
    ),
    "StreamwiseIC": Option(
        "columns",
        {
            "criterion": ["ric", "bic", "aic"], "n_candidates": [None, 1000, 5], "remove": [True, False],
            **TASK, **LEDGER,
        },
        ("binary", "regression"),
    ),
    "OnlineFDR": Option(
        "columns",
        {
            "fdr": RULES, "alpha": [0.05, 0.3], "lag": [0, 1, 3], "test": ["marginal", "conditional"],
            **TASK, **LEDGER,
        },
        share=1.5,
    ),
    "Grafting": Option(
        "columns",
        {
            "penalty": [0.15, 0.05, 0.01], "loss": ["auto", "squared", "logistic", "multinomial"],
            "l1_ratio": [1.0, 0.5], "standardise": [True, False], "sweeps": [1, 3, None],
            "tol": [1e-6, 1e-3], **TASK, **LEDGER,
        },
        share=1.5, largest=(80, 20),
    ),
    "OnlineSubstitution": Option(
        "columns",
        {
            "loss": ["auto", "squared", "logistic"], "refresh": [None, 1, 2], "step": [1.0, 0.5],
            "sweeps": [1, 3, None], "n_jobs": [None, None, 2], **TASK, **LEDGER, "budget": [3, 5, 6, 50],
        },
        ("binary", "regression"), share=1.5, largest=(80, 20),
    ),
    "InteractionScan": Option(
        "columns",
        {"alpha": [0.05, 0.5], "bins": [2, 3], **TASK, **LEDGER, "pool": [500, 7, 3]},
        share=1.3,
    ),
    "OGFS": Option(
        "columns",
        {
            "epsilon": [0.001, 0], "alpha": [0.05, 0.5], "penalty": [0.15, 0.05],
            "group_size": [10, None, 3, 4], **LABELS, **LEDGER,
        },
        CLASSES, share=1.3,
    ),
    "DOFS": Option(
        "columns",
        {
            "supervised": [True, False, "dpp_only"],
            "kernel": ["rbf", "rbf", "squared_correlation", {"function": "cosine"}],
            "gamma": [1.0, 0.1], "sample": ["dpp", "fixed_size", "greedy"], "truncation": [0.05, 0.3, 0.9],
            "redundancy": ["spearman", "wilcoxon_literal", "wilcoxon_reversed"], "threshold": [0.9, 0.5],
            "scatter": ["moments", "pairwise", "moments_literal", "labels_literal"],
            "criterion": ["corrected", "literal"], "local": ["both", "either"], "epsilon": [0.001, 0.0],
            "alpha": [0.05, 0.3], "penalty": [0.15, 0.02, 0], "l1_ratio": [0.5, 1.0],
            "least_weight": [0.0, 0.1], "refit": ["group", "column"], "group_size": [10, 3, 4, None],
            "random_state": [0, 1], **LABELS, **LEDGER,
        },
        CLASSES, share=2,
    ),
    "OSSFSDD": Option(
        "columns",
        {
            "lower": [1.0, 0.5], "upper": [2.0, 1.5], "mode": ["code", "text"], "alpha": [0.05, 0.3],
            **LABELS, **LEDGER, "pool": [3, 4, 100], "floor": [3, 0, 15],
        },
        CLASSES, share=1.3,
    ),
    "TwoWay": Option(
        "columns",
        {
            "column_selector": [
                None,
                {"class": "FastOSFS", "alpha": 0.05},
                {"class": "TopK", "k": 4},
                {"class": "AlphaInvesting"},
                {"class": "OnlineFDR", "alpha": 0.2},
            ],
            "row_screen": [
                None,
                {"class": "Screen", "criterion": "f", "alpha": 0.1, "half_life": 50},
                {"class": "Screen", "criterion": "f", "k": 2},
                {"class": "Screen", "criterion": "mutual_info", "k": 3},
            ],
            "window": [None, 60, 200], "review_every": [None, 10, 25], **LEDGER,
        },
        CLASSES, share=2,
    ),
}  # fmt: skip

N_FEATURES = {"n_features": [None, 1, 3]}
OFFLINE = {
    "FCBF": Option("offline", {"delta": [0.0, 0.02, 0.2], "bins": [5, 3], **TASK}),
    "FGM": Option(
        "offline",
        {**N_FEATURES, "C": [1.0, 0.5], "tol": [0.05, 0.0], "max_rounds": [30, 2], "group_size": [3, 2, 10]},
        BINARY, largest=(60, 14),
    ),
    "GDM": Option(
        "offline",
        {**N_FEATURES, "tau": [0.9, 0.5], "C": [1.0, 0.5], "tol": [0.05], "group_size": [3, 2]},
        BINARY, largest=(60, 14),
    ),
    "HITONPC": Option("offline", {**BLANKET, **TASK}, share=1.3),
    "InfFS": Option(
        "offline",
        {
            **N_FEATURES, "alpha": [0.5, 0.2, 1.0], "supervised": [False, True], "information": [1.0, 0.0],
            "fisher": [1.0, 0.5], "deviation": [1.0, 0.0], "bins": [5, 3], **TASK,
        },
    ),
    "LARSSelector": Option(
        "offline", {**N_FEATURES, "method": ["lar", "lasso"], **TASK}, ("binary", "regression"),
    ),
    "MRMR": Option("offline", {**N_FEATURES, "scheme": ["mid", "miq", "fcd", "fcq"], "bins": [5, 3], **TASK}),
    "Relief": Option(
        "offline",
        {
            **N_FEATURES, "metric": ["euclidean", "manhattan"], "nominal": [None, "all", [0, 2]],
            "sample": [None, 20], "random_state": [0, 1],
        },
        BINARY,
    ),
    "ReliefF": Option(
        "offline",
        {
            **N_FEATURES, "k": [10, 3, 1], "metric": ["euclidean", "manhattan"],
            "nominal": [None, "all", [0, 2]], "sample": [None, 20], "random_state": [0, 1],
        },
        CLASSES,
    ),
    "RReliefF": Option(
        "offline",
        {
            **N_FEATURES, "k": [10, 3], "sigma": [50.0, None, 2.0], "metric": ["euclidean", "manhattan"],
            "nominal": [None, "all", [0, 2]], "sample": [None, 20], "random_state": [0, 1],
        },
        NUMERIC,
    ),
    "SPEC": Option(
        "offline",
        {
            **N_FEATURES, "variant": [2, 1, 3], "supervised": [False, True], "gamma": [None, 0.5],
            "clusters": [None, 2],
        },
        CLASSES, largest=(60, 14),
    ),
    "SPFS": Option(
        "offline",
        {
            **N_FEATURES, "step": ["lars", "omp"], "supervised": [True, False], "gamma": [None, 0.5],
            "rank": [5, 1], **TASK,
        },
        largest=(60, 14),
    ),
    "StumpBoosting": Option("offline", {**N_FEATURES}, BINARY),
    "TraceRatio": Option("offline", {**N_FEATURES, "scaled": [False, True]}, CLASSES),
}  # fmt: skip

FSA = {
    "annealing": [30.0, 0.0], "learning_rate": ["auto", 0.05], "momentum": [0.9, 0.0], "ridge": [0.001, 0.1],
    "batch_size": [32, 8], "standardize": [True, False], "random_state": [0, 1], "epochs": [12, 5],
    "n_features": [None, 1, 3],
}  # fmt: skip
LEARNERS = {
    "FSAClassifier": Option(
        "learner", {"loss": ["logistic", "lorenz", "hinge", "squared"], "balanced": [False, True], **FSA},
        CLASSES, share=1.3, largest=(80, 12),
    ),
    "FSARegressor": Option(
        "learner", {"loss": ["squared", "lorenz"], **FSA}, NUMERIC, largest=(80, 12),
    ),
    "RJMCMC": Option(
        "learner",
        {
            "burn_in": [100, 0], "moves_per_column": [20, 0], "prior": [0.5, 0.1],
            "g": ["benchmark", 50.0], "threshold": [0.5, 0.2], "random_state": [0, 1], "moves": [500, 100],
        },
        NUMERIC, largest=(60, 12),
    ),
    "BlockBagging": Option(
        "learner",
        {
            "bags": [2, 1], "combine": ["stack", "vote"], "convex": [False, True], "block_size": [100, 4],
            "random_state": [0, 1], "estimator": [{"class": "FSAClassifier", "epochs": 5}],
            "task": ["classification", "regression"],
        },
        share=0.8, mend=_ensemble, largest=(60, 10),
    ),
    "SuperLearner": Option(
        "learner",
        {
            "convex": [False, True], "random_state": [0, 1], "folds": [2, 3],
            "members": [
                [{"class": "FSAClassifier", "epochs": 5}, {"class": "FSAClassifier", "epochs": 5,
                                                           "n_features": 2}],
                [{"class": "FSAClassifier", "epochs": 5}, {"class": "SGDClassifier", "loss": "log_loss",
                                                           "random_state": 0}],
            ],
            "task": ["classification", "regression"],
        },
        share=0.8, mend=_ensemble, largest=(60, 10),
    ),
    "birth_death_process": Option(
        "function",
        {
            "alpha": [1.0, 3.0], "rate": [1.0, 2.5], "duration": [10.0, 0.0], "random_state": [0, 1, 2],
            "start": ["stationary", "empty"], "n_objects": [5, 1, 12],
        },
        share=0.3,
    ),
}  # fmt: skip

FADES = {"half_life": [None, None, 10, 35.5, 1]}
SUMMARIES = {
    "Moments": Option("summary", FADES, CLASSES, share=1.5, gaps=True),
    "CoMoments": Option("summary", FADES, NUMERIC, share=1.5, gaps=True),
    "Quantiles": Option("summary", {"epsilon": [0.001, 0.05, 0.3], **FADES}, CLASSES, share=1.8, gaps=True),
    "Contingency": Option("summary", {**FADES, "cap": [256, 3, 1]}, CLASSES, share=1.5, gaps=True),
    "Products": Option("summary", {**FADES, "target": ["classes", "numeric"]}, share=1.5),
}

OPTIONS: dict[str, Option] = {**ROWS, **COLUMNS, **OFFLINE, **LEARNERS, **SUMMARIES}
