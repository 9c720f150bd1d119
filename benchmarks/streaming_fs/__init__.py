"""A public benchmark of streaming feature selection, version 1.

================= ======================================================================
entries           what is compared, and how to enter a method
ours, peers       methods of this library, and adapters for others
bench             size, halves by seed, stored results
boards            scores of all entries on all cases of a question
networks          part 1: columns with truth, from networks and from hubs of many levels
shapes, copies    part 2: non-linear truth by width, redundant copies, and very few rows
noise             part 3: false columns on pure noise
real_sets         part 4: real sets, with the selector inside the fold
row_streams       part 5: rows in their real order
row_entries       what is compared on streams of rows
conformance       part 6: scores, levels and sketches against other libraries
leaderboard       the page
================= ======================================================================

Part 7 is a half of the cases of every part that is held back by a seed (``bench``).
"""

from benchmarks.streaming_fs import ours, peers  # they enter themselves
from benchmarks.streaming_fs.entries import enter
from benchmarks.streaming_fs.row_entries import enter_rows
from benchmarks.streaming_fs.version import VERSION

__all__ = ["VERSION", "enter", "enter_rows", "ours", "peers"]
