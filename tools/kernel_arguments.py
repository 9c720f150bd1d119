"""What NamedTuples of arguments would cost in place of positional ones: ``python -m tools.kernel_arguments``.

Two kernels have the longest lists of arguments.  A toy kernel with the same list adds up one number of each
argument, once by position and once in groups of eight, each in a file and a process of its own.  Measured are
processor times: of compiling, of loading from the cache in another process, and of a call.
"""

import argparse
import ast
import subprocess
import sys
import tempfile
from pathlib import Path

KERNELS = Path(__file__).parents[1] / "src/streamsieve/_kernels"
SUBJECTS = ("dominance.py", "tables_search.py")
GROUP = 8
CALLS = 20_000
#: Made for an argument of each kind; what is not listed is an array of integers.
VALUES = {"bool": "True", "int": "1", "float": "1.0", "FloatArray": "np.ones(4)"}

HEAD = """
import time
import numba as nb
import numpy as np
from typing import NamedTuple
nb.njit(lambda x: x)(1)  # the compiler imports itself on first use
begin_ = time.process_time()
{classes}
@nb.njit(cache=True)
def kernel({parameters}):
    total = 0.0
{body}
    return total

{make}
def measure():
    total_ = kernel({arguments})
    then_ = time.process_time()
    for _ in range({calls}):
        kernel({arguments})
    print(then_ - begin_, (time.process_time() - then_) / {calls}, total_)
"""


def arguments(file: str) -> dict[str, str]:
    """Return the kinds of the arguments of the kernel ``decide``, by name."""
    body = ast.parse((KERNELS / file).read_text()).body
    decide = next(node for node in body if isinstance(node, ast.FunctionDef) and node.name == "decide")
    return {
        argument.arg: ast.unparse(argument.annotation) if argument.annotation else ""
        for argument in decide.args.args
    }


def source(kinds: dict[str, str], *, grouped: bool) -> str:
    """Return a module with a toy kernel of these arguments, by position or in groups."""
    names = list(kinds)
    values = {name: VALUES.get(kind, "np.ones(4, np.int64)") for name, kind in kinds.items()}
    groups = [names[k : k + GROUP] for k in range(0, len(names), GROUP)]
    where = {name: f"g{g}.{name}" if grouped else name for g, group in enumerate(groups) for name in group}
    element = {name: where[name] + "[0]" * values[name].startswith("np.") for name in names}
    classes = "".join(
        f"class Group{g}(NamedTuple):\n" + "".join(f"    {name}: object\n" for name in group)
        for g, group in enumerate(groups)
    )
    made = [f"g{g} = Group{g}({', '.join(values[name] for name in group)})" for g, group in enumerate(groups)]
    single = [f"{name} = {value}" for name, value in values.items()]
    listed = ", ".join(f"g{g}" for g in range(len(groups))) if grouped else ", ".join(names)
    return HEAD.format(
        classes=classes if grouped else "",
        parameters=listed,
        body="\n".join(f"    total += {text}" for text in element.values()),
        make="\n".join(made if grouped else single),
        arguments=listed,
        calls=CALLS,
    )


def measured(file: Path) -> tuple[float, float]:
    """Return processor seconds to the first result, and per call after it, of a module in a new process."""
    # imported, since classes of a script would be others in the next process, and never found in the cache
    command = [sys.executable, "-c", f"import {file.stem}; {file.stem}.measure()"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=file.parent)  # noqa: S603
    first, call, _ = map(float, done.stdout.split())
    return first, call


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tools.kernel_arguments", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="of every measurement; the best counts")
    options = parser.parse_args()
    sys.stdout.write(f"{'kernel':<18}{'arguments':<22}{'compile s':>10}{'load ms':>10}{'call us':>10}\n")
    for subject in SUBJECTS:
        kinds = arguments(subject)
        best: dict[bool, list[float]] = {False: [9e9] * 3, True: [9e9] * 3}
        for repeat in range(options.repeats):  # interleaved: a busy moment strikes both
            for grouped in (False, True):
                with tempfile.TemporaryDirectory() as folder:
                    file = Path(folder) / f"toy_{repeat}.py"
                    file.write_text(source(kinds, grouped=grouped))
                    compiled, _ = measured(file)
                    loaded, call = measured(file)
                best[grouped] = list(map(min, best[grouped], (compiled, 1e3 * loaded, 1e6 * call)))
        for grouped, (compiled, loaded, call) in best.items():
            groups = -(-len(kinds) // GROUP)
            how = f"{len(kinds)} in {groups} groups" if grouped else f"{len(kinds)} by position"
            name = subject.removesuffix(".py")
            sys.stdout.write(f"{name:<18}{how:<22}{compiled:>10.2f}{loaded:>10.0f}{call:>10.2f}\n")


if __name__ == "__main__":
    main()
