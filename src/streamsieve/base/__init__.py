"""The scikit-learn face of every selector: rows stream in, columns stream in, or all is at hand."""

from streamsieve.base.columns import ColumnSelector as ColumnSelector
from streamsieve.base.offline import OfflineSelector as OfflineSelector
from streamsieve.base.rows import RowSelector as RowSelector
from streamsieve.base.selector import Selector as Selector
from streamsieve.base.stop import Stop as Stop
from streamsieve.base.weighted import WeightedRowSelector as WeightedRowSelector

__all__ = ["ColumnSelector", "OfflineSelector", "RowSelector", "Selector", "Stop", "WeightedRowSelector"]
