"""Base classes of selectors: for streams of rows, for streams of columns, and offline.

================== ==================================================================================
selector           ``Selector``: a scikit-learn selector with traits; ``persistent`` saves and loads it,
                   ``showing`` has its text, ranking and picture, ``effects`` the names of its statistics,
                   ``fitted`` its attributes after fit
rows               ``RowSelector``: fit, partial_fit, learn; ``weighted`` adds sample weights
merging            its merge; ``covered`` has the parts of a run that a state holds
ranking            its ranking and output; ``top_set`` the selected set, ``choose`` the rules for k best
row_buffer         its buffer for rows that arrive one at a time
open_features      its features by name; ``vocabulary`` and ``forgetful_vocabulary`` number the names
columns            ``ColumnSelector``: offer; ``column_lifecycle`` begin and fit; ``column_process`` the part
                   that decides; ``stop`` ends a stream early, ``changing_ledgers`` have lines that change
typed_columns      its types of columns; ``row_dependence`` its groups and time series of rows
row_fingerprints   whether the rows of a resumed stream of columns are the same ones
holdout            rows it never sees; ``holdout_validation`` confirms the selection on them
offline            ``OfflineSelector``: fit; ``seeded`` is for all estimators with ``random_state``
================== ==================================================================================
"""

from streamsieve.base.columns import ColumnSelector as ColumnSelector
from streamsieve.base.offline import OfflineSelector as OfflineSelector
from streamsieve.base.rows import RowSelector as RowSelector
from streamsieve.base.selector import Selector as Selector
from streamsieve.base.stop import Stop as Stop
from streamsieve.base.weighted import WeightedRows as WeightedRows

__all__ = ["ColumnSelector", "OfflineSelector", "RowSelector", "Selector", "Stop", "WeightedRows"]
