"""How many files a newcomer edits to add a part to the library: throwaway parts, added to a copy.

``python -m tools.newcomer [PART ...]`` adds each part of ``tools/newcomer/*.patch`` to a copy of the work
tree, runs the commands that write what follows from it (``tools.exports``, ``benchmarks.slopes``), and then
the tests that hold lists of what there is.  The files of a patch are those written by hand, tests, docs and
changelog included; what the commands change is counted beside them.
"""
