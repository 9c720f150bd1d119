"""Rows and columns at once: new columns are offered while rows keep arriving.

========== ==============================================================================================
selector   ``TwoWay``: a selector over columns and a screen over rows, around one table
table      the rows held: targets, and values in the kept columns
row_values values of new rows in the kept columns, from whatever container the rows come in
numbering  arrival numbers of the inner selector and of the stream, which differ after a review
========== ==============================================================================================
"""

from streamsieve.columns.two_way.selector import TwoWay as TwoWay
