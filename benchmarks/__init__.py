"""Speed and memory of StreamSieve against its peers: ``python -m benchmarks --help``.

A suite is a file in ``suites/``; a case is one function in it under the ``case`` decorator, which builds
the data and returns a ``Race``.  Everything else (timing, memory, bars, tables) follows from that.
"""
