"""StreamSieve: feature selection from streams of rows or columns.

A selector is composed of a few kinds of parts, and each kind has a folder::

    rows      source --> summary --> criterion --> selector --> ledger
              sources/   summaries/  criteria/     rows/        ledger.py

    columns   source --> dependence or test ---------> level --------> redundancy rule ----> ledger
              sources/   dependence/, independence/    independence/   columns/redundancy/   ledger.py

>>> import streamsieve as ss

Rows that stream in go to a row selector::

    screen = ss.Screen("fisher", k=100)
    for batch in ss.open("clicks/*.parquet", target="bought").rows(4096):
        screen.partial_fit(batch.X, batch.y)

or, with checkpoints that survive a crash, ``ss.run(source, screen, checkpoint="clicks.sieve", resume=True)``.

Columns that stream in go to a column selector::

    sieve = ss.SAOLA(alpha=0.01).begin(y)
    for block in ss.open("candidates.parquet", target="label").columns(1024):
        sieve.offer(block)

in short ``ss.run(source, ss.SAOLA(alpha=0.01))``.  Columns may be computed on demand, until enough are kept::

    ss.run(ss.features(make_columns, y), ss.FastOSFS(stop=ss.Stop(max_features=10)))

Importing this package is cheap: a public name is imported when it is first used.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from streamsieve._exports import EXPORTS, MODULES
from streamsieve._version import __version__ as __version__

if TYPE_CHECKING:
    from streamsieve._threads import threads as threads
    from streamsieve.base import *  # noqa: F403
    from streamsieve.columns import *  # noqa: F403
    from streamsieve.learners import *  # noqa: F403
    from streamsieve.ledger import Ledger as Ledger
    from streamsieve.offline import *  # noqa: F403
    from streamsieve.protocols import Decision as Decision
    from streamsieve.registry import from_bytes as from_bytes
    from streamsieve.registry import load as load
    from streamsieve.rows import *  # noqa: F403
    from streamsieve.running import run as run
    from streamsieve.selecting import select as select
    from streamsieve.sources import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, with the folder that defines it and no other."""
    if name in EXPORTS:
        value = getattr(importlib.import_module(f"streamsieve.{EXPORTS[name]}"), name)
    elif importlib.util.find_spec(f"streamsieve.{name}") is not None:
        value = importlib.import_module(f"streamsieve.{name}")
    else:
        parameters = importlib.import_module("streamsieve._parameters")
        hint = "" if name.startswith("_") else parameters.did_you_mean(name, __dir__())
        raise AttributeError(f"module 'streamsieve' has no attribute {name!r}{hint}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List all public names, without importing anything."""
    return sorted({"__version__", *EXPORTS, *MODULES})
