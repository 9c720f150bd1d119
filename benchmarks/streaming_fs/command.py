"""Command line: ``python -m benchmarks.streaming_fs [--quick] [--part N ...] [--resume] [--half-seed S]``."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.streaming_fs import conformance, leaderboard, networks, noise, real_sets, row_streams, shapes
from benchmarks.streaming_fs.bench import HALVES, Bench
from benchmarks.streaming_fs.boards import Board
from benchmarks.streaming_fs.entries import ABSENT
from benchmarks.streaming_fs.version import VERSION
from studies import Desk

PARTS = {1: networks, 2: shapes, 3: noise, 4: real_sets, 5: row_streams}
PAGE = "leaderboard.html"


def main(arguments: list[str] | None = None) -> int:
    """Run the parts asked for and write the leaderboard."""
    options = _options(arguments)
    desk = Desk(
        "streaming_fs", options.out, options.quick, fresh=not options.resume,
        say=lambda text: print(text, flush=True),
    )  # fmt: skip
    bench = Bench(desk, options.half, options.half_seed)
    for name, why in ABSENT.items():
        print(f"streaming_fs: SKIPPED {name}: {why}", flush=True)
    boards: dict[str, list[Board]] = {}
    minutes: dict[str, float] = {}
    found = None
    for number in sorted(options.part):
        before = sum(bench.took.values())
        if number in PARTS:
            name = PARTS[number].__name__.rpartition(".")[2]
            boards[name] = PARTS[number].run(bench)
        else:
            name, found = "conformance", conformance.run(bench)
            boards[name] = [found.sketches] if found.sketches is not None else []
        minutes[name] = (sum(bench.took.values()) - before) / 60
        print(f"streaming_fs: part {number}: {minutes[name]:.1f} minutes of one processor", flush=True)
    print(f"streaming_fs: in all {sum(minutes.values()):.1f} minutes of one processor", flush=True)
    leaderboard.write(options.out / PAGE, bench, boards, found, minutes)
    print(f"streaming_fs {VERSION}: wrote {options.out / PAGE}", flush=True)
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streaming_fs", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: a minute or two")
    parts = "1 networks, 2 shapes, 3 noise, 4 real sets, 5 rows, 6 conformance"
    parser.add_argument(
        "--part", type=int, nargs="+", choices=range(1, 7), default=[*range(1, 7)], metavar="N",
        help=f"only these: {parts}",
    )  # fmt: skip
    parser.add_argument(
        "--resume",
        action="store_true",
        help="take the results that are there; without it, new ones replace them",
    )
    parser.add_argument("--half", choices=HALVES, default="all", help="which half of the cases to run")
    parser.add_argument(
        "--half-seed", type=int, default=0, metavar="S", help="the seed that halves the cases"
    )
    parser.add_argument("--out", type=Path, default=Path("streaming_fs_results"), metavar="FOLDER")
    return parser.parse_args(arguments)
