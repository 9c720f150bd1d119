"""The command line: ``streamsieve methods | select | screen | compare | merge | show | plot | demo``.

========================= ===========================================================================
app, options              the commands; options that several of them share
select, methods, merge,   one command each (``select`` has ``screen`` too);
show, demo
compare                   with ``compare_data`` (the data) and ``compare_plan`` (selectors and learners)
plot, plot_commands       pictures of screens over time
reading, suspects         the data of a command and their description; notes on identifiers and leaks
grouped_columns           indicators of a text column as a group; ``dependent_rows``: --groups and --time
parameters, engine        --param and lists of names; --engine
results                   a fitted selector as tables
writing, code             files of a selection; --code
output, progress          text, JSON and files; progress bars; ``interrupts`` answers Ctrl-C
========================= ===========================================================================
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code.

    0 success, 1 a selection that kept nothing, 2 bad input or bad usage (one line on standard error),
    130 interrupted (within a second).
    """
    from streamsieve.cli import interrupts  # noqa: PLC0415

    interrupts.open_streams()
    interrupts.end_in_time()
    try:
        code = run(arguments)
    except KeyboardInterrupt:  # while it was imported
        interrupts.say_interrupted()
        code = interrupts.INTERRUPTED
    interrupts.end(code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    from streamsieve._advice import command_line  # noqa: PLC0415
    from streamsieve.cli import interrupts  # noqa: PLC0415

    interrupts.begin()
    try:
        from streamsieve.cli.app import invoke  # noqa: PLC0415 - so that a missing extra is explained
    except ModuleNotFoundError as error:
        print(  # noqa: T201
            f"error: the command line needs {error.name}; install it with: pip install 'streamsieve[cli]'",
            file=sys.stderr,
        )
        return 2
    with command_line():
        return invoke(arguments)
