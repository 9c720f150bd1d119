"""Summaries that store rows: the last ones, or all.

============== =======================================================================
window         :class:`Window`: any summary, of the last rows only
recent_rows    :class:`RecentRows`: the last rows as columns, for criteria over neighbors
sorted_columns :class:`SortedColumns`: all rows, for exact tables over bins
row_store      the rows themselves, in blocks that do not depend on batches
row_pieces     some rows of one form: cut, widened, joined, saved
============== =======================================================================
"""

from streamsieve.summaries.windows.recent_rows import ColumnsBlock as ColumnsBlock
from streamsieve.summaries.windows.recent_rows import RecentRows as RecentRows
from streamsieve.summaries.windows.sorted_columns import SortedColumns as SortedColumns
from streamsieve.summaries.windows.window import Window as Window
