"""Base classes of selectors: for streams of rows, for streams of columns, and offline.

=============== =====================================================================================
selector        ``Selector``: a scikit-learn selector with traits that is saved and loaded
rows            ``RowSelector``: fit, partial_fit, learn, merge; ``WeightedRows`` adds sample weights
showing         what it shows: a ranking as a frame, a picture, its text and page
merging         its merge; ``covered`` has the parts of a run that a state holds
ranking         its selected set, ledger and output; ``choose`` has the rules for k best
row_buffer      its buffer for rows that arrive one at a time
open_features   its features by name; ``vocabulary`` and ``forgetful_vocabulary`` number the names
columns         ``ColumnSelector``: offer; ``column_lifecycle`` begin and fit; ``stop`` ends a stream early
confirmation    its numbers of columns found and kept, and confirm; ``holdout`` has rows it never sees
offline         ``OfflineSelector``: fit
=============== =====================================================================================
"""

from streamsieve.base.columns import ColumnSelector as ColumnSelector
from streamsieve.base.offline import OfflineSelector as OfflineSelector
from streamsieve.base.rows import RowSelector as RowSelector
from streamsieve.base.selector import Selector as Selector
from streamsieve.base.stop import Stop as Stop
from streamsieve.base.weighted import WeightedRows as WeightedRows

__all__ = ["ColumnSelector", "OfflineSelector", "RowSelector", "Selector", "Stop", "WeightedRows"]
