"""Online rules over simulated p-values and noise columns: ``python -m studies.calibration.simulated``.

Writes the tables of docs/evidence/online_rules.md, and stores their numbers.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtr

from streamsieve.independence import FisherZ
from streamsieve.independence.online_fdr import RULES, OnlineFDRProcedure
from streamsieve.protocols import BoolArray, FloatArray, Task
from studies._desk import HERE

RESULTS = HERE / "results" / "online_rules.json"
PAGE = HERE.parent / "docs" / "evidence" / "online_rules.md"
ALPHA, TESTS, MEAN, RUN = 0.05, 1000, 3.5, 10
ROWS = (8, 12, 20, 50, 100, 1000)
#: Rules, and the lags with which they are run.
VARIANTS = [(rule, 0) for rule in RULES] + [("addis", RUN)]

Generator = np.random.Generator


def alone(rng: Generator, share: float) -> BoolArray:
    """Place signals independently."""
    return rng.random(TESTS) < share


def in_runs(rng: Generator, share: float) -> BoolArray:
    """Let whole runs of columns be signals."""
    return np.repeat(rng.random(TESTS // RUN) < share, RUN)


def iid(rng: Generator) -> FloatArray:
    """Independent errors."""
    return rng.standard_normal(TESTS)


def neighbors(rng: Generator) -> FloatArray:
    """Errors with a correlation of 0.9 between neighbors, 0.81 over two, and so on."""
    errors = rng.standard_normal(TESTS) * np.sqrt(1 - 0.9**2)
    errors[0] /= np.sqrt(1 - 0.9**2)
    for i in range(1, TESTS):
        errors[i] += 0.9 * errors[i - 1]
    return errors


def equal(rng: Generator) -> FloatArray:
    """Errors with a correlation of 0.5 between all."""
    return np.sqrt(0.5) * (rng.standard_normal() + rng.standard_normal(TESTS))


def copies(rng: Generator) -> FloatArray:
    """Runs of errors correlated by 0.95."""
    shared = np.repeat(rng.standard_normal(TESTS // RUN), RUN)
    return np.sqrt(0.95) * shared + np.sqrt(0.05) * rng.standard_normal(TESTS)


Errors = Callable[[Generator], FloatArray]
Places = Callable[[Generator, float], BoolArray]
#: Name, errors, places of signals, their share, and whether the order of columns is random.
STREAMS: list[tuple[str, Errors, Places, float, bool]] = [
    ("noise", iid, alone, 0.0, False),
    ("iid, 10 %", iid, alone, 0.1, False),
    ("iid, 2 %", iid, alone, 0.02, False),
    ("AR, 10 %", neighbors, alone, 0.1, False),
    ("AR, 2 %", neighbors, alone, 0.02, False),
    ("equi, 10 %", equal, alone, 0.1, False),
    ("equi, 2 %", equal, alone, 0.02, False),
    ("copies, 10 %", copies, in_runs, 0.1, False),
    ("copies, 2 %", copies, in_runs, 0.02, False),
    ("scattered, 2 %", copies, in_runs, 0.02, True),
]


def streams(number: int) -> list[dict[str, Any]]:
    """Run every rule over streams of two-sided z tests; return FDR, its standard error, and power."""
    found = []
    for name, errors, places, share, scattered in STREAMS:
        rng = np.random.default_rng([number, len(name), round(1000 * share), scattered])
        proportions = np.zeros((number, len(VARIANTS)))
        powers: list[list[float]] = [[] for _ in VARIANTS]
        for i in range(number):
            signal, z = places(rng, share), errors(rng)
            z = z + MEAN * signal
            if scattered:
                order = rng.permutation(TESTS)
                signal, z = signal[order], z[order]
            p = 2 * ndtr(-np.abs(z))
            for j, (rule, lag) in enumerate(VARIANTS):
                discoveries, _ = OnlineFDRProcedure(rule, ALPHA, lag).decide(p)
                proportions[i, j] = (discoveries & ~signal).sum() / max(discoveries.sum(), 1)
                if signal.any():
                    powers[j].append((discoveries & signal).sum() / signal.sum())
        for j, (rule, lag) in enumerate(VARIANTS):
            error = proportions[:, j].std() / np.sqrt(number)
            power = float(np.mean(powers[j])) if powers[j] else None
            fdr = float(proportions[:, j].mean())
            found.append(
                {"stream": name, "rule": rule, "lag": lag, "fdr": fdr, "error": error, "power": power}
            )
    return found


def noise(number: int) -> list[dict[str, Any]]:
    """Test noise columns by the default test; return how often each rule keeps any of a thousand."""
    found = []
    for n in ROWS:
        rng, kept = np.random.default_rng([number, n]), np.zeros(len(RULES))
        for _ in range(number):
            y = rng.permutation(np.arange(n) % 2)
            measured = FisherZ(y, Task.BINARY, ALPHA, online=True).measure(rng.standard_normal((n, TESTS)))
            p = np.asarray(measured.p_value)
            for j, rule in enumerate(RULES):
                kept[j] += OnlineFDRProcedure(rule, ALPHA).decide(p, measured.discrete)[0].any()
        for rule, share in zip(RULES, (kept / number).tolist(), strict=True):
            found.append({"rows": n, "rule": rule, "any": share})
    return found


def _number(value: float) -> str:
    text = f"{value:.3f}".lstrip("0")
    return f"**{text}**" if value > ALPHA else text


def page(simulated: list[dict[str, Any]], kept: list[dict[str, Any]], runs: tuple[int, int]) -> str:
    """Return the page."""
    names = [name for name, *_ in STREAMS]
    worst, error = max(cell["error"] for cell in simulated), (ALPHA * (1 - ALPHA) / runs[1]) ** 0.5
    lines = [
        "# Online rules over simulated tests", "",
        "Written by `python -m studies.calibration.simulated`; do not edit.", "",
        f"{TESTS:,} two-sided z tests per stream, signals with a mean of {MEAN}, alpha = {ALPHA},",
        f"{runs[0]:,} streams: FDR / power. *AR* is a correlation of 0.9 between neighbors, *equi* of 0.5",
        "between all, *copies* are runs of ten columns correlated by 0.95 of which all or none are signals,",
        f"*scattered* the same in random places. The standard error of an FDR is at most {worst:.3f}.",
        "Without signals, the figure is the probability of any discovery.",
        f"Figures above {ALPHA} are bold: the theorems of these procedures are about independent columns.",
        'Where columns depend on each other, take `"lond"`, or a `lag` that reaches the range of the',
        "dependence.", "",
        "| `fdr=` | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|",
    ]  # fmt: skip
    for rule, lag in VARIANTS:
        row = [f'`"{rule}"`' + (f", lag {lag}" if lag else "")]
        for name in names:
            cell = next(c for c in simulated if (c["stream"], c["rule"], c["lag"]) == (name, rule, lag))
            power = "" if cell["power"] is None else f" / {cell['power']:.2f}".replace("0.", ".")
            row.append(_number(cell["fdr"]) + power)
        lines.append("| " + " | ".join(row) + " |")
    lines += [
        "", "## Any of a thousand noise columns", "",
        f"Normal columns and two equal classes, tested as the selectors do by default, {runs[1]:,} streams:",
        f"the probability that anything is kept. Its standard error is {error:.3f} at .05.",
        "", "| `fdr=` | " + " | ".join(f"{n:,} rows" for n in ROWS) + " |", "|---" * (len(ROWS) + 1) + "|",
    ]  # fmt: skip
    for rule in RULES:
        shares = [next(c["any"] for c in kept if (c["rows"], c["rule"]) == (n, rule)) for n in ROWS]
        lines.append(f'| `"{rule}"` | ' + " | ".join(map(_number, shares)) + " |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Run the simulations, store their numbers and write the page."""
    parser = argparse.ArgumentParser(prog="python -m studies.calibration.simulated", description=__doc__)
    parser.add_argument("--streams", type=int, default=1000, help="streams of p-values (1000)")
    parser.add_argument("--noise", type=int, default=400, help="streams of noise columns (400)")
    options = parser.parse_args(arguments)
    simulated, kept = streams(options.streams), noise(options.noise)
    RESULTS.write_text(json.dumps({"streams": simulated, "noise": kept}, indent=0) + "\n")
    PAGE.write_text(page(simulated, kept, (options.streams, options.noise)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
