"""Does a refactoring change a result?  Two source trees, the same seeded streams, bit for bit.

    python -m tools.compare OLD_SRC NEW_SRC
    python -m tools.compare --git HEAD~1 src

Names that were changed on purpose are listed in ``renames.py``, and nowhere else.
"""
