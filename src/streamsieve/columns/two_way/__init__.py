"""Rows and columns at once: new columns are offered while rows keep arriving.

========== ==============================================================================================
selector   ``TwoWay``: a selector over columns and a screen over rows, around one table
rows       the part of it that learns rows and reviews the kept columns
inner      the two selectors inside: what they must be, and fresh clones of them
table      the rows held: targets, and values in the kept columns
new_rows   values of new rows in the kept columns, and fingerprints of the rows
numbering  arrival numbers of the inner selector and of the stream, which differ after a review
========== ==============================================================================================
"""

from streamsieve.columns.two_way.selector import TwoWay as TwoWay
