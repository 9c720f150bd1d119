"""Outputs that name an input or one another, by path, link and spelling: refused, and no byte is lost."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import streamsieve as ss
from campaigns.outcome import Outcome
from streamsieve.cli import run

GOAL = "0 bytes lost"
#: Commands over data.csv (merge: over two states), and their options that write a file.
COMMANDS: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "screen": (["screen", "data.csv", "--target", "y", "--k", "1"], ("out", "ledger", "save", "checkpoint")),
    "select": (
        ["select", "data.csv", "--target", "y", "--method", "screen", "--param", "k=1"],
        ("out", "ledger", "save", "checkpoint"),
    ),
    "plot": (["plot", "scores", "data.csv", "--target", "y", "--k", "1"], ("out", "table")),
    "merge": (["merge", "a.sieve", "b.sieve"], ("out",)),
}
INPUTS = {"merge": ("a.sieve", "b.sieve")}
#: Names that lead to a file.
SPELLINGS = ("{0}", "./{0}", "sub/../{0}", "soft-{0}", "hard-{0}", "{folder}/{0}")


class Case(NamedTuple):
    """A command, one or two of its outputs, and the name that both or one of them and an input share."""

    command: str
    outputs: tuple[str, ...]
    target: str
    spelling: str
    overwrite: bool


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield all commands, pairs of options and spellings, in random order; then nothing more."""
    found = []
    for command, (_, options) in COMMANDS.items():
        inputs = INPUTS.get(command, ("data.csv",))
        pairs = [(option,) for option in options]
        both = list(itertools.combinations(options, 2))
        for spelling, overwrite in itertools.product(SPELLINGS, (False, True)):
            found += [Case(command, one, name, spelling, overwrite) for one in pairs for name in inputs]
            found += [
                Case(command, two, "new.csv", spelling, overwrite) for two in both if "-" not in spelling
            ]
    for place in rng.permutation(len(found)):
        yield found[place]


def attempt(case: Case) -> Outcome:
    """Run a command whose output would destroy something."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        before = _prepare(Path(folder))
        name = case.spelling.format(case.target, folder=folder)
        words = [*COMMANDS[case.command][0]]
        plain = case.target if len(case.outputs) > 1 else name
        for option, file in zip(case.outputs, (plain, name), strict=False):
            words += [f"--{option}", file]
        if case.command == "plot" and "out" not in case.outputs:
            words += ["--out", "picture.png"]
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            status = run([*words, *(["--overwrite"] if case.overwrite else [])])
        lost = [file for file, content in before.items() if Path(file).read_bytes() != content]
    if lost:
        return Outcome("lost", f"{lost[0]} changed")
    if status == 0:
        return Outcome("accepted", said.getvalue()[-200:])
    return Outcome("refused", said.getvalue()[-200:])


def _prepare(folder: Path) -> dict[str, bytes]:
    """Write the inputs with links to them, and return what they hold."""
    rng = np.random.default_rng(0)
    X, y = np.round(rng.normal(size=(40, 3)), 3), np.arange(40) % 2
    lines = [",".join([*map(str, row), str(label)]) for row, label in zip(X, y, strict=True)]
    (folder / "data.csv").write_text("\n".join(["f0,f1,f2,y", *lines]) + "\n")
    for name in ("a.sieve", "b.sieve"):
        ss.Screen("f", k=1).fit(X, y).save(folder / name)
    (folder / "sub").mkdir()
    for name in ("data.csv", "a.sieve", "b.sieve"):
        (folder / f"soft-{name}").symlink_to(name)
        os.link(folder / name, folder / f"hard-{name}")
    return {name: (folder / name).read_bytes() for name in ("data.csv", "a.sieve", "b.sieve")}
