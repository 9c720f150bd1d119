"""``streamsieve demo``: two streams, embedded data, no download."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

from streamsieve._kernels.compiling import compile_clock
from streamsieve.cli.output import check_files, console, say
from streamsieve.cli.progress import progress
from streamsieve.columns import SAOLA
from streamsieve.evaluation import plots
from streamsieve.protocols import IntArray
from streamsieve.rows import Screen
from streamsieve.sources import DriftingStream

NOISE = 970
TOP = 200
HALF_LIFE = 3_400
BATCH = 1_000


def run(out: Path, *, raw: bool, overwrite: bool, quiet: bool) -> None:
    """Run both streams, print what happened and why, and write a picture and a ledger."""
    out.mkdir(parents=True, exist_ok=True)
    picture, ledger = out / "drift.png", out / "ledger.csv"
    check_files({"picture": picture, "ledger": ledger}, {}, overwrite=overwrite)
    _compile(quiet=quiet)
    say("data: 569 patients, 30 measurements of cell nuclei among 970 columns of noise; then simulated rows")
    _columns(quiet=quiet).ledger_.to_csv(ledger, raw=raw, overwrite=True)
    plots.save(_rows(quiet=quiet), picture, dpi=120, overwrite=True)
    say(
        f"wrote {picture}   {ledger}",
        "",
        f"next: {_command()} select YOUR.csv --target COLUMN   (or .parquet, .xlsx, .jsonl, ...)",
    )


def _command() -> str:
    """Return how to call this program again: its folder may not be on the path."""
    called = Path(sys.argv[0])
    if called.name != "streamsieve" or shutil.which("streamsieve"):
        return "streamsieve"
    return shlex.quote(os.path.relpath(called))


def _compile(*, quiet: bool) -> None:
    """Let Numba compile what the demo uses, so that the times below are those of every later run."""
    X, y = np.random.default_rng(0).normal(size=(60, 20)), np.arange(60) % 2
    X[:, 0] += 3 * y
    data = load_breast_cancer()
    with console().status("compiling kernels, once per machine") if not quiet else nullcontext():
        SAOLA().fit(X, y)
        sieve = SAOLA().begin(data.target)
        for column in data.data.T:  # skewed measurements are tested by other kernels than noise
            sieve.offer(column.copy())
        for half_life in (None, 10):
            Screen("t", half_life=half_life).fit(X, y)


def _columns(*, quiet: bool) -> SAOLA:
    """569 patients; 30 measurements hidden among 970 columns of noise arrive one by one."""
    data = load_breast_cancer()
    rng = np.random.default_rng(0)
    measured = [name.replace(" ", "_") for name in data.feature_names]
    names = [*measured, *(f"noise_{j}" for j in range(NOISE))]
    X = np.asfortranarray(np.hstack([data.data, rng.normal(size=(len(data.target), NOISE))]))
    order = rng.permutation(len(names))
    # One false column in a hundred such streams.
    sieve = SAOLA(alpha=0.01 / len(names)).begin(data.target)
    seconds = 0.0
    with (
        compile_clock(lambda: None) as compiling,
        progress("columns", len(names), "columns", quiet=quiet) as advance,
    ):
        for j in order:
            started = time.perf_counter()
            sieve.offer(X[:, j], names=[names[j]])
            seconds += time.perf_counter() - started
            advance(1)
        seconds -= compiling()
    counts = sieve.ledger_.counts()
    kept = sieve.get_feature_names_out().tolist()
    out = counts.get("redundant", 0) + counts.get("evicted", 0)
    say(
        f"columns  {len(names):,} offered one by one in {seconds:.2f} s   {len(kept)} kept   "
        f"{counts.get('irrelevant', 0)} irrelevant   {out} redundant"
    )
    replaced: dict[str, list[str]] = {}
    for decision in sieve.ledger_:
        if decision.event == "evicted":
            replaced.setdefault(decision.by[0], []).append(decision.feature)
    for name in kept:
        gone = replaced.get(name, [])
        more = f" (+{len(gone) - 2})" if len(gone) > 2 else ""
        note = f"   replaced {', '.join(gone[:2])}{more}" if gone else ""
        say(f"  kept     {name:24} p {sieve.ledger_.why(name).p_value:.0e}{note}")
    for name in ("mean_radius", "noise_7"):
        why = sieve.ledger_.why(name)
        given = f" given {why.by[0]} (correlation {abs(why.statistic):.2f})" if why.by else ""
        say(f"  why not  {name:24} {why.reason}{given or f'   p {why.p_value:.2f}'}")
    return sieve


def _rows(*, quiet: bool) -> Any:
    """A stream whose 100 relevant features of 1,000 drift; one screen has a half-life, one has none."""
    stream = DriftingStream(n_rows=100_000, n_features=1_000, n_relevant=100, shift_every=250)
    screens = {
        f"half-life {HALF_LIFE:,} rows": Screen("t", k=TOP, half_life=HALF_LIFE),
        "never forgets": Screen("t", k=TOP),
    }
    rows = np.arange(BATCH, 100_001, BATCH)
    tops: dict[str, list[IntArray]] = {name: [] for name in screens}
    seconds = 0.0
    with progress("rows   ", stream.n_rows, "rows", quiet=quiet) as advance:
        for batch in stream.rows(BATCH):
            started = time.perf_counter()
            for name, screen in screens.items():
                screen.partial_fit(batch.X, batch.y)
                tops[name].append(screen.selected_)
            seconds += time.perf_counter() - started
            advance(BATCH)
    truths = [stream.relevant(int(row) - 1) for row in rows]
    found = [
        np.mean([np.isin(truth, top).mean() for truth, top in zip(truths[-25:], top[-25:], strict=True)])
        for top in tops.values()
    ]
    changes = next(iter(screens.values())).ledger_.counts()
    say(
        f"rows     100,000 rows x 1,000 features, two screens in {seconds:.1f} s   found "
        f"{found[0]:.0%} of the relevant features with a half-life of {HALF_LIFE:,} rows, "
        f"{found[1]:.0%} without"
    )
    say(
        f"  the {TOP} selected features were looked at every {BATCH:,} rows: {changes['evicted']:,} times "
        "one of them was replaced"
    )
    return plots.drift(rows.tolist(), tops, truths, stream.n_features)
