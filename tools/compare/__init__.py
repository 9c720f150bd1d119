"""Does a refactoring change a result?  Two source trees, the same seeded streams, bit for bit.

    python -m tools.compare OLD_SRC NEW_SRC
    python -m tools.compare --git HEAD~1 src
    python -m tools.compare.speed --git HEAD~1     (times of the benchmarks instead of results)

Names that were changed on purpose are listed in ``renames.py``, and nowhere else.
"""
