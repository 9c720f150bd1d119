"""Mergeable summaries of a stream of rows: small, and exact where possible.

================ =================================================================================
moments          mean and variance of every feature per class
comoments        the same together with a numeric target, and their covariance
cross_products   means and covariances of all pairs of features
quantiles        the distribution of every feature per class, with a certified rank error
contingency      counts of every value of every feature per class
windows          the last rows, or all rows, stored
by_type          quantities in one summary, levels in another
target_bins      a numeric target, cut into classes for any summary by class
class_totals     base class: labels, half-life and totals per class
nesting          summaries as fields of other parts
arrays           batches of rows and arrays over features;  table_block: contingency tables
================ =================================================================================
"""

from streamsieve.summaries.by_type import ByType as ByType
from streamsieve.summaries.comoments import CoMoments as CoMoments
from streamsieve.summaries.contingency import Contingency as Contingency
from streamsieve.summaries.cross_products import CrossProducts as CrossProducts
from streamsieve.summaries.moments import Moments as Moments
from streamsieve.summaries.quantiles import Quantiles as Quantiles
from streamsieve.summaries.target_bins import TargetBins as TargetBins
from streamsieve.summaries.windows import RecentRows as RecentRows
from streamsieve.summaries.windows import SortedColumns as SortedColumns
from streamsieve.summaries.windows import Window as Window

__all__ = [
    "ByType",
    "CoMoments",
    "Contingency",
    "CrossProducts",
    "Moments",
    "Quantiles",
    "RecentRows",
    "SortedColumns",
    "TargetBins",
    "Window",
]
